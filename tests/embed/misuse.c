/* SPDX-License-Identifier: Apache-2.0 */
/* Mistakes of C programs: each returns a code and a text, and the devices keep working. */
#include <npuscope/npuscope.h>
#include <npuscope/units.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong = 0;

/* The call returned this code, and a text with these words. */
static void expect(npuscope_status got, npuscope_status code, const char* words, const char* what) {
    if (got != code || strstr(npuscope_error(), words) == NULL) {
        printf("%s: code %d, not %d; \"%s\" lacks \"%s\"\n", what, (int)got, (int)code, npuscope_error(), words);
        ++wrong;
    }
}
#define EXPECT(call, code, words) expect(call, code, words, #call)

static int fails_to_read(void* user, uint64_t address, void* data, size_t size) {
    (void)user, (void)address, (void)data, (void)size;
    return 7;
}
static int writes(void* user, uint64_t address, const void* data, size_t size) {
    (void)user, (void)address, (void)data, (void)size;
    return 0;
}
static int64_t fails_to_begin(void* user, const npuscope_request* request) {
    (void)user, (void)request;
    return -9;
}

static void null_and_wrong(void) {
    npuscope_device* npu = NULL;
    const char* none[] = {NULL};
    const char* change[] = {"npu.cbuf.bank=16"};
    const npuscope_memory half = {fails_to_read, NULL, NULL};
    EXPECT(npuscope_create(NULL, NULL, 0, NULL, &npu), NPUSCOPE_BAD_ARGUMENT, "npu is null");
    EXPECT(npuscope_create("nv_small", NULL, 0, NULL, NULL), NPUSCOPE_BAD_ARGUMENT, "device is null");
    EXPECT(npuscope_create("nv_small", NULL, 3, NULL, &npu), NPUSCOPE_BAD_ARGUMENT, "changes is null");
    EXPECT(npuscope_create("nv_small", none, 1, NULL, &npu), NPUSCOPE_BAD_ARGUMENT, "is null");
    EXPECT(npuscope_create("nv_smal", NULL, 0, NULL, &npu), NPUSCOPE_WRONG_INPUT, "nv_small");
    EXPECT(npuscope_create("nv_small", change, 1, NULL, &npu), NPUSCOPE_WRONG_INPUT, "banks");
    EXPECT(npuscope_create("nv_small", NULL, 0, &half, &npu), NPUSCOPE_BAD_ARGUMENT, "memory->");
    EXPECT(npuscope_create_timed("nv_small", NULL, 0, NULL, &npu), NPUSCOPE_BAD_ARGUMENT, "memory is null");
    EXPECT(npuscope_reset(NULL), NPUSCOPE_BAD_ARGUMENT, "the device is null");
    EXPECT(npuscope_answer(NULL, 1, 0), NPUSCOPE_BAD_ARGUMENT, "the device is null");
    EXPECT(npuscope_result(NULL, NULL), NPUSCOPE_BAD_ARGUMENT, "the device is null");
    if (npu != NULL) {
        printf("a device that was refused is not null\n");
        ++wrong;
    }
    npuscope_free(NULL);
}

static void of_a_device(void) {
    npuscope_device* npu = NULL;
    uint32_t value = 0;
    unsigned char bytes[16] = {0};
    if (npuscope_create("nv_small", NULL, 0, NULL, &npu) != NPUSCOPE_OK) {
        ++wrong;
        return;
    }
    EXPECT(npuscope_read_register(npu, 0x100c, NULL), NPUSCOPE_BAD_ARGUMENT, "value is null");
    EXPECT(npuscope_read_register(npu, 0x100d, &value), NPUSCOPE_WRONG_INPUT, "no register at 0x100d");
    EXPECT(npuscope_write_register(npu, 0xfffffffc, 1), NPUSCOPE_WRONG_INPUT, "no register at 0xfffffffc");
    EXPECT(npuscope_read_memory(npu, 0x80000000, NULL, 16), NPUSCOPE_BAD_ARGUMENT, "data is null");
    EXPECT(npuscope_write_memory(npu, 0x80000000, NULL, 16), NPUSCOPE_BAD_ARGUMENT, "data is null");
    EXPECT(npuscope_read_memory(npu, 0, bytes, sizeof bytes), NPUSCOPE_WRONG_INPUT, "0x0");
    EXPECT(npuscope_write_memory(npu, UINT64_MAX - 4, bytes, sizeof bytes), NPUSCOPE_WRONG_INPUT, "0x");
    EXPECT(npuscope_fill_memory(npu, 0, 0, 16), NPUSCOPE_WRONG_INPUT, "0x0");
    EXPECT(npuscope_fill_memory(npu, 0x80000000, 1, (size_t)-1), NPUSCOPE_WRONG_INPUT, "0x80000000");
    EXPECT(npuscope_interrupt(npu, NULL), NPUSCOPE_BAD_ARGUMENT, "line is null");
    EXPECT(npuscope_cycle(npu, NULL), NPUSCOPE_BAD_ARGUMENT, "cycle is null");
    EXPECT(npuscope_result(npu, NULL), NPUSCOPE_BAD_ARGUMENT, "json is null");
    EXPECT(npuscope_answer(npu, 1, 0), NPUSCOPE_BAD_ARGUMENT, "no timing of its own");
    EXPECT(npuscope_run_until_interrupt(npu, 1000, NULL), NPUSCOPE_STOPPED, "no event is pending");
    if (npuscope_write_memory(npu, 0x80000000, bytes, sizeof bytes) != NPUSCOPE_OK ||
        npuscope_read_register(npu, 0x100c, &value) != NPUSCOPE_OK) {
        printf("the device does not go on: %s\n", npuscope_error());
        ++wrong;
    }
    npuscope_destroy(npu);
    EXPECT(npuscope_destroy(npu), NPUSCOPE_BAD_ARGUMENT, "it was destroyed");
    EXPECT(npuscope_read_register(npu, 0x100c, &value), NPUSCOPE_BAD_ARGUMENT, "it was destroyed");
    EXPECT(npuscope_advance(npu, 1), NPUSCOPE_BAD_ARGUMENT, "it was destroyed");
}

static void of_call_backs(void) {
    const npuscope_memory memory = {fails_to_read, writes, NULL};
    const npuscope_timed_memory timed = {fails_to_begin, NULL, NULL};
    npuscope_device* npu = NULL;
    unsigned char byte = 0;
    if (npuscope_create("nv_small", NULL, 0, &memory, &npu) == NPUSCOPE_OK) {
        EXPECT(npuscope_read_memory(npu, 0x80000000, &byte, 1), NPUSCOPE_CALLBACK_FAILED, "returned 7 for a read of 1 byte at");
        npuscope_destroy(npu);
    }
    if (npuscope_create_timed("nv_small", NULL, 0, &timed, &npu) == NPUSCOPE_OK) {
        EXPECT(npuscope_read_memory(npu, 0x80000000, &byte, 1), NPUSCOPE_BAD_ARGUMENT, "belongs to the caller");
        EXPECT(npuscope_answer(npu, 12345, 0), NPUSCOPE_BAD_ARGUMENT, "request 12345 is not outstanding");
        npuscope_destroy(npu);
    }
}

static void of_sizes(void) {
    const uint32_t shape[4] = {1, 3, 2, 5}, too_large[4] = {1, 0, 2, 5};
    unsigned char array[30] = {0}, *packed = (unsigned char*)malloc(79); /* one byte too few */
    size_t size = 79;
    EXPECT(npuscope_pack("feature:atom=8", "int8", shape, array, packed, &size), NPUSCOPE_BAD_ARGUMENT, "but 80 are needed");
    EXPECT(npuscope_unpack("feature:atom=8", "int8", shape, packed, 79, array), NPUSCOPE_BAD_ARGUMENT, "but 80 are needed");
    EXPECT(npuscope_pack("featur", "int8", shape, NULL, NULL, &size), NPUSCOPE_WRONG_INPUT, "featur");
    EXPECT(npuscope_pack("feature:atom=8", "int9", shape, NULL, NULL, &size), NPUSCOPE_WRONG_INPUT, "int9");
    EXPECT(npuscope_pack("feature:atom=8", "int8", too_large, NULL, NULL, &size), NPUSCOPE_WRONG_INPUT, "0");
    EXPECT(npuscope_pack(NULL, "int8", shape, array, packed, &size), NPUSCOPE_BAD_ARGUMENT, "null");
    free(packed);
}

/* Two threads on one device, and each on its own, which the other's calls must not disturb. */
static npuscope_device* shared_npu = NULL;
static void* work(void* unused) {
    npuscope_device* own = NULL;
    uint32_t value = 0;
    (void)unused;
    for (int i = 0; i < 50; ++i) {
        if (npuscope_create("nv_small", NULL, 0, NULL, &own) != NPUSCOPE_OK ||
            npuscope_read_register(shared_npu, 0x100c, &value) != NPUSCOPE_OK ||
            npuscope_advance(own, 10) != NPUSCOPE_OK || npuscope_advance(shared_npu, 10) != NPUSCOPE_OK ||
            npuscope_write_register(own, 0xfffffffc, 0) != NPUSCOPE_WRONG_INPUT ||
            strstr(npuscope_error(), "0xfffffffc") == NULL || npuscope_destroy(own) != NPUSCOPE_OK) {
            return (void*)"a call of a thread fails";
        }
    }
    return NULL;
}

static void of_threads(void) {
    pthread_t threads[2];
    uint64_t cycle = 0;
    if (npuscope_create("nv_small", NULL, 0, NULL, &shared_npu) != NPUSCOPE_OK) {
        ++wrong;
        return;
    }
    for (int i = 0; i < 2; ++i) {
        pthread_create(&threads[i], NULL, work, NULL);
    }
    for (int i = 0; i < 2; ++i) {
        void* trouble = NULL;
        pthread_join(threads[i], &trouble);
        if (trouble != NULL) {
            printf("%s: %s\n", (const char*)trouble, npuscope_error());
            ++wrong;
        }
    }
    if (npuscope_cycle(shared_npu, &cycle) != NPUSCOPE_OK || cycle < 1000) {
        printf("%llu cycles have passed, not at least 1000\n", (unsigned long long)cycle);
        ++wrong;
    }
    npuscope_destroy(shared_npu);
}

int main(void) {
    null_and_wrong();
    of_a_device();
    of_call_backs();
    of_sizes();
    of_threads();
    printf("%d wrong\n", wrong);
    return wrong == 0 ? 0 : 1;
}
