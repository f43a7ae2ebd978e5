// SPDX-License-Identifier: Apache-2.0
#include "sim/run/freed_memory.h"

#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace npuscope {

void keep_freed_memory() {
#ifdef __GLIBC__
    constexpr int kept = 1 << 30;  // bytes, of one allocation and in all
    mallopt(M_MMAP_THRESHOLD, kept);
    mallopt(M_TRIM_THRESHOLD, kept);
    constexpr int ahead = 64 << 20;  // in steps that hold pages of 2 MiB: sim/config/file_io.cpp
    mallopt(M_TOP_PAD, ahead);
#endif
}

}  // namespace npuscope
