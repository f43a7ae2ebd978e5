// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/worker_pool.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include "models/base/error.h"

namespace npuscope {
namespace {

constexpr int bug_exit_code = 70;

/// Reads everything, or returns false if the other end is closed.
bool read_all(int channel, void* data, std::size_t size) {
    auto* bytes = static_cast<char*>(data);
    while (size > 0) {
        const ssize_t count = ::read(channel, bytes, size);
        if (count == 0 || (count < 0 && errno != EINTR)) {
            return false;
        }
        bytes += std::max<ssize_t>(count, 0);
        size -= static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    }
    return true;
}

bool write_all(int channel, const void* data, std::size_t size) {
    const auto* bytes = static_cast<const char*>(data);
    while (size > 0) {
        const ssize_t count = ::send(channel, bytes, size, MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR) {
            return false;
        }
        bytes += std::max<ssize_t>(count, 0);
        size -= static_cast<std::size_t>(std::max<ssize_t>(count, 0));
    }
    return true;
}

/// Restores default signal handling, so that signals end a worker.
void take_usual_signals() {
    sigset_t none{};
    sigemptyset(&none);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGBUS}) {
        ::signal(signal, SIG_DFL);
    }
    ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

std::size_t worker_count(std::size_t asked) {
    return asked != 0 ? asked : std::max(1U, std::thread::hardware_concurrency());
}

WorkerPool::WorkerPool(std::size_t workers, Work work) : work_(std::move(work)) {
    for (std::size_t i = 0; i < workers; ++i) {
        workers_.push_back(start());
    }
}

WorkerPool::~WorkerPool() {
    for (Worker& worker : workers_) {
        ::close(worker.channel);
        ::kill(worker.process, SIGKILL);
        ::waitpid(worker.process, nullptr, 0);
    }
}

WorkerPool::Worker WorkerPool::start() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        throw ConfigError(fmt::format("no worker can be started: {}", std::strerror(errno)),
                          "use fewer: --jobs");
    }
    const ::pid_t parent = ::getpid();
    const ::pid_t process = ::fork();
    if (process < 0) {
        const int reason = errno;
        ::close(ends[0]);
        ::close(ends[1]);
        throw ConfigError(fmt::format("no worker can be started: {}", std::strerror(reason)),
                          "take fewer with --jobs");
    }
    if (process == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) {
            ::_exit(0);
        }
        ::close(ends[0]);
        for (const Worker& other : workers_) {
            other.channel == -1 ? 0 : ::close(other.channel);
        }
        take_usual_signals();
        try {
            serve(ends[1]);
        } catch (...) {
            ::_exit(bug_exit_code);  // what the parent holds is not a worker's to clean up
        }
    }
    ::close(ends[1]);
    return {process, ends[0], {}};
}

void WorkerPool::serve(int channel) const {
    std::uint64_t work = 0;
    while (read_all(channel, &work, sizeof(work))) {
        const std::string text = work_(work);
        const std::uint64_t size = text.size();
        if (!write_all(channel, &size, sizeof(size)) ||
            !write_all(channel, text.data(), text.size())) {
            break;
        }
    }
    ::_exit(0);
}

bool WorkerPool::has_idle() const {
    return std::ranges::any_of(workers_, [](const Worker& worker) { return !worker.work; });
}

bool WorkerPool::has_busy() const {
    return std::ranges::any_of(workers_,
                               [](const Worker& worker) { return worker.work.has_value(); });
}

void WorkerPool::give(std::uint64_t work) {
    const auto idle = std::ranges::find_if(workers_, [](const Worker& one) { return !one.work; });
    idle->work = work;
    write_all(idle->channel, &work, sizeof(work));  // take() detects a worker that is gone
}

std::optional<WorkerPool::Answer> WorkerPool::take(int milliseconds) {
    std::vector<pollfd> waits;
    for (const Worker& worker : workers_) {
        waits.push_back({worker.work ? worker.channel : -1, POLLIN, 0});
    }
    if (::poll(waits.data(), waits.size(), milliseconds) <= 0) {
        return {};
    }
    const auto ready =
        std::ranges::find_if(waits, [](const pollfd& wait) { return wait.revents != 0; });
    return answer_of(workers_[static_cast<std::size_t>(ready - waits.begin())]);
}

WorkerPool::Answer WorkerPool::answer_of(Worker& worker) {
    Answer answer{*worker.work};
    std::uint64_t size = 0;
    bool whole = read_all(worker.channel, &size, sizeof(size));
    if (whole) {
        answer.text.resize(size);
        whole = read_all(worker.channel, answer.text.data(), size);
    }
    worker.work.reset();
    if (!whole) {
        ::close(worker.channel);
        worker.channel = -1;
        int status = 0;
        ::waitpid(worker.process, &status, 0);
        answer.crash =
            WIFSIGNALED(status)
                ? fmt::format("its process ended by signal {} ({})", WTERMSIG(status),
                              ::strsignal(WTERMSIG(status)))
                : fmt::format("its process ended with exit code {}", WEXITSTATUS(status));
        worker = start();
    }
    return answer;
}

}  // namespace npuscope
