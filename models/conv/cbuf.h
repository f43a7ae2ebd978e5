// SPDX-License-Identifier: Apache-2.0
// The convolution buffer: banks of entries, split between data and weights as D_BANK of a layer
// says. It counts entries; their contents travel with the layer's work. Not modelled: bank
// conflicts, the address of an entry.
#pragma once

#include <cstdint>
#include <string>

#include "models/conv/cbuf_config.h"
#include "models/link/entry_store.h"

namespace npuscope {

class Cbuf {
 public:
    Cbuf(const std::string& name, const CbufConfig& config);

    /// Gives banks to data and weights; both stores must be empty. ConfigError when there are too
    /// few.
    void split(std::uint32_t data_banks, std::uint32_t weight_banks);

    EntryStore data;
    EntryStore weights;
    EntryStore masks;  ///< WMB of compressed weights: the last bank

 private:
    const CbufConfig config_;
};

}  // namespace npuscope
