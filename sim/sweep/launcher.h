// SPDX-License-Identifier: Apache-2.0
// Runs a sweep's tasks on other machines: by GNU parallel over ssh, or as an array job of Slurm. All
// machines see the sweep's folder under the same path. A task writes a database of its own, so that
// tasks never wait for each other, and goes on where it was when it is started again.
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
    std::size_t jobs = 1;                ///< workers of a task
    std::string hosts{};                 ///< of ssh, as GNU parallel takes them: `:,node1,4/node2`
    std::vector<std::string> options{};  ///< of sbatch, for the site: `--partition=short`
};

/// `DIR/tasks`, where tasks leave their databases and what they print.
std::filesystem::path task_folder(const std::filesystem::path& sweep);
std::filesystem::path task_database(const std::filesystem::path& sweep, std::size_t task,
                                    std::size_t tasks);

/// The script of an array job, a task of the sweep for each of its elements.
std::string slurm_script(const LaunchPlan& plan);

/// Starts all tasks and waits until they have ended, well or not: what is missing afterwards is found
/// in the databases. ConfigError where the launcher's program is not installed or refuses its work.
void launch_tasks(Launcher launcher, const LaunchPlan& plan);

}  // namespace npuscope
