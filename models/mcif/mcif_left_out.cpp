// SPDX-License-Identifier: Apache-2.0
// The interface's part where kernel groups are left out, see models/npu/steady_groups.
#include "models/mcif/mcif.h"

namespace npuscope {

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

}  // namespace npuscope
