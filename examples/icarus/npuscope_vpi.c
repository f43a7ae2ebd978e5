/* SPDX-License-Identifier: Apache-2.0 */
/* npuscope for simulators with VPI, such as Icarus Verilog: system tasks and functions over libnpuscope.so.
 *
 *     $ iverilog-vpi --name=npuscope npuscope_vpi.c $(pkg-config --cflags --libs npuscope)
 *     $ iverilog -g2012 -L. -mnpuscope -o bench bench.sv && vvp -M. -mnpuscope bench
 *
 *     npu = $npuscope_create("nv_small", "memory=dram_50");   a preset, and changes separated by spaces
 *     $npuscope_destroy(npu);  $npuscope_reset(npu);
 *     $npuscope_write(npu, address, value);                   registers, 32 bits, at byte addresses
 *     value = $npuscope_read(npu, address);
 *     $npuscope_write_memory(npu, address, bytes, count);     `bytes` is an array of reg [7:0], from its first index
 *     $npuscope_read_memory(npu, address, bytes, count);
 *     cycles = $npuscope_run_until_interrupt(npu, most);      cycles passed, 64 bits; so does ..run_until_idle
 *     $npuscope_advance(npu, cycles);
 *     line = $npuscope_interrupt(npu);  cycle = $npuscope_cycle(npu);
 *     $npuscope_result(npu, "result.json");                   operations, traffic, findings
 *
 * No change has a space in it: npu.clock=800MHz. Cycles are those of the NPU's clock, independent of the simulator's
 * time. A refused call is printed with its location, and ends the simulation with exit code 1. */
#include <npuscope/npuscope.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vpi_user.h>

enum { MOST_DEVICES = 256, MOST_ARGUMENTS = 4 };

static npuscope_device* devices[MOST_DEVICES];

/* The current call: its arguments, one after the other. */
typedef struct call {
    vpiHandle handle;
    vpiHandle arguments[MOST_ARGUMENTS];
    int count, next;
} call;

static void fail(const call* made, const char* text) {
    /* one after the other: the strings of VPI share a buffer */
    vpi_printf("%s:%d: ", vpi_get_str(vpiFile, made->handle), (int)vpi_get(vpiLineNo, made->handle));
    vpi_printf("%s: %s\n", vpi_get_str(vpiName, made->handle), text);
    fflush(stdout);
    vpi_control(vpiFinish, 1);
    exit(1); /* vvp itself would exit with 0 */
}

static void good(const call* made, npuscope_status status) {
    if (status != NPUSCOPE_OK) {
        fail(made, npuscope_error());
    }
}

/* So many arguments, at least and at most. */
static call begin(int least, int most) {
    call made = {vpi_handle(vpiSysTfCall, NULL), {NULL}, 0, 0};
    vpiHandle all = vpi_iterate(vpiArgument, made.handle);
    for (vpiHandle one = all == NULL ? NULL : vpi_scan(all); one != NULL; one = vpi_scan(all)) {
        if (made.count == most) {
            fail(&made, "too many arguments");
        }
        made.arguments[made.count++] = one;
    }
    if (made.count < least) {
        fail(&made, "an argument is missing");
    }
    return made;
}

static vpiHandle take(call* made) { return made->arguments[made->next++]; }

static int is_real(vpiHandle argument) {
    const int type = (int)vpi_get(vpiType, argument);
    return type == vpiRealVar || (type == vpiConstant && vpi_get(vpiConstType, argument) == vpiRealConst);
}

static uint64_t number(call* made) {
    s_vpi_value value;
    vpiHandle argument = take(made);
    if (is_real(argument)) {
        fail(made, "an argument is a real: convert it by $rtoi");
    }
    const int words = ((int)vpi_get(vpiSize, argument) + 31) / 32;
    value.format = vpiVectorVal;
    vpi_get_value(argument, &value);
    if (value.format != vpiVectorVal) {
        fail(made, "an argument is not a number");
    }
    uint64_t result = 0;
    for (int i = 0; i < words; ++i) {
        if (value.value.vector[i].bval != 0) {
            fail(made, "an argument has bits that are x or z");
        }
        if (i >= 2 && value.value.vector[i].aval != 0) {
            fail(made, "an argument has more than 64 bits");
        }
        result |= i >= 2 ? 0 : (uint64_t)(uint32_t)value.value.vector[i].aval << (32 * i);
    }
    return result;
}

static uint64_t cycles(call* made) {
    vpiHandle argument = made->arguments[made->next];
    const int size = (int)vpi_get(vpiSize, argument);
    const uint64_t count = number(made);
    if (vpi_get(vpiSigned, argument) && size <= 64 && count >> (size - 1) != 0) {
        fail(made, "the number of cycles is negative");
    }
    return count;
}

/* An address or a value of a register. */
static uint32_t narrow(call* made) {
    const uint64_t wide = number(made);
    if (wide > UINT32_MAX) {
        fail(made, "an argument has more than 32 bits, which a register and its address do not");
    }
    return (uint32_t)wide;
}

static char* text(call* made) {
    s_vpi_value value;
    value.format = vpiStringVal;
    vpi_get_value(take(made), &value);
    return strdup(value.value.str);
}

static npuscope_device* device(call* made) {
    const uint64_t index = number(made);
    if (index >= MOST_DEVICES || devices[index] == NULL) {
        fail(made, "there is no such device");
    }
    return devices[index];
}

/* A compiler that does not know the module takes the result to have 32 bits. */
static void give(call* made, uint64_t result) {
    if (result > UINT32_MAX && vpi_get(vpiSize, made->handle) < 64) {
        fail(made, "the result has more than 32 bits: compile with iverilog -L. -mnpuscope");
    }
    s_vpi_vecval words[2];
    words[0].aval = (PLI_INT32)(uint32_t)result;
    words[1].aval = (PLI_INT32)(uint32_t)(result >> 32);
    words[0].bval = words[1].bval = 0;
    s_vpi_value value;
    value.format = vpiVectorVal;
    value.value.vector = words;
    vpi_put_value(made->handle, &value, NULL, vpiNoDelay);
}

static PLI_INT32 create(PLI_BYTE8* unused) {
    (void)unused;
    call made = begin(1, 2);
    size_t changes = 0;
    int index = 1; /* 0 is the value of an uninitialised two-state integer */
    while (index < MOST_DEVICES && devices[index] != NULL) {
        ++index;
    }
    if (index == MOST_DEVICES) {
        fail(&made, "there are 255 devices already, which is the most: $npuscope_destroy one first");
    }
    char* npu = text(&made);
    char* all = made.next < made.count ? text(&made) : strdup("");
    const char** each = (const char**)calloc(strlen(all) / 2 + 1, sizeof *each);
    for (char* one = strtok(all, " "); one != NULL; one = strtok(NULL, " ")) {
        each[changes++] = one;
    }
    good(&made, npuscope_create(npu, each, changes, NULL, &devices[index]));
    free(each);
    free(npu);
    free(all);
    give(&made, (uint64_t)index);
    return 0;
}

static PLI_INT32 destroy(PLI_BYTE8* unused) {
    (void)unused;
    call made = begin(1, 1);
    npuscope_device* npu = device(&made);
    for (int i = 0; i < MOST_DEVICES; ++i) {
        devices[i] = devices[i] == npu ? NULL : devices[i];
    }
    good(&made, npuscope_destroy(npu));
    return 0;
}

static PLI_INT32 reset(PLI_BYTE8* unused) {
    (void)unused;
    call made = begin(1, 1);
    good(&made, npuscope_reset(device(&made)));
    return 0;
}

static PLI_INT32 write_register(PLI_BYTE8* unused) {
    (void)unused;
    call made = begin(3, 3);
    npuscope_device* npu = device(&made);
    const uint32_t address = narrow(&made);
    good(&made, npuscope_write_register(npu, address, narrow(&made)));
    return 0;
}

static PLI_INT32 read_register(PLI_BYTE8* unused) {
    (void)unused;
    call made = begin(2, 2);
    npuscope_device* npu = device(&made);
    uint32_t value = 0;
    good(&made, npuscope_read_register(npu, narrow(&made), &value));
    give(&made, value);
    return 0;
}

/* A byte array of the bench, and what it is copied to or from. */
typedef struct transfer {
    npuscope_device* npu;
    uint64_t address;
    vpiHandle array;
    int first, count;
    unsigned char* bytes;
} transfer;

static transfer begin_transfer(call* made) {
    transfer all = {device(made), number(made), take(made), 0, 0, NULL};
    if (vpi_get(vpiType, all.array) != vpiMemory) {
        fail(made, "the third argument is not an array");
    }
    s_vpi_value left, right;
    left.format = right.format = vpiIntVal;
    vpi_get_value(vpi_handle(vpiLeftRange, all.array), &left);
    vpi_get_value(vpi_handle(vpiRightRange, all.array), &right);
    all.first = left.value.integer < right.value.integer ? left.value.integer : right.value.integer;
    const uint64_t count = number(made);
    if (vpi_get(vpiSize, vpi_handle_by_index(all.array, all.first)) != 8) {
        fail(made, "the elements of the array are not of 8 bits");
    }
    if (count > (uint64_t)vpi_get(vpiSize, all.array)) {
        fail(made, "the array has fewer elements");
    }
    all.count = (int)count;
    all.bytes = (unsigned char*)malloc((size_t)count + 1);
    return all;
}

static PLI_INT32 write_memory(PLI_BYTE8* unused) {
    (void)unused;
    call made = begin(4, 4);
    transfer all = begin_transfer(&made);
    for (int i = 0; i < all.count; ++i) {
        s_vpi_value value;
        value.format = vpiVectorVal;
        vpi_get_value(vpi_handle_by_index(all.array, all.first + i), &value);
        if (value.value.vector[0].bval != 0) {
            fail(&made, "the array has bits that are x or z");
        }
        all.bytes[i] = (unsigned char)value.value.vector[0].aval;
    }
    good(&made, npuscope_write_memory(all.npu, all.address, all.bytes, (size_t)all.count));
    free(all.bytes);
    return 0;
}

static PLI_INT32 read_memory(PLI_BYTE8* unused) {
    (void)unused;
    call made = begin(4, 4);
    transfer all = begin_transfer(&made);
    good(&made, npuscope_read_memory(all.npu, all.address, all.bytes, (size_t)all.count));
    for (int i = 0; i < all.count; ++i) {
        s_vpi_value value;
        value.format = vpiIntVal;
        value.value.integer = all.bytes[i];
        vpi_put_value(vpi_handle_by_index(all.array, all.first + i), &value, NULL, vpiNoDelay);
    }
    free(all.bytes);
    return 0;
}

static PLI_INT32 advance(PLI_BYTE8* unused) {
    (void)unused;
    call made = begin(2, 2);
    npuscope_device* npu = device(&made);
    good(&made, npuscope_advance(npu, cycles(&made)));
    return 0;
}

static PLI_INT32 run_until_interrupt(PLI_BYTE8* unused) {
    (void)unused;
    call made = begin(2, 2);
    npuscope_device* npu = device(&made);
    uint64_t passed = 0;
    good(&made, npuscope_run_until_interrupt(npu, cycles(&made), &passed));
    give(&made, passed);
    return 0;
}

static PLI_INT32 run_until_idle(PLI_BYTE8* unused) {
    (void)unused;
    call made = begin(2, 2);
    npuscope_device* npu = device(&made);
    uint64_t passed = 0;
    good(&made, npuscope_run_until_idle(npu, cycles(&made), &passed));
    give(&made, passed);
    return 0;
}

static PLI_INT32 interrupt(PLI_BYTE8* unused) {
    (void)unused;
    call made = begin(1, 1);
    int line = 0;
    good(&made, npuscope_interrupt(device(&made), &line));
    give(&made, (uint64_t)line);
    return 0;
}

static PLI_INT32 cycle(PLI_BYTE8* unused) {
    (void)unused;
    call made = begin(1, 1);
    uint64_t now = 0;
    good(&made, npuscope_cycle(device(&made), &now));
    give(&made, now);
    return 0;
}

static PLI_INT32 result(PLI_BYTE8* unused) {
    (void)unused;
    call made = begin(2, 2);
    npuscope_device* npu = device(&made);
    char* path = text(&made);
    char* json = NULL;
    good(&made, npuscope_result(npu, &json));
    FILE* file = fopen(path, "w");
    if (file == NULL || fputs(json, file) == EOF || fclose(file) != 0) {
        fail(&made, "the file cannot be written");
    }
    npuscope_free(json);
    free(path);
    return 0;
}

static PLI_INT32 bits64(PLI_BYTE8* unused) {
    (void)unused;
    return 64;
}

static void add(PLI_INT32 type, const char* name, PLI_INT32 (*work)(PLI_BYTE8*)) {
    s_vpi_systf_data task;
    memset(&task, 0, sizeof task);
    task.type = type;
    task.sysfunctype = type == vpiSysFunc ? vpiSizedFunc : 0;
    task.tfname = (PLI_BYTE8*)name;
    task.calltf = work;
    task.sizetf = type == vpiSysFunc ? bits64 : NULL;
    vpi_register_systf(&task);
}

static void register_all(void) {
    add(vpiSysFunc, "$npuscope_create", create);
    add(vpiSysTask, "$npuscope_destroy", destroy);
    add(vpiSysTask, "$npuscope_reset", reset);
    add(vpiSysTask, "$npuscope_write", write_register);
    add(vpiSysFunc, "$npuscope_read", read_register);
    add(vpiSysTask, "$npuscope_write_memory", write_memory);
    add(vpiSysTask, "$npuscope_read_memory", read_memory);
    add(vpiSysTask, "$npuscope_advance", advance);
    add(vpiSysFunc, "$npuscope_run_until_interrupt", run_until_interrupt);
    add(vpiSysFunc, "$npuscope_run_until_idle", run_until_idle);
    add(vpiSysFunc, "$npuscope_interrupt", interrupt);
    add(vpiSysFunc, "$npuscope_cycle", cycle);
    add(vpiSysTask, "$npuscope_result", result);
}

void (*vlog_startup_routines[])(void) = {register_all, NULL};
