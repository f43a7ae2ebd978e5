// SPDX-License-Identifier: Apache-2.0
// All cases of a folder of vectors.
#pragma once

#include <filesystem>
#include <iosfwd>

namespace npuscope::vectors {

struct Tally {
    unsigned passed = 0;
    unsigned failed = 0;
};

/// One line on `out` for each case that fails. Throws where the manifest cannot be read.
void check_folder(const std::filesystem::path& folder, Tally& tally, std::ostream& out);

}  // namespace npuscope::vectors
