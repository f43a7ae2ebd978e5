// SPDX-License-Identifier: Apache-2.0
#include "models/conv/cbuf.h"

#include <fmt/format.h>

#include "models/base/error.h"

namespace npuscope {

Cbuf::Cbuf(const std::string& name, const CbufConfig& config)
    : data(name + ".data"), weights(name + ".weights"), masks(name + ".masks"), config_(config) {}

void Cbuf::split(std::uint32_t data_banks, std::uint32_t weight_banks) {
    if (data_banks + weight_banks > config_.banks) {
        throw ConfigError(
            fmt::format("NVDLA_CDMA.D_BANK gives {} banks to data and {} to weights, but "
                        "the buffer has {}",
                        data_banks, weight_banks, config_.banks),
            "lower DATA_BANK or WEIGHT_BANK");
    }
    data.allocate(std::uint64_t{data_banks} * config_.bank_depth);
    weights.allocate(std::uint64_t{weight_banks} * config_.bank_depth);
    masks.allocate(config_.bank_depth);
}

}  // namespace npuscope
