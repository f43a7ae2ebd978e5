// SPDX-License-Identifier: Apache-2.0
// The operations of NVDLA as plain operators over a byte memory: one loop nest an operator, and every
// element's address by the formula of its format. What one value goes through (convertors, look-up
// tables, the stages of the SDP, rounding of fp16) is the units' own arithmetic; which values meet,
// and where they lie, shares nothing with the units. Winograd takes models/arith's transformation.
// source: NVDLA format page; NVDLA doc v1/ias/unit_description.rst
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/arith/lookup_table.h"
#include "models/bdma/bdma_job.h"
#include "models/cdp/cdp_job.h"
#include "models/conv/conv_job.h"
#include "models/memory/memory.h"
#include "models/npu/npu_config.h"
#include "models/pdp/pdp_job.h"
#include "models/rubik/rubik_job.h"
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

/// Where an element of a surface lies.
struct SurfacePlace {
    std::uint32_t batch = 0;
    std::uint32_t channel = 0;
    std::uint32_t row = 0;
    std::uint32_t column = 0;

    bool operator==(const SurfacePlace&) const = default;
};

/// Byte of the element in a cube of one batch.
Address in_cube(const FeatureCube& cube, const SurfacePlace& place);

/// What an operation leaves in memory: elements as sign-extended bits, and the place of each.
struct PlainSurface {
    Shape shape;  ///< of one batch, lanes that are computed beside the channels included
    Precision precision = Precision::Int8;
    std::vector<Tensor<std::int32_t>> batches{};
    std::function<Address(const SurfacePlace&)> address{};
    bool is_unsigned = false;  ///< for people: bits of Int8 are those of uint8

    /// From the lowest to the highest byte.
    ByteRun extent() const;
    void write(SparseMemory& memory) const;
};

/// What passes on the fly: one tensor a batch. Sums of a convolution, or elements as their bits.
using PlainCubes = std::vector<Tensor<std::int32_t>>;

/// Data and weights of a convolution as its buffer keeps them for the next one.
struct PlainBuffer {
    std::vector<ElementTensor> data;  ///< one a batch, converted
    WeightKernels kernels;
};

/// Data and weights out of memory; `kept` tells which of `buffer` are left as they are, and how many
/// lines of the data before stand in front of those that are read.
struct BufferKept {
    bool data = false;
    bool weights = false;
    std::uint32_t lines = 0;
};
void load_buffer(const SparseMemory& memory, const ConvJob& job, const NpuConfig& npu,
                 BufferKept kept, PlainBuffer& buffer);
/// Sums after the truncation, [kernel][y][x] of every batch; fp16: the bits of fp32.
PlainCubes plain_convolution(const PlainBuffer& buffer, const ConvJob& job, const NpuConfig& npu);

/// `flying`: sums; null where the SDP reads memory.
PlainCubes plain_sdp(const SparseMemory& memory, const SdpJob& job, const NpuConfig& npu,
                     const LookupTables& tables, const PlainCubes* flying);
/// Operands of the stages out of memory, `bs_alu` and so on: one value a channel, or one an element.
std::vector<PlainArray> operand_arrays(const SparseMemory& memory, const SdpJob& job);
PlainSurface sdp_result(const SdpJob& job, PlainCubes values);
/// `flying`: elements of the SDP; null where the PDP reads memory.
PlainSurface plain_pdp(const SparseMemory& memory, const PdpJob& job, const PlainCubes* flying);
PlainSurface plain_cdp(const SparseMemory& memory, const CdpJob& job, const LookupTables& tables);
PlainSurface plain_rubik(const SparseMemory& memory, const RubikJob& job);
PlainSurface plain_bdma(const SparseMemory& memory, const BdmaJob& job);

/// Elements of a feature cube, its channels in full.
Tensor<std::int32_t> plain_cube(const SparseMemory& memory, const FeatureCube& cube);

PlainArray as_array(std::string name, Precision precision, const PlainCubes& batches,
                    std::uint32_t channels);
PlainArray as_array(std::string name, Precision precision, const WeightKernels& kernels);

}  // namespace npuscope
