// SPDX-License-Identifier: Apache-2.0
// What readers of candidates have in common: the ends of a layer, the sequence after it, a bias
// that stands in the operator itself.
#pragma once

#include <span>

#include "sim/model/candidate.h"
#include "sim/model/graph.h"
#include "sim/model/step_reader.h"

namespace npuscope {

class CandidateBuilder {
 public:
    CandidateBuilder(const GraphView& view, std::size_t anchor, bool with_residual);

 protected:
    const GraphNode& node() const { return view_.node(candidate_.anchor); }
    const Sizes& sizes(const std::string& tensor) const { return view_.sizes(tensor); }
    void complain(const char* rule, std::string value, const std::string& allowed,
                  std::string sentence);
    /// The same of another node than the anchor.
    void complain_at(std::size_t node, const char* rule, std::string value,
                     const std::string& allowed, std::string sentence);
    /// Input and output of the anchor, as cubes.
    void take_ends();
    /// The steps after the anchor as the layer's sequence.
    void take_sequence(std::span<const RawStep> steps);
    /// A bias in the anchor itself goes before those of the sequence.
    void take_own_bias(const std::string& tensor);
    /// The first step belongs to the operator, not to the sequence.
    void take_first(std::vector<RawStep>& steps);

    const GraphView& view_;  // NOLINT(readability-identifier-naming): one name for all readers
    Candidate candidate_;    // NOLINT(readability-identifier-naming)

 private:
    void take_cast();

    bool with_residual_;
};

// The weights of a candidate as whole numbers in the order that the hardware's patterns use, with
// zero points taken off; what stands against that becomes a violation.

enum class WeightOrder {
    Conv,        ///< [K C/groups R S]
    Transposed,  ///< [C K R S]
    Matrix       ///< [C K]
};

/// The zero point of ConvInteger's and MatMulInteger's weights is subtracted from them; one of the
/// data is a violation.
GraphValue read_weights(const GraphView& view, Candidate& candidate, WeightOrder order);

}  // namespace npuscope
