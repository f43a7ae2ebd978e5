// SPDX-License-Identifier: Apache-2.0
// The SystemC process from which a device is called. A device's kernel cannot run on the stack of a
// platform's thread: kernels share the place to which threads return, which would be overwritten.
#pragma once

#include <functional>

namespace npuscope {

enum class CallingProcess {
    None,  ///< or a method: a device's kernel may run
    Thread,
    ClockedThread,  ///< which can only wait for its clock
    KilledThread    ///< which can no longer wait
};

CallingProcess calling_process();

/// Runs this in a method of the platform, in the present evaluation phase, while the calling thread
/// waits. It is not run if the thread is killed meanwhile.
void run_in_method(const std::function<void()>& work);

}  // namespace npuscope
