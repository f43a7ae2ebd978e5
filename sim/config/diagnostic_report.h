// SPDX-License-Identifier: Apache-2.0
// A diagnostic for other programs and for people; every command that reports findings uses these.
#pragma once

#include <string>

#include "models/base/diagnostic.h"
#include "sim/config/json_writer.h"
#include "sim/config/text_table.h"

namespace npuscope {

/// Adds a string that is not empty.
void add_text(Json& object, const char* key, const std::string& text);
/// Adds `place` if there is one.
void add_place(Json& object, const Place& place);

/// {severity, id, message, remedy, unit, register, field, surface, operation, address, value,
/// allowed, nearest, place}, without the parts that are empty.
Json diagnostic_json(const Diagnostic& diagnostic);

/// `program.cfg:41:1: error: <sentence> [<id>]`, then what it is about and the remedy, each line
/// indented by at least `indent`, none longer than `width`. `times`: number of diagnostics of one
/// rule that this one stands for.
std::string diagnostic_text(const Diagnostic& diagnostic, std::size_t indent = 0,
                            std::size_t times = 1, std::size_t width = report_width);

/// Those of one cause as one: notes of one rule, and writes that are lost because one operation of
/// a unit is still running. Errors first; notes are counted, or listed on request (`notes`). Places
/// name the file without its folder.
std::string folded_text(const Diagnostics& diagnostics, bool notes,
                        std::size_t width = report_width);

/// The same as a section of a summary; empty if there are no findings.
std::string findings_text(const Diagnostics& findings, bool notes = true,
                          std::size_t width = report_width);

/// The place without the folders of its file.
std::string short_place(const Place& place);

}  // namespace npuscope
