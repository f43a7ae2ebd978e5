// SPDX-License-Identifier: Apache-2.0
#include "sim/config/temporary.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <random>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "models/base/error.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

/// Files to remove when the process ends early. They are per process, as signals are.
struct Unfinished {
    std::mutex mutex;
    std::set<fs::path> paths;
};
Unfinished& unfinished() {
    static Unfinished all;
    return all;
}

std::string reason(int error) { return std::generic_category().message(error); }

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
    throw ConfigError(fmt::format("cannot write '{}': {}", path.string(), why),
                      "choose a writable location");
}

/// Creates something under a new name in `folder` and records it as unfinished. `make` returns -1,
/// and sets errno, if it fails.
int make_new(const fs::path& folder, const fs::path& for_path, fs::path& made,
             const std::function<int(const char*)>& make) {
    const auto hold = hold_interruptions();
    std::random_device random;
    for (int tries = 0; tries < 100; ++tries) {
        const std::uint64_t number = std::uint64_t{random()} << 32U | random();
        made = folder / fmt::format(".npuscope-{:016x}", number);
        const int result = make(made.c_str());
        if (result >= 0) {
            unfinished().paths.insert(made);
            return result;
        }
        if (errno != EEXIST) {
            break;
        }
    }
    refuse(for_path, reason(errno));
}

/// Only if created by this process itself.
void remove_unfinished(const fs::path& path) {
    std::error_code none;
    fs::remove_all(path, none);
    unfinished().paths.erase(path);
}

constexpr std::array interruptions{SIGINT, SIGTERM, SIGHUP};

}  // namespace

fs::path behind_links(fs::path path) {
    constexpr int most_links = 40;  // source: Linux, path_resolution(7)
    std::error_code error;
    const fs::path named = path;
    for (int i = 0; fs::is_symlink(fs::symlink_status(path, error)); ++i) {
        if (i == most_links) {
            refuse(named, reason(ELOOP));
        }
        const fs::path target = fs::read_symlink(path, error);
        if (error) {
            break;
        }
        path = path.parent_path() / target;
    }
    return path;
}

void require_writable(const fs::path& path) {
    std::error_code none;
    if (fs::exists(path, none) && ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) {
        throw ConfigError(fmt::format("cannot write '{}': {}", path.string(), reason(errno)),
                          "correct its permissions, or give another name");
    }
}

std::unique_lock<std::mutex> hold_interruptions() { return std::unique_lock(unfinished().mutex); }

TemporaryFile::TemporaryFile(const fs::path& folder, const fs::path& for_path) {
    require_writable(for_path);
    struct stat before {};
    const bool replaces = ::stat(for_path.c_str(), &before) == 0 && S_ISREG(before.st_mode);
    descriptor_ = make_new(folder, for_path, path_, [](const char* name) {
        return ::open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    });
    // only root can keep another owner; a file system without modes has none to keep
    if (replaces && ::fchown(descriptor_, before.st_uid, before.st_gid) <= 0) {
        ::fchmod(descriptor_, before.st_mode & 0777U);
    }
}

TemporaryFile::~TemporaryFile() {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
    if (!path_.empty()) {
        const auto hold = hold_interruptions();
        remove_unfinished(path_);
    }
}

void TemporaryFile::become(const fs::path& path) {
    const int closed = ::close(std::exchange(descriptor_, -1));
    if (closed != 0) {
        refuse(path, reason(errno));
    }
    const auto hold = hold_interruptions();
    if (::rename(path_.c_str(), path.c_str()) != 0) {
        refuse(path, reason(errno));
    }
    unfinished().paths.erase(path_);
    path_.clear();
}

TemporaryFolder::TemporaryFolder(const fs::path& parent, const fs::path& for_path) {
    make_new(parent, for_path, path_, [](const char* name) { return ::mkdir(name, 0777); });
}

TemporaryFolder::~TemporaryFolder() {
    const auto hold = hold_interruptions();
    remove_unfinished(path_);
}

/// A separate thread receives the signals, so that it may do what no handler may.
struct InterruptionGuard::Watch {
    sigset_t signals{};
    sigset_t before{};
    std::thread thread;
};

namespace {

constexpr int cut_short = SIGUSR1;   // from the thread that read beyond the end of a mapped file
constexpr int guard_ends = SIGUSR2;  // from the guard to its thread

/// A page of a mapped file is gone: the file has been truncated. The accessing thread cannot go on.
void on_lost_page(int /*signal*/) {
    ::kill(::getpid(), cut_short);
    for (;;) {
        ::pause();
    }
}

void remove_unfinished() {
    for (const fs::path& path : unfinished().paths) {
        std::error_code none;
        fs::remove_all(path, none);
    }
}

}  // namespace

InterruptionGuard::InterruptionGuard() : watch_(std::make_unique<Watch>()) {
    sigset_t& signals = watch_->signals;
    sigemptyset(&signals);
    for (const int signal : interruptions) {
        struct sigaction action {};
        ::sigaction(signal, nullptr, &action);
        if (action.sa_handler != SIG_IGN) {  // as under nohup
            sigaddset(&signals, signal);
        }
    }
    sigaddset(&signals, cut_short);
    sigaddset(&signals, guard_ends);
    ::pthread_sigmask(SIG_BLOCK, &signals, &watch_->before);
    watch_->thread = std::thread([&signals] {
        int signal = 0;
        while (::sigwait(&signals, &signal) != 0) {
        }
        if (signal == guard_ends) {
            return;
        }
        const auto hold = hold_interruptions();
        remove_unfinished();
        if (signal == cut_short) {
            std::cerr << "npuscope: a file was truncated while being read (retry when nothing "
                         "writes to it)\n";
            std::_Exit(2);
        }
        ::signal(signal, SIG_DFL);
        sigset_t only{};
        sigemptyset(&only);
        sigaddset(&only, signal);
        ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
        ::raise(signal);
    });
    struct sigaction action {};
    action.sa_handler = on_lost_page;
    ::sigaction(SIGBUS, &action, nullptr);
    ::signal(SIGXFSZ, SIG_IGN);  // a file that is too large is an error of writing it
}

InterruptionGuard::~InterruptionGuard() {
    ::signal(SIGBUS, SIG_DFL);
    ::signal(SIGXFSZ, SIG_DFL);
    ::pthread_kill(watch_->thread.native_handle(), guard_ends);
    watch_->thread.join();
    ::pthread_sigmask(SIG_SETMASK, &watch_->before, nullptr);
}

}  // namespace npuscope
