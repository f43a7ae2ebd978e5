// SPDX-License-Identifier: Apache-2.0
#include "sim/program/read_program.h"

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "sim/config/file_io.h"
#include "sim/config/nearest_name.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

fs::path trace_in(const fs::path& folder) {
    if (file_exists(folder / "input.txn")) {
        return folder / "input.txn";
    }
    std::vector<fs::path> traces;
    std::error_code error;
    const fs::directory_iterator entries(folder, error);
    if (error) {
        throw ConfigError(
            fmt::format("cannot read the folder '{}': {}", folder.string(), error.message()),
            "name the .cfg file itself");
    }
    for (const auto& entry : entries) {
        if (entry.path().extension() == ".cfg") {
            traces.push_back(entry.path());
        }
    }
    if (traces.empty() && file_exists(folder / "segments.yaml")) {
        throw ConfigError(
            fmt::format("the folder '{}' holds the segments of a model, each a program of its own",
                        folder.string()),
            "name one, e.g. segment_1 in it; running the model runs them all, and `npuscope check` "
            "of its segments.yaml checks them all");
    }
    if (traces.empty()) {
        throw ConfigError(fmt::format("the folder '{}' holds neither a .cfg file nor an input.txn",
                                      folder.string()),
                          "name a folder that holds one, as `npuscope plan --out` writes it");
    }
    if (traces.size() > 1) {
        throw ConfigError(fmt::format("the folder '{}' holds {} .cfg files and no input.txn",
                                      folder.string(), traces.size()),
                          "name the .cfg file itself");
    }
    return traces.front();
}

ImageSource images_in(const fs::path& folder) {
    return [folder, budget = std::make_shared<ImageBudget>()](const std::string& file,
                                                              const Place& place) {
        const fs::path path = folder / file;
        MemoryImage image = read_memory_file(path, path.string(), place);
        budget->take(image, place);
        return image;
    };
}

Program read_txn(const fs::path& path, const RegisterNames& names, Images images) {
    TxnSetting setting;
    if (images == Images::Read) {
        setting.images = images_in(path.parent_path());
    }
    const fs::path arguments = path.parent_path() / "plusargs.txt";
    if (file_exists(arguments)) {
        setting.read_attempts =
            parse_poll_retries(read_whole_file(arguments, {}, largest_config), arguments.string());
    }
    return parse_trace_txn(read_whole_file(path, {}, largest_program), path.string(), names,
                           setting);
}

}  // namespace

std::optional<std::uint32_t> RegisterNames::address(std::string_view name) const {
    const auto place = find_place(blocks_, name);
    return place ? std::optional(place->address()) : std::nullopt;
}

std::optional<std::string> RegisterNames::name(std::uint32_t address) const {
    const auto place = find_place(blocks_, address);
    return place ? std::optional(place->name()) : std::nullopt;
}

std::string RegisterNames::remedy(std::string_view name) const {
    const std::string_view wanted = block_of(name);
    std::vector<std::string> names;
    if (const RegisterBlock* block = find_block(blocks_, wanted)) {
        for (const RegisterRow& row : block->rows) {
            names.push_back(spelled(block->name, row.name));
        }
        const auto nearest = nearest_name(name, names);
        return nearest ? fmt::format("did you mean '{}'?", *nearest)
                       : fmt::format("`npuscope list registers` lists those of {}", block->name);
    }
    if (blocks_.empty()) {
        return "the NPU has no public registers: it runs models (.onnx), shape tables (.yaml) and "
               "jobs (launch_job)";
    }
    for (const RegisterBlock& block : blocks_) {
        names.emplace_back(block.name);
    }
    return name_remedy(wanted, names);
}

Program read_program(const fs::path& path, const RegisterNames& names, Images images) {
    std::error_code error;
    const fs::path trace = fs::is_directory(path, error) ? trace_in(path) : path;
    if (trace.extension() == ".txn") {
        return read_txn(trace, names, images);
    }
    if (trace.extension() != ".cfg") {
        throw ConfigError(fmt::format("'{}' is not a program", path.string()),
                          "register traces end in .cfg or .txn, models in .onnx, shape tables and "
                          "experiments in .yaml, loadables in .fbuf or .nvdla");
    }
    const auto nothing = [](const std::string& /*file*/, const Place& /*place*/) {
        return MemoryImage{};
    };
    return parse_trace_cfg(read_whole_file(trace, {}, largest_program), trace.string(), names,
                           images == Images::Read ? images_in(trace.parent_path()) : nothing);
}

}  // namespace npuscope
