// SPDX-License-Identifier: Apache-2.0
// The images that a driver gives to the NPU and takes from it, where they are not in the machine's
// own feature format: the host converts them when it loads and when it is done. Layouts are named
// as in `npuscope list layouts`; the machine itself always works on feature cubes.
#pragma once

#include <string>
#include <vector>

#include "models/base/quantity.h"

namespace npuscope {

struct SurfaceConfig {
    std::vector<std::string> inputs;   ///< empty: any layout
    std::vector<std::string> outputs;  ///< empty: any layout
    Bytes entry{1};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("inputs", self.inputs,
                    "layouts of input images that this NPU takes, the usual one first; empty: any");
        visit.field("outputs", self.outputs,
                    "layouts of output images that it gives, the usual one first; empty: any");
        visit.field("entry", self.entry, "such images are whole entries of so many bytes");
    }
};

}  // namespace npuscope
