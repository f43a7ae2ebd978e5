// SPDX-License-Identifier: Apache-2.0
// Damaged loadables, the same ones in every run: each is read, planned and checked, or refused with
// a ConfigError.
#include <gtest/gtest.h>

#include <random>

#include "sim/check/check_report.h"
#include "sim/command_line/command.h"
#include "sim/loadable/loadable_program.h"
#include "tests/sim/fuzz/mutate.h"
#include "tests/support/families.h"
#include "tests/support/sample_loadable.h"

namespace npuscope {
namespace {

void survive(const std::string& bytes, const SystemConfig& system) {
    try {
        const auto made = loadable_program(parse_loadable(bytes, "x.fbuf"), "x.fbuf", system, {});
        check_program(made.program, {nvdla_npu(system), system.memory});
    } catch (const ConfigError& error) {
        ASSERT_FALSE(std::string(error.what()).empty());
    } catch (const std::exception& error) {
        FAIL() << error.what();
    }
}

TEST(LoadableMutation, DamagedBytesAreReadOrRefused) {
    SystemArguments arguments;
    arguments.families = test::families();
    const SystemConfig system = read_system(arguments);
    const std::string seed = loadable_bytes(test::sdp_chain());
    fuzz::Mutator mutator(7);
    std::mt19937 random(3);
    for (int i = 0; i < 3000; ++i) {
        std::string bytes = seed;
        if (i % 2 == 0) {
            bytes = mutator.damage(bytes);
        } else {
            for (auto changes = 1 + random() % 3; changes > 0; --changes) {
                bytes[random() % bytes.size()] = static_cast<char>(random());
            }
        }
        survive(bytes, system);
    }
}

}  // namespace
}  // namespace npuscope
