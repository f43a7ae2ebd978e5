// SPDX-License-Identifier: Apache-2.0
// What is known of a tensor's numbers before anything runs: whether they are whole, and between
// which limits they lie. An input of floats is taken to hold 8-bit integers: a model for a TINPU
// says so by its layers, and a run checks what it is given.
#pragma once

#include <map>
#include <string>

#include "sim/model/graph.h"

namespace npuscope {

struct NumberFacts {
    bool whole = false;
    NumberRange range{};
    bool assumed = false;  ///< of an input of floats: whether they are signed is not known
};

/// `given`: of inputs whose numbers are known better than their types say.
std::map<std::string, NumberFacts> number_facts(
    const Graph& graph, const std::map<std::string, NumberFacts>& given = {});

/// Fits a signed or an unsigned integer of so many bits.
bool fits_bits(const NumberRange& range, unsigned bits);

}  // namespace npuscope
