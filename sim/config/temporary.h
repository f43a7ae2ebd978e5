// SPDX-License-Identifier: Apache-2.0
// Files and folders that are not complete yet. They lie beside what they become, under a name that no
// one can foresee and that follows no link, and go when they are not wanted: at the end of their scope,
// and when the process is interrupted. What a killed process leaves harms no later run, for no run
// ever takes a name that exists.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>

namespace npuscope {

/// An open file in `folder`. ConfigError, which names `for_path`, where none can be made.
class TemporaryFile {
 public:
    TemporaryFile(const std::filesystem::path& folder, const std::filesystem::path& for_path);
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    int descriptor() const { return descriptor_; }
    /// Closes the file and gives it its name, in place of an older file or link. ConfigError where
    /// that is impossible.
    void become(const std::filesystem::path& path);

 private:
    std::filesystem::path path_;
    int descriptor_ = -1;
};

/// An empty folder in `parent`; removed with all that is in it, unless it has become something else.
class TemporaryFolder {
 public:
    TemporaryFolder(const std::filesystem::path& parent, const std::filesystem::path& for_path);
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

 private:
    std::filesystem::path path_;
};

/// While it lives, an interruption waits: what happens meanwhile happens as a whole.
std::unique_lock<std::mutex> hold_interruptions();

/// While it lives, SIGINT, SIGTERM and SIGHUP remove what is temporary before they end the process. So
/// does reading a mapped file that someone cuts short, which ends the process with a message and exit
/// code 2. It must be made before any other thread.
class InterruptionGuard {
 public:
    InterruptionGuard();
    ~InterruptionGuard();
    InterruptionGuard(const InterruptionGuard&) = delete;
    InterruptionGuard& operator=(const InterruptionGuard&) = delete;

 private:
    struct Watch;
    std::unique_ptr<Watch> watch_;
};

}  // namespace npuscope
