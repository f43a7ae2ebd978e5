// SPDX-License-Identifier: Apache-2.0
#include "models/data/relayout.h"

namespace npuscope {

void relayout(const Layout& source, std::span<const std::uint8_t> from, const Layout& target,
              std::span<std::uint8_t> to, const RelayoutOptions& options) {
    relayout_plain(source, from, target, to, options.gaps);
}

}  // namespace npuscope
