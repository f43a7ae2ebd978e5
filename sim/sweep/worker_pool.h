// SPDX-License-Identifier: Apache-2.0
// Parallel processes of this program, each with one work item at a time. One that is ended by a
// signal loses its item and is replaced; the others are unaffected.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace npuscope {

/// The requested number; 0: one per core.
std::size_t worker_count(std::size_t asked);

class WorkerPool {
 public:
    /// Returns the answer to a work item; called in a worker.
    using Work = std::function<std::string(std::uint64_t)>;

    struct Answer {
        std::uint64_t work = 0;
        std::string text{};
        std::optional<std::string> crash{};  ///< how the worker ended without an answer
    };

    /// No running thread may hold a lock. ConfigError if the system cannot start processes.
    WorkerPool(std::size_t workers, Work work);
    /// Ends the workers, including busy ones.
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    bool has_idle() const;
    bool has_busy() const;
    /// Sends work to an idle worker.
    void give(std::uint64_t work);
    /// Waits for the first answer of a busy worker, up to `milliseconds`.
    std::optional<Answer> take(int milliseconds);

 private:
    struct Worker {
        int process = 0;
        int channel = -1;
        std::optional<std::uint64_t> work{};
    };
    Worker start();
    [[noreturn]] void serve(int channel) const;
    Answer answer_of(Worker& worker);

    Work work_;
    std::vector<Worker> workers_;
};

}  // namespace npuscope
