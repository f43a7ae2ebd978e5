// SPDX-License-Identifier: Apache-2.0
// What waits for ever: blocks enabled out of turn, results that nobody takes.
#include <fmt/format.h>

#include <algorithm>

#include "sim/check/launch_board.h"

namespace npuscope {

void LaunchBoard::report_stuck(FoundList& found) const {
    const auto add = [&](const std::string& register_name, std::string message,
                         const std::string& remedy) {
        Found one;
        one.finding.id = "never_starts";
        one.finding.sentence = std::move(message);
        one.finding.unit = register_name.substr(0, register_name.find('.'));
        one.register_name = register_name;
        one.remedy = remedy;
        found.add(std::move(one));
    };
    for (const BlockGroup* blocks : {&conv_, &sdp_, &sdp_rdma_, &pdp_, &pdp_rdma_, &cdp_}) {
        for (const std::string& name : blocks->stuck()) {
            add(fmt::format("{}.D_OP_ENABLE_0", name.substr(0, name.find(' '))),
                fmt::format("{} is enabled but never starts: group {} has its turn, and all blocks "
                            "of the pipeline must be enabled in it",
                            name, blocks->group()),
                "program the groups in turn (S_POINTER 0, 1, 0, ...), enable every block");
        }
    }
    if (std::ranges::any_of(operations_, &CheckedOperation::undecoded)) {
        return;  // it may be the one that gives or takes
    }
    for (const CheckedOperation& operation : operations_) {
        if (operation.takes && !operation.producer) {
            add(operation.unit == OperationUnit::Sdp ? "NVDLA_SDP.D_FEATURE_MODE_CFG_0"
                                                     : "NVDLA_PDP.D_OPERATION_MODE_CFG_0",
                fmt::format("{} waits for data that fly in, but no operation gives them",
                            operation.name),
                "enable the unit before it, or read from memory");
        } else if (operation.gives && !operation.consumer) {
            add(operation.unit == OperationUnit::Conv ? "NVDLA_CACC.D_OP_ENABLE_0"
                                                      : "NVDLA_SDP.D_FEATURE_MODE_CFG_0",
                fmt::format("the result of {} flies on, but no operation takes it", operation.name),
                "enable the unit behind it");
        }
    }
}

}  // namespace npuscope
