// SPDX-License-Identifier: Apache-2.0
// Bytes of uncompressed weights in the convolution buffer, in the order in which the sequencer
// meets them: what operations before left comes first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace npuscope {

class BufferedWeights {
 public:
    void append(std::vector<std::uint8_t> bytes) {
        if (bytes_.empty()) {
            bytes_ = std::move(bytes);
        } else {
            bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
        }
    }
    /// The first `count` bytes, which must be there.
    std::span<const std::uint8_t> front(std::size_t count) const {
        return std::span(bytes_).first(count);
    }
    /// The first bytes leave; all, where there are fewer.
    void drop(std::size_t count) {
        bytes_.erase(bytes_.begin(),
                     bytes_.begin() + static_cast<std::ptrdiff_t>(std::min(count, bytes_.size())));
    }
    void clear() { bytes_.clear(); }

 private:
    std::vector<std::uint8_t> bytes_;
};

}  // namespace npuscope
