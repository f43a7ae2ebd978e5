// SPDX-License-Identifier: Apache-2.0
// Thousands of damaged conversions and .npy headers, the same in every run: refused with a message,
// or carried out to the same bytes as by the reference path.
#include <gtest/gtest.h>

#include "tests/sim/fuzz/convert_inputs.h"
#include "tests/sim/fuzz/mutate.h"

namespace npuscope {
namespace {

unsigned survive(const std::string& seed, void (*parse)(const std::string&), int rounds) {
    EXPECT_NO_THROW(parse(seed));
    fuzz::Mutator mutator(21);
    unsigned taken = 0;
    for (int i = 0; i < rounds; ++i) {
        const std::string text = mutator.damage(seed);
        try {
            parse(text);
            ++taken;
        } catch (const ConfigError& error) {
            EXPECT_FALSE(std::string(error.what()).empty());
        } catch (const std::exception& error) {
            ADD_FAILURE() << error.what() << "\n" << text;
            return taken;
        }
    }
    return taken;
}

TEST(ConvertMutation, DamagedConversionsAreRefusedOrRight) {
    EXPECT_GT(survive(fuzz::conversion_seed, fuzz::parse_conversion, 6000), 30U);
    EXPECT_GT(survive(fuzz::quantisation_seed, fuzz::parse_conversion, 3000), 30U);
    EXPECT_GT(survive(fuzz::repacking_seed, fuzz::parse_conversion, 6000), 30U);
}

TEST(ConvertMutation, DamagedArraysAreReadOrRefused) {
    survive(fuzz::npy_seed(), fuzz::parse_npy, 8000);
}

}  // namespace
}  // namespace npuscope
