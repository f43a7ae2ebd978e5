// SPDX-License-Identifier: Apache-2.0
// Processes of this program that work side by side, each at one piece of work at a time. One that ends
// by a signal takes its piece of work with it and is replaced; it harms no other.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace npuscope {

/// So many as are asked for; 0: one a core.
std::size_t worker_count(std::size_t asked);

class WorkerPool {
 public:
    /// Gives the answer to a piece of work; called in a worker.
    using Work = std::function<std::string(std::uint64_t)>;

    struct Answer {
        std::uint64_t work = 0;
        std::string text{};
        std::optional<std::string> crash{};  ///< how the worker ended without an answer
    };

    /// No thread may run that holds a lock. ConfigError where the system starts no process.
    WorkerPool(std::size_t workers, Work work);
    /// Ends the workers, busy ones too.
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    bool has_idle() const;
    bool has_busy() const;
    /// To an idle worker.
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
