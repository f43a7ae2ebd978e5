// SPDX-License-Identifier: Apache-2.0
#include "models/memory/memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/check.h"
#include "models/base/error.h"
#include "models/base/rule_ids.h"
#include "models/link/clock.h"

namespace npuscope {
namespace {

Address address_of(const tlm::tlm_generic_payload& payload) {
    return Address(payload.get_address());
}
Bytes bytes_of(const tlm::tlm_generic_payload& payload) { return Bytes(payload.get_data_length()); }

const std::string& text_of(const std::string* text) {
    static const std::string none;
    return text == nullptr ? none : *text;
}

}  // namespace

RegionTiming::RegionTiming(const MemoryConfig& config, const MemoryRegionConfig& region,
                           const MemorySharing& sharing)
    : base_(region.base),
      size_(region.size),
      part_(Bytes(region.size.value / sharing.instances)),
      latency_(region.read_latency.value_or(config.read_latency)),
      spread_(region.latency_spread.value_or(config.latency_spread)),
      seed_(config.seed),
      beat_(sharing.beat),
      answers_free_(sharing.instances) {
    const Cycles beat_interval = region.beat_interval.value_or(config.beat_interval);
    if (region.dram) {
        dram_ = std::make_unique<DramController>(*region.dram, region.base);
        dram_->map().expect_room(region.name, region.size);
        // instances differ in their rows, never within a burst
        const Bytes burst = dram_->map().burst_bytes();
        part_ = burst * (part_ / burst);
    } else if (region.bandwidth) {
        buses_.emplace_back(*region.bandwidth, region.npu_clock);
    } else if (sharing.instances > 1) {
        // together they have the bandwidth of one port: a channel for reads and one for writes
        const std::uint64_t beats =
            region.npu_clock.value / std::max<std::uint64_t>(beat_interval.value, 1);
        const BytesPerSecond port(std::max<std::uint64_t>(beats * sharing.beat.value, 1));
        buses_.assign(2, SharedBus(port, region.npu_clock));
    }
}

Address RegionTiming::shifted(std::size_t instance, Address address) const {
    const std::uint64_t place = (address - base_).value + part_.value * instance;
    return base_ + Bytes(size_.value == 0 ? 0 : place % size_.value);
}

void RegionTiming::read_each(std::size_t instance, const ByteRun& first, std::span<Cycles> times) {
    if (buses_.empty() || spread_ > Cycles(0)) {
        Address address = first.address;
        for (Cycles& time : times) {
            time = read(instance, address, first.bytes, time);
            address = address + first.bytes;
        }
        return;
    }
    buses_.front().pass_each(first.bytes, times);
    for (Cycles& time : times) {
        time = time - Cycles(1) + latency_;
    }
}

Cycles RegionTiming::write(std::size_t instance, const ByteRun& run, Cycles sent, Cycles step) {
    const Cycles answered = dram_ ? dram_->write(shifted(instance, run.address), run.bytes, sent)
                                  : passed(buses_.size() - 1, run.bytes, sent) + latency_;
    return spread_ == Cycles(0) ? answered : drawn_answer(instance, run, answered, step);
}

Cycles RegionTiming::drawn_answer(std::size_t instance, const ByteRun& run, Cycles answered,
                                  Cycles step) {
    const std::uint64_t first = run.address.value / beat_.value;
    const std::uint64_t last = (run.end().value - 1) / beat_.value;
    Cycles& free = answers_free_[instance];
    for (std::uint64_t beat = first; beat <= last; ++beat) {
        const Cycles earlier = step * (last - beat);
        const Cycles response =
            answered - std::min(earlier, answered) + drawn(Address(beat * beat_.value), true);
        free = std::max(response, free) + Cycles(1);
    }
    return free - Cycles(1);
}

MemoryTiming::MemoryTiming(const MemoryConfig& config, const MemorySharing& sharing) {
    for (std::size_t i = 0; i < config.regions.size(); ++i) {
        try {
            regions_.emplace_back(config, config.regions[i], sharing);
        } catch (const ConfigError& error) {
            Diagnostic refused = error.diagnostic();
            refused.field = fmt::format("memory.regions[{}].dram", i);
            refused.sentence = fmt::format("{}: {}", refused.field, refused.sentence);
            throw ConfigError(std::move(refused));
        }
    }
}

Memory::Memory(const sc_core::sc_module_name& name, const MemoryConfig& config, DiagnosticLog& log)
    : Memory(name, config, log, std::make_shared<MemoryTiming>(config), 0) {}

Memory::Memory(const sc_core::sc_module_name& name, const MemoryConfig& config, DiagnosticLog& log,
               std::shared_ptr<MemoryTiming> timing, std::size_t instance)
    : sc_core::sc_module(name), config_(config), log_(log), timing_(std::move(timing)) {
    for (std::size_t i = 0; i < config_.regions.size(); ++i) {
        timers_.emplace_back(timing_->region(i), instance);
    }
    socket.register_b_transport(this, &Memory::b_transport);
    socket.register_nb_transport_fw(this, &Memory::nb_transport_fw);
    socket.register_transport_dbg(this, &Memory::transport_dbg);
    socket.register_get_direct_mem_ptr(this, &Memory::get_direct_mem_ptr);
}

const MemoryRegionConfig* Memory::region_of(Address address, Bytes bytes) const {
    for (const MemoryRegionConfig& region : config_.regions) {
        const bool begins_inside =
            address >= region.base && address.value - region.base.value < region.size.value;
        if (begins_inside && bytes <= region.size - (address - region.base)) {
            return &region;
        }
    }
    return nullptr;
}

std::vector<Memory::NamedDram> Memory::dram_statistics() const {
    std::vector<NamedDram> all;
    for (const MemoryRegionConfig& region : config_.regions) {
        if (const DramController* dram = timing_->region(index_of(region)).dram()) {
            all.push_back({region.name, dram->statistics()});
        }
    }
    return all;
}

void Memory::require_region(Address address, Bytes bytes) const {
    if (region_of(address, bytes) == nullptr) {
        throw ConfigError(fmt::format("{} byte{} at {} {} outside every memory region", bytes.value,
                                      bytes == Bytes(1) ? "" : "s", to_hex(address),
                                      bytes == Bytes(1) ? "lies" : "lie"),
                          "add a region to memory.regions, or correct the address");
    }
}

void Memory::write_bytes(Address address, std::span<const std::uint8_t> bytes) {
    store_ == nullptr ? bytes_.write(address, bytes) : store_->write(address, bytes);
}

void Memory::read_bytes(Address address, std::span<std::uint8_t> bytes) const {
    store_ == nullptr ? bytes_.read(address, bytes) : store_->read(address, bytes);
}

void Memory::hand_on_late() {
    if (late_moves_.empty()) {
        return;
    }
    value_thread_->post([this, moves = std::exchange(late_moves_, {})] {
        for (const LateMove& move : moves) {
            move.into ? write_bytes(move.address, move.bytes)
                      : read_bytes(move.address, move.bytes);
        }
    });
}

void Memory::move_late(const LateMove& move) {
    constexpr std::size_t most = 256;
    if (late_moves_.empty()) {
        value_thread_->hold_back([this] { hand_on_late(); });
        late_moves_.push_back(move);
        return;
    }
    LateMove& before = late_moves_.back();
    const std::size_t size = before.bytes.size();
    if (before.into == move.into && before.address + Bytes(size) == move.address &&
        before.bytes.data() + size == move.bytes.data() && before.held == move.held) {
        before.bytes = {before.bytes.data(), size + move.bytes.size()};
    } else if (late_moves_.size() == most) {
        hand_on_late();
        move_late(move);
    } else {
        late_moves_.push_back(move);
    }
}

void Memory::settle() {
    if (value_thread_ != nullptr) {
        value_thread_->settle();
    }
}

void Memory::load(Address address, std::span<const std::uint8_t> bytes, const std::string& file) {
    settle();
    const ByteRun run{address, Bytes(bytes.size())};
    require_region(run.address, run.bytes);
    write_bytes(address, bytes);
    if (shadow_) {
        shadow_->load(run, file);
    }
}

void Memory::zero(Address address, Bytes bytes) {
    settle();
    require_region(address, bytes);
    store_ == nullptr ? bytes_.zero(address, bytes)
                      : store_->write(address, std::vector<std::uint8_t>(bytes.value));
    if (shadow_) {
        shadow_->load({address, bytes}, "");
    }
}

void Memory::read(Address address, std::span<std::uint8_t> bytes) {
    settle();
    require_region(address, Bytes(bytes.size()));
    read_bytes(address, bytes);
}

void Memory::report(const std::string& kind, const std::string& message, Address address,
                    const AccessInfo* info) {
    Diagnostic finding{
        .severity = Severity::Error, .id = kind, .sentence = message, .address = address};
    if (info != nullptr) {
        finding.unit = text_of(info->unit);
        finding.surface = text_of(info->surface);
        finding.operation = text_of(info->operation);
    }
    log_.add(std::move(finding));
}

bool Memory::admit(tlm::tlm_generic_payload& payload, AccessInfo* info) {
    const MemoryRegionConfig* region = region_of(address_of(payload), bytes_of(payload));
    if (region == nullptr) {
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        report("outside_memory",
               fmt::format("{} of {} byte{} at {} lies outside every memory region",
                           payload.is_read() ? "read" : "write", payload.get_data_length(),
                           payload.get_data_length() == 1 ? "" : "s", to_hex(address_of(payload))),
               address_of(payload), info);
        return false;
    }
    if (info != nullptr) {
        info->read_latency = region->read_latency.value_or(config_.read_latency);
        info->beat_interval = region->beat_interval.value_or(config_.beat_interval);
        RegionTimer& timer = timers_[index_of(*region)];
        info->timer = timer.timing->is_fixed() ? nullptr : &timer;
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return true;
}

void Memory::read_operand(tlm::tlm_generic_payload& payload, const AccessInfo& info) {
    const Address address = address_of(payload);
    const Bytes bytes = bytes_of(payload);
    const auto missing =
        info.kind == AccessKind::Functional ? std::nullopt : first_unwritten({address, bytes});
    if (missing) {
        report(rule_ids::uninitialised_read,
               fmt::format("byte at {} is read but was never written{}", to_hex(*missing),
                           before_text(*missing)),
               *missing, &info);
    }
    if (moves_late(&info)) {
        move_late({false, address, {payload.get_data_ptr(), bytes.value}, *info.late});
    } else {
        settle();
        read_bytes(address, {payload.get_data_ptr(), bytes.value});
    }
    if (shadow_ && info.kind == AccessKind::Claim) {
        claims_.claim(info.client, address, bytes,
                      {text_of(info.unit), text_of(info.surface), text_of(info.operation)});
    }
}

std::string Memory::before_text(Address address) const {
    std::string text;
    if (address > Address(0)) {
        shadow_->visit(
            {Address(address.value - 1), Bytes(1)}, [&](const ByteRun&, const ByteWriter* writer) {
                text = writer == nullptr
                           ? ""
                           : fmt::format("; the byte before it: {}", writer_text(*writer));
            });
    }
    return text;
}

void Memory::write_result(const ByteRun& run, std::uint8_t* data, const AccessInfo* info) {
    const auto [address, bytes] = run;
    if (const auto reader = claims_.disturbed_by_write(address, bytes)) {
        report(rule_ids::race,
               fmt::format("race: a write at {} changes the {} of {} before {} has read it",
                           to_hex(address), reader->surface, reader->operation, reader->unit),
               address, info);
    }
    if (moves_late(info)) {
        move_late({true, address, {data, bytes.value}, *info->late});
    } else {
        settle();
        write_bytes(address, {data, bytes.value});
    }
    if (shadow_ && info != nullptr) {
        shadow_->write({address, bytes}, info->client, text_of(info->operation),
                       text_of(info->surface), now());
    } else if (shadow_) {
        shadow_->load({address, bytes}, "");
    }
}

void Memory::pass_on(int port, tlm::tlm_generic_payload& payload, AccessInfo* info,
                     sc_core::sc_time& delay) {
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    outside_->access(port, payload, delay);
    if (info != nullptr) {
        info->beat_interval = Cycles(1);
        info->timer = nullptr;
        claims_.consume(info->client, address_of(payload), bytes_of(payload));
    }
    tell_wrong_answer(payload, info);
}

void Memory::tell_wrong_answer(const tlm::tlm_generic_payload& payload, const AccessInfo* info) {
    if (payload.get_response_status() != tlm::TLM_OK_RESPONSE) {
        report("memory_error_response",
               fmt::format("memory returned {} for a {} of {} bytes at {}",
                           payload.get_response_string(), payload.is_read() ? "read" : "write",
                           payload.get_data_length(), to_hex(address_of(payload))),
               address_of(payload), info);
    }
}

unsigned Memory::pass_on_debug(int port, tlm::tlm_generic_payload& payload,
                               const AccessInfo* info) {
    const unsigned moved = outside_->debug(port, payload);
    if (moved < payload.get_data_length()) {
        report("short_debug_transport",
               fmt::format("debug transport of memory moved only {} of {} bytes at {}", moved,
                           payload.get_data_length(), to_hex(address_of(payload))),
               address_of(payload), info);
    }
    return moved;
}

void Memory::b_transport(int id, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    auto* info = payload.get_extension<AccessInfo>();
    if (outside_ != nullptr) {
        pass_on(id, payload, info, delay);
        return;
    }
    if (!admit(payload, info)) {
        return;
    }
    if (payload.is_write() || info == nullptr) {
        move_bytes(payload, info);
    } else {
        claims_.consume(info->client, address_of(payload), bytes_of(payload));
    }
    delay += to_time(answer_time(payload, info, now() + to_cycles(delay)));
}

void Memory::move_bytes(tlm::tlm_generic_payload& payload, AccessInfo* info) {
    if (!payload.is_write()) {
        settle();
        read_bytes(address_of(payload), {payload.get_data_ptr(), payload.get_data_length()});
    } else if (values_) {
        for_each_enabled(payload, [&](Address address, std::uint8_t* data, Bytes bytes) {
            write_result({address, bytes}, data, info);
        });
    }
}

unsigned Memory::transport_dbg(int id, tlm::tlm_generic_payload& payload) {
    auto* info = payload.get_extension<AccessInfo>();
    if (info != nullptr && info->kind == AccessKind::Release) {
        claims_.consume(info->client, address_of(payload), bytes_of(payload));
        return 0;
    }
    if (outside_ != nullptr) {
        return pass_on_debug(id, payload, info);
    }
    if (!admit(payload, info)) {
        return 0;
    }
    if (payload.is_write() && info != nullptr) {
        write_result({address_of(payload), bytes_of(payload)}, payload.get_data_ptr(), info);
    } else if (payload.is_write()) {
        load(address_of(payload), {payload.get_data_ptr(), payload.get_data_length()});
    } else if (info != nullptr) {
        read_operand(payload, *info);
    } else {
        settle();
        read_bytes(address_of(payload), {payload.get_data_ptr(), payload.get_data_length()});
    }
    return payload.get_data_length();
}

bool Memory::get_direct_mem_ptr(int /*id*/, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    if (store_ != nullptr || region_of(address_of(payload), Bytes(1)) == nullptr) {
        return false;
    }
    settle();
    const SparseMemory::DirectPage page = bytes_.direct_page(address_of(payload));
    if (shadow_) {  // writes there would not be seen
        shadow_->load({page.address, Bytes(page.bytes.size())}, "");
    }
    dmi.set_dmi_ptr(page.bytes.data());
    dmi.set_start_address(page.address.value);
    dmi.set_end_address(page.address.value + page.bytes.size() - 1);
    dmi.allow_read_write();
    return true;
}

}  // namespace npuscope
