// SPDX-License-Identifier: Apache-2.0
#include "bench/mutation/other_contents.h"

#include <functional>

namespace npuscope::bench {
namespace {

/// A byte that does not depend on its neighbours; without two bits of fp16's exponent.
std::uint8_t other_byte(std::uint64_t number) {
    constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio
    const std::uint64_t mixed = (number + 1) * factor;
    constexpr std::uint64_t small_exponents = 0xbb;
    return static_cast<std::uint8_t>(((mixed ^ (mixed >> 29U)) >> 16U) & small_exponents);
}

}  // namespace

OtherContents::OtherContents(const MutationSite& site, std::vector<ByteRun> regions)
    : regions_(std::move(regions)) {
    std::vector<Address> structures;
    for (const Write& write : site.writes) {
        if (write.is("NVDLA_CDMA", "D_WMB_ADDR_LOW") || write.is("NVDLA_CDMA", "D_WGS_ADDR_LOW")) {
            structures.emplace_back(write.value);
        }
    }
    for (const Statement& statement : site.program.statements) {
        const auto* load = std::get_if<LoadMemory>(&statement.action);
        for (const Address address : structures) {
            if (load != nullptr && load->address <= address &&
                address < load->address + Bytes(load->image.end())) {
                kept_.insert(load->file);
            }
        }
    }
}

Program OtherContents::with_others(Program program) const {
    for (Statement& statement : program.statements) {
        auto* load = std::get_if<LoadMemory>(&statement.action);
        if (load == nullptr || kept_.contains(load->file)) {
            continue;
        }
        const std::uint64_t seed = std::hash<std::string>{}(load->file);
        for (std::size_t i = 0; i < load->image.bytes.size(); ++i) {
            load->image.bytes[i] = other_byte(seed + i);
        }
    }
    std::vector<Statement> fills;
    for (const ByteRun& region : regions_) {
        Statement fill;
        fill.action = InitMemory{
            .address = region.address, .bytes = region.bytes, .fill = FillPattern::LowAddress};
        fills.push_back(std::move(fill));
    }
    program.statements.insert(program.statements.begin(), fills.begin(), fills.end());
    return program;
}

}  // namespace npuscope::bench
