// SPDX-License-Identifier: Apache-2.0
// A unit's door to memory: one TLM-2.0 initiator socket per DMA client. At launch the unit fetches
// the values of its operands without time; later it moves the same bytes in simulated time, in
// requests of a line or a burst. Data that a timed read brings is not looked at: it was fetched
// already.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <span>
#include <string>
#include <tlm>
#include <vector>

#include "models/base/quantity.h"
#include "models/link/access_info.h"
#include "models/link/activity.h"

namespace npuscope {

/// Names what a request is for, in findings and statistics.
struct Purpose {
    std::string surface;
    std::string operation;
    bool secondary = false;  ///< through the second port (SRAM), where the NPU has one
};

class DmaPort {
 public:
    /// `client` as traffic is counted; `name` of the sockets where a client has two ports.
    DmaPort(const std::string& client, const std::string& unit, const std::string& name = {});
    ~DmaPort() { payload_.clear_extension(&info_); }
    DmaPort(const DmaPort&) = delete;
    DmaPort& operator=(const DmaPort&) = delete;

    tlm_utils::simple_initiator_socket<DmaPort> primary;
    /// Bound where the NPU has a second port; without it all requests take the first.
    tlm_utils::simple_initiator_socket_optional<DmaPort> secondary;

    /// Values now, no time. The bytes are claimed until a timed read of them: a write before is a
    /// race.
    void fetch(Address address, std::span<std::uint8_t> bytes, const Purpose& purpose);
    /// Issues a read; returns when the interface has taken the whole request. The answer is the
    /// time at which the last byte arrives, `latency` later at least.
    Cycles read(Activity& reader, Address address, Bytes bytes, const Purpose& purpose);
    /// Writes bytes; returns when the interface has taken them. The answer is the time of the
    /// response.
    Cycles write(Activity& writer, Address address, std::span<const std::uint8_t> bytes,
                 const Purpose& purpose);

    const std::string& client() const { return client_; }

 private:
    void prepare(tlm::tlm_command command, Address address, std::size_t bytes,
                 const Purpose& purpose);
    tlm::tlm_fw_transport_if<>& way(const Purpose& purpose);
    Cycles transport(Activity& activity, const Purpose& purpose);

    std::string client_;
    std::string unit_;
    tlm::tlm_generic_payload payload_;
    AccessInfo info_;
    std::vector<std::uint8_t> scratch_;  // what a timed read brings; a foreign target may fill it
};

}  // namespace npuscope
