// SPDX-License-Identifier: Apache-2.0
// The convolution buffer: banks of entries, split between data and weights as set in a layer's
// D_BANK. It counts entries; their contents travel with the layer's work. Not modelled: bank
// conflicts, entry addresses.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "models/base/error.h"
#include "models/conv/conv_config.h"
#include "models/link/entry_store.h"

namespace npuscope {

class Cbuf {
 public:
    Cbuf(const std::string& name, const CbufConfig& config)
        : data(name + ".data"),
          weights(name + ".weights"),
          masks(name + ".masks"),
          config_(config) {}

    /// Assigns banks to data and weights; the weight store must be empty, and so must the data
    /// store if its banks change. ConfigError when there are too few.
    void split(std::uint32_t data_banks, std::uint32_t weight_banks) {
        if (data_banks + weight_banks > config_.banks) {
            throw ConfigError(
                fmt::format("NVDLA_CDMA.D_BANK assigns {} bank{} to data and {} to "
                            "weights, but the buffer has {}",
                            data_banks, data_banks == 1 ? "" : "s", weight_banks, config_.banks),
                "lower DATA_BANK or WEIGHT_BANK");
        }
        const std::uint64_t entries = std::uint64_t{data_banks} * config_.bank_depth;
        if (entries != data.capacity()) {
            data.allocate(entries);
        }
        weights.allocate(std::uint64_t{weight_banks} * config_.bank_depth);
        masks.allocate(config_.bank_depth);
    }

    EntryStore data;
    EntryStore weights;
    EntryStore masks;  ///< WMB of compressed weights: the last bank

 private:
    const CbufConfig config_;
};

}  // namespace npuscope
