/* SPDX-License-Identifier: Apache-2.0 */
/* In place of npuscope_pins_dpi.c behind the modules of npuscope_pins.sv: an NPU that requests a burst when the bench
 * wants one, and notes the clock edges at which it is accessed, polled for the burst and answered. */
#include <stddef.h>
#include <stdint.h>
#include <svdpi.h>

#ifdef __cplusplus
extern "C" {
#endif

static int now, accessed, asked, answered, wanted_write, wanted_beats;

void pin_latency_edge(int number) { now = number; }
int pin_latency_accessed(void) { return accessed; }
int pin_latency_asked(void) { return asked; }
int pin_latency_answered(void) { return answered; }
void pin_latency_want(int write, int beats) {
    wanted_write = write;
    wanted_beats = beats;
}

int npuscope_pins_access(int npu, int port, int first, int write, unsigned address, unsigned data, unsigned* value,
                         int* status) {
    (void)npu, (void)port, (void)first, (void)write, (void)address, (void)data;
    *value = 0;
    *status = 0;
    accessed = now;
    return 1;
}
void* npuscope_pins_take(int npu, int port, int write, int width, int most_beats, uint64_t* address, int* beats) {
    (void)npu, (void)port, (void)width, (void)most_beats;
    *address = 0;
    *beats = wanted_beats;
    if (wanted_beats == 0 || write != wanted_write) {
        return NULL;
    }
    wanted_beats = 0;
    asked = now;
    return &asked;
}
void npuscope_pins_beat(void* burst, int beat, svBitVecVal* data, svBitVecVal* strobes) {
    (void)burst, (void)beat;
    *data = 0;
    *strobes = 0;
}
void npuscope_pins_brought(void* burst, int beat, const svBitVecVal* data) { (void)burst, (void)beat, (void)data; }
int npuscope_pins_answer(int npu, void* burst, int response) {
    (void)npu, (void)burst, (void)response;
    answered = now;
    return 0;
}

/* What else the modules need. */
int npuscope_pins_create(const char* npu, const char* changes) {
    (void)npu, (void)changes;
    return 0;
}
int npuscope_pins_destroy(int npu) { return npu; }
int npuscope_pins_reset(int npu) { return npu; }
int npuscope_pins_clock(int npu, uint64_t cycle) {
    (void)cycle;
    return npu;
}
int npuscope_pins_interrupt(int npu) { return npu; }
int npuscope_pins_open(int npu) { return npu; }
const char* npuscope_pins_result(int npu) {
    (void)npu;
    return "";
}
const char* npuscope_pins_error(void) { return ""; }
const char* npuscope_error(void) { return ""; }

#ifdef __cplusplus
}
#endif
