// SPDX-License-Identifier: Apache-2.0
// The families of the executable.
#pragma once

#include <vector>

#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/tinpu/tinpu_family.h"

namespace npuscope::test {

inline const std::vector<const NpuFamily*>& families() {
    static const NvdlaFamily nvdla;
    static const TinpuFamily tinpu;
    static const std::vector<const NpuFamily*> all{&nvdla, &tinpu};
    return all;
}

}  // namespace npuscope::test
