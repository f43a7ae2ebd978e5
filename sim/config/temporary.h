// SPDX-License-Identifier: Apache-2.0
// Files and folders that are not complete yet. They are next to what they become, under a name that
// cannot be predicted and that follows no link, and are removed when not wanted: at the end of
// their scope, and when the process is interrupted. What a killed process leaves harms no later
// run, because no run ever uses a name that exists.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>

namespace npuscope {

/// The file that an output of this name becomes: links are followed, also to a file that does not
/// exist yet. ConfigError if they lead to each other.
std::filesystem::path behind_links(std::filesystem::path path);
/// ConfigError if a file of this name exists and is write-protected.
void require_writable(const std::filesystem::path& path);

/// An open file in `folder`, with the mode of the file `for_path` if that exists. ConfigError, which
/// names `for_path`, if that is write-protected, or if no file can be created.
class TemporaryFile {
 public:
    TemporaryFile(const std::filesystem::path& folder, const std::filesystem::path& for_path);
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    int descriptor() const { return descriptor_; }
    /// Closes the file and gives it its name, replacing an older file or link; behind_links() is the
    /// caller's. ConfigError if that is impossible.
    void become(const std::filesystem::path& path);

 private:
    std::filesystem::path path_;
    int descriptor_ = -1;
};

/// An empty folder in `parent`; removed with its contents, unless it has become something else.
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

/// While it exists, interruptions are deferred: what happens meanwhile is not interrupted.
std::unique_lock<std::mutex> hold_interruptions();

/// While it exists, SIGINT, SIGTERM and SIGHUP remove temporary files before they end the process.
/// So does reading a mapped file that has been truncated, which ends the process with a message and
/// exit code 2. A file beyond the limit of sizes is an error of writing it. It must be created before any other thread.
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
