// SPDX-License-Identifier: Apache-2.0
// The AXI master between a random TLM initiator and an uncooperative memory: same bytes, no
// violation, no deadlock, errors that arrive, and nothing left after a reset.
#include "include/npuscope/axi.h"

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "include/npuscope/axi_memory.h"
#include "include/npuscope/axi_monitor.h"
#include "include/npuscope/recorder.h"
#include "tests/support/generate_random.h"

namespace npuscope::axi_test {
namespace {

using sc_core::SC_NS;
using sc_core::sc_time;

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
        std::vector<std::uint8_t> enables{};
        bool write = false;
        bool fails = false;
        std::vector<std::uint8_t> before{};  ///< the data that a read finds

        bool enabled(std::size_t i) const {
            return enables.empty() || enables[i % enables.size()] == TLM_BYTE_ENABLED;
        }
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
        access.before = access.data;
        if (random.chance(25)) {
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
                wrong += access.data[i] == (access.enabled(i) ? known : access.before[i]) ? 0 : 1;
            } else if (access.enabled(i)) {
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
                                  sc_time& delay) {
        EXPECT_EQ(phase, tlm::BEGIN_RESP);
        EXPECT_GE(sc_core::sc_time_stamp() + delay, response_ends);
        answered.push_back(&payload);
        answer.notify(sc_core::SC_ZERO_TIME);
        late = seed % 2 == 0;
        if (late) {
            return tlm::TLM_ACCEPTED;
        }
        if (seed % 3 == 0) {
            delay += sc_time(3, SC_NS);
        }
        response_ends = sc_core::sc_time_stamp() + delay;
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
    sc_time response_ends;
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

/// The initiator, the master, and a memory behind its pins; after reset.
template <int W>
struct Board {
    explicit Board(const typename AxiMaster<W>::Setup& setup) : master("master", setup) {
        if (W == 64) {
            recorder = std::make_unique<Recorder>("recorder", Recorder::Setup{});
            initiator.socket.bind(recorder->from);
            recorder->to.bind(master.socket);
        } else {
            initiator.socket.bind(master.socket);
        }
        const auto bind = [this](auto& module) {
            module.clock(clock);
            module.reset_n(reset_n);
            module.bind_wires(wires);
        };
        bind(master), bind(monitor), bind(memory);
        monitor.on_violation = [this](const std::string& text) { violations.push_back(text); };
        sc_core::sc_start(3, SC_NS);
        reset_n.write(true);
    }

    sc_core::sc_clock clock{"clock", 1, SC_NS};
    sc_core::sc_signal<bool> reset_n{"reset_n"};
    AxiWires<W> wires;
    Initiator initiator{"initiator"};
    AxiMaster<W> master;
    AxiMonitor<W> monitor{"monitor"};
    AxiMemory<W> memory{"memory"};
    std::unique_ptr<Recorder> recorder;  // passes all on, phases too
    std::vector<std::string> violations;
};

template <int W>
void expect_seeded_runs_to_pass(const typename AxiMaster<W>::Setup& setup, std::uint64_t first) {
    Board<W> board(setup);
    auto& [clock, reset_n, wires, initiator, master, monitor, memory, recorder, violations] = board;
    for (std::uint64_t seed = first; seed < first + 125; ++seed) {
        Random random(seed);
        typename AxiMemory<W>::Setup behaviour;
        behaviour.seed = seed;
        behaviour.least_latency = random.size(0, 5);
        behaviour.most_latency = random.size(5, 60);
        behaviour.stall_percent = random.size(0, 80);
        behaviour.reorders = random.chance(70);
        behaviour.data_first = random.chance(50);
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

TEST(Axi, endsAllTransactionsInReset) {
    Board<64> board({.most_beats = 4, .ids = 2, .in_flight = 1});
    board.initiator.seed = 1;  // ends responses at once
    std::vector<tlm::tlm_response_status> responses;
    Initiator::Access write{.address = 0x100, .data = std::vector<std::uint8_t>(256, 0x55)};
    write.write = true;
    Initiator::Access read{.address = 0x800, .data = std::vector<std::uint8_t>(256)};
    const auto begin = [&](Initiator::Access& access) {
        sc_core::sc_spawn([&] {
            tlm::tlm_generic_payload payload;
            access.fill(payload);
            sc_time delay = sc_core::SC_ZERO_TIME;
            board.initiator.socket->b_transport(payload, delay);
            responses.push_back(payload.get_response_status());
        });
    };
    const auto begin_phases = [&](Initiator::Access& access) {
        tlm::tlm_generic_payload* payload = board.initiator.pool.make();
        access.fill(*payload);
        tlm::tlm_phase phase = tlm::BEGIN_REQ;
        sc_time delay = sc_core::SC_ZERO_TIME;
        board.initiator.socket->nb_transport_fw(*payload, phase, delay);
    };
    const auto written = [&] {
        unsigned bytes = 0;
        for (std::uint64_t at = 0; at < write.data.size(); ++at) {
            bytes += board.memory.peek(write.address + at) == 0 ? 0U : 1U;
        }
        return bytes;
    };
    begin(write), begin(read), begin_phases(read);
    sc_core::sc_start(12, SC_NS);  // a burst of eight is answered
    EXPECT_GT(written(), 0U);
    EXPECT_TRUE(responses.empty());
    board.reset_n.write(false);
    sc_core::sc_start(2, SC_NS);
    EXPECT_EQ(responses.size(), 2U);
    ASSERT_EQ(board.initiator.answered.size(), 1U);
    EXPECT_EQ(board.initiator.answered.front()->get_response_status(), board.initiator.error);
    board.initiator.answered.front()->release();
    begin(read);
    sc_core::sc_start(2, SC_NS);
    EXPECT_EQ(responses, std::vector(3, tlm::TLM_GENERIC_ERROR_RESPONSE));

    const unsigned before = written();
    board.reset_n.write(true);
    sc_core::sc_start(200, SC_NS);
    EXPECT_EQ(written(), before);
    begin(write);
    sc_core::sc_start(200, SC_NS);
    EXPECT_EQ(written(), 256U);
    EXPECT_EQ(responses.back(), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(responses.size(), 4U);
    EXPECT_EQ(board.monitor.open(), 0U);
    EXPECT_TRUE(board.violations.empty()) << board.violations.front();
}

TEST(Axi, carriesTheLastBytesOfTheAddressSpace) {
    Board<64> board({});
    const std::uint64_t last_page = ~std::uint64_t{0xfff};
    std::vector<Initiator::Access> accesses;
    for (const auto& [offset, size] : {std::pair{0xff0, 16}, {0xff0, 8}, {0xff9, 7}, {0x003, 9}}) {
        for (const bool write : {true, false}) {
            accesses.push_back({last_page + static_cast<std::uint64_t>(offset),
                                std::vector(static_cast<std::size_t>(size),
                                            static_cast<std::uint8_t>(write ? 0x50 + size : 0))});
            accesses.back().write = write;
        }
    }
    Initiator::Access beyond{last_page + 0xff0, std::vector<std::uint8_t>(17)};
    std::vector<tlm::tlm_response_status> responses;
    sc_core::sc_spawn([&] {
        const auto carry = [&](Initiator::Access& access) {
            tlm::tlm_generic_payload payload;
            access.fill(payload);
            sc_time delay = sc_core::SC_ZERO_TIME;
            board.initiator.socket->b_transport(payload, delay);
            responses.push_back(payload.get_response_status());
        };
        std::ranges::for_each(accesses, carry);
        carry(beyond);
    });
    sc_core::sc_start(1, sc_core::SC_US);
    std::vector expected(accesses.size(), tlm::TLM_OK_RESPONSE);
    expected.push_back(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(responses, expected);
    EXPECT_EQ(board.master.bursts(), accesses.size());
    for (std::size_t i = 0; i < accesses.size(); i += 2) {
        EXPECT_EQ(accesses[i + 1].data, accesses[i].data);
    }
    EXPECT_TRUE(board.violations.empty()) << board.violations.front();
}

TEST(Axi, refusesSetupsThatAreNone) {
    EXPECT_THROW(AxiMaster<64>("a", {0, 1, 1}), std::invalid_argument);
    EXPECT_THROW(AxiMaster<64>("b", {257, 1, 1}), std::invalid_argument);
    EXPECT_THROW(AxiMaster<64>("c", {16, 0, 1}), std::invalid_argument);
    EXPECT_THROW(AxiMaster<64>("d", {16, 1, 0}), std::invalid_argument);
}

}  // namespace
}  // namespace npuscope::axi_test
