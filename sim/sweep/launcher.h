// SPDX-License-Identifier: Apache-2.0
// Runs a sweep's tasks on other machines: with GNU parallel over ssh, or as a Slurm job array. All
// machines see the sweep's folder under the same path. A task writes its own database, so that
// tasks never wait for each other, and resumes when it is started again.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/config/field_types.h"

namespace npuscope {

enum class Launcher { Local, Ssh, Slurm };

template <>
struct EnumNames<Launcher> {
    static constexpr std::array names{std::pair{Launcher::Local, std::string_view("local")},
                                      std::pair{Launcher::Ssh, std::string_view("ssh")},
                                      std::pair{Launcher::Slurm, std::string_view("slurm")}};
};

struct LaunchPlan {
    std::filesystem::path program;  ///< this executable
    std::filesystem::path folder;   ///< of the sweep, absolute
    std::size_t tasks = 1;
    std::size_t jobs = 1;                ///< workers per task
    std::string hosts{};                 ///< for ssh, in GNU parallel's syntax: `:,node1,4/node2`
    std::vector<std::string> options{};  ///< for sbatch, site-specific: `--partition=short`
};

/// `DIR/tasks`, where tasks leave their databases and output.
std::filesystem::path task_folder(const std::filesystem::path& sweep);
std::filesystem::path task_database(const std::filesystem::path& sweep, std::size_t task,
                                    std::size_t tasks);

/// The script of a job array, with one task of the sweep per element.
std::string slurm_script(const LaunchPlan& plan);

/// Starts all tasks and waits until they have ended, successfully or not: missing points are found
/// in the databases afterwards. ConfigError if the launcher's program is not installed or fails.
void launch_tasks(Launcher launcher, const LaunchPlan& plan);

}  // namespace npuscope
