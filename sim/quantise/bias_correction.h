// SPDX-License-Identifier: Apache-2.0
// Rounded weights shift the means of what a product gives; the bias takes the shift back, layer after
// layer. source: Nagel et al., Data-Free Quantization Through Weight Equalization and Bias
// Correction, 2019 (here with means that were measured)
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/quantise/calibration.h"
#include "sim/quantise/insert_quantisers.h"

namespace npuscope {

/// Changes the biases of `model`. `means`: of the model of floats, as `calibrate` gives them, by the
/// name of the tensor there. Runs the cases on the host, all of them at a time.
void correct_biases(QuantisedGraph& model, const std::map<std::string, std::vector<double>>& means,
                    const std::vector<Case>& cases);

}  // namespace npuscope
