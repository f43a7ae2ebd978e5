// SPDX-License-Identifier: Apache-2.0
// Files as memory, also larger than memory: pages come as they are touched and can be given back.
// An output appears under its name when it is whole, or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "sim/config/temporary.h"

namespace npuscope {

class MappedInput {
 public:
    /// ConfigError that names the file where it cannot be read.
    explicit MappedInput(const std::filesystem::path& path);
    ~MappedInput();
    MappedInput(const MappedInput&) = delete;
    MappedInput& operator=(const MappedInput&) = delete;

    std::span<const std::uint8_t> bytes() const { return {data_, size_}; }
    /// Pages that were read leave this process; reading them again brings them back.
    void release() const;

 private:
    const std::uint8_t* data_ = nullptr;
    std::size_t size_ = 0;
};

class MappedOutput {
 public:
    /// `size` zero bytes under a temporary name beside `path`; makes missing folders. ConfigError
    /// where that is impossible.
    MappedOutput(const std::filesystem::path& path, std::uint64_t size);
    ~MappedOutput();
    MappedOutput(const MappedOutput&) = delete;
    MappedOutput& operator=(const MappedOutput&) = delete;

    std::span<std::uint8_t> bytes() { return {data_, size_}; }
    void release() const;
    /// The file takes its name. Without this nothing remains.
    void commit();

 private:
    std::filesystem::path path_;
    std::unique_ptr<TemporaryFile> file_;
    std::uint8_t* data_ = nullptr;
    std::size_t size_ = 0;
};

/// Bytes of this process that are in memory now.
std::uint64_t resident_bytes();

}  // namespace npuscope
