// SPDX-License-Identifier: Apache-2.0
// The repository's own vectors, and all of them where the reference data is there.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/reference_data.h"
#include "tests/vectors/vector_run.h"

namespace npuscope::vectors {
namespace {

namespace fs = std::filesystem;

void expect_all_pass(const fs::path& folder) {
    Tally tally;
    std::ostringstream out;
    check_folder(folder, tally, out);
    EXPECT_EQ(tally.failed, 0U) << out.str();
    EXPECT_GT(tally.passed, 0U) << folder;
}

TEST(Vectors, TheRepositorysOwnPass) {
    for (const char* folder : {"layout", "layout_kneron", "layout_ncnn"}) {
        expect_all_pass(fs::path(NPUSCOPE_SOURCE) / "tests/golden" / folder);
    }
}

TEST(Vectors, TheReferenceDataPasses) {
    const fs::path reference = reference_data(NPUSCOPE_SOURCE);
    if (reference.empty()) {
        GTEST_SKIP() << "no reference data (NPUSCOPE_REFERENCE_DATA): only the repository's own "
                        "vectors ran";
    }
    for (const char* folder : {"kneron", "ncnn", "nvdla"}) {
        expect_all_pass(reference / "layout" / folder);
    }
}

}  // namespace
}  // namespace npuscope::vectors
