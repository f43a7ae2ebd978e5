// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/worker_pool.h"

#include <gmock/gmock-matchers.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <stdexcept>

namespace npuscope {
namespace {

using testing::HasSubstr;

TEST(WorkerPool, answersEveryPieceAndReplacesAWorkerThatCrashes) {
    WorkerPool pool(3, [](std::uint64_t work) {
        if (work % 5 == 0) {
            std::raise(SIGKILL);
        }
        return std::string(100'000, static_cast<char>('a' + work % 26));
    });
    std::map<std::uint64_t, WorkerPool::Answer> answers;
    std::uint64_t next = 0;
    while (next < 40 || pool.has_busy()) {
        if (next < 40 && pool.has_idle()) {
            pool.give(next++);
        } else if (auto answer = pool.take(1000)) {
            answers[answer->work] = *answer;
        }
    }
    ASSERT_EQ(answers.size(), 40U);
    for (const auto& [work, answer] : answers) {
        if (work % 5 == 0) {
            EXPECT_THAT(answer.crash.value_or(""), HasSubstr("ended by signal 9"));
        } else {
            EXPECT_FALSE(answer.crash);
            EXPECT_EQ(answer.text, std::string(100'000, static_cast<char>('a' + work % 26)));
        }
    }
}

TEST(WorkerPool, aWorkerThatThrowsEndsAlone) {
    const pid_t parent = ::getpid();
    try {
        WorkerPool pool(1, [](std::uint64_t) -> std::string { throw std::runtime_error("a bug"); });
        pool.give(1);
        auto answer = pool.take(1000);
        while (!answer) {
            answer = pool.take(1000);
        }
        EXPECT_THAT(answer->crash.value_or(""), HasSubstr("ended with exit code 70"));
    } catch (const std::runtime_error&) {
        if (::getpid() != parent) {
            ::_exit(1);  // in the worker: nothing of the test may run twice
        }
    }
}

}  // namespace
}  // namespace npuscope
