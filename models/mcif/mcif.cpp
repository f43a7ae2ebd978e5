// SPDX-License-Identifier: Apache-2.0
#include "models/mcif/mcif.h"

#include <fmt/format.h>

#include <algorithm>

namespace npuscope {

Mcif::Client::Client(const std::string& client_name, unsigned index)
    : name(client_name), socket(fmt::format("client_{}", index).c_str()) {}

Mcif::Mcif(const sc_core::sc_module_name& name, const McifConfig& config, FindingLog& log)
    : sc_core::sc_module(name), config_(config), log_(log) {}

Mcif::Client& Mcif::add_client(const std::string& name) {
    const auto index = static_cast<int>(clients_.size());
    Client& client = clients_.emplace_back(name, static_cast<unsigned>(index));
    client.socket.register_b_transport(this, &Mcif::b_transport, index);
    client.socket.register_transport_dbg(this, &Mcif::transport_dbg, index);
    return client;
}

std::vector<Mcif::Traffic> Mcif::traffic() const {
    std::vector<Traffic> result;
    for (const Client& client : clients_) {
        result.push_back({client.name, client.traffic});
    }
    return result;
}

std::uint64_t Mcif::beats_of(const tlm::tlm_generic_payload& payload) const {
    const std::uint64_t first = payload.get_address() / config_.bus_width.value;
    const std::uint64_t end =
        divide_up(payload.get_address() + payload.get_data_length(), config_.bus_width.value);
    return end - first;
}

bool Mcif::address_fits(const tlm::tlm_generic_payload& payload, const AccessInfo* info) {
    if (config_.address_bits >= 64 || (payload.get_address() >> config_.address_bits) == 0) {
        return true;
    }
    Finding finding{.kind = "address_width",
                    .message = fmt::format("address {} needs more than the {} bits of the port",
                                           to_hex(payload.get_address()), config_.address_bits),
                    .address = Address(payload.get_address())};
    if (info != nullptr) {
        finding.unit = *info->unit;
        finding.surface = *info->surface;
        finding.operation = *info->operation;
    }
    log_.add(std::move(finding));
    return false;
}

void Mcif::hold_read(std::uint64_t beats, std::uint64_t beat_ticks) {
    const ReadArbiter::FlowId flow = arbiter_.open(now(), beats, beat_ticks);
    flows_changed_.notify(sc_core::SC_ZERO_TIME);
    while (!arbiter_.finished(now(), flow)) {
        const Cycles finish = arbiter_.finish_time(flow);
        sc_core::wait(to_time(finish - now()), flows_changed_);
    }
    flows_changed_.notify(sc_core::SC_ZERO_TIME);
}

void Mcif::hold_write(std::uint64_t beats, Cycles beat_interval) {
    const Cycles interval = std::max(beat_interval, Cycles(1));
    const Cycles start = std::max(now(), write_free_);
    write_free_ = start + interval * beats;
    sc_core::wait(to_time(write_free_ - now()));
}

void Mcif::b_transport(int client, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    auto* info = payload.get_extension<AccessInfo>();
    if (info != nullptr) {
        info->client = static_cast<unsigned>(client);
    }
    if (!address_fits(payload, info)) {
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    ClientTraffic& traffic = clients_[static_cast<std::size_t>(client)].traffic;
    const std::uint64_t beats = beats_of(payload);
    memory->b_transport(payload, delay);
    const Cycles interval = info == nullptr ? Cycles(1) : info->beat_interval;
    if (payload.is_write()) {
        traffic.write_beats += beats;
        traffic.write_bytes += Bytes(payload.get_data_length());
        hold_write(beats, interval);
    } else {
        traffic.read_beats += beats;
        traffic.read_bytes += config_.bus_width * beats;
        hold_read(beats, ticks_per_beat(interval, to_cycles(delay), config_.outstanding_reads));
    }
}

unsigned Mcif::transport_dbg(int client, tlm::tlm_generic_payload& payload) {
    auto* info = payload.get_extension<AccessInfo>();
    if (info != nullptr) {
        info->client = static_cast<unsigned>(client);
    }
    return address_fits(payload, info) ? memory->transport_dbg(payload) : 0;
}

}  // namespace npuscope
