/* SPDX-License-Identifier: Apache-2.0 */
/* The binary interface of npuscope.h and units.h on 64-bit Linux as seen by programs that were built against it:
 * this compiles as long as nothing in it has changed. Additions go to the end. A changed line here requires a
 * new NPUSCOPE_API_MAJOR. */
#include <npuscope/npuscope.h>
#include <npuscope/units.h>

#define VALUE(name, value) _Static_assert((name) == (value), #name)
#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)
#define MEMBER(type, name, offset, size) \
    _Static_assert(offsetof(type, name) == (offset) && sizeof(((type*)0)->name) == (size), #type "." #name)

SIZE(npuscope_status, 4);
VALUE(NPUSCOPE_OK, 0);
VALUE(NPUSCOPE_BAD_ARGUMENT, 1);
VALUE(NPUSCOPE_WRONG_INPUT, 2);
VALUE(NPUSCOPE_STOPPED, 3);
VALUE(NPUSCOPE_LIMIT, 4);
VALUE(NPUSCOPE_CALLBACK_FAILED, 5);
VALUE(NPUSCOPE_DEFECT, 70);

SIZE(npuscope_type, 4);
VALUE(NPUSCOPE_INT8, 0);
VALUE(NPUSCOPE_INT16, 1);
VALUE(NPUSCOPE_FP16, 2);
VALUE(NPUSCOPE_SUMS, 3);

SIZE(npuscope_alu, 4);
VALUE(NPUSCOPE_ALU_NONE, 0);
VALUE(NPUSCOPE_ALU_MAX, 1);
VALUE(NPUSCOPE_ALU_MIN, 2);
VALUE(NPUSCOPE_ALU_SUM, 3);
VALUE(NPUSCOPE_ALU_EQUAL, 4);

SIZE(npuscope_mul, 4);
VALUE(NPUSCOPE_MUL_NONE, 0);
VALUE(NPUSCOPE_MUL_ALL, 1);
VALUE(NPUSCOPE_MUL_PRELU, 2);

SIZE(npuscope_pooling, 4);
VALUE(NPUSCOPE_POOL_AVERAGE, 0);
VALUE(NPUSCOPE_POOL_MAX, 1);
VALUE(NPUSCOPE_POOL_MIN, 2);

SIZE(npuscope_memory, 24);
MEMBER(npuscope_memory, read, 0, 8);
MEMBER(npuscope_memory, write, 8, 8);
MEMBER(npuscope_memory, user, 16, 8);

SIZE(npuscope_request, 40);
MEMBER(npuscope_request, id, 0, 8);
MEMBER(npuscope_request, address, 8, 8);
MEMBER(npuscope_request, size, 16, 8);
MEMBER(npuscope_request, port, 24, 4);
MEMBER(npuscope_request, write, 28, 4);
MEMBER(npuscope_request, data, 32, 8);

SIZE(npuscope_timed_memory, 24);
MEMBER(npuscope_timed_memory, begin, 0, 8);
MEMBER(npuscope_timed_memory, peek, 8, 8);
MEMBER(npuscope_timed_memory, user, 16, 8);

SIZE(npuscope_driven, 64);
MEMBER(npuscope_driven, write_register, 0, 8);
MEMBER(npuscope_driven, read_register, 8, 8);
MEMBER(npuscope_driven, write_memory, 16, 8);
MEMBER(npuscope_driven, fill_memory, 24, 8);
MEMBER(npuscope_driven, read_memory, 32, 8);
MEMBER(npuscope_driven, await_interrupt, 40, 8);
MEMBER(npuscope_driven, check, 48, 8);
MEMBER(npuscope_driven, user, 56, 8);

SIZE(npuscope_tensor, 32);
MEMBER(npuscope_tensor, data, 0, 8);
MEMBER(npuscope_tensor, bytes, 8, 8);
MEMBER(npuscope_tensor, type, 16, 4);
MEMBER(npuscope_tensor, channels, 20, 4);
MEMBER(npuscope_tensor, height, 24, 4);
MEMBER(npuscope_tensor, width, 28, 4);

SIZE(npuscope_conversion, 16);
MEMBER(npuscope_conversion, enabled, 0, 4);
MEMBER(npuscope_conversion, offset, 4, 4);
MEMBER(npuscope_conversion, scale, 8, 4);
MEMBER(npuscope_conversion, shift, 12, 4);

SIZE(npuscope_counters, 72);
MEMBER(npuscope_counters, size, 0, 8);
MEMBER(npuscope_counters, saturated, 8, 8);
MEMBER(npuscope_counters, lut_underflow, 16, 8);
MEMBER(npuscope_counters, lut_overflow, 24, 8);
MEMBER(npuscope_counters, lut_hybrid, 32, 8);
MEMBER(npuscope_counters, lut_le_hit, 40, 8);
MEMBER(npuscope_counters, lut_lo_hit, 48, 8);
MEMBER(npuscope_counters, nan_outputs, 56, 8);
MEMBER(npuscope_counters, unequal, 64, 8);

SIZE(npuscope_conv_parameters, 80);
MEMBER(npuscope_conv_parameters, size, 0, 8);
MEMBER(npuscope_conv_parameters, kernels, 8, 4);
MEMBER(npuscope_conv_parameters, rows, 12, 4);
MEMBER(npuscope_conv_parameters, columns, 16, 4);
MEMBER(npuscope_conv_parameters, out_height, 20, 4);
MEMBER(npuscope_conv_parameters, out_width, 24, 4);
MEMBER(npuscope_conv_parameters, stride_y, 28, 4);
MEMBER(npuscope_conv_parameters, stride_x, 32, 4);
MEMBER(npuscope_conv_parameters, dilation_y, 36, 4);
MEMBER(npuscope_conv_parameters, dilation_x, 40, 4);
MEMBER(npuscope_conv_parameters, pad_top, 44, 4);
MEMBER(npuscope_conv_parameters, pad_left, 48, 4);
MEMBER(npuscope_conv_parameters, pad_value, 52, 4);
MEMBER(npuscope_conv_parameters, truncate, 56, 4);
MEMBER(npuscope_conv_parameters, block_channels, 60, 4);
MEMBER(npuscope_conv_parameters, partial_sum_bits, 64, 4);
MEMBER(npuscope_conv_parameters, image, 68, 4);
MEMBER(npuscope_conv_parameters, row_group, 72, 4);

SIZE(npuscope_operand, 24);
MEMBER(npuscope_operand, values, 0, 8);
MEMBER(npuscope_operand, count, 8, 8);
MEMBER(npuscope_operand, value, 16, 4);

SIZE(npuscope_sdp_x, 72);
MEMBER(npuscope_sdp_x, enabled, 0, 4);
MEMBER(npuscope_sdp_x, alu, 4, 4);
MEMBER(npuscope_sdp_x, alu_operand, 8, 24);
MEMBER(npuscope_sdp_x, alu_shift, 32, 4);
MEMBER(npuscope_sdp_x, mul, 36, 4);
MEMBER(npuscope_sdp_x, mul_operand, 40, 24);
MEMBER(npuscope_sdp_x, shift, 64, 4);
MEMBER(npuscope_sdp_x, relu, 68, 4);

SIZE(npuscope_lut_range, 48);
MEMBER(npuscope_lut_range, entries, 0, 8);
MEMBER(npuscope_lut_range, start, 8, 8);
MEMBER(npuscope_lut_range, end, 16, 8);
MEMBER(npuscope_lut_range, index_select, 24, 4);
MEMBER(npuscope_lut_range, underflow_scale, 28, 4);
MEMBER(npuscope_lut_range, overflow_scale, 32, 4);
MEMBER(npuscope_lut_range, underflow_shift, 36, 4);
MEMBER(npuscope_lut_range, overflow_shift, 40, 4);

SIZE(npuscope_lut, 128);
MEMBER(npuscope_lut, enabled, 0, 4);
MEMBER(npuscope_lut, le_linear, 4, 4);
MEMBER(npuscope_lut, le_index_offset, 8, 4);
MEMBER(npuscope_lut, le, 16, 48);
MEMBER(npuscope_lut, lo, 64, 48);
MEMBER(npuscope_lut, underflow_lo, 112, 4);
MEMBER(npuscope_lut, overflow_lo, 116, 4);
MEMBER(npuscope_lut, hybrid_lo, 120, 4);

SIZE(npuscope_sdp_y, 224);
MEMBER(npuscope_sdp_y, enabled, 0, 4);
MEMBER(npuscope_sdp_y, mul, 4, 4);
MEMBER(npuscope_sdp_y, mul_operand, 8, 24);
MEMBER(npuscope_sdp_y, mul_convertor, 32, 16);
MEMBER(npuscope_sdp_y, shift, 48, 4);
MEMBER(npuscope_sdp_y, alu, 52, 4);
MEMBER(npuscope_sdp_y, alu_operand, 56, 24);
MEMBER(npuscope_sdp_y, alu_convertor, 80, 16);
MEMBER(npuscope_sdp_y, lut, 96, 128);

SIZE(npuscope_sdp_parameters, 408);
MEMBER(npuscope_sdp_parameters, size, 0, 8);
MEMBER(npuscope_sdp_parameters, processing, 8, 4);
MEMBER(npuscope_sdp_parameters, output, 12, 4);
MEMBER(npuscope_sdp_parameters, bs, 16, 72);
MEMBER(npuscope_sdp_parameters, bn, 88, 72);
MEMBER(npuscope_sdp_parameters, ew, 160, 224);
MEMBER(npuscope_sdp_parameters, convertor, 384, 16);
MEMBER(npuscope_sdp_parameters, nan_to_zero, 400, 4);
MEMBER(npuscope_sdp_parameters, coarse_saturation, 404, 4);

SIZE(npuscope_pdp_parameters, 88);
MEMBER(npuscope_pdp_parameters, size, 0, 8);
MEMBER(npuscope_pdp_parameters, method, 8, 4);
MEMBER(npuscope_pdp_parameters, kernel_height, 12, 4);
MEMBER(npuscope_pdp_parameters, kernel_width, 16, 4);
MEMBER(npuscope_pdp_parameters, stride_y, 20, 4);
MEMBER(npuscope_pdp_parameters, stride_x, 24, 4);
MEMBER(npuscope_pdp_parameters, pad_top, 28, 4);
MEMBER(npuscope_pdp_parameters, pad_left, 32, 4);
MEMBER(npuscope_pdp_parameters, out_height, 36, 4);
MEMBER(npuscope_pdp_parameters, out_width, 40, 4);
MEMBER(npuscope_pdp_parameters, recip_height, 44, 4);
MEMBER(npuscope_pdp_parameters, recip_width, 48, 4);
MEMBER(npuscope_pdp_parameters, pad_value, 52, 32);
MEMBER(npuscope_pdp_parameters, nan_to_zero, 84, 4);

SIZE(npuscope_cdp_parameters, 192);
MEMBER(npuscope_cdp_parameters, size, 0, 8);
MEMBER(npuscope_cdp_parameters, local_size, 8, 4);
MEMBER(npuscope_cdp_parameters, square_sum_bypass, 12, 4);
MEMBER(npuscope_cdp_parameters, multiply_bypass, 16, 4);
MEMBER(npuscope_cdp_parameters, input_convertor, 20, 16);
MEMBER(npuscope_cdp_parameters, output_convertor, 36, 16);
MEMBER(npuscope_cdp_parameters, lut, 56, 128);
MEMBER(npuscope_cdp_parameters, nan_to_zero, 184, 4);
MEMBER(npuscope_cdp_parameters, coarse_saturation, 188, 4);

SIZE(npuscope_weights, 32);
MEMBER(npuscope_weights, size, 0, 8);
MEMBER(npuscope_weights, kernels, 8, 4);
MEMBER(npuscope_weights, channels, 12, 4);
MEMBER(npuscope_weights, rows, 16, 4);
MEMBER(npuscope_weights, columns, 20, 4);
MEMBER(npuscope_weights, group_kernels, 24, 4);
MEMBER(npuscope_weights, element_bytes, 28, 4);

SIZE(npuscope_compressed, 56);
MEMBER(npuscope_compressed, size, 0, 8);
MEMBER(npuscope_compressed, weights, 8, 8);
MEMBER(npuscope_compressed, weight_bytes, 16, 8);
MEMBER(npuscope_compressed, mask, 24, 8);
MEMBER(npuscope_compressed, mask_bytes, 32, 8);
MEMBER(npuscope_compressed, sizes, 40, 8);
MEMBER(npuscope_compressed, sizes_bytes, 48, 8);

/* A call with other arguments would not compile. */
static const char* (*of_version)(void);
static unsigned (*of_api_version)(void);
static const char* (*of_error)(void);
static npuscope_status (*of_create)(const char* npu, const char* const* changes, size_t count, const npuscope_memory* memory, npuscope_device** device);
static npuscope_status (*of_create_timed)(const char* npu, const char* const* changes, size_t count, const npuscope_timed_memory* memory, npuscope_device** device);
static npuscope_status (*of_answer)(npuscope_device* device, uint64_t id, int error);
static npuscope_status (*of_destroy)(npuscope_device* device);
static npuscope_status (*of_reset)(npuscope_device* device);
static npuscope_status (*of_write_register)(npuscope_device* device, uint32_t address, uint32_t value);
static npuscope_status (*of_read_register)(npuscope_device* device, uint32_t address, uint32_t* value);
static npuscope_status (*of_write_memory)(npuscope_device* device, uint64_t address, const void* data, size_t size);
static npuscope_status (*of_read_memory)(npuscope_device* device, uint64_t address, void* data, size_t size);
static npuscope_status (*of_advance)(npuscope_device* device, uint64_t cycles);
static npuscope_status (*of_run_until_interrupt)(npuscope_device* device, uint64_t most, uint64_t* passed);
static npuscope_status (*of_run_until_idle)(npuscope_device* device, uint64_t most, uint64_t* passed);
static npuscope_status (*of_interrupt)(npuscope_device* device, int* line);
static npuscope_status (*of_cycle)(npuscope_device* device, uint64_t* cycle);
static npuscope_status (*of_result)(npuscope_device* device, char** json);
static void (*of_free)(void* text);
static npuscope_status (*of_pack)(const char* layout, const char* type, const uint32_t shape[4], const void* array, void* memory, size_t* size);
static npuscope_status (*of_unpack)(const char* layout, const char* type, const uint32_t shape[4], const void* memory, size_t size, void* array);
static npuscope_status (*of_conv)(const npuscope_conv_parameters* parameters, const npuscope_tensor* data, const void* weights, size_t bytes, void* sums, size_t sum_bytes, npuscope_counters* counters);
static npuscope_status (*of_sdp)(const npuscope_sdp_parameters* parameters, const npuscope_tensor* input, void* output, size_t bytes, npuscope_counters* counters);
static npuscope_status (*of_pdp)(const npuscope_pdp_parameters* parameters, const npuscope_tensor* input, void* output, size_t bytes);
static npuscope_status (*of_cdp)(const npuscope_cdp_parameters* parameters, const npuscope_tensor* input, void* output, size_t bytes, npuscope_counters* counters);
static npuscope_status (*of_compress)(const npuscope_weights* layout, const void* stored, size_t bytes, npuscope_compressed* compressed);
static npuscope_status (*of_decompress)(const npuscope_weights* layout, const npuscope_compressed* compressed, void* stored, size_t bytes);
static npuscope_status (*of_fill_memory)(npuscope_device* device, uint64_t address, uint8_t value, size_t size);
static npuscope_status (*of_play)(const char* program, const char* npu, const npuscope_driven* driven);

int main(void) {
    of_version = npuscope_version;
    of_api_version = npuscope_api_version;
    of_error = npuscope_error;
    of_create = npuscope_create;
    of_create_timed = npuscope_create_timed;
    of_answer = npuscope_answer;
    of_destroy = npuscope_destroy;
    of_reset = npuscope_reset;
    of_write_register = npuscope_write_register;
    of_read_register = npuscope_read_register;
    of_write_memory = npuscope_write_memory;
    of_read_memory = npuscope_read_memory;
    of_advance = npuscope_advance;
    of_run_until_interrupt = npuscope_run_until_interrupt;
    of_run_until_idle = npuscope_run_until_idle;
    of_interrupt = npuscope_interrupt;
    of_cycle = npuscope_cycle;
    of_result = npuscope_result;
    of_free = npuscope_free;
    of_pack = npuscope_pack;
    of_unpack = npuscope_unpack;
    of_conv = npuscope_conv;
    of_sdp = npuscope_sdp;
    of_pdp = npuscope_pdp;
    of_cdp = npuscope_cdp;
    of_compress = npuscope_compress;
    of_decompress = npuscope_decompress;
    of_fill_memory = npuscope_fill_memory;
    of_play = npuscope_play;
    return of_api_version() / 1000 == 1 ? 0 : 1;
}
