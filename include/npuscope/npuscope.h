/* SPDX-License-Identifier: Apache-2.0 */
/* An NPU inside a C program: a driver's own firmware runs on it unchanged, by register and memory
 * accesses and interrupts.
 *
 *     npuscope_device* npu = NULL;
 *     if (npuscope_create("nv_small", NULL, 0, NULL, &npu) != NPUSCOPE_OK) {
 *         fputs(npuscope_error(), stderr);
 *     }
 *     npuscope_write_memory(npu, 0x80000000, weights, sizeof weights);
 *     npuscope_write_register(npu, 0x5010, 1);
 *     npuscope_run_until_interrupt(npu, 1000000, NULL);
 *     npuscope_destroy(npu);
 *
 * Every function but those that say otherwise gives a status; npuscope_error() is the text of the last
 * one that was not NPUSCOPE_OK in this thread, with what to change. No exception and no signal crosses
 * this interface. Calls from several threads wait for each other. Cycles are those of the NPU's clock.
 */
#ifndef NPUSCOPE_NPUSCOPE_H
#define NPUSCOPE_NPUSCOPE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when something is added; the first number when something that was there changes. */
#define NPUSCOPE_API_MAJOR 1
#define NPUSCOPE_API_MINOR 4

typedef enum npuscope_status {
    NPUSCOPE_OK = 0,
    NPUSCOPE_BAD_ARGUMENT = 1,    /* a null pointer, a destroyed device, a wrong size */
    NPUSCOPE_WRONG_INPUT = 2,     /* an invalid configuration, register or address */
    NPUSCOPE_STOPPED = 3,         /* nothing is left to happen, and what was awaited has not */
    NPUSCOPE_LIMIT = 4,           /* the cycles have passed before it happened */
    NPUSCOPE_CALLBACK_FAILED = 5, /* a call-back of the caller said so */
    NPUSCOPE_DEFECT = 70          /* a defect of npuscope: please report it */
} npuscope_status;

typedef struct npuscope_device npuscope_device;

/* Of the library that is loaded: "0.1.0"; and of this interface, major * 1000 + minor. */
const char* npuscope_version(void);
unsigned npuscope_api_version(void);
/* Never null; valid until the next call in this thread. */
const char* npuscope_error(void);

/* Memory that the caller keeps: both are called while a function of this interface runs, and must not
 * call one themselves. Anything but 0 is a failure, of which the function then tells. Timing is that
 * of the configuration. */
typedef struct npuscope_memory {
    int (*read)(void* user, uint64_t address, void* data, size_t size);
    int (*write)(void* user, uint64_t address, const void* data, size_t size);
    void* user;
} npuscope_memory;

/* `npu`: a preset by name or file (`npuscope list presets`); `changes`: `count` texts KEY=VALUE, as
 * `npuscope run --set` takes them, among them "memory=PRESET"; `memory`: null for one of the
 * device's own, whose uninitialised bytes are findings when they are read. */
npuscope_status npuscope_create(const char* npu, const char* const* changes, size_t count,
                                const npuscope_memory* memory, npuscope_device** device);

/* What the NPU asks of a memory with timing of its own: a burst, within 4 KiB. */
typedef struct npuscope_request {
    uint64_t id;      /* of this request alone */
    uint64_t address; /* bytes */
    size_t size;      /* bytes */
    int port;         /* 0: dram; 1: the second port, of NPUs that have one */
    int write;        /* 1: `data` has what is written; 0: what is read goes there */
    void* data;       /* `size` bytes, until the answer */
} npuscope_request;

/* What `begin` gives, in place of a latency. */
#define NPUSCOPE_LATER (-1) /* npuscope_answer() says when */
#define NPUSCOPE_ERROR (-2) /* an error response, which becomes a finding */

/* `begin` is called in the cycle of each request, while a function of this interface runs, and must not
 * call one itself; `request` is valid for the call. It gives the latency in cycles, counted as those of
 * the configuration are, with what is read in `data`; or one of the above. Many requests are in flight, and
 * may be answered in any order. `peek` (or null): bytes without time, 0 where it moved them. Compressed
 * weights need it, and all operands under npu.mcif.transactions=bursts. */
typedef struct npuscope_timed_memory {
    int64_t (*begin)(void* user, const npuscope_request* request);
    int (*peek)(void* user, uint64_t address, void* data, size_t size);
    void* user;
} npuscope_timed_memory;

/* As npuscope_create(), with all of memory outside, at its own time: npu.mcif.transactions is `values`
 * where `changes` has nothing else. */
npuscope_status npuscope_create_timed(const char* npu, const char* const* changes, size_t count,
                                      const npuscope_timed_memory* memory,
                                      npuscope_device** device);
/* Answers a request that `begin` put off, in the present cycle; what was read is in its `data`. `error`: 1
 * for an error response, 2 where nothing is at the address (AXI's SLVERR and DECERR). NPUSCOPE_BAD_ARGUMENT where no such request waits. */
npuscope_status npuscope_answer(npuscope_device* device, uint64_t id, int error);
/* Null is allowed. */
npuscope_status npuscope_destroy(npuscope_device* device);
/* As if it had just been made; memory of the device's own is empty again. */
npuscope_status npuscope_reset(npuscope_device* device);

/* Addresses are bytes from the start of the NPU's registers (`npuscope list registers`). A write is
 * posted, a read takes the time that it takes. */
npuscope_status npuscope_write_register(npuscope_device* device, uint32_t address, uint32_t value);
npuscope_status npuscope_read_register(npuscope_device* device, uint32_t address, uint32_t* value);

/* The caller's view of memory: no time passes. Not of a memory with timing of its own. */
npuscope_status npuscope_write_memory(npuscope_device* device, uint64_t address, const void* data,
                                      size_t size);
npuscope_status npuscope_read_memory(npuscope_device* device, uint64_t address, void* data,
                                     size_t size);
/* So many bytes become `value`; a memory that is all zeros costs nothing. */
npuscope_status npuscope_fill_memory(npuscope_device* device, uint64_t address, uint8_t value,
                                     size_t size);

/* All of these cycles pass. */
npuscope_status npuscope_advance(npuscope_device* device, uint64_t cycles);
/* Until the interrupt line is high, at once where it is. NPUSCOPE_STOPPED where nothing is left that
 * could raise it (or all that is left waits for npuscope_answer()), NPUSCOPE_LIMIT after `most` cycles. `passed`: cycles; may be null. */
npuscope_status npuscope_run_until_interrupt(npuscope_device* device, uint64_t most,
                                             uint64_t* passed);
/* Until nothing is left to happen; NPUSCOPE_LIMIT after `most` cycles. */
npuscope_status npuscope_run_until_idle(npuscope_device* device, uint64_t most, uint64_t* passed);

/* 1 while the interrupt line is high. */
npuscope_status npuscope_interrupt(npuscope_device* device, int* line);
npuscope_status npuscope_cycle(npuscope_device* device, uint64_t* cycle);

/* What was counted so far, as `npuscope run --json` writes it: operations with their cycles and causes,
 * traffic by client, units, findings, the configuration. To be given to npuscope_free(). */
npuscope_status npuscope_result(npuscope_device* device, char** json);
void npuscope_free(void* text);

/* An array in C order as it lies in memory in a layout (`npuscope list layouts`), and back. `type`:
 * "int8", "uint8", "int16", "float16" ..; `shape`: n, c, h, w. Where `memory` is null, `*size`
 * becomes the bytes that it needs; else it is the bytes that it has. */
npuscope_status npuscope_pack(const char* layout, const char* type, const uint32_t shape[4],
                              const void* array, void* memory, size_t* size);
npuscope_status npuscope_unpack(const char* layout, const char* type, const uint32_t shape[4],
                                const void* memory, size_t size, void* array);

#ifdef __cplusplus
}
#endif
#endif
