// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.h"
#include "models/layout/element_code.h"
#include "models/layout/relayout.h"

namespace npuscope {

namespace {

void require_size(const char* which, const Layout& layout, std::uint64_t needed,
                  std::uint64_t given) {
    if (given < needed) {
        throw ConfigError(fmt::format("the {} holds {} bytes, layout {} of {} needs {}", which,
                                      given, layout.name, to_string(layout.shape), needed));
    }
}

/// Axes in another order are no other tensor.
bool same_tensor(const LogicalShape& a, const LogicalShape& b) {
    return a.axes.size() == b.axes.size() && std::ranges::equal(a.axes, b.axes);
}

}  // namespace

void require_pair(const Layout& source, std::span<const std::uint8_t> from, const Layout& target,
                  std::span<const std::uint8_t> to) {
    if (!same_tensor(source.shape, target.shape) || source.element != target.element) {
        throw ConfigError(
            fmt::format("{} of {} with elements of {} bytes cannot become {} of {} "
                        "with elements of {} bytes",
                        source.name, to_string(source.shape), source.element, target.name,
                        to_string(target.shape), target.element));
    }
    require_size("source", source, source.used, from.size());
    require_size("target", target, target.bytes, to.size());
}

void relayout_plain(const Layout& source, std::span<const std::uint8_t> from, const Layout& target,
                    std::span<std::uint8_t> to, GapPolicy gaps) {
    require_pair(source, from, target, to);
    if (gaps == GapPolicy::Zero) {
        std::ranges::fill(to.first(target.bytes), std::uint8_t{0});
    }
    std::vector<std::uint64_t> index(source.shape.axes.size(), 0);
    do {
        write_element(target, to, index, read_element(source, from, index));
    } while (advance(index, source.shape));
}

}  // namespace npuscope
