// SPDX-License-Identifier: Apache-2.0
// Why a node runs on the host: the one cause to correct first. It depends on the form that the
// model is in. A layer in float, or one that lacks a quantiser, is told so, whatever the NPU; the
// rules of the NPU and of its layer patterns are told of layers in a form that it computes, whose
// values are integers.
#pragma once

#include <optional>

#include "sim/compile/missing_quantiser.h"
#include "sim/compile/partition.h"

namespace npuscope {

class HostReasons {
 public:
    HostReasons(const GraphView& model, const Target& target);

    /// Whether a refused group is a layer at all: a mean over other axes than height and width is
    /// none, unless the model is written in integer sequences.
    bool is_layer(const NodeGroup& group) const;
    /// The cause in the form of a group that the target refused; nothing: its problems are it.
    std::optional<Diagnostic> of_group(const NodeGroup& group) const;
    /// The same for a node outside all groups.
    Diagnostic of_node(std::size_t index) const;

 private:
    bool holds_integers(const std::string& tensor) const;
    bool has_integer_form(const NodeGroup& group) const;
    bool has_one_scale(std::size_t index) const;
    bool is_wide_map(const std::string& tensor) const;
    bool is_half(const std::string& tensor) const;
    bool reduces_plane(std::size_t index) const;
    bool is_left_in_float(std::size_t index) const;
    Diagnostic float_reason(std::size_t index) const;
    std::optional<Diagnostic> of_form(std::size_t index) const;
    std::optional<Diagnostic> of_computed_weights(std::size_t index) const;
    /// What an operator between quantisers has that its layer does not.
    std::optional<Diagnostic> of_operator(std::size_t index) const;
    std::optional<Diagnostic> of_pool(std::size_t index) const;
    Diagnostic of_maps(std::size_t index) const;

    const GraphView& model_;
    const Target& target_;
    MissingQuantiser quantisers_;
    bool is_quantised_ = false;  ///< has quantisers, or operators on integers
    bool is_integer_ = false;    ///< in integer sequences without quantisers
};

/// Replaces the problems of refused groups where their form is the cause; drops groups that are no
/// layers.
void take_reasons(const HostReasons& reasons, std::vector<Refusal>& refusals);

}  // namespace npuscope
