// SPDX-License-Identifier: Apache-2.0
// Rounded weights shift the mean results of a product; the bias compensates for it, layer by layer.
// source: Nagel et al., Data-Free Quantization Through Weight Equalization and Bias Correction,
// 2019 (here with measured means)
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/quantise/calibration.h"
#include "sim/quantise/insert_quantisers.h"

namespace npuscope {

/// Changes the biases of `model`. `means`: of the float model, as returned by `calibrate`, by
/// tensor name there. Runs the cases on the host, all of them at once.
void correct_biases(QuantisedGraph& model, const std::map<std::string, std::vector<double>>& means,
                    const std::vector<Case>& cases);

}  // namespace npuscope
