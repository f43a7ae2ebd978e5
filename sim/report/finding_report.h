// SPDX-License-Identifier: Apache-2.0
// Findings for machines and for people.
#pragma once

#include <string>
#include <vector>

#include "models/base/diagnostic.h"
#include "sim/config/json_writer.h"

namespace npuscope {

/// The place without the folders of its file.
std::string short_place(const Place& place);
/// Adds `place` where there is one.
void add_place(Json& object, const Place& place);
/// Adds a text that is not empty.
void add_text(Json& object, const char* key, const std::string& text);

Json finding_json(const Diagnostic& finding);
/// A section of a summary, the gravest first; empty where there is none.
std::string findings_text(const std::vector<Diagnostic>& findings);

}  // namespace npuscope
