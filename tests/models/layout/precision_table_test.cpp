// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "models/layout/precision.h"

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

TEST(PrecisionTable, AnInvalidCaseNamesItsCellAndTheLegalOutputs) {
    const PrecisionCell cell =
        precision_cell(ConvertingUnit::Convolution, ConvertedInput::Int8Feature, Precision::Fp16);
    EXPECT_FALSE(cell.valid());
    EXPECT_EQ(cell.name(), "table 29 (convolution), int8 feature data to fp16");
    EXPECT_EQ(legal_outputs(cell), "convert to int8");
}

TEST(PrecisionTable, ValidCasesPassAndNameTheirPipeline) {
    const PrecisionCell cell =
        precision_cell(ConvertingUnit::Sdp, ConvertedInput::Int16Feature, Precision::Fp16);
    EXPECT_TRUE(cell.valid());
    EXPECT_EQ(cell.pipeline, PipelineType::Int32);
}

}  // namespace
}  // namespace npuscope
