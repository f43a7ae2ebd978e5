// SPDX-License-Identifier: Apache-2.0
#include "models/memory/claims.h"

namespace npuscope {

void Claims::Pending::take_consumed() {
    if (consumed.bytes > Bytes(0)) {
        bytes.erase(range_of(consumed.address, consumed.bytes));
        consumed = {};
    }
}

void Claims::claim(unsigned client, Address address, Bytes bytes, const Claimant& claimant) {
    Pending& pending = clients_[client];
    pending.take_consumed();
    if (bytes > Bytes(0)) {
        pending.bytes.insert(range_of(address, bytes));
    }
    pending.claimant = claimant;
}

void Claims::consume(unsigned client, Address address, Bytes bytes) {
    const auto found = clients_.find(client);
    if (found == clients_.end() || bytes == Bytes(0)) {
        return;
    }
    Pending& pending = found->second;
    if (pending.consumed.end() != address) {
        pending.take_consumed();
        pending.consumed.address = address;
    }
    pending.consumed.bytes += bytes;
}

std::optional<Claimant> Claims::disturbed_by_write(Address address, Bytes bytes) {
    const auto range = range_of(address, bytes);
    for (auto& [client, pending] : clients_) {
        if (boost::icl::intersects(pending.bytes, range)) {
            pending.take_consumed();
            if (boost::icl::intersects(pending.bytes, range)) {
                return pending.claimant;
            }
        }
    }
    return std::nullopt;
}

}  // namespace npuscope
