// SPDX-License-Identifier: Apache-2.0
// A result for people: the verdict, a row for each layer, then what was checked and what the machine
// found wrong. More is told on request. Tables are at most 100 columns wide, that of the layers 80.
#pragma once

#include <string>

#include "sim/config/text_table.h"
#include "sim/run/result.h"

namespace npuscope {

enum class Details { Layers, Operations };

/// With Details::Operations also the operations, their causes, traffic by client, units, DRAM and
/// the notes among the findings.
std::string summary_report(const Result& result, Details details = Details::Layers,
                           std::size_t width = report_width);

}  // namespace npuscope
