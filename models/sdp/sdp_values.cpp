// SPDX-License-Identifier: Apache-2.0
// The results of an operation: at once, or run by run where values arrive with its reads.
#include <algorithm>

#include "models/sdp/sdp.h"

namespace npuscope {
namespace {

/// Several cubes, one below the other, share one value per element; one per channel serves any.
void repeat_for_batches(Tensor<std::int16_t>& operand, std::uint32_t batches) {
    const std::size_t plane = std::size_t{operand.shape.height} * operand.shape.width;
    if (batches == 1 || plane <= 1) {
        return;
    }
    Tensor<std::int16_t> all(
        {operand.shape.channels, operand.shape.height * batches, operand.shape.width});
    auto to = all.values.begin();
    for (auto from = operand.values.begin(); from != operand.values.end();
         from += static_cast<std::ptrdiff_t>(plane)) {
        for (std::uint32_t batch = 0; batch < batches; ++batch) {
            to = std::copy_n(from, plane, to);
        }
    }
    operand = std::move(all);
}

}  // namespace

void Sdp::fetch_operands(std::size_t stage, const Purpose& purpose) {
    const std::shared_ptr<SdpWork>& work = output_->work;
    if (work->values && !write_port.values_arrive()) {
        wires_.values.post(
            [work, stage, fetched = fetched_,
             bytes = operands[stage].fetch_late(*work->job.operands[stage], purpose)] {
                SdpStageOperands& stored = (*fetched)[stage];
                stored = OperandReader::unpack(*work->job.operands[stage], bytes.all());
                repeat_for_batches(stored.alu, work->job.batches);
                repeat_for_batches(stored.mul, work->job.batches);
            });
    }
}

template <class Input>
void Sdp::compute(const std::shared_ptr<const Input>& input) {
    auto values = std::make_shared<ElementTensor>();
    result_ = values;
    if (output_->work->values) {
        wires_.values.post([values, input, operands = fetched_, work = output_->work] {
            SdpResult result = compute_sdp(work->job.stages, *input, *operands, work->tables);
            work->counters = result.counters;
            *values = std::move(result.values);
        });
    }
    open_writers(output_->work->job);
}

void Sdp::begin_result(const SdpWork& work) {
    growing_ = std::make_shared<ElementTensor>();
    surfaces_computed_.clear();
    result_ = growing_;
    open_writers(work.job);
}

void Sdp::open_writers(const SdpJob& job) {
    if (!job.destination) {
        return;
    }
    FeatureCube cube = *job.destination;
    for (std::uint32_t batch = 0; batch < job.batches; ++batch) {
        std::vector<CubeWriter>& writers = output_->writers;
        if (growing_) {
            writers.emplace_back(cube, result_, batch);
        } else if (output_->work->values) {
            writers.emplace_back(cube, result_, wires_.values, batch);
        } else {
            writers.emplace_back(cube, *result_, batch);
        }
        CubeWriter& writer = writers.back();
        writer.split_lines(wires_.bus_width);
        if (job.batches == 1) {  // source: NV_NVDLA_SDP_WDMA_cmd.v, cfg_mode_1x1_nbatch
            writer.pack_pixel();
        }
        cube.base = cube.base + job.batch_stride;
    }
}
template void Sdp::compute(const std::shared_ptr<const Tensor<std::int32_t>>& input);
template void Sdp::compute(const std::shared_ptr<const ElementTensor>& input);

bool Sdp::compute_surface(SdpWork& work, std::uint32_t surface) {
    const SdpJob& job = work.job;
    const bool per_element = std::ranges::any_of(job.operands, [](const auto& fetch) {
        return fetch && fetch->surface.spread == OperandSpread::PerElement;
    });
    if (!job.flying() || per_element) {
        return false;
    }
    if (surface >= surfaces_computed_.size()) {
        surfaces_computed_.resize(surface + 1);
    }
    if (!surfaces_computed_[surface]) {
        surfaces_computed_[surface] = true;
        const std::uint32_t channel = surface * lanes(job);
        compute_part(work, {channel,
                            0,
                            0,
                            {std::min(lanes(job), flying_input_->shape.channels - channel),
                             job.shape.height * job.batches, job.shape.width}});
    }
    return true;
}

void Sdp::compute_run(SdpWork& work, const Run& run) {
    if (compute_surface(work, run.surface)) {
        return;
    }
    for (const PixelRun& pixels : requests_.in_raster({run.surface, run.first_pixel, run.count})) {
        compute_pixels(work, pixels);
    }
}

void Sdp::compute_pixels(SdpWork& work, const PixelRun& run) {
    const SdpJob& job = work.job;
    const std::uint32_t width = job.shape.width;
    const std::uint32_t channel = run.surface * lanes(job);
    const std::uint32_t all =
        job.source ? job.source->shape.channels : flying_input_->shape.channels;
    for (std::uint64_t done = 0; done < run.count;) {
        const std::uint64_t pixel = run.first + done;
        TensorPart part{channel,
                        static_cast<std::uint32_t>(pixel / width),
                        static_cast<std::uint32_t>(pixel % width),
                        {}};
        part.shape = {std::min(lanes(job), all - channel), 1,
                      static_cast<std::uint32_t>(
                          std::min<std::uint64_t>(run.count - done, width - part.column))};
        compute_part(work, part);
        done += part.shape.width;
    }
}

void Sdp::compute_part(SdpWork& work, const TensorPart& part) {
    const SdpJob& job = work.job;
    SdpOperands near;
    TensorPart shared = part;  // all batches have the operands of the first
    shared.line %= job.shape.height;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (const std::optional<SdpOperandFetch>& fetch = job.operands[i]) {
            near[i] = operands[i].fetch_part(*fetch, shared, {"operands", work.name});
        }
    }
    Shape whole = job.shape;
    whole.height *= job.batches;
    SdpResult result;
    if (job.source) {
        FeatureCube line = *job.source;
        whole.channels = line.shape.channels;
        line.base = line.line_address(part.channel / line.channels_per_atom(), part.line) +
                    line.atom * part.column;
        line.shape = part.shape;
        line.batch_lines = 0;
        const ElementTensor values = fetch_elements(source.port, line, {"input", work.name});
        result = compute_sdp(job.stages, values, near, work.tables);
    } else {
        whole.channels = flying_input_->shape.channels;
        result = compute_sdp(job.stages, cut(*flying_input_, part), near, work.tables);
    }
    work.counters += result.counters;
    paste(result.values, part, whole, *growing_);
}

}  // namespace npuscope
