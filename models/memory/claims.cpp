// SPDX-License-Identifier: Apache-2.0
#include "models/memory/claims.h"

namespace npuscope {

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

}  // namespace npuscope
