// SPDX-License-Identifier: Apache-2.0
// A folder for the files of one test, however many tests and checkouts run at a time.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace npuscope {

/// Empty at first; removed with whatever it holds at the end of its scope.
class TempFolder {
 public:
    TempFolder() {
        const std::filesystem::path parent(testing::TempDir());
        std::string name =
            (parent / "npuscope_").string() + std::string(6, 'X');  // mkdtemp fills it
        if (::mkdtemp(name.data()) == nullptr) {
            throw std::runtime_error("no folder can be made below " + testing::TempDir());
        }
        path_ = name;
    }
    ~TempFolder() {
        std::error_code none;
        std::filesystem::remove_all(path_, none);
    }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;

    operator const std::filesystem::path&() const { return path_; }  // NOLINT: it is that path
    std::filesystem::path operator/(const std::filesystem::path& name) const {
        return path_ / name;
    }
    const std::filesystem::path& path() const { return path_; }
    std::string string() const { return path_.string(); }

 private:
    std::filesystem::path path_;
};

}  // namespace npuscope
