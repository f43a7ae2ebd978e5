// SPDX-License-Identifier: Apache-2.0
// The parts that generated layers are put together from. A front feeds SDP: a convolution, an image
// convolution, or memory. Every part chooses legal random parameters, sets registers, and computes
// its values with the plain oracle.
// Limits kept: the input cube and one kernel group fit CBUF; one-pixel cubes are packed; pooling
// lines fit PDP's buffer. source: NVDLA unit description; nv_small RTL, measured
#pragma once

#include <cstdint>
#include <vector>

#include "tests/support/generate_scene.h"
#include "tests/support/oracle_lut.h"

namespace npuscope {

struct Front {
    std::vector<UnitRegisters> units;  ///< in the order of their op-enables, after SDP
    bool flying = false;
    oracle::Surface source;  ///< where it is not flying
    CubeSize size;
    oracle::Cube values;
    std::string sentence;
};

/// `input` is the output of an earlier layer, or null.
Front convolution_front(Scene& scene, const oracle::Surface* input);
Front image_front(Scene& scene);
Front memory_front(Scene& scene, const oracle::Surface* input);

struct SdpWish {
    bool stages = true;  ///< BS and BN at random; without, both are bypassed
    bool element_wise = false;
    bool table = false;
    bool to_pool = false;  ///< no separate output
};

Layer sdp_layer(Scene& scene, Front front, const SdpWish& wish);
Layer pool_layer(Scene& scene, const oracle::Surface* input);
/// Puts PDP after an SDP layer that was made with to_pool.
Layer pool_behind(Scene& scene, Layer sdp);
Layer normalise_layer(Scene& scene, const oracle::Surface* input);

enum class TableUser : std::uint8_t { Sdp, Cdp };

/// Tables whose ranges cover some of [low, high].
oracle::Lut random_lut(Random& random, std::int64_t low, std::int64_t high, TableUser user);
/// The writes that load them.
std::vector<RegisterValue> lut_writes(Random& random, const oracle::Lut& lut, TableUser user);

}  // namespace npuscope
