// SPDX-License-Identifier: Apache-2.0
#include "sim/config/whole_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace npuscope {
namespace {

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

[[noreturn]] void fail(const std::filesystem::path& path, const Place& asked_at,
                       const std::string& reason) {
    throw ConfigError(asked_at, fmt::format("cannot read '{}': {}", path.string(), reason),
                      "put the file there, or mend its name");
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

}  // namespace npuscope
