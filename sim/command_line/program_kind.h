// SPDX-License-Identifier: Apache-2.0
// What a file that was named as a program is, and which command takes it.
#pragma once

#include <filesystem>
#include <string>

#include "models/base/diagnostic.h"

namespace npuscope {

/// Whether a YAML file is an experiment: it names a program.
bool is_experiment_file(const std::filesystem::path& path);
/// Whether it is the description of a memory image: it names surfaces, or images as a plan does.
bool is_image_file(const std::filesystem::path& path);
/// Whether it is the order of a plan's segments.
bool is_segments_file(const std::filesystem::path& path);
/// ConfigError if a file is a design space or an experiment, not a program; messages name it as
/// `shown`.
void expect_program(const std::filesystem::path& path, const std::string& shown,
                    const Place& place = {});
/// ConfigError if a file is one that only `check` takes; `done`: `run`, `planned`.
void refuse_memory_image(const std::filesystem::path& path, const std::string& done);
/// ConfigError if a file is a design space; an experiment may be named in its place.
void refuse_space(const std::filesystem::path& path, const std::string& shown,
                  const Place& place = {});
/// Whether no key of a YAML file tells what it describes: that of an experiment may be misspelt.
bool is_unclear(const std::filesystem::path& path);

}  // namespace npuscope
