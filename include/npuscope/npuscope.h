/* SPDX-License-Identifier: Apache-2.0 */
/* An NPU inside a C program: a driver's own firmware uses it unchanged, through register and
 * memory accesses and interrupts.
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
 * Every function returns a status unless stated otherwise; npuscope_error() describes the last one
 * in this thread that was not NPUSCOPE_OK, and what to change. No exception and no signal crosses
 * this interface. Calls from several threads wait for each other. Cycles are those of the NPU's
 * clock, which counts to 2^54 - 1 since creation or reset.
 *
 * In a SystemC program, call from sc_main, an SC_METHOD or an SC_THREAD. A thread waits during the
 * call, without time or a delta cycle passing: other processes of the evaluation phase may run.
 * From an SC_CTHREAD, or a thread that is being killed, a call returns NPUSCOPE_BAD_ARGUMENT.
 */
#ifndef NPUSCOPE_NPUSCOPE_H
#define NPUSCOPE_NPUSCOPE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The minor version grows when something is added, the major when something existing changes. */
#define NPUSCOPE_API_MAJOR 1
#define NPUSCOPE_API_MINOR 5

typedef enum npuscope_status {
    NPUSCOPE_OK = 0,
    NPUSCOPE_BAD_ARGUMENT = 1,    /* a null pointer, a destroyed device, a wrong size */
    NPUSCOPE_WRONG_INPUT = 2,     /* an invalid configuration, register, address; too much memory */
    NPUSCOPE_STOPPED = 3,         /* no event is left, and the awaited one has not happened */
    NPUSCOPE_LIMIT = 4,           /* the given cycles passed before it happened */
    NPUSCOPE_CALLBACK_FAILED = 5, /* a callback of the caller reported failure */
    NPUSCOPE_DEFECT = 70          /* a defect of npuscope: please report it */
} npuscope_status;

typedef struct npuscope_device npuscope_device;

/* Version of the loaded library, "0.1.0", and of this interface, major * 1000 + minor. */
const char* npuscope_version(void);
unsigned npuscope_api_version(void);
/* Never null; valid until the next call in this thread. */
const char* npuscope_error(void);

/* Memory kept by the caller: both callbacks are called while a function of this interface runs, and
 * must not call one themselves, which returns NPUSCOPE_BAD_ARGUMENT (npuscope_pack() and
 * npuscope_unpack() may be called). Any value but 0 is a failure, which that function then reports; so
 * is a C++ exception. Timing is that of the configuration. */
typedef struct npuscope_memory {
    int (*read)(void* user, uint64_t address, void* data, size_t size);
    int (*write)(void* user, uint64_t address, const void* data, size_t size);
    void* user;
} npuscope_memory;

/* `npu`: a preset by name or file (`npuscope list presets`); `changes`: `count` strings KEY=VALUE,
 * as accepted by `npuscope run --set`, including "memory=PRESET"; `memory`: null for the device's
 * own memory, where reads of uninitialised bytes are findings. */
npuscope_status npuscope_create(const char* npu, const char* const* changes, size_t count,
                                const npuscope_memory* memory, npuscope_device** device);

/* A request of the NPU to a memory with its own timing: one burst, within 4 KiB. */
typedef struct npuscope_request {
    uint64_t id;      /* unique to this request */
    uint64_t address; /* bytes */
    size_t size;      /* bytes */
    int port;         /* 0: dram; 1: the second port, of NPUs that have one */
    int write;        /* 1: `data` holds the bytes to write; 0: read bytes go there */
    void* data;       /* `size` bytes, valid until the answer */
} npuscope_request;

/* What `begin` may return in place of a latency. */
#define NPUSCOPE_LATER (-1) /* npuscope_answer() says when */
#define NPUSCOPE_ERROR (-2) /* an error response, which becomes a finding */

/* `begin` is called in the cycle of each request, while a function of this interface runs, and must
 * not call one itself; `request` is valid during the call. It returns the latency in cycles,
 * counted as in the configuration, with read bytes in `data`; or one of the above. A latency that
 * the clock cannot count is a failure, and an error response; so is a C++ exception. Many requests
 * are in flight, and may be answered in any order. `peek` (or null) moves bytes in zero time, and
 * returns 0 if it did. Compressed weights need it, and all operands under
 * npu.mcif.transactions=bursts. */
typedef struct npuscope_timed_memory {
    int64_t (*begin)(void* user, const npuscope_request* request);
    int (*peek)(void* user, uint64_t address, void* data, size_t size);
    void* user;
} npuscope_timed_memory;

/* As npuscope_create(), but all memory is outside, with its own timing: npu.mcif.transactions is
 * `values` unless `changes` sets it. */
npuscope_status npuscope_create_timed(const char* npu, const char* const* changes, size_t count,
                                      const npuscope_timed_memory* memory,
                                      npuscope_device** device);
/* Answers a request that `begin` deferred, in the current cycle; read bytes are in its `data`.
 * `error`: 1 for an error response, 2 if nothing is at the address (AXI's SLVERR and DECERR).
 * NPUSCOPE_BAD_ARGUMENT if no such request is waiting, or `error` is none of these. */
npuscope_status npuscope_answer(npuscope_device* device, uint64_t id, int error);
/* Null is allowed. */
npuscope_status npuscope_destroy(npuscope_device* device);
/* Back to the state after creation; the device's own memory is empty again. */
npuscope_status npuscope_reset(npuscope_device* device);

/* Addresses are bytes from the start of the NPU's registers (`npuscope list registers`); where there
 * is no register, NPUSCOPE_WRONG_INPUT. A write is posted; a read advances time until its
 * response. */
npuscope_status npuscope_write_register(npuscope_device* device, uint32_t address, uint32_t value);
npuscope_status npuscope_read_register(npuscope_device* device, uint32_t address, uint32_t* value);

/* The caller's view of memory: no time passes. Not available for a memory with its own timing. */
npuscope_status npuscope_write_memory(npuscope_device* device, uint64_t address, const void* data,
                                      size_t size);
npuscope_status npuscope_read_memory(npuscope_device* device, uint64_t address, void* data,
                                     size_t size);
/* Sets `size` bytes to `value`; memory that is all zeros costs nothing. */
npuscope_status npuscope_fill_memory(npuscope_device* device, uint64_t address, uint8_t value,
                                     size_t size);

/* Lets all of these cycles pass. NPUSCOPE_BAD_ARGUMENT if the clock has fewer left. */
npuscope_status npuscope_advance(npuscope_device* device, uint64_t cycles);
/* Runs until the interrupt line is high, which may be at once, but not before posted writes have
 * reached their registers: an interrupt that they clear or mask does not count. NPUSCOPE_STOPPED if
 * nothing is left that could raise it (or all that is left waits for npuscope_answer()),
 * NPUSCOPE_LIMIT after `most` cycles, or when the clock ends: UINT64_MAX is no limit. `passed`:
 * cycles that passed; may be null. */
npuscope_status npuscope_run_until_interrupt(npuscope_device* device, uint64_t most,
                                             uint64_t* passed);
/* Runs until no event is left; NPUSCOPE_LIMIT after `most` cycles, likewise. */
npuscope_status npuscope_run_until_idle(npuscope_device* device, uint64_t most, uint64_t* passed);

/* 1 while the interrupt line is high. A posted write changes it when it has reached its register:
 * at once, unless the bus is full. */
npuscope_status npuscope_interrupt(npuscope_device* device, int* line);
npuscope_status npuscope_cycle(npuscope_device* device, uint64_t* cycle);

/* What was counted so far, as written by `npuscope run --json`: operations with their cycles and
 * causes, traffic by client, units, findings, the configuration. Free it with npuscope_free(). */
npuscope_status npuscope_result(npuscope_device* device, char** json);
void npuscope_free(void* text);

/* Converts an array in C order to its bytes in a memory layout (`npuscope list layouts`), and back.
 * `type`: "int8", "uint8", "int16", "float16" ..; `shape`: n, c, h, w. If `memory` is null, `*size`
 * is set to the bytes that it needs; otherwise it is the size of `memory`. */
npuscope_status npuscope_pack(const char* layout, const char* type, const uint32_t shape[4],
                              const void* array, void* memory, size_t* size);
npuscope_status npuscope_unpack(const char* layout, const char* type, const uint32_t shape[4],
                                const void* memory, size_t size, void* array);

/* What a register program drives: a device of this interface, RTL, or both in lockstep. The
 * callbacks may call every function of this interface. Any value but 0 ends the program. */
typedef struct npuscope_driven {
    int (*write_register)(void* user, uint32_t address, uint32_t value);
    int (*read_register)(void* user, uint32_t address, uint32_t* value);
    int (*write_memory)(void* user, uint64_t address, const void* data, size_t size);
    int (*fill_memory)(void* user, uint64_t address, uint8_t value, size_t size);
    int (*read_memory)(void* user, uint64_t address, void* data, size_t size);
    int (*await_interrupt)(void* user); /* returns while the interrupt line is high */
    /* A check was made: whether it holds, and what was expected and found; or null. */
    void (*check)(void* user, int holds, const char* text);
    void* user;
} npuscope_driven;

/* Plays a register program (`.cfg` or `.txn`, or its folder; docs/programs.md) as a driver:
 * interrupts are served when a statement waits for one, by a read and a write of the status. Names
 * of registers are those of the preset `npu`. NPUSCOPE_WRONG_INPUT for an invalid program,
 * NPUSCOPE_STOPPED if it waits for what nothing can raise, or polls for 100,000 reads,
 * NPUSCOPE_CALLBACK_FAILED if a callback ended it. */
npuscope_status npuscope_play(const char* program, const char* npu, const npuscope_driven* driven);

#ifdef __cplusplus
}
#endif
#endif
