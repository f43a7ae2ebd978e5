// SPDX-License-Identifier: Apache-2.0
#include "sim/loadable/operation_size.h"

#include <algorithm>

namespace npuscope {
namespace {

std::uint64_t elements_of(const DlaCube& cube) {
    return std::uint64_t{cube.width} * cube.height * cube.channel;
}

std::uint64_t conv_cycles(const ConvDlaOperation& conv, const NpuConfig& npu) {
    const std::uint64_t array = std::uint64_t{npu.datapath.atomic_c} * npu.datapath.atomic_k;
    const std::uint64_t bytes =
        std::uint64_t{conv.surfaces.weight.size} +
        elements_of(conv.surfaces.source) * element_bytes(conv.operation.input_precision);
    return std::max(useful_macs(conv) / std::max<std::uint64_t>(array, 1),
                    bytes / std::max<std::uint64_t>(npu.mcif.bus_width.value, 1));
}

}  // namespace

bool is_empty(const DlaOperation& operation) {
    const auto* bdma = std::get_if<BdmaOperation>(&operation);
    return bdma != nullptr && bdma->surfaces.count == 0;
}

bool takes_on_the_fly(const DlaOperation& operation) {
    if (const auto* sdp = std::get_if<SdpDlaOperation>(&operation)) {
        return sdp->surfaces.source.type == DlaMemory::OnTheFly;
    }
    const auto* pdp = std::get_if<PdpDlaOperation>(&operation);
    return pdp != nullptr && pdp->surfaces.source.type == DlaMemory::OnTheFly;
}

bool gives_on_the_fly(const DlaOperation& operation) {
    if (const auto* sdp = std::get_if<SdpDlaOperation>(&operation)) {
        return sdp->surfaces.destination.type == DlaMemory::OnTheFly;
    }
    return std::holds_alternative<ConvDlaOperation>(operation);
}

std::uint64_t useful_macs(const DlaOperation& operation) {
    const auto* conv = std::get_if<ConvDlaOperation>(&operation);
    if (conv == nullptr) {
        return 0;
    }
    const DlaConv& own = conv->operation;
    // a transformed kernel of 4 x 4 stands for one of 3 x 3
    const std::uint64_t weights =
        own.bytes_per_kernel / element_bytes(own.output_precision) * (own.mode == 1 ? 9 : 16) / 16;
    return elements_of(conv->surfaces.destination) * weights * own.batch;
}

std::uint64_t predicted_cycles(const DlaOperation& operation, const NpuConfig& npu) {
    if (const auto* conv = std::get_if<ConvDlaOperation>(&operation)) {
        return conv_cycles(*conv, npu);
    }
    if (const auto* bdma = std::get_if<BdmaOperation>(&operation)) {
        std::uint64_t bytes = 0;
        for (std::size_t i = 0;
             i < std::min<std::size_t>(bdma->surfaces.count, most_bdma_transfers); ++i) {
            const DlaBdmaTransfer& transfer = bdma->surfaces.transfers[i];
            bytes +=
                std::uint64_t{transfer.line_size} * transfer.line_repeat * transfer.surface_repeat;
        }
        return bytes / std::max<std::uint64_t>(npu.mcif.bus_width.value, 1);
    }
    const std::uint64_t throughput =  // elements a cycle
        std::holds_alternative<SdpDlaOperation>(operation)   ? npu.sdp.output_throughput
        : std::holds_alternative<PdpDlaOperation>(operation) ? npu.pdp.throughput
        : std::holds_alternative<CdpDlaOperation>(operation) ? npu.cdp.throughput
                                                             : 1;
    const auto source = [](const auto& one) -> std::uint64_t {
        if constexpr (requires { one.surfaces.source; }) {
            return elements_of(one.surfaces.source);
        }
        return 0;
    };
    return std::visit(source, operation) / std::max<std::uint64_t>(throughput, 1);
}

}  // namespace npuscope
