// SPDX-License-Identifier: Apache-2.0
#include "bench/mutation/other_contents.h"

#include <functional>
#include <span>

#include "models/tinpu/tinpu_job.h"

namespace npuscope::bench {
namespace {

/// A byte that does not depend on its neighbours; without two bits of fp16's exponent.
std::uint8_t other_byte(std::uint64_t number, OtherBytes kind) {
    constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio
    const std::uint64_t mixed = (number + 1) * factor;
    const std::uint64_t bits = (mixed ^ (mixed >> 29U)) >> 16U;
    if (kind == OtherBytes::Small) {
        return static_cast<std::uint8_t>((bits & 3U) - 1);  // -1 to 2
    }
    constexpr std::uint64_t small_exponents = 0xbb;
    return static_cast<std::uint8_t>(bits & small_exponents);
}

/// The host of a job, which stores other bytes where it would store its own.
class OtherHost : public HostMemory {
 public:
    OtherHost(HostMemory& memory, OtherBytes kind) : memory_(memory), kind_(kind) {}
    void load(Address address, std::span<const std::uint8_t> bytes) override {
        std::vector<std::uint8_t> others(bytes.size());
        for (std::size_t i = 0; i < others.size(); ++i) {
            others[i] = other_byte(i, kind_);
        }
        memory_.load(address, others);
    }
    void read(Address address, std::span<std::uint8_t> bytes) const override {
        memory_.read(address, bytes);
    }

 private:
    HostMemory& memory_;
    OtherBytes kind_;
};

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
        const auto* launch = std::get_if<LaunchJob>(&statement.action);
        const auto* job =
            launch == nullptr ? nullptr : dynamic_cast<const TinpuJob*>(launch->job.get());
        if (job != nullptr && job->constants) {
            structures.push_back(*job->constants);  // scales and shifts
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

Program OtherContents::with_others(Program program, OtherBytes kind) const {
    for (Statement& statement : program.statements) {
        if (auto* launch = std::get_if<LaunchJob>(&statement.action);
            launch != nullptr && launch->before) {
            launch->before = [own = launch->before, kind](HostMemory& memory) {
                OtherHost host(memory, kind);
                own(host);
            };
        }
        auto* load = std::get_if<LoadMemory>(&statement.action);
        if (load == nullptr || kept_.contains(load->file)) {
            continue;
        }
        const std::uint64_t seed = std::hash<std::string>{}(load->file);
        for (std::size_t i = 0; i < load->image.bytes.size(); ++i) {
            load->image.bytes[i] = other_byte(seed + i, kind);
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
