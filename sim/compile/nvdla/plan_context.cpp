// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/plan_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace npuscope {
namespace {

void sort_once(std::vector<std::size_t>& numbers) {
    std::ranges::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

void join(std::vector<std::size_t>& readers, const std::vector<std::size_t>& more) {
    readers.insert(readers.end(), more.begin(), more.end());
    sort_once(readers);
}

class Mover {
 public:
    Mover(Address from, Address to) : from_(from), to_(to) {}

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
        for (std::optional<SdpOperandFetch>* operand :
             {&job.operands[bs_stage], &job.operands[bn_stage], &job.operands[ew_stage]}) {
            if (*operand) {
                move((*operand)->surface.base);
            }
        }
    }
    void operator()(PdpJob& job) const {
        if (job.source) {
            move(job.source->base);
        }
        move(job.destination.base);
    }
    void operator()(CdpJob& job) const {
        move(job.source.base);
        move(job.destination.base);
    }

    void move(Address& address) const {
        if (address >= from_) {
            address = to_ + (address - from_);
        }
    }
    void move(StoredCube& stored) const {
        move(stored.cube.base);
        move(stored.place.address);
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
    Address to_;
};

/// More rows than an operation of the SDP or the CDP has; 0: they fit, or a planner cuts them.
std::uint32_t rows_to_cut(const Operation& operation) {
    const auto* sdp = std::get_if<SdpJob>(&operation.job);
    const auto* cdp = std::get_if<CdpJob>(&operation.job);
    const std::uint32_t rows = sdp != nullptr   ? sdp->shape.height
                               : cdp != nullptr ? cdp->shape.height
                                                : 0;
    return rows > largest_cube_size ? rows : 0;
}

std::uint64_t bytes_of(const PlannedLayer& layer) {
    return round_up(layer.stored.cube.extent().value, PlanMemory::alignment);
}

}  // namespace

ArenaPlace PlanMemory::place_result(Bytes bytes) {
    const std::uint64_t wanted = round_up(bytes.value, alignment);
    for (auto at = free_.begin(); at != free_.end(); ++at) {
        const bool last = at->first + at->second.bytes == arena_end_.value;
        if (at->second.bytes < wanted && !last) {
            continue;
        }
        ArenaPlace place{Address(at->first), Bytes(wanted), at->second.readers};
        const std::uint64_t end = at->first + wanted;
        if (at->second.bytes > wanted) {
            free_[end] = {at->second.bytes - wanted, at->second.readers};
        }
        free_.erase(place.address.value);
        arena_end_ = std::max(arena_end_, Address(end));
        return place;
    }
    ArenaPlace place{arena_end_, Bytes(wanted), {}};
    arena_end_ = arena_end_ + place.bytes;
    return place;
}

std::optional<ArenaPlace> PlanMemory::place_within(Bytes bytes, Bytes limit) {
    PlanMemory tried = *this;
    ArenaPlace place = tried.place_result(bytes);
    if (tried.used() > limit) {
        return std::nullopt;
    }
    *this = std::move(tried);
    return place;
}

void PlanMemory::give_back(const ArenaPlace& place, const std::vector<std::size_t>& readers) {
    auto at = free_.emplace(place.address.value, Free{place.bytes.value, readers}).first;
    join(at->second.readers, place.readers);
    if (const auto behind = std::next(at);
        behind != free_.end() && behind->first == at->first + at->second.bytes) {
        at->second.bytes += behind->second.bytes;
        join(at->second.readers, behind->second.readers);
        free_.erase(behind);
    }
    if (at != free_.begin()) {
        const auto before = std::prev(at);
        if (before->first + before->second.bytes == at->first) {
            before->second.bytes += at->second.bytes;
            join(before->second.readers, at->second.readers);
            free_.erase(at);
        }
    }
}

void PlanContext::refuse(const std::string& layer, Diagnostic why) {
    why.sentence = fmt::format("layer '{}': {}", layer, why.sentence);
    why.operation = layer;
    problem = std::move(why);
}

StoredCube PlanContext::place_cube(const std::string& name, const Shape& shape,
                                   std::uint32_t lanes) {
    const std::uint32_t last = shape.channels - 1;
    const Shape stored{last / lanes * channels_per_atom() + last % lanes + 1, shape.height,
                       shape.width};
    StoredCube result{packed_cube(Address(0), stored, atom(), element()), lanes};
    const Bytes bytes = result.cube.extent();
    const auto inside = sram && sram->results.contains(name)
                            ? sram->memory.place_within(bytes, sram->limit)
                            : std::nullopt;
    result.in_sram = inside.has_value();
    result.place = inside ? *inside : memory.place_result(bytes);
    result.cube.base = result.place.address;
    return result;
}

StoredCube PlanContext::place_pixels(const Shape& shape, const PixelFormat& format) {
    const std::uint64_t multiple = std::max(npu().mcif.bus_width, atom()).value;
    PixelSurface pixels{
        .format = &format, .atom = atom(), .height = shape.height, .width = shape.width};
    Bytes bytes;
    for (std::uint32_t plane = 0; plane < format.planes; ++plane) {
        const Bytes line = format.pixel_bytes(plane) * shape.width;
        pixels.line_stride[plane] = Bytes(round_up(line.value, multiple));
        pixels.base[plane] = Address(bytes.value);
        bytes = Bytes(round_up((bytes + pixels.line_stride[plane] * shape.height).value, 256));
    }
    ArenaPlace place = memory.place_result(bytes);
    for (std::uint32_t plane = 0; plane < format.planes; ++plane) {
        pixels.base[plane] = place.address + Bytes(pixels.base[plane].value);
    }
    const FeatureCube cube = packed_cube(place.address, shape, atom());
    return {
        .cube = cube, .lanes = channels_per_atom(), .pixels = pixels, .place = std::move(place)};
}

std::pair<Address, std::span<std::uint8_t>> PlanContext::place_image(const std::string& name,
                                                                     Bytes bytes) {
    PlannedImage& image =
        plan.images.emplace_back(PlannedImage{name, memory.place_constant(bytes), bytes, {}});
    if (images) {
        image.make_room();
    }
    return {image.address, image.image.bytes};
}

SdpJob PlanContext::elementwise_job(const StoredCube& from, const StoredCube& to) const {
    SdpJob job;
    job.shape = from.cube.shape;
    job.source = whole_atoms(from.cube);
    job.destination = whole_atoms(to.cube);
    job.source_in_sram = from.in_sram;
    job.destination_in_sram = to.in_sram;
    job.stages.processing = job.stages.output = precision;
    return job;
}

bool ends_may_meet(const ConvOperation& conv, Precision precision, const NpuConfig& npu) {
    const Shape& output = conv.conv.csc.output;
    const std::uint32_t cells = npu.datapath.group_kernels(precision);
    const std::uint64_t groups = divide_up(output.channels, cells);
    return npu.cacc.ends_may_meet(std::uint64_t{output.width} * output.height * groups, cells);
}

void PlanContext::add(Operation operation, const CubePart& part, StoredCube& written) {
    const std::uint32_t rows = rows_to_cut(operation);
    if (rows == 0) {
        return append(std::move(operation), part, written);
    }
    for (std::uint32_t begin = 0; begin < rows; begin += largest_cube_size) {
        const std::uint32_t count = std::min(rows - begin, largest_cube_size);
        Operation cut = operation;
        cut.name += rows_text(begin, count);
        if (auto* cdp = std::get_if<CdpJob>(&cut.job)) {
            keep_rows(*cdp, begin, count);
        } else {
            keep_rows(std::get<SdpJob>(cut.job), begin, count);
        }
        CubePart rows_written = part;
        rows_written.row_begin += begin;
        rows_written.row_end = rows_written.row_begin + count;
        append(std::move(cut), rows_written, written);
    }
}

void PlanContext::append(Operation operation, const CubePart& part, StoredCube& written) {
    const std::size_t index = plan.operations.size();
    if (const auto* conv = std::get_if<ConvOperation>(&operation.job)) {
        if (last_convolution && ends_may_meet(*conv, precision, npu())) {
            operation.after.push_back(*last_convolution);
        }
        last_convolution = index;
    }
    for (const std::size_t reader : written.place.readers) {
        // convolutions and the SDP end in order, and write after all preceding operations
        if (operation.last_unit() != plan.operations[reader].last_unit()) {
            operation.after.push_back(reader);
        }
    }
    sort_once(operation.after);
    plan.operations.push_back(std::move(operation));
    written.writers.push_back({part, index});
}

Address first_map(const Plan& plan) {
    Address first = plan.input.place.address;
    for (const PlannedInput& input : plan.more_inputs) {
        first = std::min(first, input.stored.place.address);
    }
    for (const PlannedLayer& layer : plan.layers) {
        first = std::min(first, layer.stored.place.address);
    }
    return first;
}

void move_results(Plan& plan, Address from, Address to) {
    const Mover mover(from, to);
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
