// SPDX-License-Identifier: Apache-2.0
// Golden ONNX models in folders: the model, what it is about, and inputs and outputs case by case.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/model/graph.h"
#include "tests/support/reference_data.h"

namespace npuscope::golden {

using Json = nlohmann::json;

/// The few in the repository.
inline std::filesystem::path bundled() {
    return std::filesystem::path(NPUSCOPE_SOURCE) / "tests/golden";
}
/// All of them; empty without the reference data.
inline std::filesystem::path reference() { return reference_data(NPUSCOPE_SOURCE); }

inline std::vector<std::filesystem::path> folders_in(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> folders;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.is_directory()) {
            folders.push_back(entry.path());
        }
    }
    std::ranges::sort(folders);
    return folders;
}

inline Json meta_of(const std::filesystem::path& folder) {
    return Json::parse(std::ifstream(folder / "meta.json"));
}

/// File of every tensor, case by case.
inline std::vector<std::map<std::string, std::string>> cases_of(const Json& meta) {
    if (meta.contains("cases")) {
        return meta["cases"];
    }
    std::vector<std::map<std::string, std::string>> cases;
    for (const char* number : {"0", "1"}) {
        cases.push_back({{meta["input"]["name"], std::string("input_") + number + ".npy"},
                         {meta["output"]["name"], std::string("output_") + number + ".npy"}});
    }
    return cases;
}

inline void expect_equal(const GraphValue& actual, const GraphValue& expected, double tolerance) {
    ASSERT_EQ(actual.type, expected.type);
    for (std::size_t i = 0; i < actual.numbers.size(); ++i) {
        ASSERT_LE(std::abs(actual.numbers[i] - expected.numbers[i]), tolerance) << "element " << i;
    }
}

/// Every model below `folder`.
inline void each(const std::filesystem::path& folder,
                 void (*expect)(const std::filesystem::path&)) {
    std::size_t models = 0;
    for (const std::filesystem::path& model : folders_in(folder)) {
        const ::testing::ScopedTrace trace(__FILE__, __LINE__, model.string());
        expect(model);
        ++models;
    }
    EXPECT_GT(models, 0U);
}

/// A test of the reference data: skipped if it is missing.
class ReferenceModels : public ::testing::Test {
 protected:
    void SetUp() override {
        if (reference().empty()) {
            GTEST_SKIP() << "the reference data is not there (NPUSCOPE_REFERENCE_DATA)";
        }
    }
};

}  // namespace npuscope::golden
