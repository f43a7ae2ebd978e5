// SPDX-License-Identifier: Apache-2.0
// What the memory interface has moved, its state, and what it skips where repeated work is skipped,
// see models/npu/steady_groups and models/npu/repeated_operations.
#include "models/mcif/mcif.h"

namespace npuscope {

std::vector<Mcif::Traffic> Mcif::traffic() const {
    std::vector<Traffic> result;
    for (const Client& client : clients_) {
        ClientTraffic moved = client.lane.traffic();
        moved += client.written;
        result.push_back({client.name, moved});
    }
    return result;
}

std::vector<Mcif::OperationTraffic> Mcif::operation_traffic() const {
    std::vector<OperationTraffic> result;
    const auto add = [&](const std::string& client, const OperationStarts& starts,
                         const ClientTraffic& all) {
        for (std::size_t i = 0; i < starts.all.size(); ++i) {
            ClientTraffic moved = i + 1 < starts.all.size() ? starts.all[i + 1].before : all;
            moved -= starts.all[i].before;
            result.push_back({starts.all[i].operation, client, moved});
        }
    };
    for (const Client& client : clients_) {
        add(client.name, client.lane.starts(), client.lane.traffic());
        add(client.name, client.writes, client.written);
    }
    return result;
}

ClientTraffic Mcif::total() const {
    ClientTraffic all;
    for (const Traffic& client : traffic()) {
        all += client.moved;
    }
    return all;
}

void Mcif::leave_out(unsigned client, std::uint64_t beats, std::uint64_t of_run) {
    reads_.leave_out(client, beats);
    clients_[client].lane.leave_out(of_run);
}

void Mcif::add_state(Fingerprint& state) const {
    reads_.add_state(state);
    writes_.add_state(state);
    for (const Client& client : clients_) {
        client.lane.add_state(state);
        client.front.add_state(state);
        state.add_coming(client.last_taken + Cycles(1 + longest_burst()));
    }
}

std::vector<ClientTraffic> Mcif::moved() const {
    std::vector<ClientTraffic> all;
    all.reserve(2 * clients_.size());
    for (const Client& client : clients_) {
        all.push_back(client.lane.traffic());
        all.push_back(client.written);
    }
    return all;
}

void Mcif::count_more(std::span<const ClientTraffic> traffic) {
    for (std::size_t i = 0; i < clients_.size(); ++i) {
        clients_[i].lane.count_more(traffic[2 * i]);
        clients_[i].written += traffic[2 * i + 1];
    }
}

Mcif::Counted Mcif::counted() const {
    Counted all{moved(), {}};
    for (const Client& client : clients_) {
        all.operations.push_back(client.lane.starts().all.size());
        all.operations.push_back(client.writes.all.size());
    }
    return all;
}

void Mcif::count_again(const Counted& from, const Counted& to, std::uint64_t times,
                       const LaterName& name) {
    std::vector<ClientTraffic> more(to.moved.size());
    for (std::uint64_t time = 1; time <= times; ++time) {
        for (std::size_t i = 0; i < more.size(); ++i) {
            more[i] += to.moved[i];
            more[i] -= from.moved[i];
            Client& client = clients_[i / 2];
            OperationStarts& starts = i % 2 == 0 ? client.lane.starts() : client.writes;
            starts.add_again(from.operations[i], to.operations[i], more[i],
                             [&](const std::string& first) { return name(first, time); });
        }
    }
    count_more(more);
}

}  // namespace npuscope
