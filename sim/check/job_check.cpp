// SPDX-License-Identifier: Apache-2.0
// Programs that launch jobs: what each job reads was loaded, comes from the host, or was written by
// an earlier job, in the same shape and with the same sign; and what each job writes matches what
// the program says of it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/rule_ids.h"
#include "models/tinpu/tinpu_descriptor.h"
#include "sim/check/check_report.h"
#include "sim/check/job_maps.h"
#include "sim/check/memory_rules.h"

namespace npuscope {
namespace {

/// What jobs of a layer pattern do, by the name of the pattern; nothing for other names.
std::optional<TinpuWork> work_of(std::string_view kind) {
    // source: patterns of sim/compile/tinpu/layer_plan.cpp
    constexpr std::array rows{std::pair{std::string_view("DWCONV"), TinpuWork::Depthwise},
                              std::pair{std::string_view("FCONV"), TinpuWork::Convolution},
                              std::pair{std::string_view("GCONV"), TinpuWork::Convolution},
                              std::pair{std::string_view("PWCONV"), TinpuWork::Convolution},
                              std::pair{std::string_view("PWCONVRES"), TinpuWork::Convolution},
                              std::pair{std::string_view("FC"), TinpuWork::Convolution},
                              std::pair{std::string_view("TCONV"), TinpuWork::Transposed},
                              std::pair{std::string_view("MAXPOOL"), TinpuWork::MaxPool}};
    const auto row = std::ranges::find(rows, kind, [](const auto& one) { return one.first; });
    return row == rows.end() ? std::nullopt : std::optional(row->second);
}

/// One MAC per output and channel: a convolution either way round.
bool is_one_point(const TinpuJob& job) {
    const Convolution& g = job.geometry;
    return job.work != TinpuWork::Depthwise && job.weights && job.rows * job.columns == 1 &&
           g.stride_x * g.stride_y == 1 && job.input.shape.height == job.output.shape.height &&
           job.input.shape.width == job.output.shape.width;
}

/// Whether the output's bytes are the same values with and without a sign.
bool needs_no_sign(const TinpuJob& job) {
    return job.work != TinpuWork::MaxPool && job.clip.low >= 0 && job.clip.high <= INT8_MAX;
}

/// The words of a descriptor in which a map differs from the expected one.
std::string differing_words(const MapSurface& map, const MapSurface& meant, bool is_output) {
    if (map.base != meant.base) {
        return is_output ? "words 3 and 4 (output)" : "words 1 and 2 (input)";
    }
    if (!is_view_of(map.shape, meant.shape)) {
        return is_output ? "words 14 to 16 (output shape)" : "words 11 to 13 (input shape)";
    }
    return fmt::format("word 0 (bit {}: {} signed)", is_output ? 17 : 16,
                       is_output ? "output" : "input");
}

class JobCheck {
 public:
    JobCheck(const Program& program, const MemoryConfig& memory, Bytes alignment)
        : program_(program),
          memory_({.memory = memory, .zeroed = program.zeroed_memory}),
          alignment_(alignment) {
        for (const NamedSurface& surface : program.surfaces) {
            if (std::optional<NamedMap> map = map_of(surface)) {
                (surface.is_result ? results_ : hosts_).push_back(std::move(*map));
            }
        }
    }

    CheckReport run() {
        report_never_launched();
        for (const Statement& statement : program_.statements) {
            place_ = statement.place;
            std::visit([this](const auto& action) { follow(action); }, statement.action);
        }
        memory_.report_unread(log_);
        report_.subject = program_.name;
        report_.findings = log_.findings();
        report_.map = std::move(map_);
        // first what a descriptor itself shows, then what surfaces show
        std::stable_partition(report_.findings.begin(), report_.findings.end(),
                              [](const Diagnostic& one) {
                                  return one.id == "window_mismatch" || one.id == "map_mismatch" ||
                                         one.id == rule_ids::size_mismatch;
                              });
        return report_;
    }

 private:
    void report_never_launched() {
        std::set<std::string> launched;
        for (const Statement& statement : program_.statements) {
            if (const auto* launch = std::get_if<LaunchJob>(&statement.action)) {
                launched.insert(launch->job->name);
            }
        }
        for (const NamedMap& result : results_) {
            if (!launched.contains(result.after)) {
                tell("map_mismatch", {}, "",
                     fmt::format(
                         "a comment says that '{}' is complete after {}, which is never launched",
                         result.name, result.after),
                     "launch it, or correct the comment", result.place);
            }
        }
    }

    template <class Other>
    void follow(const Other& /*action*/) {}
    void follow(const LoadMemory& load) {
        files_.push_back({load.file, {load.address, Bytes(load.image.end())}});
        memory_.load(load, place_, log_);
        map_.load(load);
    }
    void follow(const InitMemory& init) { memory_.fill(init, place_, log_); }
    void follow(const CheckCrc& check) { compare({check.address, check.bytes}); }
    void follow(const CheckImage& check) { compare({check.address, check.bytes}); }
    void follow(const WaitForJobs& /*wait*/) { pending_.clear(); }
    void follow(const RunNode& node) {
        host_works_ = true;
        let_host_work(node.name, node.writes);
    }

    /// The host may read any result.
    void let_host_work(const std::string& name, std::vector<ByteRun> writes) {
        RunNode work{.name = name, .writes = std::move(writes)};
        for (const Written& one : written_) {
            work.reads.push_back({one.map.base, one.map.bytes()});
        }
        memory_.run(work, place_);
    }

    void compare(const ByteRun& region) {
        map_.compare(region);
        for (const Written& one : pending_) {
            if (common_byte({{one.map.base, one.map.bytes()}}, {region})) {
                tell(rule_ids::compared_early, one.job, "",
                     fmt::format("the result of {} is compared before the job has ended", one.job),
                     "call wait_for_jobs() before the comparison", place_);
            }
        }
        memory_.compare(region, place_, log_);
    }

    void follow(const LaunchJob& launch) {
        ++report_.operations;
        CheckedOperation operation;
        operation.name = launch.job->name;
        operation.place = place_;
        const auto* job = dynamic_cast<const TinpuJob*>(launch.job.get());
        if (job == nullptr) {
            return;
        }
        if (const auto work = work_of(job->kind);
            work && *work != job->work && !is_one_point(*job)) {
            tell("map_mismatch", operation.name, "word 0 (work)",
                 fmt::format("{} is declared as {}, but its descriptor encodes {}", operation.name,
                             job->kind, enum_name(job->work)),
                 "correct the descriptor, or the kind", place_);
        }
        operation.uses = surfaces_of(*job);
        report_.surfaces += operation.uses.size();
        if (const std::string sentence = window_mismatch(*job); !sentence.empty()) {
            tell("window_mismatch", operation.name, "words 11 to 21 (sizes and window)",
                 fmt::format("{}: {}", operation.name, sentence),
                 "make sizes, window, stride and padding agree", place_);
        }
        for (Diagnostic& finding : misaligned_surfaces(*job, alignment_)) {
            finding.place = place_;
            log_.add(std::move(finding));
        }
        check_weight_bits(*job);
        check_result(*job);
        check_map(*job, job->input, "input");
        if (job->residual) {
            check_map(*job, *job->residual, "residual");
        }
        for (const SurfaceUse& use : operation.uses) {
            if (use.constant && !use.runs.empty()) {
                check_constant(operation, use);
            }
        }
        if (host_works_ && hosts_.empty()) {
            memory_.lose_track();  // the host may write any map
        }
        memory_.launch(operation, log_);
        map_.add(operation);
        const ByteRun output{job->output.base, job->output.bytes()};
        std::erase_if(written_, [&](const Written& one) {
            return common_byte({{one.map.base, one.map.bytes()}}, {output}).has_value();
        });
        written_.push_back({operation.name, job->output, needs_no_sign(*job)});
        pending_.push_back(written_.back());
    }

    /// Weights and constants have one file each, and belong to one layer or are shared completely.
    void check_constant(const CheckedOperation& operation, const SurfaceUse& use) {
        const ByteRun run = use.extent();
        const std::string label = surface_label(operation, use);
        const auto files = std::ranges::count_if(files_, [&](const LoadedFile& one) {
            return common_byte({one.run}, {run}).has_value();
        });
        if (files > 1) {
            tell(rule_ids::partly_loaded, operation.name, use.address_register,
                 fmt::format("{} {} bytes at {}, which span {} files",
                             surface_does(operation, use, "use"), run.bytes.value,
                             to_hex(run.address), files),
                 "correct its address, or the shape and the kind of the layer", place_);
        }
        for (const Written& one : written_) {
            if (common_byte({{one.map.base, one.map.bytes()}}, {run})) {
                tell(rule_ids::operand_kind, operation.name, use.address_register,
                     fmt::format("{} where {} writes its output",
                                 surface_does(operation, use, "lie"), one.job),
                     "correct one of the addresses", place_);
            }
        }
        for (const auto& [other, taken] : constants_) {
            const bool same = taken.address == run.address && taken.bytes == run.bytes;
            if (!same && common_byte({taken}, {run})) {
                tell(rule_ids::surface_overlap, operation.name, use.address_register,
                     fmt::format("{} and {} share bytes", label, other),
                     "correct the address of one of them", place_);
            }
        }
        constants_.emplace_back(label, run);
    }

    /// A file of weights has as many bytes as their width requires.
    void check_weight_bits(const TinpuJob& job) {
        if (!job.weights) {
            return;
        }
        const auto file = std::ranges::find_if(
            files_, [&](const LoadedFile& one) { return one.run.address == job.weights->base; });
        if (file == files_.end() || file->run.bytes == job.weights->bytes()) {
            return;
        }
        for (const unsigned bits : {8U, 4U, 2U}) {
            WeightSurface other = *job.weights;
            other.bits = bits;
            if (other.bytes() == file->run.bytes) {
                tell(
                    rule_ids::size_mismatch, job.name, "word 0 (weight bits)",
                    fmt::format(
                        "{}-bit weights need {} bytes, but '{}' has {}, the size of {}-bit weights",
                        job.weights->bits, job.weights->bytes().value, file->name,
                        file->run.bytes.value, bits),
                    "correct the width of the weights, or the file", place_);
                return;
            }
        }
    }

    /// What the program's generator says of the job's result.
    void check_result(const TinpuJob& job) {
        const auto result = std::ranges::find(results_, job.name, &NamedMap::after);
        MapSurface output = job.output;
        if (result != results_.end() && needs_no_sign(job)) {
            output.is_signed = result->map.is_signed;
        }
        if (result == results_.end() || lies_as(output, result->map)) {
            return;
        }
        tell("map_mismatch", job.name, differing_words(job.output, result->map, true),
             fmt::format("{} writes {}, but the program declares '{}' as {}", job.name,
                         map_text(job.output), result->name, map_text(result->map)),
             "correct the descriptor, or the comment", place_);
    }

    /// A map that a job reads is a complete map of the host or of an earlier job.
    void check_map(const TinpuJob& job, const MapSurface& map, const char* what) {
        const ByteRun run{map.base, map.bytes()};
        auto host = std::ranges::find_if(
            hosts_, [&](const NamedMap& one) { return lies_as(map, one.map); });
        const bool is_loaded = std::ranges::any_of(files_, [&](const LoadedFile& one) {
            return common_byte({one.run}, {run}).has_value();
        });
        if (host != hosts_.end() && !is_loaded) {
            let_host_work(host->name, {run});
            map_.add_surface(host->name, run);
        }
        const auto wrote =
            std::ranges::find_if(written_.rbegin(), written_.rend(), [&](const Written& one) {
                return common_byte({{one.map.base, one.map.bytes()}}, {run}).has_value();
            });
        const bool is_written = wrote != written_.rend();
        MapSurface read = map;
        if (is_written && wrote->needs_no_sign) {
            read.is_signed = wrote->map.is_signed;
        }
        if (host != hosts_.end() || (is_written && lies_as(read, wrote->map))) {
            return;
        }
        if (!is_written) {
            host = std::ranges::find_if(hosts_, [&](const NamedMap& one) {
                return common_byte({one.run()}, {run}).has_value();
            });
        }
        if (!is_written && host == hosts_.end()) {
            return;
        }
        const Written meant = is_written ? *wrote : Written{"the host", host->map};
        tell("map_mismatch", job.name,
             *what == 'r' ? "words 5 and 6 (residual)" : differing_words(map, meant.map, false),
             fmt::format("the {} of {} is {}, but {} wrote {} there", what, job.name, map_text(map),
                         meant.job, map_text(meant.map)),
             "read the feature map with the type and shape it was written with", place_);
    }

    void tell(const char* id, const std::string& job, const std::string& words,
              const std::string& sentence, const char* remedy, const Place& place) {
        log_.add({.id = id,
                  .sentence = sentence,
                  .remedy = remedy,
                  .unit = "tinpu",
                  .register_name = words,
                  .operation = job,
                  .place = place});
    }

    struct LoadedFile {
        std::string name;
        ByteRun run;
    };
    struct Written {
        std::string job;
        MapSurface map;
        bool needs_no_sign = false;
    };

    const Program& program_;
    MemoryRules memory_;
    Bytes alignment_;
    DiagnosticLog log_;
    CheckReport report_;
    Place place_;
    std::vector<LoadedFile> files_;
    std::vector<std::pair<std::string, ByteRun>> constants_;  ///< with the names of their users
    std::vector<NamedMap> results_;
    std::vector<NamedMap> hosts_;   ///< maps that the host provides
    std::vector<Written> written_;  ///< maps that are in memory
    std::vector<Written> pending_;  ///< those whose end has not been awaited yet
    MemoryMap map_;
    bool host_works_ = false;
};

}  // namespace

CheckReport check_jobs(const Program& program, const MemoryConfig& memory, Bytes alignment) {
    return JobCheck(program, memory, alignment).run();
}

}  // namespace npuscope
