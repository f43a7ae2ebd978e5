// SPDX-License-Identifier: Apache-2.0
// A process can have several kernels, one of which is the current one.
#pragma once

#include <systemc>

namespace npuscope {

/// During its lifetime this kernel is the current one; then the previous one is again.
class CurrentKernel {
 public:
    explicit CurrentKernel(sc_core::sc_simcontext* kernel) { sc_core::sc_curr_simcontext = kernel; }
    /// The present one stays, and is restored if another one becomes current meanwhile.
    CurrentKernel() = default;
    CurrentKernel(const CurrentKernel&) = delete;
    CurrentKernel& operator=(const CurrentKernel&) = delete;
    ~CurrentKernel() { sc_core::sc_curr_simcontext = before_; }

 private:
    sc_core::sc_simcontext* before_ = sc_core::sc_curr_simcontext;
};

}  // namespace npuscope
