// SPDX-License-Identifier: Apache-2.0
// One HTML file that shows a run, two runs or a sweep, with its data, styles and charts in it: it
// needs no network and no other file. What it shows is written in sim/report/page.
#pragma once

#include <string>

#include "sim/config/json_writer.h"

namespace npuscope {

/// The page of a result as `run --json` writes it; `timeline` is what `run --timeline` writes, or null.
std::string run_page(const Json& result, const Json& timeline);
/// Two results side by side.
std::string pair_page(const Json& one, const Json& other);
/// What a sweep found: `{name, shows, version, axes[], objectives[], points[], front[], layers{}}`.
std::string sweep_page(const Json& sweep);

}  // namespace npuscope
