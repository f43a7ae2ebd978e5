/* SPDX-License-Identifier: Apache-2.0 */
/* How a bench fills the parameters of npuscope_sdp: one sum through the BS stage and the output convertor. */
#include <npuscope/units.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

int npuscope_dpi_requantise(int sum, short bias, unsigned char bias_shift, short scale, unsigned char shift,
                            unsigned char relu, int offset, short out_scale, unsigned char out_shift, signed char* result) {
    const npuscope_tensor input = {&sum, sizeof sum, NPUSCOPE_SUMS, 1, 1, 1};
    npuscope_sdp_parameters sdp;
    memset(&sdp, 0, sizeof sdp);
    sdp.size = sizeof sdp;
    sdp.bs.enabled = 1;
    sdp.bs.alu = NPUSCOPE_ALU_SUM;
    sdp.bs.alu_operand.value = bias;
    sdp.bs.alu_shift = bias_shift;
    sdp.bs.mul = NPUSCOPE_MUL_ALL;
    sdp.bs.mul_operand.value = scale;
    sdp.bs.shift = shift;
    sdp.bs.relu = relu;
    sdp.convertor.enabled = 1;
    sdp.convertor.offset = offset;
    sdp.convertor.scale = out_scale;
    sdp.convertor.shift = out_shift;
    return npuscope_sdp(&sdp, &input, result, sizeof *result, NULL);
}

#ifdef __cplusplus
}
#endif
