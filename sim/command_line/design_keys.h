// SPDX-License-Identifier: Apache-2.0
// The key of a sweep's design: the same for the same result, on every machine. It covers all that
// the result depends on, not how it was written: the version of npuscope, every field of the
// experiment and the configuration, and the contents of all files that are read.
#pragma once

#include <map>
#include <string>

#include "sim/command_line/experiment.h"
#include "sim/config/system_config.h"

namespace npuscope {

class DesignKeys {
 public:
    /// Of an experiment that cannot be read, by its text.
    static std::string of_text(const std::string& experiment);
    /// Files are read once for all designs with the same ones. ConfigError if one cannot be read.
    std::string of(const Experiment& experiment, const SystemConfig& system);

 private:
    std::map<std::string, std::string> contents_;  ///< keys of what is read, by its names
};

}  // namespace npuscope
