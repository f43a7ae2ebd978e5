// SPDX-License-Identifier: Apache-2.0
// The AXI master between a random TLM initiator and an uncooperative memory: same bytes, no
// violation, no deadlock, errors that arrive; and each rule of the monitor broken once.
#include "include/npuscope/axi.h"

#include <gmock/gmock-matchers.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <map>
#include <memory>

#include "include/npuscope/axi_memory.h"
#include "include/npuscope/axi_monitor.h"
#include "include/npuscope/recorder.h"
#include "tests/support/generate_random.h"

namespace npuscope {
namespace {

using sc_core::SC_NS;
using sc_core::sc_time;
using testing::HasSubstr;

constexpr std::uint64_t kRegion = 0x4000;  // of each thread; they touch

/// Payloads live until all have let go of them.
struct Pool : tlm::tlm_mm_interface {
    void free(tlm::tlm_generic_payload* payload) override {
        payload->reset();
        delete payload;
        --alive;
    }
    tlm::tlm_generic_payload* make() {
        ++alive;
        auto* payload = new tlm::tlm_generic_payload(this);
        payload->acquire();
        return payload;
    }
    int alive = 0;
};

/// Some threads by b_transport and one by nb_transport, each with its own region, whose bytes it
/// knows.
struct Initiator : sc_core::sc_module {
    static constexpr unsigned kThreads = 4;

    explicit Initiator(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
        socket.register_nb_transport_bw(this, &Initiator::take_phase);
        for (unsigned i = 0; i < kThreads; ++i) {
            sc_core::sc_spawn([this, i] { block(i); });
        }
        sc_core::sc_spawn([this] { overlap(kThreads); });
    }

    /// All threads work once with this seed.
    void start(std::uint64_t the_seed) {
        seed = the_seed;
        left = kThreads + 1;
        begin.notify(sc_core::SC_ZERO_TIME);
    }

    struct Access {
        std::uint64_t address = 0;
        std::vector<std::uint8_t> data;
        std::vector<std::uint8_t> enables;
        bool write = false;
        bool fails = false;

        void fill(tlm::tlm_generic_payload& payload) {
            payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
            payload.set_address(address);
            payload.set_data_ptr(data.data());
            payload.set_data_length(static_cast<unsigned>(data.size()));
            payload.set_streaming_width(static_cast<unsigned>(data.size()));
            payload.set_byte_enable_ptr(enables.empty() ? nullptr : enables.data());
            payload.set_byte_enable_length(static_cast<unsigned>(enables.size()));
            payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        }
    };

    Access choose(Random& random, unsigned thread, std::uint64_t begin_at, std::uint64_t end_at) {
        Access access;
        access.write = random.chance(50);
        access.fails = random.chance(5);
        const std::uint64_t size =
            random.size(1, 20) == 1 ? random.size(512, 3000) : random.size(1, 300);
        const std::uint64_t most = std::min(size, end_at - begin_at);
        access.address =
            begin_at + random.bits() % (end_at - begin_at - most + 1) + thread * kRegion;
        access.data.resize(access.fails ? 4 : most);
        if (access.fails) {
            access.address = error_begin + 64 * thread;
        }
        for (std::uint8_t& byte : access.data) {
            byte = random.byte();
        }
        if (access.write && random.chance(25)) {
            access.enables.resize(random.size(1, 9));
            for (std::uint8_t& enable : access.enables) {
                enable = random.chance(60) ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
            }
        }
        return access;
    }

    /// Notes a write, or compares a read.
    void settle(const Access& access, const tlm::tlm_generic_payload& payload) {
        ++accesses;
        if (access.fails) {
            errors += payload.get_response_status() == error ? 1 : 0;
            ++failing;
            return;
        }
        wrong += payload.is_response_ok() ? 0 : 1;
        for (std::size_t i = 0; i < access.data.size(); ++i) {
            std::uint8_t& known = bytes[access.address + i];
            if (!access.write) {
                wrong += known == access.data[i] ? 0 : 1;
            } else if (access.enables.empty() ||
                       access.enables[i % access.enables.size()] == TLM_BYTE_ENABLED) {
                known = access.data[i];
            }
        }
    }

    void block(unsigned thread) {
        while (true) {
            wait(begin);
            Random random(seed * 31 + thread);
            for (int i = 0; i < 12; ++i) {
                Access access = choose(random, thread, 0, kRegion);
                tlm::tlm_generic_payload payload;
                access.fill(payload);
                sc_time delay(static_cast<double>(random.size(0, 3)), SC_NS);
                socket->b_transport(payload, delay);
                wait(delay);
                settle(access, payload);
            }
            finish();
        }
    }

    /// Eight at a time, each in an eighth of the region.
    void overlap(unsigned thread) {
        while (true) {
            wait(begin);
            Random random(seed * 31 + thread);
            for (int round = 0; round < 4; ++round) {
                std::map<tlm::tlm_generic_payload*, std::unique_ptr<Access>> sent;
                for (unsigned slot = 0; slot < 8; ++slot) {
                    auto access = std::make_unique<Access>(
                        choose(random, thread, slot * kRegion / 8, (slot + 1) * kRegion / 8));
                    tlm::tlm_generic_payload* payload = pool.make();
                    access->fill(*payload);
                    tlm::tlm_phase phase = tlm::BEGIN_REQ;
                    sc_time delay(static_cast<double>(random.size(0, 3)), SC_NS);
                    const auto state = socket->nb_transport_fw(*payload, phase, delay);
                    EXPECT_EQ(state, tlm::TLM_UPDATED);
                    EXPECT_EQ(phase, tlm::END_REQ);
                    sent.emplace(payload, std::move(access));
                }
                while (!sent.empty()) {
                    while (answered.empty()) {
                        wait(answer);
                    }
                    tlm::tlm_generic_payload* payload = answered.front();
                    answered.pop_front();
                    settle(*sent.at(payload), *payload);
                    sent.erase(payload);
                    if (late) {
                        tlm::tlm_phase phase = tlm::END_RESP;
                        sc_time delay = sc_core::SC_ZERO_TIME;
                        wait(2, SC_NS);
                        socket->nb_transport_fw(*payload, phase, delay);
                    }
                    payload->release();
                }
            }
            finish();
        }
    }

    tlm::tlm_sync_enum take_phase(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                  sc_time& /*delay*/) {
        EXPECT_EQ(phase, tlm::BEGIN_RESP);
        answered.push_back(&payload);
        answer.notify(sc_core::SC_ZERO_TIME);
        late = seed % 2 == 0;
        if (late) {
            return tlm::TLM_ACCEPTED;
        }
        phase = tlm::END_RESP;
        return tlm::TLM_UPDATED;
    }

    void finish() {
        if (--left == 0) {
            sc_core::sc_pause();
        }
    }

    tlm_utils::simple_initiator_socket<Initiator> socket{"socket"};
    sc_core::sc_event begin, answer;
    std::uint64_t seed = 0;
    unsigned left = 0;
    bool late = false;
    std::deque<tlm::tlm_generic_payload*> answered;
    Pool pool;
    std::map<std::uint64_t, std::uint8_t> bytes;
    std::uint64_t error_begin = 0x100000;
    tlm::tlm_response_status error = tlm::TLM_GENERIC_ERROR_RESPONSE;
    std::uint64_t accesses = 0, failing = 0;
    int wrong = 0, errors = 0;
};

template <int W>
void expect_seeded_runs_to_pass(const typename AxiMaster<W>::Setup& setup, std::uint64_t first) {
    sc_core::sc_clock clock("clock", 1, SC_NS);
    sc_core::sc_signal<bool> reset_n("reset_n");
    AxiWires<W> wires;
    Initiator initiator("initiator");
    AxiMaster<W> master("master", setup);
    AxiMonitor<W> monitor("monitor");
    AxiMemory<W> memory("memory");
    std::unique_ptr<Recorder> recorder;  // passes all on, phases too
    if (W == 64) {
        recorder = std::make_unique<Recorder>("recorder", Recorder::Setup{});
        initiator.socket.bind(recorder->from);
        recorder->to.bind(master.socket);
    } else {
        initiator.socket.bind(master.socket);
    }
    const auto bind = [&](auto& module) {
        module.clock(clock);
        module.reset_n(reset_n);
        module.bind_wires(wires);
    };
    bind(master), bind(monitor), bind(memory);
    std::vector<std::string> violations;
    monitor.on_violation = [&](const std::string& text) { violations.push_back(text); };
    sc_core::sc_start(3, SC_NS);
    reset_n.write(true);
    for (std::uint64_t seed = first; seed < first + 125; ++seed) {
        Random random(seed);
        typename AxiMemory<W>::Setup behaviour;
        behaviour.seed = seed;
        behaviour.least_latency = random.size(0, 5);
        behaviour.most_latency = random.size(5, 60);
        behaviour.stall_percent = random.size(0, 80);
        behaviour.reorders = random.chance(70);
        behaviour.error_begin = initiator.error_begin;
        behaviour.error_end = initiator.error_begin + 0x1000;
        behaviour.error = random.chance(50) ? AxiResponse::SlaveError : AxiResponse::DecodeError;
        memory.set_up(behaviour);
        initiator.error = behaviour.error == AxiResponse::SlaveError
                              ? tlm::TLM_GENERIC_ERROR_RESPONSE
                              : tlm::TLM_ADDRESS_ERROR_RESPONSE;
        initiator.start(seed);
        sc_core::sc_start(1'000'000, SC_NS);
        ASSERT_EQ(initiator.left, 0U) << "deadlock with seed " << seed;
        ASSERT_EQ(initiator.wrong, 0) << "wrong bytes with seed " << seed;
        ASSERT_EQ(static_cast<std::uint64_t>(initiator.errors), initiator.failing) << seed;
        ASSERT_TRUE(violations.empty()) << violations.front() << ", seed " << seed;
        ASSERT_EQ(monitor.open(), 0U);
    }
    EXPECT_EQ(initiator.accesses, 125U * (4 * 12 + 4 * 8));
    EXPECT_TRUE(!recorder || recorder->accesses() == initiator.accesses);
    EXPECT_GT(initiator.failing, 100U);
    EXPECT_EQ(initiator.pool.alive, 0);
    for (const auto& [address, byte] : initiator.bytes) {
        ASSERT_EQ(memory.peek(address), byte) << address;
    }
}

TEST(Axi, carriesBytesAt32Bits) { expect_seeded_runs_to_pass<32>({}, 1); }
TEST(Axi, carriesBytesAt64Bits) { expect_seeded_runs_to_pass<64>({}, 1000); }
TEST(Axi, carriesBytesAt128Bits) { expect_seeded_runs_to_pass<128>({}, 2000); }
TEST(Axi, carriesBytesAt256Bits) { expect_seeded_runs_to_pass<256>({}, 3000); }
TEST(Axi, carriesBytesAt512Bits) { expect_seeded_runs_to_pass<512>({}, 4000); }
TEST(Axi, carriesBytesInOrder) { expect_seeded_runs_to_pass<64>({16, 1, 64}, 5000); }
TEST(Axi, carriesBytesInTheLongestBursts) { expect_seeded_runs_to_pass<32>({256, 256, 256}, 6000); }
TEST(Axi, carriesBytesBeatByBeat) { expect_seeded_runs_to_pass<128>({1, 3, 1}, 7000); }

TEST(Axi, refusesSetupsThatAreNone) {
    EXPECT_THROW(AxiMaster<64>("a", {0, 1, 1}), std::invalid_argument);
    EXPECT_THROW(AxiMaster<64>("b", {257, 1, 1}), std::invalid_argument);
    EXPECT_THROW(AxiMaster<64>("c", {16, 0, 1}), std::invalid_argument);
    EXPECT_THROW(AxiMaster<64>("d", {16, 1, 0}), std::invalid_argument);
}

/// Wires that the test drives itself, a cycle at a time.
struct Driven {
    Driven() {
        monitor.clock(clock);
        monitor.reset_n(reset_n);
        monitor.bind_wires(wires);
        monitor.on_violation = [this](const std::string& text) { violations.push_back(text); };
        reset_n.write(true);
        wires.awready.write(true), wires.wready.write(true), wires.bready.write(true);
        wires.arready.write(true), wires.rready.write(true);
        wires.awsize.write(3), wires.arsize.write(3);
        wires.awburst.write(1), wires.arburst.write(1);
    }
    void cycle() { sc_core::sc_start(1, SC_NS); }
    void address(bool write, std::uint64_t at, unsigned beats, unsigned id = 0) {
        (write ? wires.awaddr : wires.araddr).write(at);
        (write ? wires.awlen : wires.arlen).write(beats - 1);
        (write ? wires.awid : wires.arid).write(id);
        (write ? wires.awvalid : wires.arvalid).write(true);
        cycle();
        (write ? wires.awvalid : wires.arvalid).write(false);
    }
    void beat(unsigned strobes, bool last) {
        wires.wstrb.write(strobes);
        wires.wlast.write(last);
        wires.wvalid.write(true);
        cycle();
        wires.wvalid.write(false);
    }
    void answer(bool write, unsigned id, bool last = true) {
        (write ? wires.bid : wires.rid).write(id);
        wires.rlast.write(last);
        (write ? wires.bvalid : wires.rvalid).write(true);
        cycle();
        (write ? wires.bvalid : wires.rvalid).write(false);
    }
    /// The violations since the last call, and none after it.
    std::string found() {
        std::string all;
        for (const std::string& text : violations) {
            all += text.substr(text.find(": ") + 2) + "; ";
        }
        violations.clear();
        reset_n.write(false);
        cycle();
        reset_n.write(true);
        cycle();
        return all;
    }

    sc_core::sc_clock clock{"clock", 1, SC_NS, 0.5, 0.5, SC_NS};
    sc_core::sc_signal<bool> reset_n{"reset_n"};
    AxiWires<64> wires;
    AxiMonitor<64> monitor{"monitor"};
    std::vector<std::string> violations;
};

TEST(AxiMonitor, findsEachRuleBroken) {
    Driven d;
    // what is right passes
    d.address(true, 0x100c, 2, 3);
    d.beat(0xf0, false);
    d.beat(0x0f, true);
    d.answer(true, 3);
    d.address(false, 0xff8, 1, 7);
    d.answer(false, 7);
    EXPECT_EQ(d.monitor.open(), 0U);
    EXPECT_EQ(d.found(), "");
    // stability
    d.wires.awready.write(false);
    d.address(true, 0x1000, 1);
    d.cycle();
    EXPECT_EQ(d.found(), "AWVALID fell before READY came; ");
    d.wires.arready.write(false);
    d.address(false, 0x1000, 1);
    d.address(false, 0x1008, 1);
    d.wires.arready.write(true), d.wires.awready.write(true);
    EXPECT_THAT(d.found(), HasSubstr("AR changed while it was stalled"));
    d.wires.wready.write(false);
    d.beat(0xff, false);
    d.beat(0xff, true);
    d.wires.wready.write(true);
    EXPECT_THAT(d.found(), HasSubstr("W changed while it was stalled"));
    // bursts
    d.address(true, 0xff0, 3);
    EXPECT_EQ(d.found(), "AW: a burst crosses 4 KiB; ");
    d.wires.arsize.write(4);
    d.address(false, 0x1000, 1);
    d.wires.arsize.write(3);
    EXPECT_EQ(d.found(), "AR: beats of 16 bytes on a bus of 8; ");
    d.wires.awburst.write(3);
    d.address(true, 0x1000, 1);
    EXPECT_EQ(d.found(), "AW: BURST is 3, which is reserved; ");
    d.wires.awburst.write(2);
    d.address(true, 0x1000, 3);
    EXPECT_EQ(d.found(), "AW: a WRAP burst has 2, 4, 8 or 16 beats; ");
    d.wires.awburst.write(0);
    d.address(true, 0x1000, 17);
    d.wires.awburst.write(1);
    EXPECT_EQ(d.found(), "AW: a FIXED burst has more than 16 beats; ");
    // data
    d.address(true, 0x1004, 1);
    d.beat(0x08, true);
    EXPECT_EQ(d.found(), "W: a strobe outside of the lanes of its beat; ");
    d.address(true, 0x1000, 2);
    d.beat(0xff, true);
    EXPECT_EQ(d.found(), "W: WLAST before the last beat; ");
    d.address(true, 0x1000, 1);
    d.beat(0xff, false);
    EXPECT_EQ(d.found(), "W: the last beat lacks WLAST; ");
    d.address(false, 0x1000, 2);
    d.answer(false, 0, true);
    EXPECT_EQ(d.found(), "R: RLAST before the last beat; ");
    d.address(false, 0x1000, 1);
    d.answer(false, 0, false);
    EXPECT_EQ(d.found(), "R: the last beat lacks RLAST; ");
    // answers
    d.address(true, 0x1000, 1, 5);
    d.answer(true, 5);
    EXPECT_EQ(d.found(), "B: identifier 5 has no write that is complete; ");
    d.address(false, 0x1000, 1, 5);
    d.answer(false, 6);
    EXPECT_EQ(d.found(), "R: identifier 6 has no read in flight; ");
}

TEST(AxiMonitor, findsAValidThatIsHighInReset) {
    Driven d;
    const std::array<std::pair<sc_core::sc_signal<bool>*, std::string>, 5> valids{
        {{&d.wires.awvalid, "AW"},
         {&d.wires.wvalid, "W"},
         {&d.wires.bvalid, "B"},
         {&d.wires.arvalid, "AR"},
         {&d.wires.rvalid, "R"}}};
    for (const auto& [valid, name] : valids) {
        d.reset_n.write(false);
        valid->write(true);
        d.cycle();  // a clocked module sees reset at this edge
        EXPECT_TRUE(d.violations.empty()) << name;
        d.cycle();
        valid->write(false);
        d.cycle();
        EXPECT_EQ(d.found(), name + "VALID is high in reset; ");
        d.reset_n.write(false);
        d.cycle();
        d.reset_n.write(true);
        valid->write(true);
        d.cycle();
        valid->write(false);
        EXPECT_THAT(d.found(), HasSubstr(name + "VALID is high at the first edge after reset; "));
    }
}

}  // namespace
}  // namespace npuscope
