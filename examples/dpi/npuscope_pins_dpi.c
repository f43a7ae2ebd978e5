/* SPDX-License-Identifier: Apache-2.0 */
/* Behind the pins of npuscope_pins.sv: devices of libnpuscope.so whose memory is the test bench's, and their
 * requests as AXI bursts. Compiled by the simulator, as C or as C++. Functions that return int return 0 on success
 * unless stated otherwise; otherwise npuscope_pins_error() has the reason.
 *
 * The library would let the time of a register read pass within the call, with requests to memory that the pins could
 * only show later. Here its configuration takes a read's cycles away, and npuscope_pins_access lets them pass at the
 * clock's edges. */
#include <npuscope/npuscope.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <svdpi.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MOST_DEVICES = 64, PORTS = 2, BUS_BYTES = 64, BLOCKS = 64, BLOCK_BYTES = 4096 };

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

/* An access to a register, which takes several edges of the clock. */
typedef struct pins_access {
    int done;             /* by the library; the clock may not have caught up yet */
    unsigned edges;       /* since it began */
    unsigned way, cycles; /* of a read: until the register is sampled, and all */
    uint32_t value;
    int status;
} pins_access;

typedef struct pins_device {
    npuscope_device* npu;
    pins_access access[2];         /* through CSB, through APB */
    unsigned way;                  /* cycles of a read until its register is sampled */
    unsigned read_cycles[BLOCKS];  /* by block of registers */
    uint64_t cycle;                /* of the clock */
    int line;                      /* of the interrupt in this cycle */
    pins_request* all;             /* requests that are not answered */
    pins_request* first[PORTS][2]; /* read, write: those that need more bursts */
    pins_request** last[PORTS][2];
    /* Copies bytes of the test bench's memory in zero time, returns 0 if it did; null if nothing gives access. */
    int (*peek)(void* memory, uint64_t address, void* data, size_t size);
    void* memory;
} pins_device;

static pins_device* pins_devices[MOST_DEVICES];
static int pins_end_is_known = 0;
static char pins_text[256]; /* what is wrong, if the library has not refused it */

static int pins_refuse(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(pins_text, sizeof pins_text, format, arguments);
    va_end(arguments);
    return NPUSCOPE_BAD_ARGUMENT;
}

/* What the last call that was refused lacks, and what to change. */
const char* npuscope_pins_error(void) { return pins_text[0] != 0 ? pins_text : npuscope_error(); }

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
    memset(device->access, 0, sizeof device->access);
    device->cycle = 0;
    device->line = 0;
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

static int pins_peek(void* user, uint64_t address, void* data, size_t size) {
    const pins_device* device = (const pins_device*)user;
    return device->peek == NULL ? 1 : device->peek(device->memory, address, data, size);
}

static pins_device* pins_of(int number) {
    pins_text[0] = 0;
    if (number < 0 || number >= MOST_DEVICES || pins_devices[number] == NULL) {
        pins_refuse("there is no device %d: pass the number that npuscope_device has at its port npu", number);
        return NULL;
    }
    return pins_devices[number];
}

/* Gives a device zero-time access to its memory: npuscope_memory_dpi.c. */
int npuscope_pins_peek_by(int number, int (*peek)(void* memory, uint64_t address, void* data, size_t size),
                          void* memory) {
    pins_device* device = pins_of(number);
    if (device == NULL) {
        return NPUSCOPE_BAD_ARGUMENT;
    }
    device->peek = peek;
    device->memory = memory;
    return NPUSCOPE_OK;
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

/* A number in the configuration of a result, or 0. */
static unsigned pins_number_in(const char* json, const char* key) {
    const char* at = strstr(json, key);
    at = at == NULL ? NULL : strpbrk(at + strlen(key), "0123456789");
    return at == NULL ? 0 : (unsigned)strtoul(at, NULL, 10);
}

/* The cycles that a read takes by the configuration, for each block of registers; some are behind additional stages. */
static npuscope_status pins_learn_reads(pins_device* device, npuscope_device* npu) {
    char* json = NULL;
    npuscope_status status = npuscope_result(npu, &json);
    if (status != NPUSCOPE_OK) {
        return status;
    }
    const unsigned cycles = pins_number_in(json, "\"read_cycles\"");
    const int differ = pins_number_in(json, "\"retiming\"") != 0;
    device->way = pins_number_in(json, "\"read_way\"");
    npuscope_free(json);
    for (unsigned block = 0; block < BLOCKS; ++block) {
        device->read_cycles[block] = cycles;
        for (unsigned offset = 0; differ && offset < 16; offset += 4) {
            uint64_t before = 0, after = 0;
            uint32_t value = 0;
            npuscope_cycle(npu, &before);
            if (npuscope_read_register(npu, block * BLOCK_BYTES + offset, &value) == NPUSCOPE_OK) {
                status = npuscope_cycle(npu, &after);
                device->read_cycles[block] = (unsigned)(after - before);
                break;
            }
        }
    }
    return status;
}

/* Creates the library's device: one with the caller's changes says how long a read takes, and is replaced by one whose
 * reads take no time but a cycle. */
static npuscope_status pins_make(pins_device* device, const char* npu, const char** each, size_t count) {
    npuscope_timed_memory memory;
    npuscope_device* asked = NULL;
    memory.begin = pins_begin;
    memory.peek = pins_peek;
    memory.user = device;
    npuscope_status status = npuscope_create_timed(npu, each, count, &memory, &asked);
    if (status == NPUSCOPE_OK) {
        status = pins_learn_reads(device, asked);
        npuscope_destroy(asked);
    }
    each[count] = "npu.csb.read_cycles=1";
    each[count + 1] = "npu.csb.retiming=0";
    return status != NPUSCOPE_OK ? status : npuscope_create_timed(npu, each, count + 2, &memory, &device->npu);
}

/* Returns a number for the functions below, or -1. `changes`: separated by spaces, of which they
 * have none themselves: npu.clock=800MHz. */
int npuscope_pins_create(const char* npu, const char* changes) {
    size_t count = 0;
    int number = 0;
    pins_text[0] = 0;
    while (number < MOST_DEVICES && pins_devices[number] != NULL) {
        ++number;
    }
    if (number == MOST_DEVICES) {
        pins_refuse("there are %d devices already, which is the most: raise MOST_DEVICES in npuscope_pins_dpi.c",
                    MOST_DEVICES);
        return -1;
    }
    char* text = strdup(changes == NULL ? "" : changes);
    const char** each = (const char**)calloc(strlen(text) / 2 + 3, sizeof *each); /* two more: pins_make */
    for (char* one = strtok(text, " "); one != NULL; one = strtok(NULL, " ")) {
        each[count++] = one;
    }
    pins_device* device = (pins_device*)calloc(1, sizeof *device);
    pins_forget(device);
    if (pins_make(device, npu, each, count) != NPUSCOPE_OK) {
        free(device);
        number = -1;
    } else {
        pins_devices[number] = device;
    }
    free(each);
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

/* A clock edge, reported by the modules of a device in any order; `cycle`: cycles since reset. Where an access has let
 * time pass, the NPU waits until the clock has caught up. */
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
    int status = npuscope_cycle(device->npu, &now);
    if (status == NPUSCOPE_OK && now < cycle) {
        status = npuscope_advance(device->npu, cycle - now);
        now = cycle;
    }
    return status != NPUSCOPE_OK || now > cycle ? status : npuscope_interrupt(device->npu, &device->line);
}

static void pins_begin_access(pins_device* device, pins_access* access, int write, uint32_t address) {
    const unsigned cycles = write ? 0 : device->read_cycles[address / BLOCK_BYTES % BLOCKS];
    memset(access, 0, sizeof *access);
    access->cycles = cycles;
    access->way = cycles == 0 ? 0 : device->way < cycles - 1 ? device->way : cycles - 1;
}

/* Called at each edge from the one that accepts an access, the `first`, until it returns 1: the access has ended, with its
 * value and a status. `port`: 0 for CSB, 1 for APB. */
int npuscope_pins_access(int number, int port, int first, int write, uint32_t address, uint32_t data,
                         uint32_t* value, int* status) {
    pins_device* device = pins_of(number);
    uint64_t now = 0;
    *value = 0;
    *status = NPUSCOPE_BAD_ARGUMENT;
    if (device == NULL) {
        return 1;
    }
    pins_access* access = &device->access[port != 0];
    if (first) {
        pins_begin_access(device, access, write, address);
    }
    if (!access->done && access->edges >= access->way) {
        access->status = write ? npuscope_write_register(device->npu, address, data)
                               : npuscope_read_register(device->npu, address, &access->value);
        if (write && access->status == NPUSCOPE_OK) {
            access->status = npuscope_advance(device->npu, 0); /* by what a full queue of the bus has taken */
        }
        access->done = 1;
    }
    npuscope_cycle(device->npu, &now);
    const int ends = access->done && (access->status != NPUSCOPE_OK ||
                                      (access->edges >= access->cycles && now <= device->cycle));
    ++access->edges;
    if (ends) {
        *value = access->status == NPUSCOPE_OK ? access->value : 0;
        *status = access->status;
    }
    return ends;
}

int npuscope_pins_interrupt(int number) {
    const pins_device* device = pins_of(number);
    return device == NULL ? 0 : device->line;
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

/* Where the bytes of a beat are: `lane` on the bus, `offset` in the request. 0 for a beat that the burst does not have. */
static size_t pins_bytes_of(const pins_burst* burst, int beat, size_t* lane, size_t* offset) {
    *lane = *offset = 0;
    if (burst == NULL || beat < 0) {
        return 0;
    }
    const size_t before = (size_t)(burst->address % burst->width); /* of the burst, in its first beat */
    const size_t begin = beat == 0 ? 0 : (size_t)beat * burst->width - before;
    if (begin >= burst->size) {
        return 0;
    }
    *lane = beat == 0 ? before : 0;
    *offset = burst->offset + begin;
    const size_t room = burst->width - *lane, left = burst->size - begin;
    return left < room ? left : room;
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

/* The pointer to the burst in the list of its request, or null if it is not in flight. */
static pins_burst** pins_place_of(pins_device* device, const pins_burst* burst) {
    for (pins_request* request = device->all; request != NULL; request = request->other) {
        for (pins_burst** at = &request->bursts; *at != NULL; at = &(*at)->other) {
            if (*at == burst) {
                return at;
            }
        }
    }
    return NULL;
}

/* A burst is answered with the worst response of its beats, as encoded by AXI (2: SLVERR, 3: DECERR); after the
 * last burst of its request the NPU continues. */
int npuscope_pins_answer(int number, void* handle, int response) {
    pins_burst* burst = (pins_burst*)handle;
    pins_device* device = pins_of(number);
    int status = NPUSCOPE_OK;
    if (device == NULL) {
        return NPUSCOPE_BAD_ARGUMENT;
    }
    pins_burst** at = pins_place_of(device, burst);
    if (at == NULL) {
        return pins_refuse("an answer for a burst that is not in flight: reset all modules of a device together");
    }
    pins_request* request = burst->of;
    *at = burst->other;
    free(burst);
    const int error = response == 3 ? 2 : response == 2 ? 1 : 0;
    request->error = error > request->error ? error : request->error;
    if (request->bursts == NULL && request->made == request->asked.size) {
        status = npuscope_answer(device->npu, request->asked.id, request->error);
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
