// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/layer_names.h"

#include <algorithm>
#include <cctype>

namespace npuscope {

const std::string& LayerNames::of(const std::string& node) {
    std::string name = node.empty() ? "layer" : node;
    std::ranges::replace_if(
        name,
        [](unsigned char letter) {
            return std::isalnum(letter) == 0 && letter != '.' && letter != '-' && letter != '_';
        },
        '_');
    std::string tried = name;
    for (int number = 2; given_.contains(tried); ++number) {
        tried = name + '_' + std::to_string(number);
    }
    return *given_.insert(tried).first;
}

}  // namespace npuscope
