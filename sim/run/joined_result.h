// SPDX-License-Identifier: Apache-2.0
// The results of a model's segments and of the host's work between them as one result: one after
// the other in time, what is counted added up.
#pragma once

#include <string>

#include "sim/run/host_cost.h"
#include "sim/run/result.h"

namespace npuscope {

class JoinedResult {
 public:
    JoinedResult(std::string program, const SystemConfig& system, bool timeline);

    /// `part` begins where all that was added before ends.
    void add_segment(SegmentRecord segment, Result part);
    void add_operator(const std::string& name, const HostCost& cost);
    Result& result() { return result_; }
    /// All of it, with what the host took among the units.
    Result take();

 private:
    void add_counts(const Result& part);
    void add_timeline(Timeline& part);
    Cycles now() const { return result_.simulated_cycles; }

    Result result_;
    bool first_ = true;
};

}  // namespace npuscope
