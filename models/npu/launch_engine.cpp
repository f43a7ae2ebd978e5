// SPDX-License-Identifier: Apache-2.0
#include "models/npu/launch_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/cdp/cdp_registers.h"
#include "models/conv/conv_checks.h"
#include "models/conv/conv_registers.h"
#include "models/npu/conv_features.h"
#include "models/pdp/pdp_registers.h"
#include "models/rubik/rubik_registers.h"
#include "models/sdp/sdp_registers.h"

namespace npuscope {
namespace {

constexpr std::array<std::string_view, 5> pipeline_names{"conv", "sdp", "pdp", "cdp", "rubik"};

/// The registers of the read DMA may still be on their way.
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
    const auto gate = [&](std::initializer_list<std::string_view> blocks) {
        std::vector<RegisterFile*> files;
        for (const std::string_view block : blocks) {
            files.push_back(&file_of(block));
        }
        return LaunchGate(std::move(files));
    };
    gates_.push_back(
        {gate({"NVDLA_CDMA", "NVDLA_CSC", "NVDLA_CMAC_A", "NVDLA_CMAC_B", "NVDLA_CACC"}), {}});
    gates_.push_back({gate({"NVDLA_SDP"}), gate({"NVDLA_SDP_RDMA"})});
    gates_.push_back({gate({"NVDLA_PDP"}), gate({"NVDLA_PDP_RDMA"})});
    gates_.push_back({gate({"NVDLA_CDP", "NVDLA_CDP_RDMA"}), {}});
    gates_.push_back({gate({"NVDLA_RBK"}), {}});
}

void LaunchEngine::note_enabled(const RegisterFile& file, unsigned group, Cycles time) {
    for (Gates& gates : gates_) {
        gates.main.note_enabled(file, group, time);
        if (gates.rdma) {
            gates.rdma->note_enabled(file, group, time);
        }
    }
}

std::optional<Launch> LaunchEngine::next() {
    for (const Pipeline pipeline :
         {Pipeline::Pdp, Pipeline::Sdp, Pipeline::Cdp, Pipeline::Conv, Pipeline::Rubik}) {
        if (std::optional<Launch> launch = try_launch(pipeline)) {
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
        case Pipeline::Pdp:
            return launch_pdp(gates);
        case Pipeline::Cdp:
            return launch_cdp(gates);
        case Pipeline::Rubik:
            break;
    }
    return launch_rubik(gates);
}

void LaunchEngine::finish(std::string_view block) {
    for (Gates& gates : gates_) {
        gates.main.finish(block);
        if (gates.rdma) {
            gates.rdma->finish(block);
        }
    }
}

void LaunchEngine::finish(Pipeline pipeline, bool uses_rdma) {
    Gates& gates = this->gates(pipeline);
    gates.main.finish_all();
    if (uses_rdma && gates.rdma) {
        gates.rdma->finish_all();
    }
}

std::string LaunchEngine::next_name(std::string_view unit) {
    return std::string(unit) + " " + std::to_string(count_++);
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
    launch.name = next_name(pipeline_names[static_cast<std::size_t>(pipeline)]);
    launch.pipeline = pipeline;
    launch.group = gates.main.group();
    if (uses_rdma && gates.rdma) {
        launch.rdma_enabled = gates.rdma->enabled(0);
        gates.rdma->pass();
    } else if (pipeline == Pipeline::Cdp) {
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
    Launch launch = begin(Pipeline::Conv, false, std::move(findings));
    if (combined) {
        if (combined->computable()) {
            follow_buffer(combined->job, launch);
        }
        launch.produces = combined->job.result();
        add_pair(to_sdp_.produce({launch.name, *launch.produces}), "NVDLA_SDP", launch);
        launch.job = combined->job;
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
    if (job) {
        if (std::optional<Diagnostic> note = conversion_note(*job)) {
            findings.push_back(std::move(*note));
        }
    }
    Launch launch = begin(Pipeline::Sdp, rdma_enabled, std::move(findings));
    if (job) {
        if (job->flying()) {
            launch.consumes = job->taken();
            add_pair(to_sdp_.consume({launch.name, *launch.consumes}), "NVDLA_SDP", launch);
        }
        if (job->to_pdp) {
            launch.produces = job->given();
            add_pair(to_pdp_.produce({launch.name, *launch.produces}), "NVDLA_PDP", launch);
        }
        launch.job = *job;
    }
    return launch;
}

void LaunchEngine::follow_lines(const std::optional<PdpJob>& job, Launch& launch) {
    if (lines_left_) {
        lines_left_->sentence += fmt::format("; {} after it may stall", launch.name);
        launch.findings.push_back(std::move(*lines_left_));
    }
    lines_left_ = job ? lines_left(*job, launch.name) : std::nullopt;
}

std::optional<Launch> LaunchEngine::launch_pdp(Gates& gates) {
    const bool rdma_enabled = gates.rdma->open();
    Diagnostics findings;
    std::optional<PdpJob> job =
        decode_pdp(gates.main.values(0), gates.rdma->values(0), npu_.pdp, npu_.datapath, findings);
    if (awaits("NVDLA_PDP_RDMA", rdma_enabled, job && !job->flying(), findings)) {
        return std::nullopt;
    }
    Launch launch = begin(Pipeline::Pdp, rdma_enabled, std::move(findings));
    follow_lines(job, launch);
    if (job) {
        if (job->flying()) {
            launch.consumes = job->taken();
            add_pair(to_pdp_.consume({launch.name, *launch.consumes}), "NVDLA_PDP", launch);
        }
        launch.job = std::move(*job);
    }
    return launch;
}

std::optional<Launch> LaunchEngine::launch_cdp(Gates& gates) {
    Diagnostics findings;
    std::optional<CdpJob> job =
        decode_cdp(gates.main.values(0), gates.main.values(1), npu_.cdp, npu_.datapath, findings);
    Launch launch = begin(Pipeline::Cdp, true, std::move(findings));
    if (job) {
        launch.job = *job;
    }
    return launch;
}

std::optional<Launch> LaunchEngine::launch_rubik(Gates& gates) {
    Diagnostics findings;
    std::optional<RubikJob> job =
        decode_rubik(gates.main.values(0), npu_.rubik, npu_.datapath, findings);
    Launch launch = begin(Pipeline::Rubik, false, std::move(findings));
    if (job) {
        launch.job = *job;
    }
    return launch;
}

}  // namespace npuscope
