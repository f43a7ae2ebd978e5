// SPDX-License-Identifier: Apache-2.0
// Register programs through the C interface, as a driver would play them, against the command line.
#include <fmt/format.h>
#include <gmock/gmock-matchers.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "include/npuscope/npuscope.h"
#include "models/npu/register_blocks.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/config/preset.h"
#include "sim/program/read_program.h"
#include "sim/run/session.h"
#include "tests/sim/embed/c_device.h"
#include "tests/sim/embed/platform.h"
#include "tests/support/c_door.h"
#include "tests/support/families.h"

// SystemC does not free a timed notification that is pending when its kernel ends, of which it
// allocates 64 at a time; no other leak is ignored.
extern "C" const char* __lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier)
extern "C" const char* __lsan_default_suppressions() {
    return "leak:sc_core::sc_event_timed::allocate";
}

namespace npuscope {
namespace {

using test::intr_status;
using test::Made;
using testing::HasSubstr;

/// Plays the statements of a program and counts its checks.
struct Player {
    explicit Player(npuscope_device* device) : door(device) {}
    void play(const Program& program) {
        ProgramPlayer player(program, nvdla_register_blocks(), door);
        player.play();
        checks = player.checks;
        failed = player.failed;
    }
    test::CDoor door;
    int checks = 0;
    int failed = 0;
};

Program three_layers() {
    return read_program(
        std::filesystem::path(NPUSCOPE_SOURCE) / "configs/experiment/three_layers/program.cfg",
        RegisterNames(nvdla_register_blocks()));
}

nlohmann::json result_of(npuscope_device* device) {
    char* text = nullptr;
    EXPECT_EQ(npuscope_result(device, &text), NPUSCOPE_OK);
    auto json = nlohmann::json::parse(text);
    npuscope_free(text);
    return json;
}

TEST(CApi, playsAProgramAsTheCommandLineDoes) {
    const Made npu;
    Player player(npu.device);
    player.play(three_layers());
    EXPECT_EQ(player.checks, 3);
    EXPECT_EQ(player.failed, 0);
    const SystemConfig system = parse_system(
        read_preset_text(find_preset(configs_folder(), "npu", "nv_small")), "", test::families());
    const Result run = run_program(three_layers(), system, {});
    const auto json = result_of(npu.device);
    ASSERT_EQ(json["operations"].size(), run.operations.size());
    EXPECT_EQ(json["traffic"]["read_bytes"], run.total_traffic().read_bytes.value);
    EXPECT_EQ(json["traffic"]["write_bytes"], run.total_traffic().write_bytes.value);
    EXPECT_TRUE(json["findings"].empty()) << json["findings"];
}

constexpr std::array goldens{"fp04", "fs10", "fz056", "sdp_1x1x800", "pdp_8x8x64_avg8"};

TEST(CApi, cyclesAreThoseOfTheCommandLine) {
    for (const char* name : goldens) {
        const Made npu;
        Player player(npu.device);
        player.play(test::golden(name));
        EXPECT_EQ(player.failed, 0) << name;
        EXPECT_EQ(result_of(npu.device)["cycles"], test::cycles_alone(test::golden(name))) << name;
    }
}

/// A device whose memory is external, with its own time.
struct MadeTimed {
    MadeTimed(test::TimedCMemory& memory, std::vector<const char*> changes) {
        const npuscope_timed_memory calls = memory.calls();
        EXPECT_EQ(
            npuscope_create_timed("nv_small", changes.data(), changes.size(), &calls, &device),
            NPUSCOPE_OK)
            << npuscope_error();
    }
    MadeTimed(const MadeTimed&) = delete;
    MadeTimed& operator=(const MadeTimed&) = delete;
    ~MadeTimed() { EXPECT_EQ(npuscope_destroy(device), NPUSCOPE_OK); }
    npuscope_device* device = nullptr;
};

TEST(CApi, aMemoryWithItsOwnTimeGivesTheCyclesOfOneWithThatLatency) {
    for (const char* transactions :
         {"npu.mcif.transactions=values", "npu.mcif.transactions=bursts"}) {
        for (const char* name : goldens) {
            test::TimedCMemory memory(50, 50, 0, 1);
            const MadeTimed npu(memory, {transactions});
            test::TimedCDoor door(npu.device, memory);
            ProgramPlayer player(test::golden(name), nvdla_register_blocks(), door);
            player.play();
            EXPECT_GT(player.checks, 0) << name;
            EXPECT_EQ(player.failed, 0) << name;
            EXPECT_EQ(result_of(npu.device)["cycles"], test::cycles_alone(test::golden(name)))
                << name;
        }
    }
}

TEST(CApi, aMemoryThatAnswersInAnyOrderGivesTheSameBytes) {
    for (const char* name : goldens) {
        for (unsigned seed = 1; seed <= 10; ++seed) {
            test::TimedCMemory memory(0, 200, 50, seed);
            const MadeTimed npu(memory, {});
            test::TimedCDoor door(npu.device, memory);
            ProgramPlayer player(test::golden(name), nvdla_register_blocks(), door);
            player.play();
            EXPECT_EQ(player.failed, 0) << name << " " << seed;
            EXPECT_GT(memory.answered_later, 0U);
            EXPECT_TRUE(result_of(npu.device)["findings"].empty()) << name << " " << seed;
        }
    }
}

/// A driver that is aborted this many cycles after it began to await an interrupt.
class BreaksOff : public test::TimedCDoor {
 public:
    BreaksOff(npuscope_device* device, test::TimedCMemory& memory, std::uint64_t after)
        : TimedCDoor(device, memory), after_(after) {}
    void await_interrupt() override {
        test::good(npuscope_advance(device_, after_));
        throw std::runtime_error("broken off");
    }

 private:
    std::uint64_t after_;
};

TEST(CApi, aDeviceThatEndsAsksItsMemoryForNothing) {
    for (const char* transactions :
         {"npu.mcif.transactions=values", "npu.mcif.transactions=bursts"}) {
        test::TimedCMemory memory(1, 9, 0, 1);
        std::size_t asked = 0;
        {
            const MadeTimed npu(memory, {transactions});
            for (std::uint64_t after = 0; after < 300; ++after) {
                BreaksOff door(npu.device, memory, after);
                ProgramPlayer player(test::golden("fs10"), nvdla_register_blocks(), door);
                EXPECT_THROW(player.play(), std::runtime_error);
                asked = memory.requests;
                EXPECT_EQ(npuscope_reset(npu.device), NPUSCOPE_OK);
                EXPECT_EQ(memory.requests, asked) << after;
            }
            EXPECT_GT(asked, 1000U);
            test::TimedCDoor door(npu.device, memory);
            ProgramPlayer player(test::golden("fs10"), nvdla_register_blocks(), door);
            player.play();
            EXPECT_EQ(player.failed, 0);
            BreaksOff broken(npu.device, memory, 200);
            ProgramPlayer last(test::golden("fs10"), nvdla_register_blocks(), broken);
            EXPECT_THROW(last.play(), std::runtime_error);
            asked = memory.requests;
        }
        EXPECT_EQ(memory.requests, asked);
    }
}

TEST(CApi, misuseOfATimedMemoryIsTold) {
    test::TimedCMemory memory(1, 9, 100, 1);
    const npuscope_timed_memory calls = memory.calls();
    npuscope_device* none = nullptr;
    EXPECT_EQ(npuscope_create_timed("nv_small", nullptr, 0, nullptr, &none), NPUSCOPE_BAD_ARGUMENT);
    const char* runs = "npu.mcif.transactions=runs";
    EXPECT_EQ(npuscope_create_timed("nv_small", &runs, 1, &calls, &none), NPUSCOPE_WRONG_INPUT);
    EXPECT_THAT(npuscope_error(), HasSubstr("bursts or values"));
    const MadeTimed npu(memory, {});
    EXPECT_EQ(npuscope_answer(npu.device, 1, 0), NPUSCOPE_BAD_ARGUMENT);
    EXPECT_EQ(npuscope_answer(npu.device, 1, 7), NPUSCOPE_BAD_ARGUMENT);
    EXPECT_THAT(npuscope_error(), HasSubstr("error is 7: use 0"));
    std::uint8_t byte = 0;
    EXPECT_EQ(npuscope_read_memory(npu.device, 0x80000000, &byte, 1), NPUSCOPE_BAD_ARGUMENT);
    const Made plain;
    EXPECT_EQ(npuscope_answer(plain.device, 1, 0), NPUSCOPE_BAD_ARGUMENT);

    memory.refuses = true;
    test::TimedCDoor door(npu.device, memory);
    ProgramPlayer player(test::golden("fs10"), nvdla_register_blocks(), door);
    player.play();
    EXPECT_GT(player.failed, 0);
    const auto findings = result_of(npu.device)["findings"];
    ASSERT_EQ(findings.size(), 1U) << findings;
    EXPECT_EQ(findings[0]["id"], "memory_error_response");

    // a reset in the middle of many requests: the old ones no longer exist
    EXPECT_EQ(npuscope_reset(npu.device), NPUSCOPE_OK);
    EXPECT_EQ(npuscope_answer(npu.device, memory.requests, 0), NPUSCOPE_BAD_ARGUMENT);
    ProgramPlayer again(test::golden("fs10"), nvdla_register_blocks(), door);
    again.play();
    EXPECT_EQ(again.failed, 0);
}

TEST(CApi, memoryMayBeTheCallers) {
    std::map<std::uint64_t, std::uint8_t> bytes;
    const npuscope_memory memory{
        [](void* user, std::uint64_t address, void* data, std::size_t size) {
            auto& held = *static_cast<std::map<std::uint64_t, std::uint8_t>*>(user);
            for (std::size_t i = 0; i < size; ++i) {
                static_cast<std::uint8_t*>(data)[i] = held[address + i];
            }
            return 0;
        },
        [](void* user, std::uint64_t address, const void* data, std::size_t size) {
            auto& held = *static_cast<std::map<std::uint64_t, std::uint8_t>*>(user);
            for (std::size_t i = 0; i < size; ++i) {
                held[address + i] = static_cast<const std::uint8_t*>(data)[i];
            }
            return 0;
        },
        &bytes};
    const Made npu("nv_small", &memory);
    Player player(npu.device);
    player.play(three_layers());
    EXPECT_EQ(player.checks, 3);
    EXPECT_EQ(player.failed, 0);
    EXPECT_GT(bytes.size(), 36'864U);
}

TEST(CApi, aCallBackThatFailsIsToldOf) {
    const npuscope_memory memory{[](void*, std::uint64_t, void*, std::size_t) { return 7; },
                                 [](void*, std::uint64_t, const void*, std::size_t) { return 0; },
                                 nullptr};
    const Made npu("nv_small", &memory);
    std::uint8_t byte = 0;
    EXPECT_EQ(npuscope_read_memory(npu.device, 0x80000000, &byte, 1), NPUSCOPE_CALLBACK_FAILED);
    EXPECT_THAT(npuscope_error(),
                HasSubstr("the memory call-back returned 7 for a read of 1 byte at 0x80000000"));
}

TEST(CApi, severalDevicesAndResets) {
    const Made one;
    const Made other("nv_large");
    Player player(one.device);
    player.play(three_layers());
    EXPECT_EQ(player.failed, 0);
    std::uint64_t cycle = 1;
    EXPECT_EQ(npuscope_cycle(other.device, &cycle), NPUSCOPE_OK);
    EXPECT_EQ(cycle, 0U);
    EXPECT_EQ(npuscope_reset(one.device), NPUSCOPE_OK);
    EXPECT_EQ(npuscope_cycle(one.device, &cycle), NPUSCOPE_OK);
    EXPECT_EQ(cycle, 0U);
    Player again(one.device);
    again.play(three_layers());
    EXPECT_EQ(again.failed, 0);
    EXPECT_EQ(npuscope_advance(other.device, 1234), NPUSCOPE_OK);
    EXPECT_EQ(npuscope_cycle(other.device, &cycle), NPUSCOPE_OK);
    EXPECT_EQ(cycle, 1234U);
}

TEST(CApi, withoutAnOperationThereAreNoCycles) {
    const Made npu;
    EXPECT_EQ(npuscope_write_register(npu.device, 0x1004, 0), NPUSCOPE_OK);  // S_INTR_MASK
    EXPECT_EQ(npuscope_write_register(npu.device, 0x1008, 1), NPUSCOPE_OK);  // S_INTR_SET
    EXPECT_EQ(npuscope_run_until_interrupt(npu.device, 1000, nullptr), NPUSCOPE_OK);
    EXPECT_EQ(result_of(npu.device)["cycles"], 0);
}

TEST(CApi, postedWritesChangeTheInterruptLine) {
    const Made npu;
    const auto line = [&] {
        int high = 0;
        EXPECT_EQ(npuscope_interrupt(npu.device, &high), NPUSCOPE_OK);
        return high;
    };
    const auto write = [&](std::uint32_t address, std::uint32_t value) {
        EXPECT_EQ(npuscope_write_register(npu.device, address, value), NPUSCOPE_OK);
    };
    constexpr std::uint32_t set = 0x1008;  // S_INTR_SET
    write(test::intr_mask, 0);
    write(set, 0x10);
    EXPECT_EQ(line(), 1);
    write(test::intr_mask, 0x10);
    EXPECT_EQ(line(), 0);
    write(test::intr_mask, 0);
    EXPECT_EQ(npuscope_run_until_interrupt(npu.device, 0, nullptr), NPUSCOPE_OK);
    write(intr_status, 0x10);
    EXPECT_EQ(npuscope_run_until_interrupt(npu.device, 1000, nullptr), NPUSCOPE_STOPPED);
    EXPECT_EQ(line(), 0);
    write(set, 0x20);
    EXPECT_EQ(npuscope_run_until_interrupt(npu.device, 1000, nullptr), NPUSCOPE_OK);
    for (int i = 0; i < 20; ++i) {  // the bus is full, so that the last one is on its way
        write(intr_status, 0x20);
        write(set, 0x20);
    }
    write(intr_status, 0x20);
    EXPECT_EQ(npuscope_run_until_interrupt(npu.device, 1000, nullptr), NPUSCOPE_STOPPED);
}

TEST(CApi, misuseGivesACodeAndAText) {
    npuscope_device* none = nullptr;
    EXPECT_EQ(npuscope_create("nv_smal", nullptr, 0, nullptr, &none), NPUSCOPE_WRONG_INPUT);
    EXPECT_THAT(npuscope_error(), HasSubstr("did you mean 'nv_small'?"));
    EXPECT_EQ(npuscope_create(nullptr, nullptr, 0, nullptr, &none), NPUSCOPE_BAD_ARGUMENT);
    EXPECT_EQ(npuscope_create("nv_small", nullptr, 0, nullptr, nullptr), NPUSCOPE_BAD_ARGUMENT);
    const char* change = "npu.cbuf.banks=1000";
    EXPECT_EQ(npuscope_create("nv_small", &change, 1, nullptr, &none), NPUSCOPE_WRONG_INPUT);
    change = "memory=";
    EXPECT_EQ(npuscope_create("nv_small", &change, 1, nullptr, &none), NPUSCOPE_WRONG_INPUT);
    EXPECT_THAT(npuscope_error(), HasSubstr("must be a mapping"));
    EXPECT_EQ(npuscope_create("tinpu_f28p55", nullptr, 0, nullptr, &none), NPUSCOPE_WRONG_INPUT);
    EXPECT_THAT(npuscope_error(), HasSubstr("has no registers"));
    EXPECT_EQ(npuscope_advance(nullptr, 1), NPUSCOPE_BAD_ARGUMENT);
    npuscope_device* gone = nullptr;
    ASSERT_EQ(npuscope_create("nv_small", nullptr, 0, nullptr, &gone), NPUSCOPE_OK);
    EXPECT_EQ(npuscope_write_register(gone, 0xfffffffc, 1), NPUSCOPE_WRONG_INPUT);
    EXPECT_THAT(npuscope_error(), HasSubstr("no register at 0xfffffffc"));
    std::uint32_t value = 0;
    EXPECT_EQ(npuscope_read_register(gone, 0xfffffffc, &value), NPUSCOPE_WRONG_INPUT);
    EXPECT_EQ(npuscope_read_register(gone, intr_status, nullptr), NPUSCOPE_BAD_ARGUMENT);
    EXPECT_EQ(npuscope_read_register(gone, intr_status, &value), NPUSCOPE_OK);
    EXPECT_EQ(npuscope_run_until_interrupt(gone, 1000, nullptr), NPUSCOPE_STOPPED);
    std::uint8_t byte = 0;
    EXPECT_EQ(npuscope_read_memory(gone, 0, &byte, 1), NPUSCOPE_WRONG_INPUT);
    EXPECT_EQ(npuscope_destroy(gone), NPUSCOPE_OK);
    EXPECT_EQ(npuscope_destroy(gone), NPUSCOPE_BAD_ARGUMENT);
    EXPECT_EQ(npuscope_advance(gone, 1), NPUSCOPE_BAD_ARGUMENT);
    EXPECT_EQ(npuscope_destroy(nullptr), NPUSCOPE_OK);
}

TEST(CApi, aLimitBeforeTheNextEventIsReached) {
    const Made npu;
    test::write_registers(npu.device, "sdp_1x1x800");
    std::uint64_t passed = 0;
    std::uint64_t all = 0;
    while (npuscope_run_until_interrupt(npu.device, 3, &passed) == NPUSCOPE_LIMIT) {
        EXPECT_EQ(passed, 3U);
        all += passed;
        ASSERT_LT(all, 100'000U);
    }
    EXPECT_EQ(npuscope_run_until_interrupt(npu.device, 0, nullptr), NPUSCOPE_OK);
    EXPECT_GT(all, 100U);
}

TEST(CApi, threadsWaitForEachOther) {
    const Made npu;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int k = 0; k < 100; ++k) {
                std::uint32_t value = 0;
                EXPECT_EQ(npuscope_read_register(npu.device, intr_status, &value), NPUSCOPE_OK);
                EXPECT_EQ(npuscope_advance(npu.device, 10), NPUSCOPE_OK);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    std::uint64_t cycle = 0;
    EXPECT_EQ(npuscope_cycle(npu.device, &cycle), NPUSCOPE_OK);
    EXPECT_GE(cycle, 4000U);
}

TEST(CApi, packsAndUnpacks) {
    const std::array<std::uint32_t, 4> shape{1, 3, 2, 5};
    std::array<std::uint8_t, 30> array{};
    for (std::size_t i = 0; i < array.size(); ++i) {
        array[i] = static_cast<std::uint8_t>(i);
    }
    std::size_t size = 0;
    ASSERT_EQ(npuscope_pack("feature:atom=8", "int8", shape.data(), nullptr, nullptr, &size),
              NPUSCOPE_OK)
        << npuscope_error();
    EXPECT_EQ(size, 80U);
    std::vector<std::uint8_t> memory(size);
    ASSERT_EQ(
        npuscope_pack("feature:atom=8", "int8", shape.data(), array.data(), memory.data(), &size),
        NPUSCOPE_OK);
    EXPECT_EQ(memory[1], 10);
    std::array<std::uint8_t, 30> back{};
    ASSERT_EQ(npuscope_unpack("feature:atom=8", "int8", shape.data(), memory.data(), memory.size(),
                              back.data()),
              NPUSCOPE_OK);
    EXPECT_EQ(back, array);
    size = 10;
    EXPECT_EQ(
        npuscope_pack("feature:atom=8", "int8", shape.data(), array.data(), memory.data(), &size),
        NPUSCOPE_BAD_ARGUMENT);
    EXPECT_EQ(npuscope_pack("featur", "int8", shape.data(), nullptr, nullptr, &size),
              NPUSCOPE_WRONG_INPUT);
}

}  // namespace
}  // namespace npuscope
