// SPDX-License-Identifier: Apache-2.0
// Where a model of floats becomes integers: around products with constant weights, around sums, products and
// pools of maps between them, and through operators that only move numbers, which then move integers.
// Tensors that such an operator joins share one grid.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/model/graph.h"

namespace npuscope {

/// What a node is to the integers around it.
enum class Role {
    Float,    ///< computes floats
    Product,  ///< reads and gives integers, with weights of its own
    Map,      ///< reads and gives integers: a sum or product of two maps, an average
    Mover     ///< moves integers
};

struct Places {
    std::vector<Role> roles;                   ///< by node
    std::vector<std::string> results;          ///< by node: what is quantised, after its activation
    std::map<std::string, std::size_t> grids;  ///< of tensors that become integers
    std::size_t grid_count = 0;

    bool has(const std::string& tensor) const { return grids.contains(tensor); }
};

/// Of a graph that ready_for_quantisation() gave. `ranges` of its tensors, where they are known: a map
/// of far smaller numbers than those it is concatenated with keeps a grid of its own. Products and maps
/// whose nodes are `left` compute floats.
Places find_places(const GraphView& view, const std::map<std::string, NumberRange>& ranges = {},
                   const std::set<std::size_t>& left = {});

}  // namespace npuscope
