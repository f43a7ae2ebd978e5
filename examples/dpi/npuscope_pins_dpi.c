/* SPDX-License-Identifier: Apache-2.0 */
/* Behind the pins of npuscope_pins.sv: devices of libnpuscope.so whose memory is the test bench's, and their
 * requests as AXI bursts. Compiled by the simulator, as C or as C++. Functions that return int return 0 on success;
 * otherwise npuscope_error() has the reason. */
#include <npuscope/npuscope.h>
#include <stdlib.h>
#include <string.h>
#include <svdpi.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MOST_DEVICES = 64, PORTS = 2, MOST_CHANGES = 64, BUS_BYTES = 64 };

/* A read or a write of the NPU; its bursts are created one by one, and answered in any order. */
typedef struct pins_request {
    npuscope_request asked;
    size_t made;                /* bytes covered by bursts so far */
    struct pins_burst* bursts;  /* the unanswered ones */
    int error;                  /* argument of npuscope_answer() */
    struct pins_request* next;  /* in the list of those that need more bursts */
    struct pins_request* other; /* in the list of all of the device; `here`: what points to this one */
    struct pins_request** here;
} pins_request;

typedef struct pins_burst {
    pins_request* of;
    uint64_t address;
    size_t offset; /* of its first byte in the request */
    size_t size;
    unsigned width; /* bytes of a beat */
    struct pins_burst* other;
} pins_burst;

typedef struct pins_device {
    npuscope_device* npu;
    uint64_t cycle;                /* of the clock */
    pins_request* all;             /* requests that are not answered */
    pins_request* first[PORTS][2]; /* read, write: those that need more bursts */
    pins_request** last[PORTS][2];
} pins_device;

static pins_device* pins_devices[MOST_DEVICES];
static int pins_end_is_known = 0;

static void pins_keep(pins_device* device, pins_request* request) {
    request->other = device->all;
    request->here = &device->all;
    if (device->all != NULL) {
        device->all->here = &request->other;
    }
    device->all = request;
}

/* Frees the request and its unanswered bursts. */
static void pins_drop(pins_request* request) {
    while (request->bursts != NULL) {
        pins_burst* burst = request->bursts;
        request->bursts = burst->other;
        free(burst);
    }
    *request->here = request->other;
    if (request->other != NULL) {
        request->other->here = request->here;
    }
    free(request);
}

static void pins_forget(pins_device* device) {
    while (device->all != NULL) {
        pins_drop(device->all);
    }
    for (int port = 0; port < PORTS; ++port) {
        for (int write = 0; write < 2; ++write) {
            device->first[port][write] = NULL;
            device->last[port][write] = &device->first[port][write];
        }
    }
    device->cycle = 0;
}

static int64_t pins_begin(void* user, const npuscope_request* asked) {
    pins_device* device = (pins_device*)user;
    pins_request* request = (pins_request*)calloc(1, sizeof *request);
    request->asked = *asked;
    pins_keep(device, request);
    *device->last[asked->port][asked->write] = request;
    device->last[asked->port][asked->write] = &request->next;
    return NPUSCOPE_LATER;
}

/* Copies bytes of the test bench's memory in zero time, returns 0 if it did: npuscope_memory_dpi.c. */
static int (*pins_peek_function)(uint64_t address, void* data, size_t size) = NULL;
void npuscope_pins_peek_by(int (*peek)(uint64_t address, void* data, size_t size)) { pins_peek_function = peek; }

static int pins_peek(void* user, uint64_t address, void* data, size_t size) {
    (void)user;
    return pins_peek_function == NULL ? 1 : pins_peek_function(address, data, size);
}

static pins_device* pins_of(int number) {
    return number >= 0 && number < MOST_DEVICES ? pins_devices[number] : NULL;
}

int npuscope_pins_destroy(int number) {
    pins_device* device = pins_of(number);
    if (device == NULL) {
        return NPUSCOPE_BAD_ARGUMENT;
    }
    const int status = npuscope_destroy(device->npu);
    pins_forget(device);
    free(device);
    pins_devices[number] = NULL;
    return status;
}

/* Destroys devices that are left when the simulator ends. */
static void pins_end(void) {
    for (int number = 0; number < MOST_DEVICES; ++number) {
        npuscope_pins_destroy(number);
    }
}

/* Returns a number for the functions below, or -1. `changes`: separated by spaces. */
int npuscope_pins_create(const char* npu, const char* changes) {
    const char* each[MOST_CHANGES];
    size_t count = 0;
    int number = 0;
    char* text = strdup(changes == NULL ? "" : changes);
    for (char* one = strtok(text, " "); one != NULL && count < MOST_CHANGES; one = strtok(NULL, " ")) {
        each[count++] = one;
    }
    while (number < MOST_DEVICES && pins_devices[number] != NULL) {
        ++number;
    }
    pins_device* device = (pins_device*)calloc(1, sizeof *device);
    pins_forget(device);
    npuscope_timed_memory memory;
    memory.begin = pins_begin;
    memory.peek = pins_peek;
    memory.user = device;
    if (number == MOST_DEVICES || npuscope_create_timed(npu, each, count, &memory, &device->npu) != NPUSCOPE_OK) {
        free(device);
        number = -1;
    } else {
        pins_devices[number] = device;
    }
    free(text);
    if (number >= 0 && !pins_end_is_known) {
        pins_end_is_known = atexit(pins_end) == 0;
    }
    return number;
}

int npuscope_pins_reset(int number) {
    pins_device* device = pins_of(number);
    if (device == NULL) {
        return NPUSCOPE_BAD_ARGUMENT;
    }
    pins_forget(device);
    return npuscope_reset(device->npu);
}

/* A clock edge, reported by the modules of a device in any order; `cycle`: cycles since reset. Cycles that register
 * accesses have taken are not counted twice. */
int npuscope_pins_clock(int number, uint64_t cycle) {
    pins_device* device = pins_of(number);
    uint64_t now = 0;
    if (device == NULL) {
        return NPUSCOPE_BAD_ARGUMENT;
    }
    if (cycle <= device->cycle) {
        return NPUSCOPE_OK;
    }
    device->cycle = cycle;
    const int status = npuscope_cycle(device->npu, &now);
    return status != NPUSCOPE_OK || now >= cycle ? status : npuscope_advance(device->npu, cycle - now);
}

int npuscope_pins_write(int number, uint32_t address, uint32_t value) {
    pins_device* device = pins_of(number);
    return device == NULL ? NPUSCOPE_BAD_ARGUMENT : npuscope_write_register(device->npu, address, value);
}

int npuscope_pins_read(int number, uint32_t address, uint32_t* value) {
    pins_device* device = pins_of(number);
    *value = 0;
    return device == NULL ? NPUSCOPE_BAD_ARGUMENT : npuscope_read_register(device->npu, address, value);
}

int npuscope_pins_interrupt(int number) {
    pins_device* device = pins_of(number);
    int line = 0;
    return device != NULL && npuscope_interrupt(device->npu, &line) == NPUSCOPE_OK ? line : 0;
}

/* The next burst of a port, or null: at most `most_beats` beats of `width` bytes, within 4 KiB as the NPU's
 * requests are. `beats`: its length. */
void* npuscope_pins_take(int number, int port, int write, int width, int most_beats, uint64_t* address, int* beats) {
    pins_device* device = pins_of(number);
    *address = 0;
    *beats = 0;
    if (device == NULL || port < 0 || port >= PORTS || device->first[port][write != 0] == NULL) {
        return NULL;
    }
    pins_request* request = device->first[port][write != 0];
    pins_burst* burst = (pins_burst*)calloc(1, sizeof *burst);
    burst->of = request;
    burst->width = (unsigned)width;
    burst->offset = request->made;
    burst->address = request->asked.address + request->made;
    const uint64_t aligned = burst->address / burst->width * burst->width;
    const uint64_t most = aligned + (uint64_t)most_beats * burst->width - burst->address;
    const size_t left = request->asked.size - request->made;
    burst->size = left < most ? left : (size_t)most;
    request->made += burst->size;
    burst->other = request->bursts;
    request->bursts = burst;
    if (request->made == request->asked.size) {
        device->first[port][write != 0] = request->next;
        if (request->next == NULL) {
            device->last[port][write != 0] = &device->first[port][write != 0];
        }
    }
    *address = burst->address;
    *beats = (int)((burst->address + burst->size - aligned + burst->width - 1) / burst->width);
    return burst;
}

/* Where the bytes of a beat are: `lane` on the bus, `offset` in the request. */
static size_t pins_bytes_of(const pins_burst* burst, int beat, size_t* lane, size_t* offset) {
    const uint64_t aligned = burst->address / burst->width * burst->width;
    const uint64_t begin = beat == 0 ? burst->address : aligned + (uint64_t)beat * burst->width;
    uint64_t end = aligned + (uint64_t)(beat + 1) * burst->width;
    end = end < burst->address + burst->size ? end : burst->address + burst->size;
    *lane = (size_t)(begin % burst->width);
    *offset = burst->offset + (size_t)(begin - burst->address);
    return (size_t)(end - begin);
}

/* A beat of a write, and its strobes. */
void npuscope_pins_beat(void* handle, int beat, svBitVecVal* data, svBitVecVal* strobes) {
    const pins_burst* burst = (const pins_burst*)handle;
    size_t lane, offset;
    const size_t count = pins_bytes_of(burst, beat, &lane, &offset);
    memset(data, 0, BUS_BYTES);
    memset(strobes, 0, BUS_BYTES / 8);
    for (size_t i = 0; i < count; ++i) {
        const size_t at = lane + i;
        const uint32_t byte = ((const unsigned char*)burst->of->asked.data)[offset + i];
        data[at / 4] |= byte << (8 * (at % 4));
        strobes[at / 32] |= 1U << (at % 32);
    }
}

/* A beat that a read has returned. */
void npuscope_pins_brought(void* handle, int beat, const svBitVecVal* data) {
    const pins_burst* burst = (const pins_burst*)handle;
    size_t lane, offset;
    const size_t count = pins_bytes_of(burst, beat, &lane, &offset);
    for (size_t i = 0; i < count; ++i) {
        const size_t at = lane + i;
        ((unsigned char*)burst->of->asked.data)[offset + i] = (unsigned char)(data[at / 4] >> (8 * (at % 4)));
    }
}

/* A burst is answered with the worst response of its beats, as encoded by AXI (2: SLVERR, 3: DECERR); after the
 * last burst of its request the NPU continues. */
int npuscope_pins_answer(int number, void* handle, int response) {
    pins_burst* burst = (pins_burst*)handle;
    pins_request* request = burst->of;
    pins_device* device = pins_of(number);
    int status = NPUSCOPE_OK;
    pins_burst** at = &request->bursts;
    while (*at != burst) {
        at = &(*at)->other;
    }
    *at = burst->other;
    free(burst);
    const int error = response == 3 ? 2 : response == 2 ? 1 : 0;
    request->error = error > request->error ? error : request->error;
    if (request->bursts == NULL && request->made == request->asked.size) {
        status = device == NULL ? (int)NPUSCOPE_BAD_ARGUMENT
                                : (int)npuscope_answer(device->npu, request->asked.id, request->error);
        pins_drop(request);
    }
    return status;
}

/* Unanswered requests of the NPU; a reset leaves none. */
int npuscope_pins_open(int number) {
    const pins_device* device = pins_of(number);
    int count = 0;
    for (const pins_request* one = device == NULL ? NULL : device->all; one != NULL; one = one->other) {
        ++count;
    }
    return count;
}

/* Valid until the next call; empty on error. */
const char* npuscope_pins_result(int number) {
    static char* text = NULL;
    pins_device* device = pins_of(number);
    npuscope_free(text);
    text = NULL;
    return device != NULL && npuscope_result(device->npu, &text) == NPUSCOPE_OK ? text : "";
}

#ifdef __cplusplus
}
#endif
