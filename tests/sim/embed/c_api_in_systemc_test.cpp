// SPDX-License-Identifier: Apache-2.0
// The C library as a reference model inside a SystemC bench, called from each kind of process.
#include <gmock/gmock-matchers.h>

#include <array>
#include <deque>
#include <nlohmann/json.hpp>
#include <systemc>

#include "include/npuscope/npuscope.h"
#include "tests/sim/embed/c_device.h"

namespace npuscope {
namespace {

using sc_core::sc_time;
using test::intr_mask;
using test::Made;
using testing::HasSubstr;

/// Plays a program on a device of its own; what its checks and its result are.
struct Reference {
    explicit Reference(std::string program) : name(std::move(program)) {}
    void run() {
        npuscope_device* npu = nullptr;
        test::good(npuscope_create("nv_small", nullptr, 0, nullptr, &npu));
        test::CDoor door(npu);
        ProgramPlayer player(test::golden(name), nvdla_register_blocks(), door);
        player.play();
        failed = player.failed;
        char* text = nullptr;
        test::good(npuscope_result(npu, &text));
        cycles = nlohmann::json::parse(text)["cycles"];
        npuscope_free(text);
        test::good(npuscope_reset(npu));
        test::good(npuscope_destroy(npu));
    }
    std::string name;
    int failed = -1;
    std::uint64_t cycles = 0;
};

void spawn_method(const std::function<void()>& work) {
    sc_core::sc_spawn_options options;
    options.spawn_method();
    sc_core::sc_spawn(work, sc_core::sc_gen_unique_name("method"), &options);
}

TEST(CApiInSystemC, ThreadsMethodsAndMainGetTheCommandLinesCycles) {
    const std::array<std::string, 4> names{"fp04", "fs10", "sdp_1x1x800", "pdp_8x8x64_avg8"};
    std::vector<std::uint64_t> expected;
    std::deque<Reference> references;
    for (const std::string& name : names) {
        expected.push_back(test::cycles_alone(test::golden(name)));
        references.emplace_back(name);
    }
    unsigned ticks = 0;
    sc_core::sc_spawn([&] {
        for (; ticks < 5; ++ticks) {
            sc_core::wait(7, sc_core::SC_NS);
        }
    });
    for (unsigned i = 0; i < 2; ++i) {  // their calls alternate
        sc_core::sc_spawn([&, i] {
            sc_core::wait(10, sc_core::SC_NS);
            const sc_dt::uint64 delta = sc_core::sc_delta_count();
            references[i].run();
            EXPECT_EQ(sc_core::sc_time_stamp(), sc_time(10, sc_core::SC_NS));
            EXPECT_EQ(sc_core::sc_delta_count(), delta);
            sc_core::wait(5, sc_core::SC_NS);
            EXPECT_EQ(sc_core::sc_time_stamp(), sc_time(15, sc_core::SC_NS));
        });
    }
    spawn_method([&] { references[2].run(); });
    sc_core::sc_start(sc_time(100, sc_core::SC_NS));
    references[3].run();
    EXPECT_EQ(ticks, 5U);
    for (std::size_t i = 0; i < names.size(); ++i) {
        EXPECT_EQ(references[i].failed, 0) << names[i];
        EXPECT_EQ(references[i].cycles, expected[i]) << names[i];
    }
}

TEST(CApiInSystemC, EachFunctionReturnsToAThread) {
    npuscope_device* npu = nullptr;
    ASSERT_EQ(npuscope_create("nv_small", nullptr, 0, nullptr, &npu), NPUSCOPE_OK);
    bool ended = false;
    sc_core::sc_spawn([&] {
        std::uint32_t value = 0;
        std::uint64_t cycle = 0;
        int line = 0;
        char* text = nullptr;
        EXPECT_EQ(npuscope_read_register(npu, intr_mask, &value), NPUSCOPE_OK);
        EXPECT_EQ(npuscope_read_register(npu, 0x2ffc, &value), NPUSCOPE_WRONG_INPUT);
        EXPECT_THAT(npuscope_error(), HasSubstr("no register at 0x2ffc"));
        EXPECT_EQ(npuscope_write_register(npu, intr_mask, 0), NPUSCOPE_OK);
        EXPECT_EQ(npuscope_fill_memory(npu, 0x80000000, 1, 100), NPUSCOPE_OK);
        EXPECT_EQ(npuscope_advance(npu, 100), NPUSCOPE_OK);
        EXPECT_EQ(npuscope_run_until_interrupt(npu, 10, nullptr), NPUSCOPE_STOPPED);
        EXPECT_EQ(npuscope_run_until_idle(npu, 10, nullptr), NPUSCOPE_OK);
        EXPECT_EQ(npuscope_interrupt(npu, &line), NPUSCOPE_OK);
        EXPECT_EQ(npuscope_cycle(npu, &cycle), NPUSCOPE_OK);
        EXPECT_GE(cycle, 100U);
        sc_core::sc_stop();
        EXPECT_EQ(npuscope_result(npu, &text), NPUSCOPE_OK);
        npuscope_free(text);
        EXPECT_EQ(npuscope_reset(npu), NPUSCOPE_OK);
        EXPECT_EQ(npuscope_destroy(npu), NPUSCOPE_OK);
        ended = true;
    });
    sc_core::sc_start();
    EXPECT_TRUE(ended);
}

SC_MODULE(Clocked) {
    SC_CTOR(Clocked) { SC_CTHREAD(run, clock.pos()); }
    void run() {
        status = npuscope_read_register(npu, intr_mask, &value);
        text = npuscope_error();
        wait();
    }
    sc_core::sc_in<bool> clock{"clock"};
    npuscope_device* npu = nullptr;
    std::uint32_t value = 0;
    npuscope_status status = NPUSCOPE_OK;
    std::string text;
};

TEST(CApiInSystemC, AProcessThatCannotWaitIsRefused) {
    const Made npu;
    sc_core::sc_clock clock("clock", sc_time(1, sc_core::SC_NS));
    Clocked clocked("clocked");
    clocked.clock(clock);
    clocked.npu = npu.device;

    struct Scope {
        ~Scope() {
            std::uint64_t cycle = 0;
            status = npuscope_cycle(npu, &cycle);
            text = npuscope_error();
        }
        npuscope_device* npu;
        npuscope_status& status;
        std::string& text;
    };
    npuscope_status killed = NPUSCOPE_OK;
    std::string text;
    sc_core::sc_process_handle thread = sc_core::sc_spawn([&] {
        const Scope scope{npu.device, killed, text};
        sc_core::wait(sc_time(1, sc_core::SC_MS));
    });
    sc_core::sc_spawn([&] { thread.kill(); });
    sc_core::sc_start(sc_time(10, sc_core::SC_NS));
    EXPECT_EQ(clocked.status, NPUSCOPE_BAD_ARGUMENT);
    EXPECT_THAT(clocked.text, HasSubstr("call it from an SC_THREAD, an SC_METHOD or sc_main"));
    EXPECT_EQ(killed, NPUSCOPE_BAD_ARGUMENT);
    EXPECT_THAT(text, HasSubstr("being killed"));
}

TEST(CApiInSystemC, AThreadThatIsKilledInACallLeavesNothing) {
    const Made npu;
    bool returned = false;
    sc_core::sc_process_handle thread = sc_core::sc_spawn([&] {
        sc_core::wait(1, sc_core::SC_NS);
        npuscope_advance(npu.device, 100);
        returned = true;
    });
    sc_core::sc_spawn([&] {  // next in the evaluation phase
        sc_core::wait(1, sc_core::SC_NS);
        thread.kill();
    });
    sc_core::sc_start(sc_time(10, sc_core::SC_NS));
    EXPECT_FALSE(returned);
    std::uint64_t cycle = 1;
    EXPECT_EQ(npuscope_cycle(npu.device, &cycle), NPUSCOPE_OK);
    EXPECT_EQ(cycle, 0U);
}

TEST(CApiInSystemC, AThreadThatIsKilledWithItsChildrenTakesNoOtherWithIt) {
    const Made npu;
    sc_core::sc_process_handle first = sc_core::sc_spawn([&] {
        EXPECT_EQ(npuscope_advance(npu.device, 100), NPUSCOPE_OK);
        sc_core::wait(sc_time(1, sc_core::SC_MS));
    });
    bool returned = false;
    sc_core::sc_spawn([&] {
        sc_core::wait(1, sc_core::SC_NS);
        first.kill(sc_core::SC_INCLUDE_DESCENDANTS);
        EXPECT_EQ(npuscope_advance(npu.device, 100), NPUSCOPE_OK);
        sc_core::wait(1, sc_core::SC_NS);
        EXPECT_EQ(npuscope_advance(npu.device, 100), NPUSCOPE_OK);
        returned = true;
    });
    sc_core::sc_start(sc_time(10, sc_core::SC_NS));
    EXPECT_TRUE(returned);
    std::uint64_t cycle = 0;
    EXPECT_EQ(npuscope_cycle(npu.device, &cycle), NPUSCOPE_OK);
    EXPECT_EQ(cycle, 300U);
}

}  // namespace
}  // namespace npuscope
