// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/launcher.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sstream>

#include "models/base/error.h"
#include "sim/config/file_io.h"

namespace npuscope {
namespace {

constexpr int tries_of_parallel = 3;

/// A quoted word of a shell command line.
std::string shell_word(const std::string& text) {
    std::string word = "'";
    for (const char letter : text) {
        word += letter == '\'' ? "'\\''" : std::string(1, letter);
    }
    return word + '\'';
}

/// Runs a program to completion, messages to a file. Its exit code, or -1 if a signal ended it.
int run_to_end(const std::vector<std::string>& words, const std::filesystem::path& log,
               const std::string& package) {
    std::vector<char*> arguments;
    for (const std::string& word : words) {
        arguments.push_back(const_cast<char*>(word.c_str()));  // NOLINT: required by spawn
    }
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files{};
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0666);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    posix_spawnattr_t attributes{};
    posix_spawnattr_init(&attributes);
    sigset_t none{};
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    sigset_t usual{};  // ignored here, see InterruptionGuard
    sigemptyset(&usual);
    sigaddset(&usual, SIGXFSZ);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    ::pid_t process = 0;
    const int code = posix_spawnp(&process, words.front().c_str(), &files, &attributes,
                                  arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (code != 0) {
        throw ConfigError(
            fmt::format("'{}' cannot be started: {}", words.front(), std::strerror(code)),
            "install " + package);
    }
    int status = 0;
    while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// ConfigError if the launcher failed before any task had begun to write its database.
void expect_start(const LaunchPlan& plan, const std::filesystem::path& log, int code) {
    bool is_started = code == 0;
    for (std::size_t task = 0; task < plan.tasks; ++task) {
        is_started = is_started || file_exists(task_database(plan.folder, task, plan.tasks));
    }
    if (is_started) {
        return;
    }
    std::string last = "it has no message";
    std::istringstream lines(file_exists(log) ? read_whole_file(log) : "");
    for (std::string line; std::getline(lines, line);) {
        std::erase(line, '\r');  // of ssh
        last = line.empty() ? last : line;
    }
    throw ConfigError(fmt::format("no task was started: {}", last),
                      "see the launcher's messages in " + log.string());
}

/// A task's command; `task` is its number, or a shell expression for it.
std::string task_command(const LaunchPlan& plan, const std::string& task) {
    return fmt::format("{} sweep {} --task {}/{} --jobs {}", shell_word(plan.program.string()),
                       shell_word(plan.folder.string()), task, plan.tasks, plan.jobs);
}

void launch_ssh(const LaunchPlan& plan) {
    if (plan.hosts.empty()) {
        throw ConfigError("ssh needs the names of machines", "--hosts node1,node2");
    }
    std::vector<std::string> words{"parallel",
                                   "--will-cite",
                                   "--sshlogin",
                                   plan.hosts,
                                   "--retries",
                                   std::to_string(tries_of_parallel),
                                   "--joblog",
                                   (task_folder(plan.folder) / "parallel.log").string(),
                                   task_command(plan, "{}"),
                                   ":::"};
    for (std::size_t task = 0; task < plan.tasks; ++task) {
        words.push_back(std::to_string(task));
    }
    const auto log = task_folder(plan.folder) / "ssh.log";
    expect_start(plan, log, run_to_end(words, log, "GNU parallel (package parallel)"));
}

void launch_slurm(const LaunchPlan& plan) {
    const auto script = task_folder(plan.folder) / "sweep.sbatch";
    const auto log = task_folder(plan.folder) / "slurm.log";
    write_atomically(script, slurm_script(plan));
    const int code = run_to_end({"sbatch", "--wait", script.string()}, log, "Slurm's client");
    if (code == -1) {
        throw ConfigError("sbatch was ended by a signal", "start the sweep again: it resumes");
    }
    expect_start(plan, log, code);
}

}  // namespace

std::filesystem::path task_folder(const std::filesystem::path& sweep) { return sweep / "tasks"; }

std::filesystem::path task_database(const std::filesystem::path& sweep, std::size_t task,
                                    std::size_t tasks) {
    return task_folder(sweep) / fmt::format("{}-of-{}.sqlite", task, tasks);
}

std::string slurm_script(const LaunchPlan& plan) {
    std::string site;
    for (const std::string& option : plan.options) {
        site += "#SBATCH " + option + '\n';
    }
    return fmt::format(
        "#!/bin/bash\n# The tasks of a sweep. A restarted task continues where it left off; when "
        "all have\n# ended, `npuscope sweep {0}` gathers their results.\n#SBATCH "
        "--job-name=npuscope-sweep\n#SBATCH --array=0-{1}\n#SBATCH --cpus-per-task={2}\n#SBATCH "
        "--requeue\n#SBATCH --open-mode=append\n#SBATCH --output={3}/%a.log\n{4}exec {5}\n",
        plan.folder.string(), plan.tasks - 1, plan.jobs, task_folder(plan.folder).string(), site,
        task_command(plan, "\"$SLURM_ARRAY_TASK_ID\""));
}

void launch_tasks(Launcher launcher, const LaunchPlan& plan) {
    std::filesystem::create_directories(task_folder(plan.folder));
    launcher == Launcher::Ssh ? launch_ssh(plan) : launch_slurm(plan);
}

}  // namespace npuscope
