// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/program_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "models/base/error.h"
#include "sim/config/config_node.h"
#include "sim/model/network.h"
#include "sim/sweep/space.h"

namespace npuscope {

namespace fs = std::filesystem;

bool is_experiment_file(const fs::path& path) { return file_has_key(path, "program"); }

bool is_image_file(const fs::path& path) {
    return file_has_key(path, "surfaces") || file_has_key(path, "images");
}

bool is_segments_file(const fs::path& path) { return file_has_key(path, "steps"); }

void refuse_space(const fs::path& path, const std::string& shown, const Place& place) {
    if (is_space_file(path)) {
        throw ConfigError(place, fmt::format("'{}' is a design space, not a program", shown),
                          "give it to `npuscope sweep`");
    }
}

bool is_unclear(const fs::path& path) {
    static constexpr std::array tells{"name", "input", "layers", "surfaces", "images", "steps"};
    return is_network_file(path) &&
           std::ranges::none_of(tells, [&](const char* key) { return file_has_key(path, key); });
}

void expect_program(const fs::path& path, const std::string& shown, const Place& place) {
    refuse_space(path, shown, place);
    if (is_experiment_file(path)) {
        throw ConfigError(place, fmt::format("'{}' is an experiment itself", shown),
                          "name its program");
    }
}

void refuse_memory_image(const fs::path& path, const std::string& done) {
    const bool image = is_image_file(path);
    if (image || is_segments_file(path)) {
        throw ConfigError(fmt::format("'{}' describes {}, which cannot be {}", path.string(),
                                      image ? "a memory image" : "the segments of a plan", done),
                          "give it to `npuscope check`");
    }
}

}  // namespace npuscope
