// SPDX-License-Identifier: Apache-2.0
// Where the reference data is, which is not part of the repository.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace npuscope {

/// The folder that NPUSCOPE_REFERENCE_DATA names, else the one next to the checkout at `source`; an
/// empty path if there is none, for a test to report and skip.
inline std::filesystem::path reference_data(const std::filesystem::path& source) {
    const char* named = std::getenv("NPUSCOPE_REFERENCE_DATA");
    const std::filesystem::path folder =
        named == nullptr ? source / "../shared/data" : std::filesystem::path(named);
    return std::filesystem::exists(folder) ? folder : std::filesystem::path();
}

}  // namespace npuscope
