// SPDX-License-Identifier: Apache-2.0
#include "models/layout/precision_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "models/base/error.h"

namespace npuscope {
namespace {

TEST(PrecisionTable, EveryCellIsThereOnce) {
    std::set<std::tuple<ConvertingUnit, ConvertedInput, Precision>> seen;
    for (const PrecisionCell& cell : precision_cells()) {
        EXPECT_TRUE(seen.insert({cell.unit, cell.input, cell.output}).second) << cell.name();
    }
    EXPECT_EQ(seen.size(), 5U * 3 + 3U * 3 * 3);
}

TEST(PrecisionTable, CountsOfValidCellsAreThoseOfTheTables) {
    const auto valid = [](ConvertingUnit unit) {
        return std::ranges::count_if(precision_cells(), [&](const PrecisionCell& cell) {
            return cell.unit == unit && cell.valid();
        });
    };
    EXPECT_EQ(valid(ConvertingUnit::Convolution), 7);
    EXPECT_EQ(valid(ConvertingUnit::Sdp), 7);
    EXPECT_EQ(valid(ConvertingUnit::Cdp), 3);
    EXPECT_EQ(valid(ConvertingUnit::Pdp), 3);
}

TEST(PrecisionTable, AnInvalidCaseIsRefusedByItsCell) {
    const PrecisionCell cell =
        precision_cell(ConvertingUnit::Convolution, ConvertedInput::Int8Feature, Precision::Fp16);
    try {
        require_valid(cell, "NVDLA_CDMA.D_MISC_CFG_0");
        FAIL() << "an invalid case passed";
    } catch (const ConfigError& error) {
        EXPECT_EQ(error.sentence(),
                  "NVDLA_CDMA.D_MISC_CFG_0: table 29 (convolution), int8 feature data to fp16 is "
                  "an invalid case");
    }
}

TEST(PrecisionTable, ValidCasesPassAndNameTheirPipeline) {
    const PrecisionCell cell =
        precision_cell(ConvertingUnit::Sdp, ConvertedInput::Int16Feature, Precision::Fp16);
    EXPECT_NO_THROW(require_valid(cell, ""));
    EXPECT_EQ(cell.pipeline, PipelineType::Int32);
}

}  // namespace
}  // namespace npuscope
