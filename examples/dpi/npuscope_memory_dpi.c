/* SPDX-License-Identifier: Apache-2.0 */
/* Gives npuscope_pins_dpi.c zero-time access to a test bench's memory: compile it too if a module exports
 * npuscope_pins_memory, the byte at an address, and calls npuscope_pins_memory_here. */
#include <stddef.h>
#include <stdint.h>
#include <svdpi.h>

#ifdef __cplusplus
extern "C" {
#endif

extern int npuscope_pins_memory(unsigned long long address);
extern void npuscope_pins_peek_by(int (*peek)(uint64_t address, void* data, size_t size));

static svScope memory_scope = NULL;

static int peek_memory(uint64_t address, void* data, size_t size) {
    const svScope before = svSetScope(memory_scope);
    for (size_t i = 0; i < size; ++i) {
        ((unsigned char*)data)[i] = (unsigned char)npuscope_pins_memory(address + i);
    }
    svSetScope(before);
    return 0;
}

void npuscope_pins_memory_here(void) {
    memory_scope = svGetScope();
    npuscope_pins_peek_by(peek_memory);
}

#ifdef __cplusplus
}
#endif
