// SPDX-License-Identifier: Apache-2.0
#include "sim/loadable/register_verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "models/base/error.h"
#include "models/npu/pipelines.h"
#include "models/npu/register_blocks.h"
#include "sim/compile/nvdla/plan_program.h"

namespace npuscope {
namespace {

/// Compares the plan's registers with the firmware's registers for the descriptors.
class Verifier {
 public:
    explicit Verifier(const VerifiedAgainst& against) : against_(against), npu_(against.npu) {}

    void verify(const std::string& name, const std::vector<DlaOperation>& parts,
                const Operation& planned) const {
        std::map<std::string_view, RegisterValues> written;
        for (const DlaOperation& part : parts) {
            write(name, part, written);
        }
        Diagnostics findings;
        const std::vector<RegisterValues> again = encode_again(written, planned, findings);
        for (const RegisterValues& wanted : operation_registers(planned)) {
            const auto same = std::ranges::find_if(again, [&](const RegisterValues& one) {
                return one.block().name == wanted.block().name;
            });
            if (same == again.end()) {
                refuse(name, findings.empty() ? std::string(wanted.block().name)
                                              : findings.front().sentence);
            }
            for (std::size_t i = 0; i < wanted.words().size(); ++i) {
                if (wanted.words()[i] != same->words()[i] &&
                    matters(wanted, *same, wanted.block().rows[i].name)) {
                    refuse(name,
                           fmt::format("{} = {}, not {}",
                                       spelled(wanted.block().name, wanted.block().rows[i].name),
                                       to_hex(wanted.words()[i]), to_hex(same->words()[i])));
                }
            }
        }
    }

 private:
    /// False for the accumulators' output, which the SDP receives; for a convertor that is off; for
    /// packed lines, which nothing uses.
    bool matters(const RegisterValues& wanted, const RegisterValues& same,
                 std::string_view name) const {
        static constexpr std::array<std::string_view, 4> of_output{
            "D_DATAOUT_ADDR", "D_LINE_STRIDE", "D_SURF_STRIDE", "D_DATAOUT_MAP"};
        const std::string_view block = wanted.block().name;
        if (block == "NVDLA_CACC" && std::ranges::find(of_output, name) != of_output.end()) {
            return false;
        }
        if (block == "NVDLA_CDMA") {
            const bool converts = wanted.field("D_CVT_CFG", "CVT_EN") == 1;
            if (name == "D_DAIN_MAP" || (name.starts_with("D_CVT_") && !converts)) {
                return false;
            }
        }
        if (block == "NVDLA_CSC" && wanted.field("D_DATAIN_FORMAT", "DATAIN_FORMAT") == 1 &&
            name == "D_ZERO_PADDING") {  // the DMA pads lines of pixels
            return wanted.field(name, "PAD_TOP") != same.field(name, "PAD_TOP");
        }
        return std::ranges::find(against_.changed, name) == against_.changed.end();
    }
    [[noreturn]] static void refuse(const std::string& name, const std::string& what) {
        throw ConfigError(
            fmt::format("operation '{}' cannot be expressed by a loadable's descriptors: {}", name,
                        what),
            "plan it as a register program: --out DIR");
    }

    void write(const std::string& name, const DlaOperation& part,
               std::map<std::string_view, RegisterValues>& written) const {
        RegisterScript script(nvdla_register_blocks(AddressMap::NvSmall, true), "");
        const OperationContext context{
            .script = script,
            .npu = npu_,
            .name = name,
            .file = "",
            .address = [this](std::int16_t index, std::uint64_t offset, std::uint64_t,
                              const std::string&) { return against_.address_of(index, offset); },
            .uses_rdma = uses_rdma(part)};
        write_operation(context, part);
        if (const auto* sdp = std::get_if<SdpDlaOperation>(&part);
            sdp != nullptr && sdp->operation.table >= 0) {
            write_table(script, sdp_block.name, sdp->table, sdp->operation.source_precision);
        }
        for (const Statement& statement : script.statements()) {
            const auto* one = std::get_if<WriteRegister>(&statement.action);
            if (one == nullptr) {
                continue;
            }
            const auto place =
                find_place(nvdla_register_blocks(AddressMap::NvSmall, true), one->address);
            written.try_emplace(place->block->name, *place->block)
                .first->second.set(place->row->offset, one->value);
        }
    }

    std::vector<RegisterValues> encode_again(std::map<std::string_view, RegisterValues>& written,
                                             const Operation& planned,
                                             Diagnostics& findings) const {
        std::vector<RegisterValues> all;
        const auto add = [&](std::vector<RegisterValues> more) {
            std::ranges::move(more, std::back_inserter(all));
        };
        const auto of = [&](const RegisterBlock& block) {
            return written.try_emplace(block.name, block).first->second;
        };
        if (written.contains("NVDLA_PDP")) {
            if (const auto job = decode_pdp(of(pdp_block), of(pdp_rdma_block), npu_.pdp,
                                            npu_.datapath, findings)) {
                add(encode_pdp(*job));
            }
        }
        if (written.contains("NVDLA_SDP")) {
            if (const auto job = decode_sdp(of(sdp_block), of(sdp_rdma_block), npu_.sdp,
                                            npu_.datapath, findings)) {
                add(encode_sdp(*job));
            }
        }
        if (const auto* conv = std::get_if<ConvOperation>(&planned.job)) {
            const auto parts = decode_conv(
                {of(cdma_block), of(csc_block), of(cmac_a_block), of(cmac_b_block), of(cacc_block)},
                conv_features(npu_), findings);
            if (parts) {
                add(encode_conv(*parts, conv->destination()));
            }
        }
        return all;
    }

    const VerifiedAgainst& against_;
    const NpuConfig& npu_;
};

}  // namespace

void verify_registers(const Operation& planned, const std::vector<DlaOperation>& parts,
                      const VerifiedAgainst& against) {
    Verifier(against).verify(planned.name, parts, planned);
}

}  // namespace npuscope
