// SPDX-License-Identifier: Apache-2.0
// The units that registers launch, one row each: which register blocks launch together, what they
// decode into, which interrupt ends it. The launch engine, the dispatcher, the address maps and a
// static check work from these rows; what only a unit knows is in its folder. No SystemC. BDMA,
// whose registers are a queue, has blocks but no pipeline.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "models/base/diagnostic.h"
#include "models/base/register_map.h"
#include "models/bdma/bdma_registers.h"
#include "models/cdp/cdp_registers.h"
#include "models/conv/conv_job.h"
#include "models/conv/conv_registers.h"
#include "models/glb/interrupt.h"
#include "models/npu/npu_config.h"
#include "models/pdp/pdp_registers.h"
#include "models/rubik/rubik_registers.h"
#include "models/sdp/sdp_job.h"
#include "models/sdp/sdp_rdma_registers.h"
#include "models/sdp/sdp_registers.h"

namespace npuscope {

enum class Pipeline { Conv, Sdp, Pdp, Cdp, Rubik };

/// The job that a pipeline's registers make, by pipeline; nothing if they make none.
using RegisterJob = std::variant<std::monostate, ConvJob, SdpJob, PdpJob, CdpJob, RubikJob>;

/// The pipeline that runs jobs of this type.
template <class Job, std::size_t Index = 1>
constexpr Pipeline pipeline_of() {
    if constexpr (std::is_same_v<Job, std::variant_alternative_t<Index, RegisterJob>>) {
        return static_cast<Pipeline>(Index - 1);
    } else {
        return pipeline_of<Job, Index + 1>();
    }
}

/// Decodes registers of the unit and of its read DMA, where it has one, into a job.
using JobDecoder = RegisterJob (*)(const RegisterValues& unit, const RegisterValues& rdma,
                                   const NpuConfig& npu, Diagnostics& findings);

template <auto decode, auto config>
RegisterJob decode_job(const RegisterValues& unit, const RegisterValues& rdma, const NpuConfig& npu,
                       Diagnostics& findings) {
    auto job = [&] {
        if constexpr (requires { decode(unit, npu.*config, npu.datapath, findings); }) {
            return decode(unit, npu.*config, npu.datapath, findings);
        } else {
            return decode(unit, rdma, npu.*config, npu.datapath, findings);
        }
    }();
    return job ? RegisterJob(std::move(*job)) : RegisterJob();
}

enum class ReadDma {
    None,
    Together,  ///< its block is enabled with every operation
    Optional   ///< only where the operation reads from memory
};

struct PipelineRow {
    std::string_view name;                   ///< of its operations
    InterruptSource done;                    ///< ends an operation
    std::array<std::string_view, 5> blocks;  ///< that launch together; the read DMA is the last
    ReadDma rdma;
    JobDecoder decode;  ///< none: the launch engine does more than decode
};

/// By pipeline.
inline constexpr std::array<PipelineRow, 5> pipeline_rows{{
    {"conv",
     InterruptSource::Cacc,
     {"NVDLA_CDMA", "NVDLA_CSC", "NVDLA_CMAC_A", "NVDLA_CMAC_B", "NVDLA_CACC"},
     ReadDma::None,
     nullptr},
    {"sdp", InterruptSource::Sdp, {"NVDLA_SDP", "NVDLA_SDP_RDMA"}, ReadDma::Optional, nullptr},
    {"pdp",
     InterruptSource::Pdp,
     {"NVDLA_PDP", "NVDLA_PDP_RDMA"},
     ReadDma::Optional,
     &decode_job<&decode_pdp, &NpuConfig::pdp>},
    {"cdp",
     InterruptSource::Cdp,
     {"NVDLA_CDP", "NVDLA_CDP_RDMA"},
     ReadDma::Together,
     &decode_job<&decode_cdp, &NpuConfig::cdp>},
    {"rubik",
     InterruptSource::Rubik,
     {"NVDLA_RBK"},
     ReadDma::None,
     &decode_job<&decode_rubik, &NpuConfig::rubik>},
}};
static_assert(std::variant_size_v<RegisterJob> == pipeline_rows.size() + 1);

constexpr const PipelineRow& row_of(Pipeline pipeline) {
    return pipeline_rows[static_cast<std::size_t>(pipeline)];
}

/// Which pipeline starts first if several can: consumers before producers.
inline constexpr std::array launch_order{Pipeline::Pdp, Pipeline::Sdp, Pipeline::Cdp,
                                         Pipeline::Conv, Pipeline::Rubik};

/// A register block, whose own base is nv_small's, and its base in nv_full.
struct PlacedBlock {
    const RegisterBlock* block;
    std::uint32_t nv_full_base;  ///< source: register header of nv_full's C model
};
/// All but CFGROM, which nv_full lacks.
inline constexpr std::array placed_blocks{
    PlacedBlock{&glb_block, 0x0000},    PlacedBlock{&mcif_block, 0x2000},
    PlacedBlock{&cvif_block, 0x3000},   PlacedBlock{&bdma_block, 0x4000},
    PlacedBlock{&cdma_block, 0x5000},   PlacedBlock{&csc_block, 0x6000},
    PlacedBlock{&cmac_a_block, 0x7000}, PlacedBlock{&cmac_b_block, 0x8000},
    PlacedBlock{&cacc_block, 0x9000},   PlacedBlock{&sdp_rdma_block, 0xa000},
    PlacedBlock{&sdp_block, 0xb000},    PlacedBlock{&pdp_rdma_block, 0xc000},
    PlacedBlock{&pdp_block, 0xd000},    PlacedBlock{&cdp_rdma_block, 0xe000},
    PlacedBlock{&cdp_block, 0xf000},    PlacedBlock{&rbk_block, 0x10000}};

/// What convolutions are decoded and checked against on one NPU.
inline ConvFeatures conv_features(const NpuConfig& npu) {
    return {.datapath = npu.datapath,
            .cbuf_banks = npu.cbuf.banks,
            .cbuf_entry = npu.cbuf.bank_width,
            .secondary_port = npu.mcif.secondary_port,
            .weight_compression = npu.cdma.weight_compression,
            .winograd = npu.cdma.winograd,
            .max_batch = npu.cdma.max_batch};
}

}  // namespace npuscope
