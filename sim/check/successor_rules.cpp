// SPDX-License-Identifier: Apache-2.0
#include "sim/check/successor_rules.h"

#include <fmt/format.h>

#include <utility>

#include "models/conv/delivery_rule.h"

namespace npuscope {

void check_delivery(const LaunchBoard& board, std::size_t index, FoundList& found) {
    const CheckedOperation& newest = board.operations()[index];
    if (!newest.short_delivery) {
        return;
    }
    for (std::size_t i = index; i > 0; --i) {
        const CheckedOperation& before = board.operations()[i - 1];
        if (before.unit != OperationUnit::Conv) {
            continue;
        }
        if (!before.finished) {
            Found one{*newest.short_delivery, {}, kDeliveryRemedy};
            one.register_name = one.finding.register_name;
            one.finding.sentence += fmt::format(
                " {} leaves it, for nothing makes it wait for that: a mark too many then stays, "
                "and the SDP closes a later convolution too early",
                before.name);
            one.finding.operation = newest.name;
            one.finding.place = newest.place;
            found.add(std::move(one));
        }
        return;
    }
}

void check_lines_left(const LaunchBoard& board, std::size_t index, FoundList& found) {
    const CheckedOperation& newest = board.operations()[index];
    for (std::size_t i = index; i > 0 && newest.unit == OperationUnit::Pdp; --i) {
        const CheckedOperation& before = board.operations()[i - 1];
        if (before.unit != OperationUnit::Pdp) {
            continue;
        }
        if (before.lines_left) {
            Found one{before.lines_left->before(newest.name), {}, before.lines_left->remedy};
            one.register_name = one.finding.register_name;
            one.finding.operation = before.name;
            one.finding.place = before.place;
            found.add(std::move(one));
        }
        return;
    }
}

}  // namespace npuscope
