/* SPDX-License-Identifier: Apache-2.0 */
/* What one block of the NPU computes, as a function: no device, no memory, no time. A scoreboard
 * compares a block of RTL with it.
 *
 *     const npuscope_tensor in = {values, sizeof values, NPUSCOPE_INT8, 8, 16, 16};
 *     npuscope_sdp_parameters sdp = {sizeof sdp};
 *     sdp.bs.enabled = sdp.bs.relu = 1;
 *     npuscope_sdp(&sdp, &in, out, sizeof out, NULL);
 *
 * Arrays are in C order, [channels][height][width], little-endian as in the machine; fp16 values
 * are bit patterns. Only the given channels are computed, so counters exclude the pad lanes that
 * fill up an atom in hardware. Structures begin with their size, which tells the library their
 * version; any other member that is 0 switches a part off or selects the value named. Values have
 * the widths of the registers, and those that would not fit are refused.
 *
 * Errors, for all functions: NPUSCOPE_BAD_ARGUMENT for a null pointer, a wrong size of a structure
 * or an array, a value out of range; NPUSCOPE_WRONG_INPUT if the hardware has no such type
 * conversion. npuscope_error() names the member. Nothing is written then. All may be called from
 * any thread, and need no device.
 */
#ifndef NPUSCOPE_UNITS_H
#define NPUSCOPE_UNITS_H

#include "npuscope.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum npuscope_type {
    NPUSCOPE_INT8 = 0,
    NPUSCOPE_INT16 = 1,
    NPUSCOPE_FP16 = 2,
    NPUSCOPE_SUMS = 3 /* 32 bits from the convolution: integers, or fp32 patterns of fp16 data */
} npuscope_type;

/* Elements to be read. `bytes` is the size of `data`: exactly channels * height * width elements.
 * Each dimension is 1 to 8192. */
typedef struct npuscope_tensor {
    const void* data;
    size_t bytes;
    int32_t type; /* npuscope_type */
    uint32_t channels, height, width;
} npuscope_tensor;

/* (x - offset) * scale >> shift, rounded half away from zero; `enabled` 0: values are unchanged. */
typedef struct npuscope_conversion {
    int32_t enabled;
    int32_t offset;
    int32_t scale; /* 16 bits */
    int32_t shift; /* 0 to 63; for the CDP's input 0 to 31 */
} npuscope_conversion;

/* What status and performance registers would show with counting enabled, for these elements. */
typedef struct npuscope_counters {
    size_t size;        /* sizeof(npuscope_counters), set by the caller */
    uint64_t saturated; /* conv: sums at 32 bits; sdp, cdp: as D_PERF_OUT_SATURATION */
    uint64_t lut_underflow, lut_overflow, lut_hybrid, lut_le_hit, lut_lo_hit;
    uint64_t nan_outputs; /* fp16 */
    uint64_t unequal;     /* sdp that compares: 1 if any element differs */
} npuscope_counters;

/* --- Convolution: CSC, CMAC and CACC ---------------------------------------------------------- */

typedef struct npuscope_conv_parameters {
    size_t size; /* sizeof(npuscope_conv_parameters) */
    /* Weights are [kernels][channels of the data][rows][columns], of the data's type. */
    uint32_t kernels, rows, columns; /* 1 to 8192, 32, 32 */
    uint32_t out_height, out_width;  /* 1 to 8192 */
    uint32_t stride_y, stride_x;     /* 1 to 8 */
    uint32_t dilation_y, dilation_x; /* 1 (neighbours) to 32 */
    uint32_t pad_top, pad_left;      /* 0 to 31; right and bottom follow from the output */
    int32_t pad_value;               /* in the data's type; for fp16 its pattern */
    uint32_t truncate;               /* 0 to 31: D_CLIP_CFG of the accumulator */
    uint32_t block_channels;         /* products that a MAC cell sums; 0: 8, as nv_small */
    uint32_t partial_sum_bits;       /* of the accumulator, 16 to 48; 0: 34 (int16: 48) */
    uint32_t image;                  /* 1: columns count as channels, as for images */
    uint32_t row_group;              /* images: rows per block, 1, 2 or 4; 0: 1 */
} npuscope_conv_parameters;

/* `data`: int8, int16 or fp16. `weights`: kernels * channels * rows * columns elements, in `bytes`.
 * `sums`: [kernels][out_height][out_width], 32 bits each, in `sum_bytes`: what the SDP receives on
 * the fly. `counters` may be null. Winograd is not supported. */
npuscope_status npuscope_conv(const npuscope_conv_parameters* parameters,
                              const npuscope_tensor* data, const void* weights, size_t bytes,
                              void* sums, size_t sum_bytes, npuscope_counters* counters);

/* --- SDP -------------------------------------------------------------------------------------- */

typedef enum npuscope_alu {
    NPUSCOPE_ALU_NONE = 0,
    NPUSCOPE_ALU_MAX = 1,
    NPUSCOPE_ALU_MIN = 2,
    NPUSCOPE_ALU_SUM = 3,
    NPUSCOPE_ALU_EQUAL = 4 /* element-wise stage only: the output is 0 where equal, else 1 */
} npuscope_alu;

typedef enum npuscope_mul {
    NPUSCOPE_MUL_NONE = 0,
    NPUSCOPE_MUL_ALL = 1,
    NPUSCOPE_MUL_PRELU = 2 /* only values below 0 are multiplied */
} npuscope_mul;

/* The second operand of a stage. */
typedef struct npuscope_operand {
    const int16_t* values; /* as from memory; null: `value`, as from the register */
    size_t count;          /* of `values`: channels, or channels * height * width */
    int32_t value;         /* BS and BN 16 bits, EW 32; fp16: fp16 patterns, EW fp32 */
} npuscope_operand;

/* BS and BN: ALU, then MUL, then shift, then ReLU. */
typedef struct npuscope_sdp_x {
    int32_t enabled;
    int32_t alu; /* npuscope_alu */
    npuscope_operand alu_operand;
    uint32_t alu_shift; /* left, of the operand; 0 to 63 */
    int32_t mul;        /* npuscope_mul */
    npuscope_operand mul_operand;
    uint32_t shift; /* right, also without MUL; 0 to 63 */
    int32_t relu;
} npuscope_sdp_x;

/* One of a pair of lookup tables. */
typedef struct npuscope_lut_range {
    const int16_t* entries;                  /* LE 65, LO 257; null: all 0 */
    int64_t start, end;                      /* sdp 32 bits, cdp 38 */
    int32_t index_select;                    /* log2 of the inputs per entry, -128 to 127 */
    int32_t underflow_scale, overflow_scale; /* slopes beyond the ends, 16 bits */
    int32_t underflow_shift, overflow_shift; /* -16 to 15, right where positive */
} npuscope_lut_range;

typedef struct npuscope_lut {
    int32_t enabled;         /* sdp; the cdp always looks up */
    int32_t le_linear;       /* 0: LE is exponential */
    int32_t le_index_offset; /* -128 to 127, for an exponential LE */
    npuscope_lut_range le, lo;
    int32_t underflow_lo, overflow_lo, hybrid_lo; /* 1: LO answers, where both could; 0: LE */
} npuscope_lut;

/* EW: MUL with its shift, then ALU, then the lookup. */
typedef struct npuscope_sdp_y {
    int32_t enabled;
    int32_t mul; /* npuscope_mul */
    npuscope_operand mul_operand;
    npuscope_conversion mul_convertor; /* for operands from memory */
    uint32_t shift;                    /* right, with MUL; 0 to 1023 */
    int32_t alu;                       /* npuscope_alu */
    npuscope_operand alu_operand;
    npuscope_conversion alu_convertor;
    npuscope_lut lut;
} npuscope_sdp_y;

typedef struct npuscope_sdp_parameters {
    size_t size;        /* sizeof(npuscope_sdp_parameters) */
    int32_t processing; /* npuscope_type, of the stages: int8, int16, fp16 */
    int32_t output;     /* npuscope_type, of the result */
    npuscope_sdp_x bs, bn;
    npuscope_sdp_y ew;
    npuscope_conversion convertor; /* after the stages; not for fp16 */
    int32_t nan_to_zero;           /* fp16: for values and operands */
    int32_t coarse_saturation;     /* npu.datapath.coarse_saturation_count, for `saturated` */
} npuscope_sdp_parameters;

/* `input`: of the processing type, or NPUSCOPE_SUMS; int16 may also be processed as int8. `output`:
 * as many elements of type parameters->output, in `bytes`. `counters` may be null. */
npuscope_status npuscope_sdp(const npuscope_sdp_parameters* parameters,
                             const npuscope_tensor* input, void* output, size_t bytes,
                             npuscope_counters* counters);

/* --- PDP -------------------------------------------------------------------------------------- */

typedef enum npuscope_pooling {
    NPUSCOPE_POOL_AVERAGE = 0,
    NPUSCOPE_POOL_MAX = 1,
    NPUSCOPE_POOL_MIN = 2
} npuscope_pooling;

typedef struct npuscope_pdp_parameters {
    size_t size;                          /* sizeof(npuscope_pdp_parameters) */
    int32_t method;                       /* npuscope_pooling */
    uint32_t kernel_height, kernel_width; /* 1 to 8 */
    uint32_t stride_y, stride_x;          /* 1 to 16 */
    uint32_t pad_top, pad_left;           /* 0 to 7, less than the kernel */
    uint32_t out_height, out_width;       /* each window contains an element of the input */
    uint32_t recip_height, recip_width;   /* average: about 65536 / kernel; fp16: fp17 codes */
    int32_t pad_value[8];                 /* average: [n] is what n missing elements add, 19 bits */
    int32_t nan_to_zero;                  /* fp16 */
} npuscope_pdp_parameters;

/* `input`: int8, int16, fp16. `output`: that type, [channels][out_height][out_width], in
 * `bytes`. */
npuscope_status npuscope_pdp(const npuscope_pdp_parameters* parameters,
                             const npuscope_tensor* input, void* output, size_t bytes);

/* --- CDP -------------------------------------------------------------------------------------- */

typedef struct npuscope_cdp_parameters {
    size_t size;         /* sizeof(npuscope_cdp_parameters) */
    uint32_t local_size; /* channels per sum: 3, 5, 7 or 9 */
    int32_t square_sum_bypass, multiply_bypass;
    npuscope_conversion input_convertor, output_convertor;
    npuscope_lut lut;
    int32_t nan_to_zero;       /* fp16 */
    int32_t coarse_saturation; /* as in npuscope_sdp_parameters */
} npuscope_cdp_parameters;

/* `input`: int8, int16 or fp16. `output`: as many elements of this type, in `bytes`. `counters` may
 * be null. */
npuscope_status npuscope_cdp(const npuscope_cdp_parameters* parameters,
                             const npuscope_tensor* input, void* output, size_t bytes,
                             npuscope_counters* counters);

/* --- Compressed weights ----------------------------------------------------------------------- */

/* Weights as they lie in memory (`npuscope_pack` with "weight_dc" ..). */
typedef struct npuscope_weights {
    size_t size;                               /* sizeof(npuscope_weights) */
    uint32_t kernels, channels, rows, columns; /* as stored: images have one column */
    uint32_t group_kernels; /* of a full group: npu.datapath.atomic_k, half of it for 2 bytes */
    uint32_t element_bytes; /* 1 or 2 */
} npuscope_weights;

/* The three surfaces of compressed weights. Each size is its buffer's capacity in bytes; if the
 * buffer is null, and after a call that returns NPUSCOPE_OK, it is the size needed or written. */
typedef struct npuscope_compressed {
    size_t size;   /* sizeof(npuscope_compressed) */
    void* weights; /* nonzero elements, zero-padded to a multiple of 128 bytes */
    size_t weight_bytes;
    void* mask; /* WMB: one bit per element, zero-padded to a multiple of 128 bytes */
    size_t mask_bytes;
    uint32_t* sizes; /* WGS: bytes of `weights` of each kernel group */
    size_t sizes_bytes;
} npuscope_compressed;

/* `stored`: kernels * channels * rows * columns elements as in memory; `bytes` may be more. */
npuscope_status npuscope_compress(const npuscope_weights* layout, const void* stored, size_t bytes,
                                  npuscope_compressed* compressed);
/* The inverse: `bytes` is at least kernels * channels * rows * columns elements.
 * NPUSCOPE_WRONG_INPUT, with the first such group and its values, if sizes and mask disagree. */
npuscope_status npuscope_decompress(const npuscope_weights* layout,
                                    const npuscope_compressed* compressed, void* stored,
                                    size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
