// SPDX-License-Identifier: Apache-2.0
// Memory-mapped files, which may exceed memory: pages are loaded on access and can be released. An
// output appears under its name when it is complete, or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "sim/config/temporary.h"

namespace npuscope {

class MappedInput {
 public:
    /// ConfigError naming the file if it cannot be read.
    explicit MappedInput(const std::filesystem::path& path);
    ~MappedInput();
    MappedInput(const MappedInput&) = delete;
    MappedInput& operator=(const MappedInput&) = delete;

    std::span<const std::uint8_t> bytes() const { return {data_, size_}; }
    /// Releases pages that were read from this process; another read loads them again.
    void release() const;

 private:
    const std::uint8_t* data_ = nullptr;
    std::size_t size_ = 0;
};

class MappedOutput {
 public:
    /// `size` zero bytes under a temporary name next to `path`; creates missing folders.
    /// ConfigError if that is impossible.
    MappedOutput(const std::filesystem::path& path, std::uint64_t size);
    ~MappedOutput();
    MappedOutput(const MappedOutput&) = delete;
    MappedOutput& operator=(const MappedOutput&) = delete;

    std::span<std::uint8_t> bytes() { return {data_, size_}; }
    void release() const;
    /// Renames the file to its final name. Without this nothing remains.
    void commit();

 private:
    std::filesystem::path path_;
    std::unique_ptr<TemporaryFile> file_;
    std::uint8_t* data_ = nullptr;
    std::size_t size_ = 0;
};

/// Bytes of this process that are currently in memory.
std::uint64_t resident_bytes();

}  // namespace npuscope
