// SPDX-License-Identifier: Apache-2.0
// The host's access to memory: it fills it, loads files, and performs requested reads: at an id,
// when a job has ended, or when the run is over.
#include <utility>
#include <vector>

#include "sim/run/host.h"
#include "sim/run/memory_checks.h"

namespace npuscope {

void Host::execute(Activity& /*activity*/, const InitMemory& init) {
    if (values_) {
        init_memory(memory_, init, place());
    }
}

void Host::execute(Activity& /*activity*/, const LoadMemory& load) {
    if (values_) {
        load_memory(memory_, load, place());
    }
}

void Host::read_kept(KeptBytes& request) {
    request.bytes.resize(request.run.bytes.value);
    memory_.read(request.run.address, request.bytes);
}

void Host::keep_after(const std::string& event) {
    for (KeptBytes& request : requests_) {
        if (request.after == event && request.bytes.empty()) {
            read_kept(request);
        }
    }
}

std::vector<std::vector<std::uint8_t>> Host::take_kept() {
    keep_after("");
    std::vector<std::vector<std::uint8_t>> kept;
    for (KeptBytes& request : requests_) {
        kept.push_back(std::move(request.bytes));
    }
    return kept;
}

}  // namespace npuscope
