// SPDX-License-Identifier: Apache-2.0
// Names for layers from names of nodes: files are named after them, so that letters, digits, dots,
// dashes and underscores stay and the rest becomes underscores; a second one gets a number.
#pragma once

#include <set>
#include <string>

namespace npuscope {

class LayerNames {
 public:
    /// A name that was not given before.
    const std::string& of(const std::string& node);

 private:
    std::set<std::string> given_{"input"};  // the network's own
};

}  // namespace npuscope
