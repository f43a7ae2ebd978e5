// SPDX-License-Identifier: Apache-2.0
// What NVIDIA's kernel-mode firmware requires of its host system, as calls into the program that loads it as a
// library: bench/nvidia_firmware. source: NVDLA sw, kmd/include/nvdla_interface.h
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "nvdla_interface.h"

struct calls {
    uint32_t (*read_register)(uint32_t address);
    void (*write_register)(uint32_t address, uint32_t value);
    int32_t (*read_memory)(uint64_t entry, void* to, uint32_t size, uint64_t offset);
    int32_t (*write_memory)(const void* from, uint64_t entry, uint32_t size, uint64_t offset);
    uint64_t (*address_of)(int entry);
};
static struct calls calls;

void set_calls(const struct calls* given) { calls = *given; }

static void print_text(const char* text, va_list arguments) { vfprintf(stderr, text, arguments); }

void dla_debug(const char* text, ...) { (void)text; }
void dla_info(const char* text, ...) { (void)text; }
void dla_warn(const char* text, ...) {
    va_list arguments;
    va_start(arguments, text);
    print_text(text, arguments);
    va_end(arguments);
}
void dla_error(const char* text, ...) {
    va_list arguments;
    va_start(arguments, text);
    print_text(text, arguments);
    va_end(arguments);
}

void* dla_memset(void* to, int byte, uint64_t size) { return memset(to, byte, size); }
void* dla_memcpy(void* to, const void* from, uint64_t size) { return memcpy(to, from, size); }

// Only differences of it are used, in statistics.
int64_t dla_get_time_us(void) {
    static int64_t time;
    return ++time;
}

uint32_t dla_reg_read(void* driver, uint32_t address) {
    (void)driver;
    return calls.read_register(address);
}
void dla_reg_write(void* driver, uint32_t address, uint32_t value) {
    (void)driver;
    calls.write_register(address, value);
}

// The firmware identifies a buffer by its number, the NPU by its address.
int32_t dla_get_dma_address(void* driver, void* task, int16_t entry, void* address, uint32_t destination) {
    (void)driver, (void)task;
    if (entry < 0) {
        return -1;
    }
    const uint64_t found = destination == DESTINATION_PROCESSOR ? (uint64_t)entry : calls.address_of(entry);
    memcpy(address, &found, sizeof found);
    return 0;
}
int32_t dla_data_read(void* driver, void* task, uint64_t entry, void* to, uint32_t size, uint64_t offset) {
    (void)driver, (void)task;
    return calls.read_memory(entry, to, size, offset);
}
int32_t dla_data_write(void* driver, void* task, void* from, uint64_t entry, uint32_t size, uint64_t offset) {
    (void)driver, (void)task;
    return calls.write_memory(from, entry, size, offset);
}
