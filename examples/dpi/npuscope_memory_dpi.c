/* SPDX-License-Identifier: Apache-2.0 */
/* Gives npuscope_pins_dpi.c zero-time access to memories of a test bench: compile it too if modules export
 * npuscope_pins_memory, the byte at an address, and call npuscope_pins_memory_of. */
#include <stddef.h>
#include <stdint.h>
#include <svdpi.h>

#ifdef __cplusplus
extern "C" {
#endif

extern int npuscope_pins_memory(unsigned long long address);
extern int npuscope_pins_peek_by(int number, int (*peek)(void* memory, uint64_t address, void* data, size_t size),
                                 void* memory);

static int peek_memory(void* memory, uint64_t address, void* data, size_t size) {
    const svScope before = svSetScope((svScope)memory);
    for (size_t i = 0; i < size; ++i) {
        ((unsigned char*)data)[i] = (unsigned char)npuscope_pins_memory(address + i);
    }
    svSetScope(before);
    return 0;
}

/* The memory of this NPU is the one of the calling module. */
int npuscope_pins_memory_of(int number) { return npuscope_pins_peek_by(number, peek_memory, svGetScope()); }

#ifdef __cplusplus
}
#endif
