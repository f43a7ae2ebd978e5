// SPDX-License-Identifier: Apache-2.0
#include "models/link/clock.h"

#ifdef __SANITIZE_ADDRESS__
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace npuscope {
namespace {

#ifdef __SANITIZE_ADDRESS__
/// Of the calling thread. Queried only once: the system reads a file for them.
struct StackBounds {
    StackBounds() {
        pthread_attr_t attributes;
        pthread_getattr_np(pthread_self(), &attributes);
        pthread_attr_getstack(&attributes, &bottom, &size);
        pthread_attr_destroy(&attributes);
    }
    void* bottom = nullptr;
    std::size_t size = 0;
};
#endif

void restore_stack_bounds() {
#ifdef __SANITIZE_ADDRESS__
    thread_local const StackBounds bounds;
    void* fake_stack = nullptr;
    __sanitizer_start_switch_fiber(&fake_stack, bounds.bottom, bounds.size);
    __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

}  // namespace

void advance(const sc_core::sc_time& limit) {
    sc_core::sc_start(limit, sc_core::SC_EXIT_ON_STARVATION);
    restore_stack_bounds();
}

}  // namespace npuscope
