// SPDX-License-Identifier: Apache-2.0
// What passes on the fly between CACC, SDP and PDP: a run of feature atoms of one surface, in raster order,
// with the time at which the first is there. The values of the whole operation travel along by
// reference.
#pragma once

#include <memory>

#include "models/layout/tensor.h"
#include "models/link/end_marks.h"
#include "models/link/timed_counter.h"

namespace npuscope {

template <class T, class Values = Tensor<T>>
struct AtomRun {
    std::shared_ptr<const Values>
        values{};            ///< of the whole operation; null when only time is simulated
    std::uint32_t part = 0;  ///< column range of a cube that is read in parts
    std::uint32_t surface = 0;
    std::uint64_t first_pixel = 0;  ///< y * width + x
    std::uint64_t count = 0;
    Cycles first_ready{};             ///< the first atom of the run leaves its giver
    Cycles interval{1};               ///< from one atom of the run to the next
    bool last = false;                ///< last run of the operation
    TimedCounter* credits = nullptr;  ///< gets `count` back, `credit_delay` after the run is taken
    Cycles credit_delay{};
    EndMarks* marks = nullptr;  ///< is told when the run leaves, where the giver marks its ends
};

}  // namespace npuscope
