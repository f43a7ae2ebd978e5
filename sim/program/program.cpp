// SPDX-License-Identifier: Apache-2.0
#include "sim/program/program.h"

namespace npuscope {

std::vector<ProgramPart> parts_of(const Program& program) {
    const std::span<const Statement> all = program.statements;
    std::vector<ProgramPart> parts;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= all.size(); ++i) {
        if (i < all.size() && !std::holds_alternative<BeginSegment>(all[i].action)) {
            continue;
        }
        if (i > begin || i == all.size()) {
            const auto* segment =
                i > begin ? std::get_if<BeginSegment>(&all[begin].action) : nullptr;
            parts.push_back({all.subspan(begin, i - begin), segment});
        }
        begin = i;
    }
    return parts;
}

Program program_of(const ProgramPart& part) {
    Program program;
    program.statements.assign(part.statements.begin(), part.statements.end());
    return program;
}

}  // namespace npuscope
