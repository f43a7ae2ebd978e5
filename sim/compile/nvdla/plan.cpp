// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/plan.h"

#include <algorithm>
#include <tuple>

#include "sim/compile/nvdla/memory_map.h"

namespace npuscope {
namespace {

class Mover {
 public:
    Mover(Address from, Bytes by) : from_(from), by_(by) {}

    void operator()(ConvOperation& operation) const {
        move(operation.conv.cdma.feature.base);
        move(operation.conv.cdma.pixels);
        (*this)(operation.sdp);
        if (operation.pdp) {
            (*this)(*operation.pdp);
        }
    }
    void operator()(SdpJob& job) const {
        for (std::optional<FeatureCube>* cube : {&job.source, &job.destination}) {
            if (*cube) {
                move((*cube)->base);
            }
        }
        for (std::optional<SdpOperandFetch>& operand : job.operands) {
            if (operand) {
                move(operand->surface.base);
            }
        }
    }
    void operator()(PdpJob& job) const {
        if (job.source) {
            move(job.source->base);
        }
        move(job.destination.base);
    }

    void move(Address& address) const {
        if (address >= from_) {
            address = Address(address.value - by_.value);
        }
    }
    void move(StoredCube& stored) const {
        move(stored.cube.base);
        if (stored.pixels) {
            move(*stored.pixels);
        }
    }

 private:
    void move(PixelSurface& pixels) const {
        for (Address& base : pixels.base) {
            move(base);
        }
    }

    Address from_;
    Bytes by_;
};

std::uint64_t bytes_of(const PlannedLayer& layer) {
    return round_up(layer.stored.cube.extent().value, MemoryMap::alignment);
}

}  // namespace

void move_results(Plan& plan, Address from, Bytes by) {
    const Mover mover(from, by);
    for (Operation& operation : plan.operations) {
        std::visit(mover, operation.job);
    }
    for (PlannedImage& image : plan.images) {
        mover.move(image.address);
    }
    mover.move(plan.input);
    for (PlannedInput& input : plan.more_inputs) {
        mover.move(input.stored);
    }
    for (PlannedLayer& layer : plan.layers) {
        mover.move(layer.stored);
    }
}

std::set<std::string> results_for_sram(const Plan& plan, Bytes room) {
    std::vector<const PlannedLayer*> candidates;
    for (const PlannedLayer& layer : plan.layers) {
        if (layer.readers > 0 && !layer.output) {
            candidates.push_back(&layer);
        }
    }
    std::ranges::stable_sort(candidates, [](const PlannedLayer* one, const PlannedLayer* other) {
        return std::tuple(other->readers, bytes_of(*other)) <
               std::tuple(one->readers, bytes_of(*one));
    });
    std::vector<std::uint64_t> used(plan.operations.size(), 0);
    std::set<std::string> chosen;
    for (const PlannedLayer* layer : candidates) {
        const auto begin = used.begin() + static_cast<std::ptrdiff_t>(layer->first_operation);
        const auto end = used.begin() + static_cast<std::ptrdiff_t>(layer->last_reader) + 1;
        if (*std::max_element(begin, end) + bytes_of(*layer) <= room.value) {
            std::for_each(begin, end, [&](std::uint64_t& bytes) { bytes += bytes_of(*layer); });
            chosen.insert(layer->name);
        }
    }
    return chosen;
}

}  // namespace npuscope
