// SPDX-License-Identifier: Apache-2.0
#include "models/pdp/pdp.h"

#include <algorithm>

namespace npuscope {
namespace {

/// Extra cycles of an fp16 average, which is a product with two reciprocals.
/// source: nv_full RTL, simulated; NV_NVDLA_PDP_CORE_cal2d.v of nvdlav1
constexpr Cycles float_average{19};

PoolingSteps rows_of(const PdpJob& job) {
    return {.in_size = job.input.height,
            .out_size = job.output.height,
            .kernel = job.pooling.kernel_height,
            .stride = job.pooling.stride_y,
            .pad_before = job.pooling.pad_top};
}

PoolingSteps columns_of(const PdpPooling& pooling, const PdpPart& part) {
    return {.in_size = part.in_width,
            .out_size = part.out_width,
            .kernel = pooling.kernel_width,
            .stride = pooling.stride_x,
            .pad_before = part.pad_left};
}

/// Part by part, surface by surface, line by line.
std::vector<ByteRun> lines_of(const FeatureCube& cube, const std::vector<PdpPart>& parts) {
    std::vector<ByteRun> lines;
    lines.reserve(parts.size() * cube.surfaces() * cube.shape.height);
    for (const PdpPart& part : parts) {
        for (std::uint32_t surface = 0; surface < cube.surfaces(); ++surface) {
            for (std::uint32_t y = 0; y < cube.shape.height; ++y) {
                lines.push_back({cube.line_address(surface, y) + cube.atom * part.in_begin,
                                 cube.atom * part.in_width});
            }
        }
    }
    return lines;
}

/// A line of atoms on its way from memory.
struct ReadAtoms {
    Activity& activity;
    DmaPort& port;
    AtomStream& stream;
    bool one_by_one;  ///< an atom is known when it has arrived
    Cycles earlier;   ///< how much sooner after its arrival than the first an awaited one is taken

    Cycles arrival(std::uint32_t x) const {
        if (one_by_one) {
            port.wait_issued(activity, stream.beats_until(x + 1));
        }
        return stream.arrival(x);
    }
    void taken(Cycles time) {
        stream.taken(time);
        if (one_by_one) {
            port.room_made();
        }
    }
};

/// A piece of a line on its way from the SDP.
struct FlyingAtoms {
    Cycles first;
    Cycles interval;
    std::uint32_t first_column = 0;
    Cycles earlier{0};

    Cycles arrival(std::uint32_t x) const { return first + interval * (x - first_column); }
    void taken(Cycles /*time*/) {}
};

}  // namespace

Pdp::Pdp(const sc_core::sc_module_name& name, const PdpConfig& config,
         const DatapathConfig& datapath, Bytes bus_width, ValueThread& values)
    : Unit(name),
      config_(config),
      datapath_(datapath),
      bus_width_(bus_width),
      values_(values),
      pace_(pooling_slot(datapath.memory_atom.value, config.throughput), config.column_gap) {
    repeat_from(launches, "pool", [this](Activity& activity) { run_operation(activity); });
    repeat_from(results_, "write", [this](Activity& activity) { write_results(activity); });
}

void Pdp::run_operation(Activity& activity) {
    const std::shared_ptr<PdpWork> work = launches.take(activity, WaitKind::Idle);
    work->record.start = now();
    begin(*work);
    if (work->job.flying()) {
        pool_flying(activity, work);
    } else {
        pool_from_memory(activity, work);
    }
    results_.give(activity, {});
    const Cycles response =
        DmaPort::response_time(activity, written_.take(activity, WaitKind::Blocked));
    const Cycles end = std::max(response + config_.tail, pace_.input_end() + config_.drain);
    activity.wait_until(end, WaitKind::Blocked, "write response");
    if (growing_ && work->job.pooling.precision == Precision::Fp16) {
        work->nan_outputs = count_specials(*growing_).nans;
    }
    account(*work);
    done_(*work);
}

std::uint32_t Pdp::lanes_of(const PdpJob& job) const {
    const Precision precision = job.pooling.precision;
    return job.flying() ? datapath_.group_kernels(precision) : datapath_.atom_channels(precision);
}

void Pdp::begin(const PdpWork& work) {
    writer_.reset();
    const std::uint64_t bytes =
        std::uint64_t{lanes_of(work.job)} * bytes_of(work.job.pooling.precision);
    pace_.set_slot(pooling_slot(bytes, config_.throughput));
    rows_ = windows_ending(rows_of(work.job));
    in_the_way_ = lines_in_the_way(rows_of(work.job));
    begun_ = false;
    growing_ =
        work.values && write_port.values_arrive() ? std::make_shared<ElementTensor>() : nullptr;
    if (growing_) {
        writer_.emplace(work.job.destination, growing_);
        writer_->split_lines(bus_width_);
    }
}

void Pdp::begin_part(const PdpPooling& pooling, std::size_t part) {
    part_ = part;
    columns_ = windows_ending(columns_of(pooling, pooling.parts[part]));
    pace_.begin_part(pooling.parts[part].out_width);
}

AtomStream Pdp::open_stream(const PdpWork& work) {
    first_request_ = std::max(work.rdma_enabled + config_.start_up, now() + Cycles(1));
    const FeatureCube& cube = *work.job.source;
    return AtomStream({.first = first_request_,
                       .limits = {config_.read_ahead, config_.read_buffer, config_.read_runs,
                                  config_.read_again, pace_.slot()},
                       .atom = cube.atom,
                       .beat = bus_width_},
                      lines_of(cube, work.job.pooling.parts));
}

void Pdp::compute(const std::shared_ptr<PdpWork>& work,
                  const std::shared_ptr<const ElementTensor>& input) {
    const PdpJob& job = work->job;
    if (work->values) {
        auto output = std::make_shared<ElementTensor>();
        values_.post([work, input, output] {
            *output = compute_pdp(work->job.pooling, *input);
            if (work->job.pooling.precision == Precision::Fp16) {
                work->nan_outputs = count_specials(*output).nans;
            }
        });
        writer_.emplace(job.destination, output, values_);
    } else {
        writer_.emplace(job.destination, ElementTensor{});
    }
    writer_->split_lines(bus_width_);
    if (job.pooling.precision == Precision::Fp16) {  // counted
        values_.settle();
    }
}

void Pdp::compute_line(const PdpWork& work, const PixelRun& run) {
    const PdpJob& job = work.job;
    const Shape whole{job.flying() ? shape_of(*flying_input_).channels : job.source->shape.channels,
                      job.output.height, job.output.width};
    const auto line = static_cast<std::uint32_t>(run.first / job.output.width);
    const std::uint32_t channel = run.surface * lanes_of(job);
    const std::uint32_t channels = std::min(lanes_of(job), whole.channels - channel);
    const std::uint32_t begin = line * job.pooling.stride_y;
    const std::uint32_t top = begin - std::min(begin, job.pooling.pad_top);
    const std::uint32_t below = begin + job.pooling.kernel_height;
    const std::uint32_t end =
        std::min(below - std::min(below, job.pooling.pad_top), job.input.height);
    const TensorPart window{channel, top, 0, {channels, end - top, job.input.width}};
    ElementTensor input;
    if (job.flying()) {
        input = cut(*flying_input_, window);
    } else {
        FeatureCube lines = *job.source;
        lines.base = lines.line_address(channel / lines.channels_per_atom(), top);
        lines.shape = window.shape;
        input = fetch_elements(read_port, lines, {"input", work.name, job.source_in_sram, true});
    }
    PdpPooling pooling = job.pooling;
    pooling.pad_top = job.pooling.pad_top - std::min(begin, job.pooling.pad_top);
    pooling.parts = {job.pooling.parts[part_]};
    pooling.output = {channels, 1, job.output.width};
    const PdpPart& part = pooling.parts.front();
    const TensorPart columns{0, 0, part.out_begin, {channels, 1, part.out_width}};
    paste(cut(compute_pdp(pooling, input), columns), {channel, line, part.out_begin, columns.shape},
          whole, *growing_);
}

void Pdp::pool_from_memory(Activity& activity, const std::shared_ptr<PdpWork>& of) {
    PdpWork& work = *of;
    const PdpJob& job = work.job;
    const Purpose purpose{"input", work.name, job.source_in_sram, work.values};
    if (!growing_) {
        values_.begin_operation();
        compute(of, fetch_elements_late(values_, read_port, *job.source, purpose));
    }
    AtomStream stream = open_stream(work);
    read_port.open(stream, purpose);
    const auto ahead = static_cast<std::uint32_t>(stream.atoms_ahead(read_port.longest_burst()));
    ReadAtoms atoms{activity, read_port, stream, read_port.awaits_answers(), config_.awaited_lead};
    const auto pool_line = [&](LinePiece piece) {
        const std::uint32_t width = job.pooling.parts[piece.part].in_width;
        for (; piece.begin < width; piece.begin += piece.count) {
            piece.count = std::min(width - piece.begin, ahead);
            if (!atoms.one_by_one) {
                read_port.wait_issued(activity, stream.beats_until(piece.begin + piece.count));
            }
            pool(activity, work, piece, atoms);
        }
    };
    for (std::size_t part = 0; part < job.pooling.parts.size(); ++part) {
        begin_part(job.pooling, part);
        for (std::uint32_t surface = 0; surface < job.source->surfaces(); ++surface) {
            for (std::uint32_t y = 0; y < job.input.height; ++y) {
                pool_line({part, surface, y});
            }
        }
    }
}

void Pdp::pool_flying(Activity& activity, const std::shared_ptr<PdpWork>& of) {
    PdpWork& work = *of;
    const PdpJob& job = work.job;
    begin_part(job.pooling, 0);
    bool more = true;
    while (more) {
        const AtomRun<std::int8_t, ElementTensor> run = flying.take(activity);
        if (growing_) {
            flying_input_ = run.values;
        } else if (!writer_) {
            compute(of, run.values);
        }
        pool_run(activity, work, run);
        more = !run.last;
    }
}

void Pdp::pool_run(Activity& activity, const PdpWork& work,
                   const AtomRun<std::int8_t, ElementTensor>& run) {
    const std::uint32_t width = work.job.input.width;
    std::uint64_t done = 0;
    while (done < run.count) {
        const std::uint64_t pixel = run.first_pixel + done;
        LinePiece piece{0, run.surface, static_cast<std::uint32_t>(pixel / width),
                        static_cast<std::uint32_t>(pixel % width)};
        piece.count = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(run.count - done, width - piece.begin));
        const Cycles left = run.first_ready + run.interval * done;
        FlyingAtoms atoms{left - std::min(left, config_.hand_over_lead), run.interval, piece.begin};
        pool(activity, work, piece, atoms);
        done += piece.count;
    }
    if (run.credits != nullptr) {
        run.credits->add_at(now() + run.credit_delay, run.count);
    }
}

template <class Source>
void Pdp::pool(Activity& activity, const PdpWork& work, const LinePiece& piece, Source& source) {
    const Cycles first = source.arrival(piece.begin);
    if (!begun_) {
        begun_ = true;
        first_arrival_ = first;
        pace_.begin(first, source.earlier);
    }
    if (piece.begin == 0) {
        next_line_ = piece.y == 0 ? 0 : next_line_;
        next_column_ = 0;
    }
    pace_.begin_piece(rows_[piece.y]);
    const std::uint32_t end = piece.begin + piece.count;
    for (std::uint32_t x = piece.begin; x < end; ++x) {
        pace_.take_atom(source.arrival(x), columns_[x]);
        source.taken(pace_.input_end());
    }
    send_results(activity, work, piece);
    activity.wait_until(first, WaitKind::Starved, "input");
    activity.spend(std::max(pace_.input_end(), now()) - now());
}

void Pdp::send_results(Activity& activity, const PdpWork& work, const LinePiece& piece) {
    const PdpJob& job = work.job;
    const PdpPart& part = job.pooling.parts[piece.part];
    const Cycles began = now();
    // source: NV_NVDLA_PDP_WDMA_cmd.v, base_addr_split: a line of each part is a request
    PixelRun run{.surface = piece.surface, .column = part.out_begin};
    const auto place = [&](std::uint32_t x) {
        return std::uint64_t{next_line_} * job.output.width + part.out_begin + x;
    };
    if (const PooledAtoms atoms = pace_.results(); atoms.count != 0) {
        run.first = place(next_column_);
        next_column_ += atoms.count;
        send(activity, work, atoms, run);
    }
    if (piece.begin + piece.count == part.in_width && rows_[piece.y] != 0) {
        ++next_line_;
        const bool last_surface = (piece.surface + 1) * lanes_of(job) >= job.output.channels;
        for (std::uint32_t more = 1; more < rows_[piece.y]; ++more, ++next_line_) {
            run.first = place(0);
            send(activity, work, pace_.flush_line(last_surface || more <= in_the_way_), run);
        }
    }
    if (now() > began) {
        pace_.hold_until(now());
    }
}

void Pdp::send(Activity& activity, const PdpWork& work, const PooledAtoms& atoms, PixelRun run) {
    run.count = atoms.count;
    run.interval =
        atoms.count == 1 ? Cycles(0) : Cycles((atoms.last - atoms.first) / Cycles(atoms.count - 1));
    // exact for the last atom, which the response follows
    const PdpPooling& pooling = work.job.pooling;
    const bool divides =
        pooling.precision == Precision::Fp16 && pooling.method == PoolingMethod::Average;
    run.leaves = atoms.last + config_.output_latency + (divides ? float_average : Cycles(0)) -
                 run.interval * (atoms.count - 1);
    if (growing_) {
        compute_line(work, run);
    }
    for (const PixelRun& part :
         surface_runs(work.job.destination, {work.job.output.channels, lanes_of(work.job)}, run)) {
        results_.give(activity, {part, &work});
    }
}

void Pdp::write_results(Activity& activity) {
    const Outgoing result = results_.take(activity, WaitKind::Idle);
    if (result.run.count == 0) {
        written_.give(activity, last_response_);
        return;
    }
    const PdpWork& work = *result.work;
    last_response_ = writer_->write(activity, write_port, result.run,
                                    {"output", work.name, work.job.destination_in_sram});
}

void Pdp::account(PdpWork& work) const {
    if (work.job.flying()) {
        return;  // the time belongs to the unit that feeds the pooling
    }
    CauseCycles& causes = work.record.causes;
    const Cycles pooled = std::max(pace_.input_end(), pace_.output_end()) - first_arrival_;
    causes[Cause::StartUp] = first_request_ - work.record.start;
    causes[Cause::Memory] = pace_.waited();
    causes[Cause::Work] = pooled - pace_.waited();
}

}  // namespace npuscope
