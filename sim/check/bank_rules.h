// SPDX-License-Identifier: Apache-2.0
// Whether the banks that D_BANK gives to data and to weights hold what an operation needs at once:
// otherwise it waits forever.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "models/base/diagnostic.h"
#include "models/conv/buffer_history.h"
#include "models/conv/conv_job.h"
#include "models/layout/weight_layout.h"
#include "models/npu/npu_config.h"

namespace npuscope {

/// Slices are released at the end of the operation, so all must fit the banks of data.
std::optional<Diagnostic> too_few_data_banks(const ConvJob& job, const BufferStart& start,
                                             const NpuConfig& npu);

/// What D_BANK gives to the weights of a convolution.
struct WeightStore {
    std::uint32_t banks = 0;
    bool all_stay = false;  ///< none is released (SKIP_WEIGHT_RLS)
};

/// A kernel group is used once its last byte has arrived, and then released unless all stay: more
/// entries than the banks have never arrive. `ends`: bytes up to the end of each group.
std::optional<Diagnostic> too_few_weight_banks(const WeightLayout& layout, const WeightStore& store,
                                               const std::vector<std::uint64_t>& ends,
                                               const NpuConfig& npu);

}  // namespace npuscope
