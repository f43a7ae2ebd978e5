// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/proof_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "models/npu/npu_config.h"
#include "sim/check/proof.h"
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

/// What the machine leaves; nothing where it refuses a program of which the findings say why.
std::optional<std::vector<std::vector<std::uint8_t>>> machine_bytes(const Program& program,
                                                                    const SystemConfig& system,
                                                                    const RunOptions& options,
                                                                    bool clean) {
    try {
        return run_program(program, system, options).kept;
    } catch (const ConfigError&) {
        if (clean) {
            throw;
        }
        return std::nullopt;
    }
}

void write_arrays(const std::vector<ProvedResult>& results, const std::string& folder) {
    OutputFolder out(folder);
    for (const ProvedResult& result : results) {
        std::string stem = result.operation;
        std::ranges::replace(stem, ' ', '_');
        for (const PlainArray& array : result.arrays) {
            out.write(fmt::format("{}_{}.npy", stem, array.name),
                      npy_bytes(element_row(array.type), array.shape, array.numbers));
        }
    }
    out.commit_in_place_of_earlier();
}

}  // namespace

void prove(const Program& program, const SystemConfig& system, const std::string& folder,
           CheckReport& report) {
    const auto* npu = system.npu.find<NpuConfig>();
    if (npu == nullptr) {
        throw ConfigError(
            fmt::format("--prove: {} has no registers that describe tensor operations",
                        system.npu_name()),
            "a model's layers are compared by `run model.onnx --npu PRESET`");
    }
    std::vector<ProvedResult> results =
        plain_results(program, {*npu, system.memory}, !folder.empty());
    RunOptions options;
    for (const ProvedResult& result : results) {
        if (result.surface) {
            options.keep.push_back({result.surface->extent(), result.after});
        }
    }
    const auto kept = machine_bytes(program, system, options, report.clean());
    std::size_t next = 0;
    for (ProvedResult& result : results) {
        if (result.surface && kept) {
            hold_against(result, (*kept)[next++]);
        } else if (result.surface) {
            result.unproved = "the machine refuses the program";
        }
        report.proof.push_back(line_of(result));
    }
    std::ranges::move(proof_findings(results), std::back_inserter(report.findings));
    if (!folder.empty()) {
        write_arrays(results, folder);
    }
}

}  // namespace npuscope
