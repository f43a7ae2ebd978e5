// SPDX-License-Identifier: Apache-2.0
// The repository's own vectors, and all of them where NPUSCOPE_REFERENCE_DATA names their folder.
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

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
        expect_all_pass(fs::path(NPUSCOPE_GOLDEN) / folder);
    }
}

TEST(Vectors, TheReferenceDataPasses) {
    const char* reference = std::getenv("NPUSCOPE_REFERENCE_DATA");
    if (reference == nullptr) {
        GTEST_SKIP() << "NPUSCOPE_REFERENCE_DATA is not set: only the repository's own vectors ran";
    }
    for (const char* folder : {"kneron", "ncnn", "nvdla"}) {
        expect_all_pass(fs::path(reference) / "layout" / folder);
    }
}

}  // namespace
}  // namespace npuscope::vectors
