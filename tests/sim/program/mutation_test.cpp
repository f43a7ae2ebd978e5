// SPDX-License-Identifier: Apache-2.0
// A small fuzzer that runs everywhere: thousands of damaged inputs, the same ones in every run. The
// outcome of each must be a value or a ConfigError.
#include <gtest/gtest.h>

#include "tests/sim/fuzz/mutate.h"
#include "tests/sim/fuzz/parse_inputs.h"

namespace npuscope {
namespace {

constexpr int rounds = 5000;

void survive(const std::string& seed, void (*parse)(const std::string&)) {
    ASSERT_NO_THROW(parse(seed));
    fuzz::Mutator mutator(11);
    for (int i = 0; i < rounds; ++i) {
        const std::string text = mutator.damage(seed);
        try {
            parse(text);
        } catch (const ConfigError& error) {
            ASSERT_FALSE(std::string(error.what()).empty());
        } catch (const std::exception& error) {
            FAIL() << error.what() << "\n" << text;
        }
    }
}

TEST(Mutation, DamagedProgramsAreReadOrRefused) { survive(fuzz::cfg_seed, fuzz::parse_cfg); }
TEST(Mutation, DamagedWordTracesAreReadOrRefused) { survive(fuzz::txn_seed, fuzz::parse_txn); }
TEST(Mutation, DamagedPacketFilesAreReadOrRefused) { survive(fuzz::dat_seed, fuzz::parse_dat); }
TEST(Mutation, DamagedListingsAreReadOrRefused) { survive(fuzz::listing_seed, fuzz::parse_dat); }
TEST(Mutation, DamagedYamlIsReadOrRefused) { survive(fuzz::yaml_seed, fuzz::parse_config); }
TEST(Mutation, DamagedOverridesAreReadOrRefused) { survive(fuzz::override_seed, fuzz::parse_set); }
TEST(Mutation, DamagedQuantitiesAreReadOrRefused) { survive("128 KiB", fuzz::parse_quantities); }

}  // namespace
}  // namespace npuscope
