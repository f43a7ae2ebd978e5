// SPDX-License-Identifier: Apache-2.0
// Ids of the rules that are decided in more than one place: before a run from the program and
// during it from the machine, or for several NPU families. Each is defined here and in the
// catalogue (sim/check/rules.cpp), which has a row for every rule. An id that only one file reports
// is defined there.
#pragma once

#include <array>

namespace npuscope::rule_ids {

inline constexpr const char* check_not_made = "check_not_made";
inline constexpr const char* compared_early = "compared_early";
inline constexpr const char* compares_unwritten = "compares_unwritten";
inline constexpr const char* descriptor = "descriptor";
inline constexpr const char* floor_required = "floor_required";
inline constexpr const char* flush_not_awaited = "flush_not_awaited";
inline constexpr const char* host_only = "host_only";
inline constexpr const char* input_zero_point = "input_zero_point";
inline constexpr const char* misaligned = "misaligned";
inline constexpr const char* never_loaded = "never_loaded";
inline constexpr const char* operand_kind = "operand_kind";
inline constexpr const char* out_of_bounds = "out_of_bounds";
inline constexpr const char* partly_loaded = "partly_loaded";
inline constexpr const char* partly_written = "partly_written";
inline constexpr const char* post_extension_channels = "post_extension_channels";
inline constexpr const char* precision_conversion = "precision_conversion";
inline constexpr const char* race = "race";
inline constexpr const char* register_value = "register_value";
inline constexpr const char* result_lost = "result_lost";
inline constexpr const char* sequence_order = "sequence_order";
inline constexpr const char* size_mismatch = "size_mismatch";
inline constexpr const char* surface_overlap = "surface_overlap";
inline constexpr const char* suspicious_register = "suspicious_register";
inline constexpr const char* uninitialised_read = "uninitialised_read";

inline constexpr std::array all{check_not_made,
                                compared_early,
                                compares_unwritten,
                                descriptor,
                                floor_required,
                                flush_not_awaited,
                                host_only,
                                input_zero_point,
                                misaligned,
                                never_loaded,
                                operand_kind,
                                out_of_bounds,
                                partly_loaded,
                                partly_written,
                                post_extension_channels,
                                precision_conversion,
                                race,
                                register_value,
                                result_lost,
                                sequence_order,
                                size_mismatch,
                                surface_overlap,
                                suspicious_register,
                                uninitialised_read};

}  // namespace npuscope::rule_ids
