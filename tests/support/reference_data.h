// SPDX-License-Identifier: Apache-2.0
// Where the reference data lies that is no part of the repository.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace npuscope {

/// The folder that NPUSCOPE_REFERENCE_DATA names, else the one beside the checkout at `source`; an
/// empty path where there is none, for a test to say so and skip.
inline std::filesystem::path reference_data(const std::filesystem::path& source) {
    const char* named = std::getenv("NPUSCOPE_REFERENCE_DATA");
    const std::filesystem::path folder =
        named == nullptr ? source / "../shared/data" : std::filesystem::path(named);
    return std::filesystem::exists(folder) ? folder : std::filesystem::path();
}

}  // namespace npuscope
