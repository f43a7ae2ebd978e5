// SPDX-License-Identifier: Apache-2.0
#include "sim/program/read_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sim/config/file_io.h"
#include "sim/program/trace_cfg.h"
#include "sim/program/trace_txn.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

fs::path trace_in(const fs::path& folder) {
    if (fs::exists(folder / "input.txn")) {
        return folder / "input.txn";
    }
    std::vector<fs::path> traces;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() == ".cfg") {
            traces.push_back(entry.path());
        }
    }
    if (traces.size() != 1) {
        throw ConfigError(fmt::format("the folder '{}' holds {} .cfg files and no input.txn",
                                      folder.string(), traces.size()),
                          "name the .cfg file itself");
    }
    return traces.front();
}

Program read_trace(const fs::path& path, const RegisterNames& names, Images images) {
    if (path.extension() == ".txn") {
        return read_trace_txn(path, names, images == Images::Read);
    }
    if (images == Images::Read) {
        return read_trace_cfg(path, names);
    }
    const auto nothing = [](const std::string& /*file*/, const Place& /*place*/) {
        return MemoryImage{};
    };
    return parse_trace_cfg(read_whole_file(path), path.string(), names, nothing);
}

}  // namespace

Program read_program(const fs::path& path, const RegisterNames& names, Images images) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
        return read_trace(trace_in(path), names, images);
    }
    if (path.extension() != ".cfg" && path.extension() != ".txn") {
        throw ConfigError(fmt::format("'{}' is not a program", path.string()),
                          "a register trace ends in .cfg or .txn");
    }
    return read_trace(path, names, images);
}

}  // namespace npuscope
