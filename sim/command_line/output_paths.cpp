// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/output_paths.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <set>
#include <system_error>

#include "models/base/error.h"
#include "sim/config/file_io.h"
#include "sim/config/temporary.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

/// The file or folder that an output of this name becomes, however it is written.
fs::path entry_of(const fs::path& path) {
    std::error_code error;
    fs::path whole = fs::absolute(behind_links(path), error).lexically_normal();
    if (!whole.has_filename()) {
        whole = whole.parent_path();  // without a trailing slash
    }
    const fs::path folder = fs::weakly_canonical(whole.parent_path(), error);
    return error ? whole : folder / whole.filename();
}

/// Of those inputs that exist, by their names and where these lead.
std::set<fs::path> entries_of(std::span<const std::string> inputs) {
    std::set<fs::path> entries;
    for (const std::string& input : inputs) {
        std::error_code error;
        const fs::path followed = fs::canonical(input, error);
        if (!error) {
            entries.insert({entry_of(input), followed});
        }
    }
    return entries;
}

void require_printable(const OutputPath& output) {
    if (output.kind != OutputKind::Text) {
        throw ConfigError(fmt::format("{} cannot be written to standard output", output.option),
                          output.kind == OutputKind::Folder ? "name a folder" : "name a file");
    }
}

[[noreturn]] void refuse_both(const OutputPath& first, const OutputPath& second) {
    if (first.path == "-") {
        throw ConfigError(
            fmt::format("both {} and {} ask for standard output", first.option, second.option),
            "give one of them a file");
    }
    throw ConfigError(
        first.option == second.option
            ? fmt::format("{} writes '{}' twice", first.option, second.path)
            : fmt::format("both {} and {} write '{}'", first.option, second.option, second.path),
        "give each a file of its own");
}

}  // namespace

void require_separate(std::span<const OutputPath> outputs, std::span<const std::string> inputs) {
    const std::set<fs::path> read = entries_of(inputs);
    std::map<fs::path, const OutputPath*> written;
    for (const OutputPath& output : outputs) {
        const bool printed = output.path == "-";
        if (printed) {
            require_printable(output);
        }
        if (output.path.empty() || (!printed && is_stream(output.path))) {
            continue;
        }
        const fs::path entry = printed ? fs::path("-") : entry_of(output.path);
        const bool folder = output.kind == OutputKind::Folder;
        if (!printed && !folder) {
            require_writable(output.path);
        }
        std::error_code none;
        if (read.contains(entry) && !(folder && fs::is_directory(entry, none))) {
            throw ConfigError(
                fmt::format("'{}' is also an input; the output would overwrite it", output.path),
                folder ? "give another folder" : "give another file");
        }
        const auto [found, is_new] = written.emplace(entry, &output);
        if (!is_new && !(folder && found->second->kind == OutputKind::Folder)) {
            refuse_both(*found->second, output);
        }
    }
}

}  // namespace npuscope
