// SPDX-License-Identifier: Apache-2.0
// What the C interface refuses: calls from callbacks, counts beyond the clock, addresses without a
// register.
#include <fmt/format.h>
#include <gmock/gmock-matchers.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "tests/sim/embed/c_device.h"

namespace npuscope {
namespace {

using test::intr_status;
using test::Made;
using test::write_registers;
using testing::HasSubstr;

/// A device, and what a call from its memory's callbacks returned.
struct CallsBack {
    static int read(void* user, std::uint64_t /*address*/, void* /*data*/, std::size_t /*size*/) {
        return static_cast<CallsBack*>(user)->call();
    }
    static std::int64_t begin(void* user, const npuscope_request* /*request*/) {
        return static_cast<CallsBack*>(user)->call();
    }
    int call() {
        std::uint64_t cycle = 0;
        status = npuscope_cycle(device, &cycle);
        text = npuscope_error();
        npuscope_device* other = nullptr;
        created = npuscope_create("nv_small", nullptr, 0, nullptr, &other);
        return 0;
    }
    npuscope_device* device = nullptr;
    npuscope_status status = NPUSCOPE_OK;
    npuscope_status created = NPUSCOPE_OK;
    std::string text;
};

TEST(CApi, aCallFromACallBackIsRefused) {
    CallsBack bytes;
    const npuscope_memory memory{
        &CallsBack::read, [](void*, std::uint64_t, const void*, std::size_t) { return 0; }, &bytes};
    const Made npu("nv_small", &memory);
    bytes.device = npu.device;
    std::uint8_t byte = 0;
    EXPECT_EQ(npuscope_read_memory(npu.device, 0x80000000, &byte, 1), NPUSCOPE_OK);
    EXPECT_EQ(bytes.status, NPUSCOPE_BAD_ARGUMENT);
    EXPECT_THAT(bytes.text, HasSubstr("must not call functions of npuscope.h"));

    CallsBack timed;  // while the device's kernel runs
    const npuscope_timed_memory calls{&CallsBack::begin, nullptr, &timed};
    ASSERT_EQ(npuscope_create_timed("nv_small", nullptr, 0, &calls, &timed.device), NPUSCOPE_OK);
    write_registers(timed.device, "fs10");
    EXPECT_EQ(npuscope_run_until_interrupt(timed.device, 1'000'000, nullptr), NPUSCOPE_OK);
    EXPECT_EQ(timed.status, NPUSCOPE_BAD_ARGUMENT);
    EXPECT_EQ(timed.created, NPUSCOPE_BAD_ARGUMENT);
    EXPECT_EQ(npuscope_destroy(timed.device), NPUSCOPE_OK);
}

TEST(CApi, theClockEndsWithAnError) {
    constexpr std::uint64_t last = (std::uint64_t{1} << 54) - 1;
    const Made npu;
    std::uint32_t value = 0;
    std::uint64_t cycle = 0;
    ASSERT_EQ(npuscope_read_register(npu.device, intr_status, &value), NPUSCOPE_OK);
    ASSERT_EQ(npuscope_cycle(npu.device, &cycle), NPUSCOPE_OK);
    for (const std::uint64_t cycles :
         {UINT64_MAX, std::uint64_t{1} << 63, std::uint64_t{1} << 62, last - cycle + 1}) {
        EXPECT_EQ(npuscope_advance(npu.device, cycles), NPUSCOPE_BAD_ARGUMENT);
        EXPECT_THAT(npuscope_error(), HasSubstr(fmt::format("only {} left", last - cycle)));
    }
    EXPECT_EQ(npuscope_advance(npu.device, last - cycle), NPUSCOPE_OK);
    EXPECT_EQ(npuscope_read_register(npu.device, intr_status, &value), NPUSCOPE_OK);
    EXPECT_EQ(npuscope_run_until_idle(npu.device, UINT64_MAX, nullptr), NPUSCOPE_OK);
    const auto run_from = [&](std::uint64_t begin) {
        EXPECT_EQ(npuscope_reset(npu.device), NPUSCOPE_OK);
        EXPECT_EQ(npuscope_advance(npu.device, begin), NPUSCOPE_OK);
        write_registers(npu.device, "fs10");
        return npuscope_run_until_interrupt(npu.device, UINT64_MAX, &cycle);
    };
    EXPECT_EQ(run_from(0), NPUSCOPE_OK);
    EXPECT_EQ(npuscope_cycle(npu.device, &cycle), NPUSCOPE_OK);
    EXPECT_EQ(run_from(last - cycle - 1), NPUSCOPE_OK);
    EXPECT_EQ(run_from(last - 100), NPUSCOPE_LIMIT);
    EXPECT_THAT(npuscope_error(), HasSubstr("where the clock ends: npuscope_reset()"));
    EXPECT_EQ(npuscope_run_until_interrupt(npu.device, 10, &cycle), NPUSCOPE_LIMIT);
    EXPECT_EQ(cycle, 0U);
    EXPECT_EQ(npuscope_reset(npu.device), NPUSCOPE_OK);
    EXPECT_EQ(npuscope_advance(npu.device, 5), NPUSCOPE_OK);
}

TEST(CApi, theLargestLimitIsNone) {
    for (const std::uint64_t most :
         {UINT64_MAX, std::uint64_t{INT64_MAX}, std::uint64_t{1} << 63, std::uint64_t{1} << 54}) {
        for (const bool idle : {false, true}) {
            const Made npu;
            write_registers(npu.device, "sdp_1x1x800");
            std::uint32_t value = 0;
            std::uint64_t passed = 0;
            EXPECT_EQ(npuscope_read_register(npu.device, intr_status, &value), NPUSCOPE_OK);
            EXPECT_EQ(idle ? npuscope_run_until_idle(npu.device, most, &passed)
                           : npuscope_run_until_interrupt(npu.device, most, &passed),
                      NPUSCOPE_OK)
                << npuscope_error();
            EXPECT_GT(passed, 100U);
        }
    }
}

TEST(CApi, aLatencyThatTheClockCannotCountIsAFailure) {
    const npuscope_timed_memory calls{
        [](void*, const npuscope_request*) { return std::int64_t{1} << 62; }, nullptr, nullptr};
    npuscope_device* npu = nullptr;
    ASSERT_EQ(npuscope_create_timed("nv_small", nullptr, 0, &calls, &npu), NPUSCOPE_OK);
    write_registers(npu, "fs10");
    EXPECT_EQ(npuscope_run_until_interrupt(npu, 1'000'000, nullptr), NPUSCOPE_CALLBACK_FAILED);
    EXPECT_THAT(npuscope_error(),
                HasSubstr("returned a latency of 4611686018427387904 cycles, but the clock"));
    EXPECT_EQ(npuscope_destroy(npu), NPUSCOPE_OK);
}

/// A memory whose call-backs throw at one access.
struct Throws {
    void access() {
        if (++accesses == at && of_unknown_type) {
            throw 42;
        }
        if (accesses == at) {
            throw std::runtime_error("no such page");
        }
    }
    static int read(void* user, std::uint64_t /*address*/, void* data, std::size_t size) {
        static_cast<Throws*>(user)->access();
        std::memset(data, 0, size);
        return 0;
    }
    static int write(void* user, std::uint64_t /*address*/, const void* /*data*/,
                     std::size_t /*size*/) {
        static_cast<Throws*>(user)->access();
        return 0;
    }
    static std::int64_t begin(void* user, const npuscope_request* request) {
        static_cast<Throws*>(user)->access();
        if (request->write == 0) {
            std::memset(request->data, 0, request->size);
        }
        return 5;
    }
    int at = 0;
    bool of_unknown_type = false;
    int accesses = 0;
};

TEST(CApi, aCallBackThatThrowsIsAFailure) {
    const npuscope_timed_memory timed_calls{&Throws::begin, nullptr, nullptr};
    const npuscope_memory calls{&Throws::read, &Throws::write, nullptr};
    for (const bool timed : {false, true}) {
        for (const bool unknown : {false, true}) {
            Throws memory{.at = 3, .of_unknown_type = unknown};
            npuscope_memory untimed = calls;
            npuscope_timed_memory with_time = timed_calls;
            untimed.user = with_time.user = &memory;
            npuscope_device* npu = nullptr;
            ASSERT_EQ(timed ? npuscope_create_timed("nv_small", nullptr, 0, &with_time, &npu)
                            : npuscope_create("nv_small", nullptr, 0, &untimed, &npu),
                      NPUSCOPE_OK);
            for (const npuscope_status expected : {NPUSCOPE_CALLBACK_FAILED, NPUSCOPE_OK}) {
                EXPECT_EQ(npuscope_reset(npu), NPUSCOPE_OK);
                write_registers(npu, "fs10");
                EXPECT_EQ(npuscope_run_until_interrupt(npu, 1'000'000, nullptr), expected)
                    << timed << unknown << npuscope_error();
                if (expected != NPUSCOPE_OK) {
                    EXPECT_THAT(npuscope_error(),
                                HasSubstr(unknown ? "threw an exception of unknown type"
                                                  : "threw an exception: no such page"));
                }
            }
            EXPECT_GT(memory.accesses, 3);
            EXPECT_EQ(npuscope_destroy(npu), NPUSCOPE_OK);
        }
    }
}

TEST(CApi, aTimedMemoryReceivesBurstsHoweverTheyAreSet) {
    const npuscope_timed_memory calls{&Throws::begin, nullptr, nullptr};
    const std::vector<std::vector<const char*>> refused{
        {"npu.mcif.transactions=runs"},
        {"npu.mcif.transactions=runs "},
        {"npu.mcif={transactions: runs}"},
        {"npu.mcif.transactions=bursts", "npu.mcif.transactions=runs"}};
    const std::vector<std::vector<const char*>> accepted{
        {}, {"npu.mcif.transactions=bursts"}, {"npu.mcif={transactions: bursts}"}};
    const auto create = [&](const std::vector<const char*>& changes, npuscope_device** npu) {
        return npuscope_create_timed("nv_small", changes.data(), changes.size(), &calls, npu);
    };
    for (const auto& changes : refused) {
        npuscope_device* npu = nullptr;
        EXPECT_EQ(create(changes, &npu), NPUSCOPE_WRONG_INPUT) << changes.back();
        EXPECT_THAT(npuscope_error(), HasSubstr("bursts or values"));
    }
    for (const auto& changes : accepted) {
        npuscope_device* npu = nullptr;
        ASSERT_EQ(create(changes, &npu), NPUSCOPE_OK) << npuscope_error();
        char* json = nullptr;
        EXPECT_EQ(npuscope_result(npu, &json), NPUSCOPE_OK);
        EXPECT_THAT(json, HasSubstr(changes.empty() ? R"("transactions": "values")"
                                                    : R"("transactions": "bursts")"));
        npuscope_free(json);
        EXPECT_EQ(npuscope_destroy(npu), NPUSCOPE_OK);
    }
}

TEST(CApi, whatExceedsMemoryIsRefused) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "AddressSanitizer ends a program that asks for so much";
#endif
    const std::array<std::uint32_t, 4> shape{1, 65'535, 65'535, 65'535};
    const std::uint8_t element = 0;
    std::uint8_t packed = 0;
    std::size_t size = SIZE_MAX;
    EXPECT_EQ(npuscope_pack("feature:atom=8", "int8", shape.data(), &element, &packed, &size),
              NPUSCOPE_WRONG_INPUT);
    EXPECT_THAT(npuscope_error(), HasSubstr("more memory than is available"));
}

TEST(CApi, readsAndWritesFindTheSameRegisters) {
    for (const char* preset : {"nv_small", "nv_full"}) {
        const Made npu(preset);
        unsigned registers = 0;
        for (std::uint32_t address = 0; address < 0x20000; address += 4) {
            std::uint32_t value = 0;
            const npuscope_status read = npuscope_read_register(npu.device, address, &value);
            EXPECT_EQ(npuscope_write_register(npu.device, address, 0), read) << address;
            registers += read == NPUSCOPE_OK ? 1U : 0U;
        }
        EXPECT_GT(registers, 300U);
        std::uint32_t value = 0;
        for (const std::uint32_t address : {0x2ffcU, 0x1ffcU, 0xfffcU, 0x1001U}) {
            EXPECT_EQ(npuscope_read_register(npu.device, address, &value), NPUSCOPE_WRONG_INPUT);
            EXPECT_THAT(npuscope_error(), HasSubstr(fmt::format("no register at {:#x}", address)));
        }
    }
}

}  // namespace
}  // namespace npuscope
