// SPDX-License-Identifier: Apache-2.0
#include "sim/config/file_io.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <memory>
#include <system_error>

#include "models/base/error.h"

namespace npuscope {
namespace {

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

[[noreturn]] void fail(const std::filesystem::path& path, const Place& asked_at,
                       const std::string& reason) {
    throw ConfigError(asked_at, fmt::format("cannot read '{}': {}", path.string(), reason),
                      "put the file there, or correct its name");
}

}  // namespace

std::string read_whole_file(const std::filesystem::path& path, const Place& asked_at) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
        fail(path, asked_at, "it is a folder");
    }
    const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
    if (!file) {
        fail(path, asked_at, std::generic_category().message(errno));
    }
    std::string text;
    const std::uintmax_t expected = std::filesystem::file_size(path, error);
    std::size_t filled = 0;
    text.resize(error ? 0 : static_cast<std::size_t>(expected));
    while (true) {
        if (filled == text.size()) {
            text.resize(text.size() + 65536);  // a pipe, or a file that grew
        }
        const std::size_t got =
            std::fread(text.data() + filled, 1, text.size() - filled, file.get());
        filled += got;
        if (got == 0) {
            break;
        }
    }
    if (std::ferror(file.get()) != 0) {
        fail(path, asked_at, "input error");
    }
    text.resize(filled);
    return text;
}

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& reason) {
    throw ConfigError(fmt::format("cannot write '{}': {}", path.string(), reason));
}

void make_folder_of(const fs::path& path) {
    std::error_code error;
    if (path.has_parent_path()) {
        fs::create_directories(path.parent_path(), error);
    }
    if (error) {
        fail(path, error.message());
    }
}

/// A device or pipe is written to, never replaced by a file.
bool is_device(const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    return !error && fs::exists(status) && !fs::is_regular_file(status) &&
           !fs::is_directory(status);
}

bool write_whole(const fs::path& path, std::string_view text) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
    return file.good();
}

}  // namespace

void write_atomically(const fs::path& path, std::string_view text) {
    make_folder_of(path);
    if (is_device(path)) {
        if (!write_whole(path, text)) {
            fail(path, "the device does not take it");
        }
        return;
    }
    fs::path temporary = path;
    temporary += fmt::format(".part{}", ::getpid());
    std::error_code error;
    if (!write_whole(temporary, text)) {
        fs::remove(temporary, error);
        fail(path, "the folder cannot be written or the disk is full");
    }
    fs::rename(temporary, path, error);
    if (error) {
        const std::string reason = error.message();
        fs::remove(temporary, error);
        fail(path, reason);
    }
}

}  // namespace npuscope
