// SPDX-License-Identifier: Apache-2.0
// Where a float model becomes integers: around products with constant weights, around sums,
// products and pools of maps between them, and through data-movement operators, which then move
// integers. Tensors that such an operator joins share one grid.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/model/graph.h"

namespace npuscope {

/// The role of a node among integers.
enum class Role {
    Float,    ///< computes in float
    Product,  ///< integer inputs and result, with its own weights
    Map,      ///< integer inputs and result: a sum or product of two maps, an average
    Mover     ///< moves integers
};

struct Places {
    std::vector<Role> roles;                   ///< by node
    std::vector<std::string> results;          ///< by node: quantised tensor, after its activation
    std::map<std::string, std::size_t> grids;  ///< of tensors that become integers
    std::size_t grid_count = 0;

    bool has(const std::string& tensor) const { return grids.contains(tensor); }
};

/// For a graph from ready_for_quantisation(). `ranges` of its tensors, if known: a map with far
/// smaller values than those it is concatenated with keeps its own grid. Products and maps in
/// `left` compute in float.
Places find_places(const GraphView& view, const std::map<std::string, NumberRange>& ranges = {},
                   const std::set<std::size_t>& left = {});

}  // namespace npuscope
