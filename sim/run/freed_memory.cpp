// SPDX-License-Identifier: Apache-2.0
#include "sim/run/freed_memory.h"

#include <cstddef>
#include <cstdlib>
#include <memory>

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#endif

namespace npuscope {
namespace {

#ifdef __GLIBC__
/// Uses pages of 2 MiB for future heap addresses, which cause one five-hundredth of the page
/// faults. No memory is allocated before it is used.
void prefer_large_pages_in_heap() {
    constexpr std::size_t large = std::size_t{2} << 20U;
    constexpr std::size_t ahead = std::size_t{256} << 20U;
    void* const heap = std::malloc(ahead);
    void* first = heap;
    std::size_t room = ahead;
    if (heap != nullptr && std::align(large, large, first, room) != nullptr) {
        ::madvise(first, room / large * large, MADV_HUGEPAGE);
    }
    std::free(heap);
}
#endif

}  // namespace

void keep_freed_memory() {
#ifdef __GLIBC__
    constexpr int kept = 1 << 30;  // bytes, per allocation and in total
    mallopt(M_MMAP_THRESHOLD, kept);
    mallopt(M_TRIM_THRESHOLD, kept);
    constexpr int ahead = 64 << 20;  // in steps that hold pages of 2 MiB: sim/config/file_io.cpp
    mallopt(M_TOP_PAD, ahead);
    prefer_large_pages_in_heap();
#endif
}

}  // namespace npuscope
