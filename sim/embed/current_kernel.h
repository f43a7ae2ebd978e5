// SPDX-License-Identifier: Apache-2.0
// Several kernels live in a process, one of them the current one.
#pragma once

#include <systemc>

namespace npuscope {

/// While it lives this kernel is the current one; then the one before is again.
class CurrentKernel {
 public:
    explicit CurrentKernel(sc_core::sc_simcontext* kernel) { sc_core::sc_curr_simcontext = kernel; }
    /// The present one stays; whatever becomes the current one meanwhile is not so after this.
    CurrentKernel() = default;
    CurrentKernel(const CurrentKernel&) = delete;
    CurrentKernel& operator=(const CurrentKernel&) = delete;
    ~CurrentKernel() { sc_core::sc_curr_simcontext = before_; }

 private:
    sc_core::sc_simcontext* before_ = sc_core::sc_curr_simcontext;
};

}  // namespace npuscope
