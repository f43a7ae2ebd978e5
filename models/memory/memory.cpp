// SPDX-License-Identifier: Apache-2.0
#include "models/memory/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "models/base/error.h"
#include "models/link/clock.h"

namespace npuscope {
namespace {

/// Calls `part(page number, offset in the page, offset in the range, bytes)` for each page of a
/// range.
template <class Part>
void for_each_page(Address address, std::uint64_t bytes, std::uint64_t page_bytes, Part part) {
    std::uint64_t done = 0;
    while (done < bytes) {
        const std::uint64_t at = address.value + done;
        const std::uint64_t offset = at % page_bytes;
        const std::uint64_t length = std::min(bytes - done, page_bytes - offset);
        part(at / page_bytes, offset, done, length);
        done += length;
    }
}

}  // namespace

void SparseMemory::write(Address address, std::span<const std::uint8_t> bytes) {
    if (bytes.empty()) {
        return;
    }
    const auto store = [&](std::uint64_t number, std::uint64_t offset, std::uint64_t done,
                           std::uint64_t length) {
        Page& page = pages_[number];
        if (!page) {
            page = std::make_unique<std::uint8_t[]>(page_bytes);
        }
        std::memcpy(page.get() + offset, bytes.data() + done, length);
    };
    for_each_page(address, bytes.size(), page_bytes, store);
    const auto range = range_of(address, Bytes(bytes.size()));
    if (!boost::icl::contains(written_, range)) {
        written_.insert(range);
    }
}

void SparseMemory::zero(Address address, Bytes bytes) {
    if (bytes == Bytes(0)) {
        return;
    }
    const auto clear = [&](std::uint64_t number, std::uint64_t offset, std::uint64_t /*done*/,
                           std::uint64_t length) {
        const auto page = pages_.find(number);
        if (page != pages_.end()) {
            std::memset(page->second.get() + offset, 0, length);
        }
    };
    for_each_page(address, bytes.value, page_bytes, clear);
    written_.insert(range_of(address, bytes));
}

void SparseMemory::read(Address address, std::span<std::uint8_t> bytes) const {
    const auto load = [&](std::uint64_t number, std::uint64_t offset, std::uint64_t done,
                          std::uint64_t length) {
        const auto page = pages_.find(number);
        if (page == pages_.end()) {
            std::memset(bytes.data() + done, 0, length);
        } else {
            std::memcpy(bytes.data() + done, page->second.get() + offset, length);
        }
    };
    for_each_page(address, bytes.size(), page_bytes, load);
}

std::optional<Address> SparseMemory::first_unwritten(Address address, Bytes bytes) const {
    const auto range = range_of(address, bytes);
    if (bytes == Bytes(0) || boost::icl::contains(written_, range)) {
        return std::nullopt;
    }
    AddressSet missing;
    missing.insert(range);
    missing -= written_;
    return Address(boost::icl::first(missing));
}

SparseMemory::DirectPage SparseMemory::direct_page(Address address) {
    const std::uint64_t number = address.value / page_bytes;
    Page& page = pages_[number];
    if (!page) {
        page = std::make_unique<std::uint8_t[]>(page_bytes);
    }
    const Address start(number * page_bytes);
    written_.insert(range_of(start, Bytes(page_bytes)));
    return {start, {page.get(), page_bytes}};
}

void Claims::claim(unsigned client, Address address, Bytes bytes, const Claimant& claimant) {
    Pending& pending = clients_[client];
    if (bytes > Bytes(0)) {
        pending.bytes.insert(range_of(address, bytes));
    }
    pending.claimant = claimant;
}

void Claims::consume(unsigned client, Address address, Bytes bytes) {
    const auto pending = clients_.find(client);
    if (pending != clients_.end() && bytes > Bytes(0)) {
        pending->second.bytes.erase(range_of(address, bytes));
    }
}

std::optional<Claimant> Claims::disturbed_by_write(Address address, Bytes bytes) const {
    const auto range = range_of(address, bytes);
    for (const auto& [client, pending] : clients_) {
        if (boost::icl::intersects(pending.bytes, range)) {
            return pending.claimant;
        }
    }
    return std::nullopt;
}

namespace {

Address address_of(const tlm::tlm_generic_payload& payload) {
    return Address(payload.get_address());
}
Bytes bytes_of(const tlm::tlm_generic_payload& payload) { return Bytes(payload.get_data_length()); }

std::unique_ptr<DramController> make_dram(const MemoryRegionConfig& region) {
    if (!region.dram) {
        return nullptr;
    }
    auto dram = std::make_unique<DramController>(*region.dram, region.base);
    dram->map().expect_room(region.name, region.size);
    return dram;
}

std::string text_of(const std::string* text) { return text == nullptr ? "" : *text; }

}  // namespace

Memory::Memory(const sc_core::sc_module_name& name, const MemoryConfig& config, DiagnosticLog& log)
    : sc_core::sc_module(name), config_(config), log_(log) {
    for (const MemoryRegionConfig& region : config_.regions) {
        drams_.push_back(make_dram(region));
    }
    socket.register_b_transport(this, &Memory::b_transport);
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

DramController* Memory::dram_of(const MemoryRegionConfig& region) const {
    return drams_[static_cast<std::size_t>(&region - config_.regions.data())].get();
}

std::vector<Memory::NamedDram> Memory::dram_statistics() const {
    std::vector<NamedDram> all;
    for (const MemoryRegionConfig& region : config_.regions) {
        if (const DramController* dram = dram_of(region)) {
            all.push_back({region.name, dram->statistics()});
        }
    }
    return all;
}

void Memory::require_region(Address address, Bytes bytes) const {
    if (region_of(address, bytes) == nullptr) {
        throw ConfigError(fmt::format("{} bytes at {} lie outside every memory region", bytes.value,
                                      to_hex(address)),
                          "add a region to memory.regions, or correct the address");
    }
}

void Memory::write_bytes(Address address, std::span<const std::uint8_t> bytes) {
    store_ == nullptr ? bytes_.write(address, bytes) : store_->write(address, bytes);
}

void Memory::read_bytes(Address address, std::span<std::uint8_t> bytes) const {
    store_ == nullptr ? bytes_.read(address, bytes) : store_->read(address, bytes);
}

void Memory::load(Address address, std::span<const std::uint8_t> bytes) {
    require_region(address, Bytes(bytes.size()));
    write_bytes(address, bytes);
}

void Memory::zero(Address address, Bytes bytes) {
    require_region(address, bytes);
    store_ == nullptr ? bytes_.zero(address, bytes)
                      : store_->write(address, std::vector<std::uint8_t>(bytes.value));
}

void Memory::read(Address address, std::span<std::uint8_t> bytes) const {
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
               fmt::format("{} of {} bytes at {} lies outside every memory region",
                           payload.is_read() ? "read" : "write", payload.get_data_length(),
                           to_hex(address_of(payload))),
               address_of(payload), info);
        return false;
    }
    if (info != nullptr) {
        info->read_latency = region->read_latency.value_or(config_.read_latency);
        info->beat_interval = region->beat_interval.value_or(config_.beat_interval);
        info->timer = dram_of(*region);
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return true;
}

void Memory::read_operand(tlm::tlm_generic_payload& payload, const AccessInfo& info) {
    const Address address = address_of(payload);
    const Bytes bytes = bytes_of(payload);
    const std::optional<Address> missing = zeroed_ || info.kind == AccessKind::Functional
                                               ? std::nullopt
                                               : bytes_.first_unwritten(address, bytes);
    if (missing) {
        report("uninitialised_read",
               fmt::format("byte at {} is read but was never written", to_hex(*missing)), *missing,
               &info);
    }
    read_bytes(address, {payload.get_data_ptr(), bytes.value});
    if (info.kind == AccessKind::Claim) {
        claims_.claim(info.client, address, bytes,
                      {text_of(info.unit), text_of(info.surface), text_of(info.operation)});
    }
}

void Memory::write_result(tlm::tlm_generic_payload& payload, const AccessInfo* info) {
    const Address address = address_of(payload);
    const Bytes bytes = bytes_of(payload);
    if (const auto reader = claims_.disturbed_by_write(address, bytes)) {
        report("race",
               fmt::format("write at {} changes the {} of {} before {} has read it",
                           to_hex(address), reader->surface, reader->operation, reader->unit),
               address, info);
    }
    write_bytes(address, {payload.get_data_ptr(), bytes.value});
}

void Memory::b_transport(int /*id*/, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    auto* info = payload.get_extension<AccessInfo>();
    if (!admit(payload, info)) {
        return;
    }
    if (payload.is_write()) {
        if (values_) {
            write_result(payload, info);
        }
    } else if (info != nullptr) {
        claims_.consume(info->client, address_of(payload), bytes_of(payload));
    } else {
        read_bytes(address_of(payload), {payload.get_data_ptr(), payload.get_data_length()});
    }
    delay += to_time(answer_time(payload, info, now() + to_cycles(delay)));
}

Cycles Memory::answer_time(const tlm::tlm_generic_payload& payload, const AccessInfo* info,
                           Cycles sent) {
    const Address address = address_of(payload);
    const Bytes bytes = bytes_of(payload);
    DramController* dram = dram_of(*region_of(address, bytes));
    if (dram == nullptr) {
        return (info == nullptr ? config_.read_latency : info->read_latency) + Cycles(1);
    }
    if (payload.is_write()) {
        return dram->write(address, bytes, sent) + Cycles(1) - sent;
    }
    // a port with its own extension asks the timer for each beat
    return (info == nullptr ? dram->read(address, bytes, sent) - sent : Cycles(0)) + Cycles(1);
}

unsigned Memory::transport_dbg(int /*id*/, tlm::tlm_generic_payload& payload) {
    auto* info = payload.get_extension<AccessInfo>();
    if (!admit(payload, info)) {
        return 0;
    }
    if (payload.is_write()) {
        write_bytes(address_of(payload), {payload.get_data_ptr(), payload.get_data_length()});
    } else if (info != nullptr) {
        read_operand(payload, *info);
    } else {
        read_bytes(address_of(payload), {payload.get_data_ptr(), payload.get_data_length()});
    }
    return payload.get_data_length();
}

bool Memory::get_direct_mem_ptr(int /*id*/, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    if (store_ != nullptr || region_of(address_of(payload), Bytes(1)) == nullptr) {
        return false;
    }
    const SparseMemory::DirectPage page = bytes_.direct_page(address_of(payload));
    dmi.set_dmi_ptr(page.bytes.data());
    dmi.set_start_address(page.address.value);
    dmi.set_end_address(page.address.value + page.bytes.size() - 1);
    dmi.allow_read_write();
    return true;
}

}  // namespace npuscope
