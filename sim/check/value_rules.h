// SPDX-License-Identifier: Apache-2.0
// What registers say about values without knowing them: look-up tables that are only partly loaded,
// operands that are fetched although no stage reads them from memory, registers that were never
// written.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>

#include "models/base/diagnostic.h"
#include "models/base/register_map.h"
#include "models/npu/npu_config.h"
#include "sim/check/operation_surfaces.h"

namespace npuscope {

/// Which entries of the two tables of a unit the program has loaded.
class LoadedTables {
 public:
    /// A write of S_LUT_ACCESS_CFG or S_LUT_ACCESS_DATA.
    void write(std::string_view register_name, std::uint32_t value);
    /// A table that is only partly loaded when an operation uses it.
    void report(std::string_view unit, Diagnostics& findings) const;

 private:
    static constexpr std::size_t largest = 257;  // source: NVDLA LUT page, "Y table entries"
    std::array<std::bitset<largest>, 2> loaded_{};
    std::size_t table_ = 0;
    std::size_t entry_ = 0;
    bool writes_ = false;
};

/// The registers of an operation of the SDP.
struct SdpRegisters {
    const RegisterValues& sdp;
    const RegisterValues& rdma;
    const SdpConfig& config;
};
/// Operands that NVDLA_SDP_RDMA fetches but no stage of NVDLA_SDP reads from memory; and a note on
/// slopes of PReLU that are fetched for each element.
void add_operand_findings(const SdpRegisters& registers, Diagnostics& findings);
/// Surface strides that have no effect, since the cube is a single pixel, and say otherwise.
void add_pixel_findings(const SdpRegisters& registers, const SdpJob& job, Diagnostics& findings);
/// The registers by which NVDLA_CACC passes several batches to the SDP, and the SDP writes them.
struct BatchRegisters {
    const RegisterValues& cacc;
    const RegisterValues& sdp;
    const FlyingCube& cube;  ///< that passes
};
/// Pixels pass in pairs, batch after batch, where an atom's address is even: both units must agree
/// on which are. source: nv_full RTL, NV_NVDLA_CACC_delivery_ctrl.v, dataout_addr_cnt
void add_batch_findings(const BatchRegisters& registers, const DatapathConfig& datapath,
                        Diagnostics& findings);
/// The PDP takes its input on the fly although NVDLA_PDP_RDMA is enabled, too.
Diagnostic unused_pdp_source();
/// NVDLA_SDP_RDMA or NVDLA_PDP_RDMA is enabled after an operation that started without it, and no
/// other one takes what it reads.
Diagnostic unused_read_dma(std::string_view rdma, const std::string& operation);

/// Registers of a unit of the operation that were never written, though their reset value is seldom
/// meant.
void add_unwritten(std::string_view unit, const SdpConfig& sdp, CheckedOperation& operation);

}  // namespace npuscope
