// SPDX-License-Identifier: Apache-2.0
// A result as comma-separated values: a row for each layer of a network, or for each operation of a
// program without layers, and their sum in the columns is the run. Lines that begin with `#` tell
// version, command line, totals and the effective configuration, so that
// `pandas.read_csv(file, comment="#")` reads the rows.
#pragma once

#include <string>

#include "sim/run/result.h"

namespace npuscope {

std::string csv_report(const Result& result);

}  // namespace npuscope
