// SPDX-License-Identifier: Apache-2.0
#include "bench/mutation/mutant.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace npuscope::bench {
namespace {

bool is_enable(const RegisterPlace& place) {
    return place.row->name == "D_OP_ENABLE" || place.row->name == "CFG_OP";
}

}  // namespace

MutationSite site_of(const Program& program, std::span<const RegisterBlock> blocks,
                     const NpuConfig& npu) {
    MutationSite site{program, blocks, npu, {}};
    std::map<std::string_view, std::size_t> enables;  // by block
    std::map<std::string_view, unsigned> group;
    for (std::size_t i = 0; i < program.statements.size(); ++i) {
        const auto* write = std::get_if<WriteRegister>(&program.statements[i].action);
        const auto place = write == nullptr ? std::nullopt : find_place(blocks, write->address);
        if (!place) {
            continue;
        }
        site.writes.push_back({i, *place, write->value, enables[place->block->name]});
        if (is_enable(*place) && (write->value & 1U) != 0) {
            ++enables[place->block->name];
        }
    }
    // backwards: an earlier write of the same launch and register does not count
    std::set<std::pair<std::uint32_t, std::size_t>> later;
    std::vector<Write> counting;
    for (auto write = site.writes.rbegin(); write != site.writes.rend(); ++write) {
        const bool own =
            write->place.row->name.starts_with("D_") || write->place.row->name.starts_with("CFG_");
        if (!own || later.insert({write->place.address(), write->operation}).second) {
            counting.push_back(*write);
        }
    }
    site.writes.assign(counting.rbegin(), counting.rend());
    return site;
}

std::uint32_t field_of(std::uint32_t word, const RegisterField& field) {
    const std::uint64_t ones = (std::uint64_t{1} << field.width) - 1;
    return static_cast<std::uint32_t>((word >> field.lsb) & ones);
}

std::uint32_t with_field(std::uint32_t word, const RegisterField& field, std::uint32_t value) {
    const std::uint64_t ones = ((std::uint64_t{1} << field.width) - 1) << field.lsb;
    return static_cast<std::uint32_t>((word & ~ones) |
                                      ((std::uint64_t{value} << field.lsb) & ones));
}

Mistake with_value(const Write& write, std::uint32_t value) {
    Mistake mistake;
    mistake.what = fmt::format("{} {:#x} -> {:#x}", write.name(), write.value, value);
    mistake.registers = {write.name()};
    mistake.make = [statement = write.statement, value](Program& program) {
        std::get<WriteRegister>(program.statements[statement].action).value = value;
    };
    return mistake;
}

Mistake without(const MutationSite& site, std::size_t statement, std::string what) {
    Mistake mistake;
    mistake.what = std::move(what);
    mistake.places = {site.at(statement).place};
    mistake.make = [statement](Program& program) {
        program.statements.erase(program.statements.begin() +
                                 static_cast<std::ptrdiff_t>(statement));
    };
    return mistake;
}

std::span<const MistakeKind> mistake_kinds() {
    static const std::vector<MistakeKind> all = [] {
        std::vector<MistakeKind> kinds;
        for (const auto& part :
             {register_kinds(), mode_kinds(), order_kinds(), image_kinds(), job_kinds()}) {
            kinds.insert(kinds.end(), part.begin(), part.end());
        }
        return kinds;
    }();
    return all;
}

}  // namespace npuscope::bench
