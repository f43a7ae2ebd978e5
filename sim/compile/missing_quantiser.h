// SPDX-License-Identifier: Apache-2.0
// What a layer between quantisers lacks: whether its input, its weights and its result are
// quantised, each once and with constants, and which node is in the way where they are not.
//
//     QuantizeLinear ─► DequantizeLinear ─► Conv ─► Relu ─► QuantizeLinear ─► ..
//               weights ─► DequantizeLinear ┘
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/base/diagnostic.h"
#include "sim/model/graph.h"

namespace npuscope {

inline constexpr const char* not_quantised = "not_quantised";

/// Where a tensor comes from, beyond any views.
enum class TensorSource { Quantised, Constant, Float };

class MissingQuantiser {
 public:
    explicit MissingQuantiser(const GraphView& model);

    TensorSource source_of(const std::string& tensor) const;
    /// Whether a QuantizeLinear reads what node `index` makes, directly or after other nodes that
    /// each have one reader.
    bool is_quantised_later(std::size_t index) const;

    // Each returns the reason, or nothing where that part is as it should be.

    std::optional<Diagnostic> of_input(std::size_t index, const std::string& tensor) const;
    /// Of a product: constants, directly after a DequantizeLinear.
    std::optional<Diagnostic> of_weights(std::size_t index, const std::string& tensor) const;
    /// A product with two computed operands.
    std::optional<Diagnostic> of_computed_weights(std::size_t index,
                                                  const std::string& tensor) const;
    std::optional<Diagnostic> of_result(std::size_t index) const;

    Diagnostic reason(std::size_t index, const char* rule, std::string sentence,
                      std::string remedy) const;
    /// Of all tensors, whether or not they are outputs of the graph.
    const std::vector<std::size_t>& readers(const std::string& tensor) const;

 private:
    std::optional<std::size_t> single_reader(const std::string& tensor) const;
    std::optional<Diagnostic> of_quantiser(std::size_t index, const GraphNode& quantiser) const;
    Diagnostic of_several_readers(std::size_t index, const std::string& tensor) const;
    Diagnostic of_next(std::size_t index, std::size_t next) const;
    bool is_output(const std::string& tensor) const;
    bool depends_on_inputs(const std::string& tensor) const;
    bool adds_bias(std::size_t index, std::size_t next) const;

    const GraphView& model_;
    std::map<std::string, std::vector<std::size_t>> readers_;
};

}  // namespace npuscope
