// SPDX-License-Identifier: Apache-2.0
#include "models/conv/buffer_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/layout/alignment.h"

namespace npuscope {

namespace {

Diagnostic reuse_finding(Severity severity, const char* field, const std::string& why) {
    Diagnostic finding;
    finding.severity = severity;
    finding.id = severity == Severity::Error ? "impossible_reuse" : "reuse_of_nothing";
    finding.unit = "NVDLA_CSC";
    finding.register_name = spelled("NVDLA_CSC", "D_MISC_CFG");
    finding.field = field;
    finding.sentence = fmt::format("{} sets {}, but {}", finding.register_name, field, why);
    finding.remedy =
        "make the previous operation keep what this one reuses, with the same mode, precision and "
        "D_BANK";
    return finding;
}

/// Lines of input of all batches, as the buffer counts them.
std::uint32_t all_lines(const ConvJob& job) { return job.parts.csc.input.height * job.batches(); }

}  // namespace

std::uint32_t released_lines(const ConvJob& job) {
    const CscJob& csc = job.parts.csc;
    return csc.reuse.skip_data_release ? 0 : std::min(csc.release_slices, all_lines(job));
}

std::uint32_t left_lines(const ConvJob& job) { return all_lines(job) - released_lines(job); }

std::uint64_t fetched_weights(const ConvJob& job, Bytes entry) {
    return divide_up(job.parts.cdma.weight_bytes.value, entry.value);
}

std::uint64_t unused_weights(const ConvJob& job, Bytes entry) {
    if (job.parts.cdma.compression) {
        return 0;
    }
    const std::uint64_t taken = divide_up(job.weights.used_bytes().value, entry.value);
    const std::uint64_t fetched = fetched_weights(job, entry);
    return fetched - std::min(fetched, taken);
}

bool BufferHistory::fits_left(const CscJob& csc) const {
    return left_ && left_->mode == csc.mode && left_->banks == csc.banks &&
           left_->precision == csc.precision;
}

void BufferHistory::follow_weights(const ConvJob& job, KnownBufferStart& known) {
    const CscJob& csc = job.parts.csc;
    BufferStart& start = known.start;
    if (left_ && left_->all_weights && !start.weights_reused) {
        held_ -= std::min(held_, left_->weight_entries);
    }
    if (left_ && left_->banks != csc.banks) {
        start.lost_weights = std::exchange(held_, 0);
    }
    const std::uint64_t fetched = fetched_weights(job, entry_);
    if (!start.weights_reused) {
        start.stale_weights = held_;
        held_ += fetched;
    }
    if (!csc.reuse.skip_weight_release) {
        held_ -= std::min(held_, fetched - unused_weights(job, entry_));
    }
    if (start.stale_weights == 0) {
        return;
    }
    Diagnostic finding;
    finding.severity = Severity::Warning;
    finding.id = "stale_weights";
    finding.unit = "NVDLA_CDMA";
    finding.register_name = spelled("NVDLA_CDMA", "D_WEIGHT_BYTES");
    finding.sentence = fmt::format(
        "the buffer holds {} {} of {} bytes before the weights, because {} of earlier operations "
        "fetched more than their kernels use; this operation takes its first weights from there",
        start.stale_weights, start.stale_weights == 1 ? "entry" : "entries", entry_.value,
        finding.register_name);
    finding.remedy =
        "set WEIGHT_BYTES to the whole entries that the kernels use, without padding, or change "
        "D_BANK in between";
    known.findings.push_back(std::move(finding));
}

void BufferHistory::add_state(Fingerprint& state) const {
    state.add(held_);
    if (left_) {
        for (const std::uint64_t count :
             {std::uint64_t{left_->banks.data}, std::uint64_t{left_->banks.weight},
              static_cast<std::uint64_t>(left_->mode), static_cast<std::uint64_t>(left_->precision),
              std::uint64_t{left_->input.channels}, std::uint64_t{left_->input.height},
              std::uint64_t{left_->input.width}, std::uint64_t{left_->batches},
              std::uint64_t{left_->lines}, std::uint64_t{left_->all_data},
              std::uint64_t{left_->all_weights}, left_->weights.shape.elements(),
              std::uint64_t{left_->weights.shape.kernels}, left_->weight_entries}) {
            state.add(count);
        }
    }
}

KnownBufferStart BufferHistory::next(const ConvJob& job) {
    KnownBufferStart known;
    const CscJob& csc = job.parts.csc;
    const bool same = fits_left(csc);
    const std::uint32_t fetched = job.parts.cdma.mode == ConvMode::Winograd
                                      ? job.parts.cdma.winograd.extended_height
                                      : job.parts.cdma.input.height;
    if (csc.reuse.data_reuse && same && left_->all_data) {
        known.start.data_reused = true;
        if (left_->input != csc.input || left_->batches != csc.batches) {
            known.findings.push_back(reuse_finding(
                Severity::Error, "DATA_REUSE",
                fmt::format("the kept data have another shape: {} x {} x {}, batches: {}",
                            left_->input.channels, left_->input.height, left_->input.width,
                            left_->batches)));
        }
    } else if (csc.reuse.data_reuse && same && left_->lines > 0 && csc.batches == 1) {
        known.start.kept_lines = left_->lines;
    } else if (csc.reuse.data_reuse) {
        known.findings.push_back(reuse_finding(Severity::Warning, "DATA_REUSE",
                                               "the previous operation kept no data for it"));
    }
    if (!known.start.data_reused && known.start.kept_lines + fetched != csc.input.height) {
        known.findings.push_back(reuse_finding(
            Severity::Error, "DATA_REUSE",
            fmt::format("{} kept plus {} fetched lines do not match the {} of the input",
                        known.start.kept_lines, fetched, csc.input.height)));
    }
    if (csc.reuse.weight_reuse && same && left_->all_weights) {
        known.start.weights_reused = true;
        if (left_->weights != job.weights) {
            known.findings.push_back(reuse_finding(Severity::Error, "WEIGHT_REUSE",
                                                   "the kept weights have another size or order"));
        }
    } else if (csc.reuse.weight_reuse) {
        known.findings.push_back(reuse_finding(Severity::Warning, "WEIGHT_REUSE",
                                               "the previous operation kept no weights for it"));
    }
    follow_weights(job, known);
    left_ = Left{.mode = csc.mode,
                 .banks = csc.banks,
                 .precision = csc.precision,
                 .input = csc.input,
                 .batches = csc.batches,
                 .lines = left_lines(job),
                 .all_data = csc.reuse.skip_data_release,
                 .all_weights = csc.reuse.skip_weight_release,
                 .weights = job.weights,
                 .weight_entries = fetched_weights(job, entry_)};
    return known;
}

}  // namespace npuscope
