// SPDX-License-Identifier: Apache-2.0
// Random models whose operators NPU and host have to share: layers, additions, and between them
// operators that only the host has, several inputs and outputs.
#pragma once

#include "tests/support/model_builder.h"

namespace npuscope::test {

/// The same for the same seed.
ModelBuilder random_graph(unsigned seed);

}  // namespace npuscope::test
