/* SPDX-License-Identifier: Apache-2.0 */
/* A small driver in C, on npuscope in place of silicon: it max-pools frames on the PDP of an nv_small,
 * driven by interrupts. Frames use the two register groups in turn, so that the next one is programmed
 * while the previous one runs. Registers come from a generated header:
 *
 *     npuscope list registers --npu nv_small --c-header > nv_small_registers.h
 *     cc driver.c -I. $(pkg-config --cflags --libs npuscope) -o driver && ./driver
 */
#include <npuscope/npuscope.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nv_small_registers.h"

enum { CHANNELS = 16, SIDE = 24, HALF = SIDE / 2, FRAMES = 6, ATOM = 8 };
enum { IN_BYTES = CHANNELS * SIDE * SIDE, OUT_BYTES = CHANNELS * HALF * HALF };

static const uint64_t input_base = 0x80000000u;
static const uint64_t output_base = 0x80100000u;

static npuscope_device* npu;

/* Ends the driver, with the reason, if npuscope refuses a call. */
static void good(npuscope_status status) {
    if (status != NPUSCOPE_OK) {
        fprintf(stderr, "driver: %s\n", npuscope_error());
        exit(1);
    }
}

/* -- Register access of the platform -------------------------------------------------------------- */

static void write32(uint32_t address, uint32_t value) {
    good(npuscope_write_register(npu, address, value));
}

static uint32_t read32(uint32_t address) {
    uint32_t value = 0;
    good(npuscope_read_register(npu, address, &value));
    return value;
}

/* -- The driver ----------------------------------------------------------------------------------- */

static unsigned frames_done;

/* Each register group of a unit has its own interrupt. */
static void interrupt_handler(void) {
    const uint32_t status = read32(NVDLA_GLB_S_INTR_STATUS_0);
    const uint32_t done[2] = {NVDLA_GLB_S_INTR_STATUS_0_PDP_DONE_STATUS0_MASK,
                              NVDLA_GLB_S_INTR_STATUS_0_PDP_DONE_STATUS1_MASK};
    write32(NVDLA_GLB_S_INTR_STATUS_0, status);
    for (int group = 0; group < 2; ++group) {
        frames_done += (status & done[group]) != 0;
    }
}

static void wait_for(unsigned frames) {
    while (frames_done < frames) {
        good(npuscope_run_until_interrupt(npu, 10000000, NULL));
        interrupt_handler();
    }
}

/* Programs a register group and starts it. Cube sizes are programmed minus one. */
static void start(unsigned group, uint64_t from, uint64_t to) {
    const uint32_t in_line = SIDE * ATOM, out_line = HALF * ATOM;
    const uint32_t kernel = 1u << NVDLA_PDP_D_POOLING_KERNEL_CFG_0_KERNEL_WIDTH_SHIFT |
                            1u << NVDLA_PDP_D_POOLING_KERNEL_CFG_0_KERNEL_HEIGHT_SHIFT |
                            1u << NVDLA_PDP_D_POOLING_KERNEL_CFG_0_KERNEL_STRIDE_WIDTH_SHIFT |
                            1u << NVDLA_PDP_D_POOLING_KERNEL_CFG_0_KERNEL_STRIDE_HEIGHT_SHIFT;
    write32(NVDLA_PDP_S_POINTER_0, group);
    write32(NVDLA_PDP_RDMA_S_POINTER_0, group);
    write32(NVDLA_PDP_RDMA_D_DATA_CUBE_IN_WIDTH_0, SIDE - 1);
    write32(NVDLA_PDP_RDMA_D_DATA_CUBE_IN_HEIGHT_0, SIDE - 1);
    write32(NVDLA_PDP_RDMA_D_DATA_CUBE_IN_CHANNEL_0, CHANNELS - 1);
    write32(NVDLA_PDP_RDMA_D_FLYING_MODE_0, NVDLA_PDP_RDMA_D_FLYING_MODE_0_FLYING_MODE_MASK);
    write32(NVDLA_PDP_RDMA_D_SRC_BASE_ADDR_LOW_0, (uint32_t)from);
    write32(NVDLA_PDP_RDMA_D_SRC_BASE_ADDR_HIGH_0, (uint32_t)(from >> 32));
    write32(NVDLA_PDP_RDMA_D_SRC_LINE_STRIDE_0, in_line);
    write32(NVDLA_PDP_RDMA_D_SRC_SURFACE_STRIDE_0, in_line * SIDE);
    write32(NVDLA_PDP_RDMA_D_SRC_RAM_CFG_0, NVDLA_PDP_RDMA_D_SRC_RAM_CFG_0_SRC_RAM_TYPE_MASK);
    write32(NVDLA_PDP_RDMA_D_POOLING_KERNEL_CFG_0,
            1u << NVDLA_PDP_RDMA_D_POOLING_KERNEL_CFG_0_KERNEL_WIDTH_SHIFT |
                1u << NVDLA_PDP_RDMA_D_POOLING_KERNEL_CFG_0_KERNEL_STRIDE_WIDTH_SHIFT);
    write32(NVDLA_PDP_D_DATA_CUBE_IN_WIDTH_0, SIDE - 1);
    write32(NVDLA_PDP_D_DATA_CUBE_IN_HEIGHT_0, SIDE - 1);
    write32(NVDLA_PDP_D_DATA_CUBE_IN_CHANNEL_0, CHANNELS - 1);
    write32(NVDLA_PDP_D_DATA_CUBE_OUT_WIDTH_0, HALF - 1);
    write32(NVDLA_PDP_D_DATA_CUBE_OUT_HEIGHT_0, HALF - 1);
    write32(NVDLA_PDP_D_DATA_CUBE_OUT_CHANNEL_0, CHANNELS - 1);
    write32(NVDLA_PDP_D_OPERATION_MODE_CFG_0,
            1u << NVDLA_PDP_D_OPERATION_MODE_CFG_0_POOLING_METHOD_SHIFT |
                NVDLA_PDP_D_OPERATION_MODE_CFG_0_FLYING_MODE_MASK);
    write32(NVDLA_PDP_D_POOLING_KERNEL_CFG_0, kernel);
    write32(NVDLA_PDP_D_SRC_BASE_ADDR_LOW_0, (uint32_t)from);
    write32(NVDLA_PDP_D_SRC_BASE_ADDR_HIGH_0, (uint32_t)(from >> 32));
    write32(NVDLA_PDP_D_SRC_LINE_STRIDE_0, in_line);
    write32(NVDLA_PDP_D_SRC_SURFACE_STRIDE_0, in_line * SIDE);
    write32(NVDLA_PDP_D_DST_BASE_ADDR_LOW_0, (uint32_t)to);
    write32(NVDLA_PDP_D_DST_BASE_ADDR_HIGH_0, (uint32_t)(to >> 32));
    write32(NVDLA_PDP_D_DST_LINE_STRIDE_0, out_line);
    write32(NVDLA_PDP_D_DST_SURFACE_STRIDE_0, out_line * HALF);
    write32(NVDLA_PDP_D_DST_RAM_CFG_0, NVDLA_PDP_D_DST_RAM_CFG_0_DST_RAM_TYPE_MASK);
    write32(NVDLA_PDP_D_OP_ENABLE_0, 1);
    write32(NVDLA_PDP_RDMA_D_OP_ENABLE_0, 1);
}

/* -- Test of the driver --------------------------------------------------------------------------- */

static const uint32_t in_shape[4] = {1, CHANNELS, SIDE, SIDE};
static const uint32_t out_shape[4] = {1, CHANNELS, HALF, HALF};

static int8_t frames[FRAMES][CHANNELS][SIDE][SIDE];

static int8_t expected(int frame, int c, int y, int x) {
    int8_t most = -128;
    for (int i = 0; i < 4; ++i) {
        const int8_t one = frames[frame][c][2 * y + i / 2][2 * x + i % 2];
        most = one > most ? one : most;
    }
    return most;
}

int main(void) {
    good(npuscope_create("nv_small", NULL, 0, NULL, &npu));
    srand(1);
    for (size_t i = 0; i < sizeof frames; ++i) {
        ((int8_t*)frames)[i] = (int8_t)rand();
    }
    for (int i = 0; i < FRAMES; ++i) {
        static uint8_t memory[IN_BYTES];
        size_t size = sizeof memory;
        good(npuscope_pack("feature:atom=8", "int8", in_shape, frames[i], memory, &size));
        good(npuscope_write_memory(npu, input_base + (uint64_t)i * IN_BYTES, memory, size));
    }
    write32(NVDLA_GLB_S_INTR_MASK_0, ~(NVDLA_GLB_S_INTR_MASK_0_PDP_DONE_MASK0_MASK |
                                       NVDLA_GLB_S_INTR_MASK_0_PDP_DONE_MASK1_MASK));
    for (unsigned i = 0; i < FRAMES; ++i) {
        wait_for(i < 2 ? 0 : i - 1); /* the group is free when frame i - 2 is done */
        start(i % 2, input_base + i * IN_BYTES, output_base + i * OUT_BYTES);
    }
    wait_for(FRAMES);

    int wrong = 0;
    for (int i = 0; i < FRAMES; ++i) {
        static uint8_t memory[OUT_BYTES];
        static int8_t pooled[CHANNELS][HALF][HALF];
        good(npuscope_read_memory(npu, output_base + (uint64_t)i * OUT_BYTES, memory, sizeof memory));
        good(npuscope_unpack("feature:atom=8", "int8", out_shape, memory, sizeof memory, pooled));
        for (int c = 0; c < CHANNELS; ++c) {
            for (int y = 0; y < HALF; ++y) {
                for (int x = 0; x < HALF; ++x) {
                    wrong += pooled[c][y][x] != expected(i, c, y, x);
                }
            }
        }
    }
    uint64_t cycle = 0;
    good(npuscope_cycle(npu, &cycle));
    printf("%d frames pooled in %llu cycles, %d wrong values\n", FRAMES, (unsigned long long)cycle, wrong);
    good(npuscope_destroy(npu));
    return wrong != 0;
}
