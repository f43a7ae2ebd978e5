// SPDX-License-Identifier: Apache-2.0
#include "bench/measured_errors.h"

#include <gtest/gtest.h>

#include "sim/config/file_io.h"
#include "tests/support/reference_data.h"

namespace npuscope::bench {
namespace {

namespace fs = std::filesystem;

TEST(MeasuredErrors, that_are_printed_are_those_of_this_machine) {
    const fs::path source = NPUSCOPE_SOURCE;
    const fs::path data = reference_data(source);
    if (!fs::exists(data / "rtl" / "presets")) {
        GTEST_SKIP() << "no reference data: set NPUSCOPE_REFERENCE_DATA to measure";
    }
    EXPECT_EQ(measured_table(data, 2), read_whole_file(source / "sim/report/measured_errors.inc"))
        << "run `accuracy --measured sim/report/measured_errors.inc`";
}

}  // namespace
}  // namespace npuscope::bench
