// SPDX-License-Identifier: Apache-2.0
#include "models/npu/launch_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/base/rule_ids.h"
#include "models/conv/conv_registers.h"
#include "models/conv/unused_registers.h"
#include "models/layout/alignment.h"
#include "models/layout/precision.h"
#include "models/npu/memory_ports.h"
#include "models/npu/pipelines.h"
#include "models/pdp/pdp_registers.h"
#include "models/sdp/sdp_registers.h"

namespace npuscope {
namespace {

std::string text_of(const FlyingCube& cube) {
    const std::string shape =
        fmt::format("{}x{}x{}", cube.shape.channels, cube.shape.height, cube.shape.width);
    const std::string batches = cube.batches > 1 ? fmt::format(", {} batches", cube.batches) : "";
    return shape + batches + (cube.winograd ? " in Winograd order" : "");
}

/// The register of the consumer's input whose size differs from what arrives.
std::string_view register_that_differs(const Shape& one, const Shape& other, bool sdp) {
    if (one.width != other.width) {
        return sdp ? "D_DATA_CUBE_WIDTH" : "D_DATA_CUBE_IN_WIDTH";
    }
    if (one.height != other.height) {
        return sdp ? "D_DATA_CUBE_HEIGHT" : "D_DATA_CUBE_IN_HEIGHT";
    }
    if (one.channels != other.channels) {
        return sdp ? "D_DATA_CUBE_CHANNEL" : "D_DATA_CUBE_IN_CHANNEL";
    }
    return sdp ? "D_FEATURE_MODE_CFG" : "D_DATA_CUBE_IN_WIDTH";  // batches, order
}

/// Where the shape of what arrives is programmed.
std::string source_of(bool sdp) {
    return sdp ? fmt::format("{}, {}", spelled("NVDLA_CACC", "D_DATAOUT_SIZE_0"),
                             spelled("NVDLA_CACC", "D_DATAOUT_SIZE_1"))
               : fmt::format("{}, {}, {}", spelled("NVDLA_SDP", "D_DATA_CUBE_WIDTH"),
                             spelled("NVDLA_SDP", "D_DATA_CUBE_HEIGHT"),
                             spelled("NVDLA_SDP", "D_DATA_CUBE_CHANNEL"));
}

}  // namespace

Diagnostics OnTheFlyPair::contradictions(std::string_view unit) const {
    Diagnostics findings;
    const auto add = [&](Severity severity, std::string id, std::string_view register_name,
                         const std::string& given, const std::string& taken) {
        Diagnostic finding;
        finding.severity = severity;
        finding.id = std::move(id);
        finding.unit = unit;
        finding.register_name = spelled(unit, register_name);
        finding.operation = consumer.operation;
        finding.group = consumer.group;
        finding.sentence =
            fmt::format("{}: {} produces {}, but {} expects {}", finding.register_name,
                        producer.operation, given, consumer.operation, taken);
        finding.remedy = finding.id == "shape_mismatch" ? "give both units the same shape"
                                                        : "give both units the same precision";
        findings.push_back(std::move(finding));
    };
    const bool sdp = unit == "NVDLA_SDP";
    if (!producer.known) {
        return findings;
    }
    FlyingCube given = producer.cube;
    given.precision = consumer.cube.precision;
    if (given != consumer.cube) {
        add(Severity::Error, "shape_mismatch",
            register_that_differs(given.shape, consumer.cube.shape, sdp),
            fmt::format("{} (channels x height x width, by {})", text_of(producer.cube),
                        source_of(sdp)),
            text_of(consumer.cube));
    }
    if (producer.cube.precision != consumer.cube.precision) {
        const bool tolerable = sdp && producer.cube.precision != Precision::Fp16 &&
                               consumer.cube.precision != Precision::Fp16;
        add(tolerable ? Severity::Warning : Severity::Error, "precision_mismatch", "D_DATA_FORMAT",
            std::string(precision_name(producer.cube.precision)),
            std::string(precision_name(consumer.cube.precision)));
    }
    const bool converts = consumer.leaves && *consumer.leaves != consumer.cube.precision;
    if (converts && producer.mode != ConvMode::Direct) {
        // source: NVDLA format page, "Precision Conversion": for DC mode only
        const std::string register_name = spelled(unit, "D_DATA_FORMAT");
        findings.push_back(
            {.severity = Severity::Warning,
             .id = rule_ids::precision_conversion,
             .sentence = fmt::format(
                 "{}: {} converts {} to {}, but {} is {} convolution, and conversion is "
                 "supported for direct convolution only",
                 register_name, consumer.operation, precision_name(consumer.cube.precision),
                 precision_name(*consumer.leaves), producer.operation,
                 producer.mode == ConvMode::Image ? "an image" : "a Winograd"),
             .remedy = "set OUT_PRECISION to PROC_PRECISION, and convert from memory to memory",
             .unit = std::string(unit),
             .register_name = register_name,
             .field = "OUT_PRECISION",
             .operation = consumer.operation});
    }
    return findings;
}

std::optional<OnTheFlyPair> OnTheFlyPairs::produce(OnTheFlyEnd end) {
    producers_.push_back(std::move(end));
    return pair();
}

std::optional<OnTheFlyPair> OnTheFlyPairs::consume(OnTheFlyEnd end) {
    consumers_.push_back(std::move(end));
    return pair();
}

std::optional<OnTheFlyPair> OnTheFlyPairs::pair() {
    if (producers_.empty() || consumers_.empty()) {
        return std::nullopt;
    }
    OnTheFlyPair pair{std::move(producers_.front()), std::move(consumers_.front())};
    producers_.pop_front();
    consumers_.pop_front();
    return pair;
}

namespace {

/// The registers of the read DMA may not have been written yet.
bool awaits(std::string_view rdma, bool enabled, bool reads_memory, const Diagnostics& findings) {
    return !enabled &&
           (reads_memory || std::ranges::find(findings, rdma, &Diagnostic::unit) != findings.end());
}

}  // namespace

Diagnostic as_lacking(Diagnostic finding) {
    finding.id = "absent_feature";
    return finding;
}

bool is_lacking(const Diagnostic& finding) { return finding.id == "absent_feature"; }

bool LaunchGate::open() const {
    for (std::size_t i = 0; i < files_.size(); ++i) {
        if (!files_[i]->op_enabled(next_group_) || launched_[i][next_group_]) {
            return false;
        }
    }
    return true;
}

void LaunchGate::note_enabled(const RegisterFile& file, unsigned group, Cycles time) {
    for (std::size_t i = 0; i < files_.size(); ++i) {
        if (files_[i] == &file) {
            enabled_[i][group] = time;
        }
    }
}

void LaunchGate::pass() {
    for (std::array<bool, 2>& groups : launched_) {
        groups[next_group_] = true;
    }
    next_group_ ^= 1U;
}

void LaunchGate::finish(std::size_t index) {
    launched_[index][files_[index]->consumer()] = false;
    files_[index]->operation_done();
}

void LaunchGate::finish(std::string_view block) {
    for (std::size_t i = 0; i < files_.size(); ++i) {
        if (files_[i]->block().name == block) {
            finish(i);
        }
    }
}

bool LaunchGate::idle() const {
    return std::ranges::all_of(
        files_, [this](const RegisterFile* file) { return file->consumer() == next_group_; });
}

void LaunchGate::finish_all() {
    for (std::size_t i = 0; i < files_.size(); ++i) {
        finish(i);
    }
}

void LaunchGate::add_waiting(std::vector<Waiting>& waiting) const {
    for (std::size_t i = 0; i < files_.size(); ++i) {
        for (const unsigned group : {0U, 1U}) {
            if (files_[i]->op_enabled(group) && !launched_[i][group]) {
                waiting.push_back({files_[i]->block().name, group, next_group_});
            }
        }
    }
}

LaunchEngine::LaunchEngine(const NpuConfig& npu, const FileOf& file_of)
    : npu_(npu), history_(npu.cbuf.bank_width) {
    const auto gate = [&](std::span<const std::string_view> blocks) {
        std::vector<RegisterFile*> files;
        for (const std::string_view block : blocks) {
            files.push_back(&file_of(block));
        }
        return LaunchGate(std::move(files));
    };
    for (const PipelineRow& row : pipeline_rows) {
        const auto end = std::ranges::find(row.blocks, std::string_view());
        if (row.rdma == ReadDma::Optional) {
            gates_.push_back({gate({row.blocks.begin(), end - 1}), gate({end - 1, end})});
        } else {
            gates_.push_back({gate({row.blocks.begin(), end}), {}});
        }
    }
}

void LaunchEngine::note_enabled(const RegisterFile& file, unsigned group, Cycles time) {
    for (Gates& gates : gates_) {
        gates.main.note_enabled(file, group, time);
        if (gates.rdma) {
            gates.rdma->note_enabled(file, group, time);
        }
    }
    end_idle_reads();
}

std::optional<Launch> LaunchEngine::next() {
    for (const Pipeline pipeline : launch_order) {
        if (std::optional<Launch> launch = try_launch(pipeline)) {
            for (Diagnostic& finding : launch->findings) {
                if (finding.operation == launch->name) {
                    const bool reader = block_of(finding.register_name).ends_with("_RDMA");
                    finding.group = reader ? launch->rdma_group : launch->group;
                }
            }
            return launch;
        }
    }
    return std::nullopt;
}

std::optional<Launch> LaunchEngine::try_launch(Pipeline pipeline) {
    Gates& gates = this->gates(pipeline);
    if (!gates.main.open()) {
        return std::nullopt;
    }
    switch (pipeline) {
        case Pipeline::Conv:
            return launch_conv(gates);
        case Pipeline::Sdp:
            return launch_sdp(gates);
        default:
            return launch_unit(pipeline, gates);
    }
}

void LaunchEngine::finish(std::string_view block) {
    for (Gates& gates : gates_) {
        gates.main.finish(block);
        if (gates.rdma) {
            gates.rdma->finish(block);
        }
    }
    end_idle_reads();
}

void LaunchEngine::finish(Pipeline pipeline, bool uses_rdma) {
    Gates& gates = this->gates(pipeline);
    gates.main.finish_all();
    if (uses_rdma && gates.rdma) {
        gates.rdma->finish_all();
    }
    end_idle_reads();
}

void LaunchEngine::end_idle_reads() {
    Gates& sdp = gates(Pipeline::Sdp);
    LaunchGate& rdma = *sdp.rdma;
    const auto wanted = [&] {  // by an SDP that waits for what is not fetched
        Diagnostics findings;
        const auto job = decode_sdp_of(sdp, findings);
        return sdp.main.open() &&
               awaits("NVDLA_SDP_RDMA", false, job && job->reads_memory(), findings);
    };
    while (rdma.open() && rdma.idle() && reads_nothing(rdma.values(0), npu_.sdp) && !wanted()) {
        rdma.pass();
        rdma.finish_all();
    }
}

std::string LaunchEngine::next_name(std::string_view unit) {
    return std::string(unit) + " " + std::to_string(count_++);
}

std::string LaunchEngine::later_name(const std::string& name, std::uint64_t operations) {
    const std::size_t number = name.rfind(' ') + 1;
    return name.substr(0, number) + std::to_string(std::stoull(name.substr(number)) + operations);
}

void LaunchEngine::add_state(Fingerprint& state, unsigned group) const {
    for (std::size_t i = 0; i < gates_.size(); ++i) {
        const bool convolves =
            static_cast<Pipeline>(i) == Pipeline::Conv || static_cast<Pipeline>(i) == Pipeline::Sdp;
        const unsigned from = convolves ? group : 0;
        state.add(gates_[i].main.group() ^ from);
        state.add(gates_[i].rdma ? gates_[i].rdma->group() ^ from : 0);
    }
    history_.add_state(state);
    state.add(lines_left_ ? 1U : 0U);
}

std::vector<LaunchGate::Waiting> LaunchEngine::waiting() const {
    std::vector<LaunchGate::Waiting> waiting;
    for (const Gates& gates : gates_) {
        gates.main.add_waiting(waiting);
        if (gates.rdma) {
            gates.rdma->add_waiting(waiting);
        }
    }
    return waiting;
}

Launch LaunchEngine::begin(Pipeline pipeline, bool uses_rdma, Diagnostics findings) {
    Gates& gates = this->gates(pipeline);
    Launch launch;
    launch.name = next_name(row_of(pipeline).name);
    launch.pipeline = pipeline;
    launch.group = gates.main.group();
    launch.rdma_group = launch.group;
    if (uses_rdma && gates.rdma) {
        launch.rdma_enabled = gates.rdma->enabled(0);
        launch.rdma_group = gates.rdma->group();
        gates.rdma->pass();
    } else if (row_of(pipeline).rdma == ReadDma::Together) {
        launch.rdma_enabled = gates.main.enabled(1);
    }
    gates.main.pass();
    launch.findings = std::move(findings);
    for (Diagnostic& finding : launch.findings) {
        finding.operation = launch.name;
    }
    return launch;
}

void LaunchEngine::add_pair(std::optional<OnTheFlyPair> pair, std::string_view unit,
                            Launch& launch) {
    if (pair) {
        std::ranges::move(pair->contradictions(unit), std::back_inserter(launch.findings));
        launch.pairs.push_back(std::move(*pair));
    }
}

void LaunchEngine::follow_buffer(const ConvJob& job, Launch& launch) {
    auto known = history_.next(job);
    launch.start = known.start;
    std::ranges::move(launch_findings(job, npu_.csc, npu_.datapath, npu_.cbuf.bank_width),
                      std::back_inserter(known.findings));
    for (Diagnostic& finding : known.findings) {
        finding.operation = launch.name;
        launch.findings.push_back(std::move(finding));
    }
}

std::optional<Launch> LaunchEngine::launch_conv(Gates& gates) {
    const LaunchGate& gate = gates.main;
    const ConvFeatures features = conv_features(npu_);
    Diagnostics findings;
    const std::optional<ConvParts> parts = decode_conv(
        {gate.values(0), gate.values(1), gate.values(2), gate.values(3), gate.values(4)}, features,
        findings);
    std::optional<CombinedConvJob> combined;
    if (parts) {
        combined = combine(*parts, features);
        findings.insert(findings.end(), combined->findings.begin(), combined->findings.end());
    }
    if (combined && combined->computable()) {
        std::ranges::move(window_findings(combined->job, gate.values(0)),
                          std::back_inserter(findings));
        std::ranges::move(unused_register_findings(combined->job, gate.values(1)),
                          std::back_inserter(findings));
    }
    Launch launch = begin(Pipeline::Conv, false, std::move(findings));
    if (combined) {
        if (combined->computable()) {
            follow_buffer(combined->job, launch);
        }
        launch.produces = combined->job.result();
        add_pair(to_sdp_.produce({launch.name, *launch.produces, combined->job.mode()}),
                 "NVDLA_SDP", launch);
        launch.job = combined->job;
    } else {
        add_pair(to_sdp_.produce({.operation = launch.name, .cube = {}, .known = false}),
                 "NVDLA_SDP", launch);
    }
    return launch;
}

std::optional<SdpJob> LaunchEngine::decode_sdp_of(const Gates& gates, Diagnostics& findings) const {
    const auto with = [&](const SdpConfig& config, Diagnostics& found) {
        return decode_sdp(gates.main.values(0), gates.rdma->values(0), config, npu_.datapath,
                          found);
    };
    std::optional<SdpJob> job = with(npu_.sdp, findings);
    if (!job && !npu_.sdp.element_wise) {
        SdpConfig whole = npu_.sdp;
        whole.element_wise = true;
        Diagnostics others;
        job = with(whole, others);
        if (job) {
            findings.back().severity = Severity::Warning;
            findings.back() = as_lacking(std::move(findings.back()));
        }
    }
    return job;
}

std::optional<Launch> LaunchEngine::launch_sdp(Gates& gates) {
    const bool rdma_enabled = gates.rdma->open();
    Diagnostics findings;
    std::optional<SdpJob> job = decode_sdp_of(gates, findings);
    if (awaits("NVDLA_SDP_RDMA", rdma_enabled, job && job->reads_memory(), findings)) {
        return std::nullopt;
    }
    if (job && !npu_.mcif.secondary_port) {
        refuse_absent_port(*job, gates.main.values(0), gates.rdma->values(0), findings);
    }
    Launch launch = begin(Pipeline::Sdp, rdma_enabled, std::move(findings));
    if (job) {
        if (job->flying()) {
            launch.consumes = job->taken();
            add_pair(to_sdp_.consume({launch.name, *launch.consumes, ConvMode::Direct,
                                      job->stages.output, launch.group}),
                     "NVDLA_SDP", launch);
        }
        if (job->to_pdp) {
            launch.produces = job->given();
            add_pair(to_pdp_.produce({launch.name, *launch.produces}), "NVDLA_PDP", launch);
        }
        launch.job = *job;
    }
    return launch;
}

void LaunchEngine::follow_lines(const PdpJob* job, Launch& launch) {
    if (lines_left_) {
        lines_left_->sentence += fmt::format("; {} after it may stall", launch.name);
        launch.findings.push_back(std::move(*lines_left_));
    }
    lines_left_ = job != nullptr ? lines_left(*job, launch.name) : std::nullopt;
}

std::optional<Launch> LaunchEngine::launch_unit(Pipeline pipeline, Gates& gates) {
    const PipelineRow& row = row_of(pipeline);
    const bool rdma_enabled = gates.rdma ? gates.rdma->open() : true;
    const RegisterValues& rdma = gates.rdma                      ? gates.rdma->values(0)
                                 : row.rdma == ReadDma::Together ? gates.main.values(1)
                                                                 : gates.main.values(0);
    Diagnostics findings;
    RegisterJob job = row.decode(gates.main.values(0), rdma, npu_, findings);
    const auto* pooling = std::get_if<PdpJob>(&job);
    const bool flying = pooling != nullptr && pooling->flying();
    if (awaits(row.blocks[1], rdma_enabled, pooling != nullptr && !flying, findings)) {
        return std::nullopt;
    }
    if (!npu_.mcif.secondary_port) {
        refuse_absent_port(job, gates.main.values(0), rdma, findings);
    }
    Launch launch = begin(pipeline, rdma_enabled, std::move(findings));
    if (pipeline == Pipeline::Pdp) {
        follow_lines(pooling, launch);
    }
    if (flying) {
        launch.consumes = pooling->taken();
        add_pair(to_pdp_.consume(
                     {.operation = launch.name, .cube = *launch.consumes, .group = launch.group}),
                 "NVDLA_PDP", launch);
    }
    launch.job = std::move(job);
    return launch;
}

}  // namespace npuscope
