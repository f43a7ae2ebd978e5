// SPDX-License-Identifier: Apache-2.0
#include "models/base/check.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

namespace npuscope {
namespace {

using ::testing::HasSubstr;

TEST(CheckTest, a_condition_that_holds_does_nothing) {
    EXPECT_NO_THROW(NPU_CHECK(1 + 1 == 2, "arithmetic"));
}

TEST(CheckTest, a_condition_that_fails_names_itself_its_sentence_and_its_file) {
    try {
        const int banks = 0;
        NPU_CHECK(banks > 0, "a buffer has banks");
        FAIL() << "the check let it pass";
    } catch (const InternalError& error) {
        EXPECT_THAT(error.what(), HasSubstr("a buffer has banks"));
        EXPECT_THAT(error.what(), HasSubstr("banks > 0"));
        EXPECT_THAT(error.what(), HasSubstr("check_test.cpp:"));
    }
}

}  // namespace
}  // namespace npuscope
