// SPDX-License-Identifier: Apache-2.0
#include "sim/model/synthetic_numbers.h"

// Highway compiles the part between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE once per target:
// its scalar loop is vectorised to the machine's width.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sim/model/synthetic_numbers.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace npuscope {
namespace HWY_NAMESPACE {
namespace {

/// The low bytes of `count` numbers of the sequence.
void fill_low_bytes(RandomNumbers numbers, std::uint64_t index, std::size_t count,
                    std::int8_t* to) {
    for (std::size_t i = 0; i < count; ++i) {
        to[i] = static_cast<std::int8_t>(numbers.at(index + i) & 0xffU);
    }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace npuscope
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace npuscope {
namespace {

HWY_EXPORT(fill_low_bytes);

}  // namespace

void SyntheticLayer::weights(std::uint64_t index, std::span<std::int8_t> to) const {
    if (zeros_ == 0) {
        HWY_DYNAMIC_DISPATCH(fill_low_bytes)(weights_, index, to.size(), to.data());
        return;
    }
    for (std::int8_t& number : to) {
        number = weight(index++);
    }
}

}  // namespace npuscope
#endif
