// SPDX-License-Identifier: Apache-2.0
// The operations of NVDLA as reference operators over a byte memory: one loop nest per operator,
// every element's address by the formula of its format. The arithmetic on single values
// (convertors, look-up tables, the stages of the SDP, rounding of fp16) is the units' own; which
// values are combined, and where they are, shares nothing with the units. Winograd uses
// models/arith's transform.
// source: NVDLA format page; NVDLA doc v1/ias/unit_description.rst
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/arith/lookup_table.h"
#include "models/cdp/cdp_job.h"
#include "models/conv/conv_job.h"
#include "models/layout/plain_surface.h"
#include "models/memory/memory.h"
#include "models/npu/npu_config.h"
#include "models/pdp/pdp_job.h"
#include "models/sdp/sdp_job.h"
#include "sim/config/element_type.h"

namespace npuscope {

/// An operand or a result as an array, the last index fastest.
struct PlainArray {
    std::string name;  ///< input, weights, result
    ElementType type = ElementType::Int8;
    std::vector<std::uint64_t> shape;
    std::vector<double> numbers;
};

/// Data passed on the fly: one tensor per batch. Sums of a convolution, or elements as their bits.
using PlainCubes = std::vector<Tensor<std::int32_t>>;

/// Data and weights of a convolution as its buffer keeps them for the next one.
struct PlainBuffer {
    std::vector<ElementTensor> data;  ///< one per batch, converted
    WeightKernels kernels;
};

/// Data and weights from memory; `kept` says which of `buffer` are left as they are, and how many
/// lines of the previous data precede those that are read.
struct BufferKept {
    bool data = false;
    bool weights = false;
    std::uint32_t lines = 0;
};
void load_buffer(const SparseMemory& memory, const ConvJob& job, const NpuConfig& npu,
                 BufferKept kept, PlainBuffer& buffer);
/// Sums after the truncation, [kernel][y][x] for every batch; fp16: the bits of fp32.
PlainCubes plain_convolution(const PlainBuffer& buffer, const ConvJob& job, const NpuConfig& npu);

/// `flying`: sums; null if the SDP reads memory.
PlainCubes plain_sdp(const SparseMemory& memory, const SdpJob& job, const NpuConfig& npu,
                     const LookupTables& tables, const PlainCubes* flying);
/// Operands of the stages from memory, `bs_alu` etc.: one value per channel, or one per element.
std::vector<PlainArray> operand_arrays(const SparseMemory& memory, const SdpJob& job);
PlainSurface sdp_result(const SdpJob& job, PlainCubes values);
/// `flying`: elements of the SDP; null if the PDP reads memory.
PlainSurface plain_pdp(const SparseMemory& memory, const PdpJob& job, const PlainCubes* flying);
PlainSurface plain_cdp(const SparseMemory& memory, const CdpJob& job, const LookupTables& tables);

/// Elements of a byte memory.
ElementReader reader_of(const SparseMemory& memory);
void write_surface(const PlainSurface& surface, SparseMemory& memory);

/// Elements of a feature cube with all its channels.
Tensor<std::int32_t> plain_cube(const SparseMemory& memory, const FeatureCube& cube);

PlainArray as_array(std::string name, Precision precision, const PlainCubes& batches,
                    std::uint32_t channels);
PlainArray as_array(std::string name, Precision precision, const WeightKernels& kernels);

}  // namespace npuscope
