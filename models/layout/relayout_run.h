// SPDX-License-Identifier: Apache-2.0
// Walks a loop nest: picks what its loops allow - runs of bytes, transposes by vectors, or single
// units in blocks - and the order that suits caches and pages.
#pragma once

#include <cstdint>
#include <functional>

#include "models/layout/relayout_plan.h"

namespace npuscope {

/// Reports bytes moved, in portions of a megabyte or so.
class MoveProgress {
 public:
    explicit MoveProgress(const std::function<void(std::uint64_t)>& report) : report_(report) {}

    void moved(std::uint64_t bytes) {
        waiting_ += bytes;
        if (waiting_ >= portion && report_) {
            flush();
        }
    }
    void flush() {
        if (report_ && waiting_ > 0) {
            report_(waiting_);
        }
        waiting_ = 0;
    }

 private:
    static constexpr std::uint64_t portion = std::uint64_t{1} << 20;
    const std::function<void(std::uint64_t)>& report_;
    std::uint64_t waiting_ = 0;
};

struct NestMemory {
    const std::uint8_t* from = nullptr;
    std::uint8_t* to = nullptr;
    bool stream = false;  ///< the target is too large to be worth a place in the caches
    MoveProgress* progress = nullptr;
};

void run_nest(const LoopNest& nest, const NestMemory& memory);

}  // namespace npuscope
