// SPDX-License-Identifier: Apache-2.0
// The same program with other bytes in its images and around them. A mistake that reads beyond a
// surface, or the wrong one, may leave every byte as it was because values saturate, are zeros or
// are multiplied by zero; with other contents it shows.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "bench/mutation/mutant.h"

namespace npuscope::bench {

/// Bytes of all sizes, or small numbers of both signs, which saturate less.
enum class OtherBytes { Wide, Small };

class OtherContents {
 public:
    /// Masks and group sizes of compressed weights, which the good program's registers point to,
    /// and the constants of jobs keep their bytes. `regions` are filled before anything is loaded.
    OtherContents(const MutationSite& site, std::vector<ByteRun> regions);

    /// Bytes of one image, or of a map that the host provides, become the same in every program: no
    /// NaN, no infinity in fp16.
    Program with_others(Program program, OtherBytes kind) const;

 private:
    std::set<std::string> kept_;  ///< files
    std::vector<ByteRun> regions_;
};

}  // namespace npuscope::bench
