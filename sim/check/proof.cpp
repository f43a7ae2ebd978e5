// SPDX-License-Identifier: Apache-2.0
#include "sim/check/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "models/arith/float16.h"
#include "models/bdma/bdma_registers.h"
#include "models/conv/csc_math.h"
#include "models/npu/pipelines.h"
#include "sim/check/program_operations.h"
#include "sim/check/proof_words.h"
#include "sim/check/sync_rules.h"

namespace npuscope {
namespace {

/// What an operation passes on, on the fly or as its result.
struct Step {
    std::string unit;  ///< where the values began
    std::string meaning;
    std::string unproved;
    PlainCubes values;
    std::vector<PlainArray> arrays;
};

std::vector<ByteRun> runs_of(const CheckedOperation& operation, bool writes) {
    std::vector<ByteRun> runs;
    for (const SurfaceUse& use : operation.uses) {
        if (use.writes == writes) {
            runs.insert(runs.end(), use.runs.begin(), use.runs.end());
        }
    }
    return with_runs({}, std::move(runs)).runs;
}

class PlainRun {
 public:
    PlainRun(const CheckTarget& target, bool keep_arrays)
        : npu_(target.npu),
          machine_(target.memory),
          operations_(target.npu),
          sync_(operations_, log_),
          keep_arrays_(keep_arrays) {
        operations_.keep_jobs();
    }

    std::vector<ProvedResult> run(const Program& program) {
        for (const Statement& statement : program.statements) {
            place_ = &statement.place;
            std::visit([this](const auto& action) { follow(action); }, statement.action);
        }
        for (const std::size_t index : waiting_) {
            add_unproved(index, "it never starts, or what it takes on the fly is missing");
        }
        for (const auto& [id, index] : sync_.ends()) {
            if (const auto found = result_of_.find(index); found != result_of_.end()) {
                results_[found->second].after = id;
            }
        }
        leave_out_overwritten();
        return std::move(results_);
    }

 private:
    void follow(const InitMemory& init) { fill_memory(init, machine_, memory_); }
    void follow(const LoadMemory& load) {
        for (const MemoryImage::Run& run : load.image.runs) {
            const Address address = load.address + Bytes(run.offset);
            memory_.write(address, std::span(load.image.bytes).subspan(run.position, run.size));
            written_.push_back({"a file", {{address, Bytes(run.size)}}, results_.size()});
        }
    }
    void follow(const WriteRegister& write) {
        const std::size_t before = operations_.all().size();
        const bool launches = operations_.write(write, *place_, log_);
        for (std::size_t i = before; i < operations_.all().size(); ++i) {
            waiting_.push_back(i);
        }
        if (launches) {
            sync_.launched();
        }
        execute_ready();
    }
    void follow(const ReadRegister& read) {
        if (read.comparison == Comparison::Equal) {
            sync_.know(read.name, read.mask, read.expected);
        }
    }
    void follow(const PollRegister& poll) { sync_.know(poll.name, poll.mask, poll.expected); }
    void follow(const NotifyOnInterrupt& notify) { sync_.note(notify, *place_); }
    void follow(const WaitForInterrupt& wait) { sync_.note(wait, *place_); }
    void follow(const SyncNotify& notify) { sync_.note(notify); }
    void follow(const SyncWait& wait) { sync_.note(wait, *place_); }
    void follow(const CheckCrc& check) {
        sync_.compares(check.sync, {check.address, check.bytes}, *place_);
    }
    void follow(const CheckImage& check) {
        sync_.compares(check.sync, {check.address, check.bytes}, *place_);
    }
    void follow(const CheckNothing& nothing) { sync_.compares(nothing.sync, {}, *place_); }
    /// Statements that produce no results.
    template <class Other>
    void follow(const Other& /*action*/) {}

    /// In the order of their launch, those with an available input first.
    void execute_ready() {
        bool progress = true;
        while (progress) {
            progress = false;
            for (auto next = waiting_.begin(); next != waiting_.end(); ++next) {
                const CheckedOperation& operation = operations_.all()[*next];
                const bool fed = !operation.takes ||
                                 (operation.producer && steps_.contains(*operation.producer));
                if (!fed || !operation.launched) {
                    continue;
                }
                const std::size_t index = *next;
                waiting_.erase(next);
                execute(index);
                progress = true;
                break;
            }
        }
    }

    void execute(std::size_t index) {
        const CheckedOperation& operation = operations_.all()[index];
        const auto* launched = operation.launched_job.get();
        if (operation.undecoded || launched == nullptr) {
            add_unproved(index, "its registers do not form a valid operation");
            return;
        }
        for (const auto& [name, runs] : lost_) {
            if (common_byte(runs, runs_of(operation, false))) {
                Step& step = steps_[index];
                step.unproved = fmt::format("it reads the result of {}, which is not proved", name);
            }
        }
        if (const auto* copy = std::get_if<BdmaJob>(&launched->job)) {
            Step& step = steps_[index];
            step.unit = "bdma";
            step.meaning = meaning_of(*copy);
            finish(index, step, plain_result(reader_of(memory_), *copy));
            return;
        }
        std::visit([&](const auto& job) { compute(index, job, *launched); },
                   std::get<RegisterJob>(launched->job));
    }

    void compute(std::size_t index, std::monostate /*job*/, const LaunchedJob& /*launched*/) {
        add_unproved(index, "its registers do not form a valid operation");
    }

    void compute(std::size_t index, const ConvJob& job, const LaunchedJob& launched) {
        const BufferStart& start = launched.start;
        Step& step = steps_[index];
        step.unit = "conv";
        step.meaning = meaning_of(job, start.data_reused, start.weights_reused);
        if (start.kept_lines > 0) {
            step.meaning =
                fmt::format("{} line{} kept in the convolution buffer and {}", start.kept_lines,
                            start.kept_lines == 1 ? "" : "s", step.meaning);
        }
        const bool kept = start.keeps_data() || start.weights_reused;
        if (step.unproved.empty()) {
            step.unproved = why_not(job, start);
        }
        if (step.unproved.empty() && kept && !buffer_known_) {
            step.unproved = "the contents of the convolution buffer before it are unknown";
        }
        buffer_known_ = step.unproved.empty();
        if (!buffer_known_) {
            return;
        }
        load_buffer(memory_, job, npu_, {start.data_reused, start.weights_reused, start.kept_lines},
                    buffer_);
        step.values = plain_convolution(buffer_, job, npu_);
        if (keep_arrays_) {
            PlainCubes data;
            for (const ElementTensor& one : buffer_.data) {
                std::visit(
                    [&](const auto& values) {
                        Tensor<std::int32_t>& cube = data.emplace_back(values.shape);
                        std::ranges::copy(values.values, cube.values.begin());
                    },
                    one);
            }
            step.arrays.push_back(
                as_array("input", job.precision(), data, data.front().shape.channels));
            step.arrays.push_back(as_array("weights", job.precision(), buffer_.kernels));
        }
    }

    std::string why_not(const ConvJob& job, const BufferStart& start) const {
        if (start.stale_weights > 0) {
            return "weights that an earlier operation left in the convolution buffer come first";
        }
        if (miscounted_image(job, npu_.csc, npu_.datapath, npu_.cbuf.bank_width)) {
            return "this NPU's sequencer miscounts the blocks of the kernels' rows";
        }
        return {};
    }

    void compute(std::size_t index, const SdpJob& job, const LaunchedJob& launched) {
        const CheckedOperation& operation = operations_.all()[index];
        Step& step = steps_[index];
        const PlainCubes* flying = take(operation, step);
        step.unit = step.unit.empty() ? "sdp" : step.unit;
        step.meaning = meaning_of(job, step.meaning);
        if (job.stages.compares()) {
            step.unproved = "it only compares and writes nothing";
        }
        if (step.unproved.empty()) {
            step.values = plain_sdp(memory_, job, npu_, launched.tables, flying);
        }
        if (keep_arrays_ && step.unproved.empty()) {
            keep_source(step, job.source, job.shape.channels, job.stages.processing);
            std::ranges::move(operand_arrays(memory_, job), std::back_inserter(step.arrays));
        }
        if (job.to_pdp) {
            return;
        }
        if (!step.unproved.empty() || !job.destination) {
            finish(index, step, std::nullopt);
            return;
        }
        PlainCubes values = step.values;
        finish(index, step, sdp_result(job, std::move(values)));
    }

    void compute(std::size_t index, const PdpJob& job, const LaunchedJob& /*launched*/) {
        Step& step = steps_[index];
        const PlainCubes* flying = take(operations_.all()[index], step);
        step.unit = step.unit.empty() ? "pdp" : step.unit;
        step.meaning = meaning_of(job, step.meaning);
        if (step.unproved.empty() && flying != nullptr && flying->size() != 1) {
            step.unproved = "it pools several batches";
        }
        if (step.unproved.empty()) {
            keep_source(step, job.source, job.input.channels, job.pooling.precision);
            finish(index, step, plain_pdp(memory_, job, flying));
        } else {
            finish(index, step, std::nullopt);
        }
    }

    void compute(std::size_t index, const CdpJob& job, const LaunchedJob& launched) {
        Step& step = steps_[index];
        step.unit = "cdp";
        step.meaning = meaning_of(job);
        keep_source(step, job.source, job.shape.channels, job.normalization.precision);
        finish(index, step, plain_cdp(memory_, job, launched.tables));
    }

    /// For a unit whose job itself defines its result.
    template <class Job>
    void compute(std::size_t index, const Job& job, const LaunchedJob& /*launched*/) {
        Step& step = steps_[index];
        step.unit = row_of(pipeline_of<Job>()).name;
        step.meaning = meaning_of(job);
        finish(index, step, plain_result(reader_of(memory_), job));
    }

    /// The data read from memory, as an array.
    void keep_source(Step& step, const std::optional<FeatureCube>& source, std::uint32_t channels,
                     Precision precision) const {
        if (keep_arrays_ && source) {
            const bool bytes = source->element == Bytes(1);
            step.arrays.push_back(as_array("input", bytes ? Precision::Int8 : precision,
                                           {plain_cube(memory_, *source)}, channels));
        }
    }

    /// The output of the previous operation; nullptr if memory is read.
    const PlainCubes* take(const CheckedOperation& operation, Step& step) {
        if (!operation.takes) {
            return nullptr;
        }
        const Step& given = steps_.at(*operation.producer);
        step.unit = given.unit;
        step.meaning = given.meaning;
        step.arrays = given.arrays;
        if (step.unproved.empty()) {
            step.unproved = given.unproved;
        }
        return &given.values;
    }

    void finish(std::size_t index, const Step& step, std::optional<PlainSurface> surface) {
        const CheckedOperation& operation = operations_.all()[index];
        ProvedResult result;
        result.operation = operation.name;
        result.place = operation.place;
        result.unit = step.unit;
        result.meaning = step.meaning;
        result.unproved = step.unproved;
        if (surface && step.unproved.empty()) {
            write_surface(*surface, memory_);
            if (keep_arrays_) {
                result.arrays = step.arrays;
                result.arrays.push_back(as_array("result", surface->precision, surface->batches,
                                                 surface->shape.channels));
            }
            result.surface = std::move(surface);
        } else {
            lost_.emplace_back(operation.name, runs_of(operation, true));
        }
        result_of_[index] = results_.size();
        written_.push_back({operation.name, runs_of(operation, true), results_.size() + 1});
        results_.push_back(std::move(result));
    }

    void add_unproved(std::size_t index, const std::string& why) {
        Step& step = steps_[index];
        step.unproved = why;
        step.unit = std::string(operations_.all()[index].name);
        step.unit = step.unit.substr(0, step.unit.find(' '));
        finish(index, step, std::nullopt);
    }

    /// A result that no id signals is read when the run is over.
    void leave_out_overwritten() {
        for (std::size_t i = 0; i < results_.size(); ++i) {
            ProvedResult& result = results_[i];
            if (!result.surface || !result.after.empty()) {
                continue;
            }
            const auto own = std::ranges::find_if(written_, [&](const Written& one) {
                return one.results == i + 1 && one.by == result.operation;
            });
            for (const Written& later : written_) {
                const bool follows = own != written_.end() && &later > &*own;
                if (follows && common_byte(own->runs, later.runs)) {
                    result.unproved = fmt::format(
                        "{} overwrites it before any interrupt with an id signals its end",
                        later.by);
                    result.surface.reset();
                    break;
                }
            }
        }
    }

    /// Bytes that change, in order.
    struct Written {
        std::string by;
        std::vector<ByteRun> runs;
        std::size_t results;  ///< number of results at that time, including its own
    };

    const NpuConfig& npu_;
    const MemoryConfig& machine_;
    DiagnosticLog log_;
    ProgramOperations operations_;
    SyncRules sync_;
    bool keep_arrays_;
    const Place* place_ = nullptr;
    SparseMemory memory_;
    std::vector<std::size_t> waiting_;
    std::map<std::size_t, Step> steps_;
    std::map<std::size_t, std::size_t> result_of_;
    std::vector<ProvedResult> results_;
    std::vector<Written> written_;
    std::vector<std::pair<std::string, std::vector<ByteRun>>> lost_;
    PlainBuffer buffer_;
    bool buffer_known_ = false;
};

std::string element_text(const PlainSurface& surface, std::int32_t bits) {
    if (surface.is_unsigned) {
        return fmt::format("{}", static_cast<std::uint8_t>(bits));
    }
    return surface.precision == Precision::Fp16
               ? fmt::format("{} ({:#06x})", widen(static_cast<Fp16>(bits)),
                             static_cast<std::uint16_t>(bits))
               : fmt::format("{}", bits);
}

Diagnostic difference_finding(const ProvedResult& result) {
    const ProofDifference& difference = *result.difference;
    return {.id = "result_differs",
            .sentence =
                fmt::format("{} of {} elements differ from the tensor operation, the first at (n "
                            "{}, c {}, h {}, w {}): expected {}, the machine has {}",
                            difference.elements, result.elements, difference.first.batch,
                            difference.first.channel, difference.first.row, difference.first.column,
                            element_text(*result.surface, difference.plain),
                            element_text(*result.surface, difference.machine)),
            .remedy = "check what changes operands or results while the operation runs",
            .address = difference.address,
            .operation = result.operation,
            .place = result.place};
}

}  // namespace

void fill_memory(const InitMemory& init, const MemoryConfig& machine, SparseMemory& memory) {
    if (!machine.holds(init.address, init.bytes)) {
        return;
    }
    if (init.fill == FillPattern::AllZero) {
        memory.zero(init.address, init.bytes);
        return;
    }
    fill_in_pieces(
        init, [&](Address at, std::span<const std::uint8_t> bytes) { memory.write(at, bytes); });
}

std::vector<ProvedResult> plain_results(const Program& program, const CheckTarget& target,
                                        bool keep_arrays) {
    return PlainRun(target, keep_arrays).run(program);
}

void hold_against(ProvedResult& result, std::span<const std::uint8_t> machine) {
    const PlainSurface& surface = *result.surface;
    const ByteRun extent = surface.extent();
    const std::size_t bytes = bytes_of(surface.precision);
    if (machine.size() < extent.bytes.value) {
        result.unproved = "no interrupt or status showed that it was complete";
        return;
    }
    ProofDifference found;
    for (std::uint32_t n = 0; n < surface.batches.size(); ++n) {
        const Shape& shape = surface.shape;
        for (std::size_t i = 0; i < shape.elements(); ++i) {
            const SurfacePlace place{
                n, static_cast<std::uint32_t>(i / (std::size_t{shape.height} * shape.width)),
                static_cast<std::uint32_t>(i / shape.width % shape.height),
                static_cast<std::uint32_t>(i % shape.width)};
            const Address address = surface.address(place);
            const std::size_t at = (address - extent.address).value;
            const std::int32_t there =
                bytes == 1 ? static_cast<std::int8_t>(machine[at])
                           : static_cast<std::int16_t>(machine[at] | machine[at + 1] << 8);
            const std::int32_t plain =
                surface.batches[n].at(place.channel, place.row, place.column);
            if (there != plain && found.elements++ == 0) {
                found = {1, place, address, plain, there};
            }
            ++result.elements;
        }
    }
    if (found.elements > 0) {
        result.difference = found;
    }
}

Diagnostics proof_findings(const std::vector<ProvedResult>& results) {
    Diagnostics findings;
    for (const ProvedResult& result : results) {
        if (result.difference) {
            findings.push_back(difference_finding(result));
        } else if (!result.unproved.empty()) {
            findings.push_back({.severity = Severity::Note,
                                .id = std::string(enum_name(ProofStatus::NotProved)),
                                .sentence = fmt::format("not proved: {}", result.unproved),
                                .operation = result.operation,
                                .place = result.place});
        }
    }
    return findings;
}

}  // namespace npuscope
