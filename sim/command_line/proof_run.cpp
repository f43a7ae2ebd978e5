// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/proof_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <vector>

#include "models/npu/npu_config.h"
#include "sim/check/job_proof.h"
#include "sim/check/proof.h"
#include "sim/config/file_name.h"
#include "sim/config/npy_file.h"
#include "sim/config/output_folder.h"
#include "sim/run/session.h"

namespace npuscope {
namespace {

ProofLine line_of(const ProvedResult& result) {
    ProofLine line{.operation = result.operation,
                   .unit = result.unit,
                   .meaning = result.meaning,
                   .reason = result.unproved,
                   .elements = result.elements};
    line.status = result.difference         ? ProofStatus::Differs
                  : result.unproved.empty() ? ProofStatus::Proved
                                            : ProofStatus::NotProved;
    return line;
}

/// The machine's result; nothing if it refuses a program for reasons that the findings state.
std::optional<Result> run_machine(const Program& program, const SystemConfig& system,
                                  const RunOptions& options, bool clean) {
    try {
        return run_program(program, system, options);
    } catch (const ConfigError&) {
        if (clean) {
            throw;
        }
        return std::nullopt;
    }
}

/// Outcome of each layer, and of results without a partner.
void add_layers(const ModelLayers& layers, const Result& run, CheckReport& report) {
    for (const CheckResult& check : run.checks) {
        report.layers.push_back({check.subject, check.pass ? "equal" : "differs"});
        if (check.pass) {
            continue;
        }
        std::string sentence = "its result differs from that of the model's layer";
        if (check.difference) {
            const TensorDifference& found = *check.difference;
            report.layers.back().status = fmt::format(
                "{} of {} values differ, by {} at most, the first at {}", found.mismatches,
                found.elements, std::abs(found.worst.expected - found.worst.actual),
                index_text(found.shape, found.first.index));
            sentence =
                fmt::format("{}: {} where the model's layer gives {}", report.layers.back().status,
                            found.first.actual, found.first.expected);
        }
        report.findings.push_back(
            {.id = "layer_differs",
             .sentence = fmt::format("layer '{}': {}", check.subject, sentence),
             .remedy =
                 "compare the operation's descriptor words and its weights.npy with the layer",
             .address = check.address,
             .surface = check.subject});
    }
    for (const std::string& name : layers.without_result) {
        report.layers.push_back({name, "the program names no result of it"});
    }
    for (const std::string& name : layers.without_layer) {
        report.layers.push_back({name, "the model has no such layer"});
    }
}

void write_arrays(const std::vector<ProvedResult>& results, const std::string& folder) {
    OutputFolder out(folder);
    for (const ProvedResult& result : results) {
        std::string stem = result.operation;
        std::ranges::replace(stem, ' ', '_');
        for (const PlainArray& array : result.arrays) {
            out.write(file_name(stem, fmt::format("_{}.npy", array.name)),
                      npy_bytes(element_row(array.type), array.shape, array.numbers));
        }
    }
    out.commit_in_place_of_earlier();
}

}  // namespace

void prove(const Program& written, const SystemConfig& system, const std::string& folder,
           const std::optional<ModelLayers>& layers, CheckReport& report) {
    const auto* npu = system.npu.find<NpuConfig>();
    if (npu == nullptr && !launches_known_jobs(written)) {
        throw ConfigError(
            fmt::format("--prove: {} has neither registers nor jobs that describe tensor "
                        "operations",
                        system.npu_name()),
            "a model's layers are compared by `run model.onnx --npu PRESET`");
    }
    const Program program =
        npu != nullptr ? written : with_host_maps(written, layers ? layers->maps : HostMaps{});
    std::vector<ProvedResult> results =
        npu != nullptr ? plain_results(program, {*npu, system.memory}, !folder.empty())
                       : plain_job_results(program, system.memory, !folder.empty());
    RunOptions options;
    for (const ProvedResult& result : results) {
        if (result.surface) {
            options.keep.push_back({result.surface->extent(), result.after});
        }
    }
    SurfaceQueries queries({});
    if (layers) {
        queries.expect(layers->expected, options);
    }
    std::optional<Result> run = run_machine(program, system, options, report.clean());
    std::size_t next = 0;
    for (ProvedResult& result : results) {
        if (result.surface && run) {
            hold_against(result, run->kept[next++]);
        } else if (result.surface) {
            result.unproved = "the machine refuses the program";
        }
        report.proof.push_back(line_of(result));
    }
    if (layers && run) {
        run->checks.clear();
        queries.answer(*run);
        add_layers(*layers, *run, report);
    }
    std::ranges::move(proof_findings(results), std::back_inserter(report.findings));
    if (!folder.empty()) {
        write_arrays(results, folder);
    }
}

}  // namespace npuscope
