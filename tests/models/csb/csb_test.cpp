// SPDX-License-Identifier: Apache-2.0
// The bus as an initiator sees it: posted writes reach their register later, in order, and a read
// waits for them.
#include "models/csb/csb.h"

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstring>
#include <vector>

#include "models/link/clock.h"
#include "models/npu/register_blocks.h"
#include "tests/support/simulate.h"

namespace npuscope {
namespace {

struct Initiator : sc_core::sc_module {
    explicit Initiator(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {}
    tlm_utils::simple_initiator_socket<Initiator> socket{"socket"};

    /// The annotated delay, and the value where it is a read.
    Cycles access(tlm::tlm_command command, std::uint64_t address, std::uint32_t& value) {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        payload.set_data_length(4);
        payload.set_streaming_width(4);
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        socket->b_transport(payload, delay);
        EXPECT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE);
        return to_cycles(delay);
    }
};

struct Listener : CsbListener {
    std::vector<Cycles> written;
    Cycles holds;
    void register_written(RegisterFile& /*file*/, const WriteEffect& /*effect*/,
                          Cycles time) override {
        written.push_back(time);
    }
    void register_about_to_be_read(RegisterFile& /*file*/) override { ++reads; }
    Cycles register_holds_until(const RegisterFile& /*file*/, const RegisterRow& /*row*/,
                                Cycles time) const override {
        return std::max(time, holds);
    }
    unsigned reads = 0;
};

TEST(Csb, posts_writes_and_reads_behind_them) {
    Scene scene;
    DiagnosticLog log;
    Csb csb("csb", CsbConfig{}, nvdla_register_blocks(), log);
    Initiator host("host");
    Listener listener;
    host.socket.bind(csb.socket);
    csb.listen(listener);
    const std::uint64_t width = csb.file("NVDLA_SDP").block().base + 0x3c;
    std::vector<std::uint64_t> delays;
    std::uint32_t read = 0;
    Cycles read_at;
    scene.thread("host", [&](Activity& activity) {
        for (std::uint32_t value = 1; value <= 5; ++value) {
            const Cycles delay = host.access(tlm::TLM_WRITE_COMMAND, width, value);
            delays.push_back(delay.value);
            activity.spend(delay);
        }
        EXPECT_FALSE(csb.idle());
        host.access(tlm::TLM_READ_COMMAND, width, read);
        read_at = now();
        EXPECT_TRUE(csb.idle());
    });
    scene.run();
    EXPECT_EQ(delays, (std::vector<std::uint64_t>{0, 1, 1, 1, 1}));
    EXPECT_EQ(listener.written,
              (std::vector<Cycles>{Cycles(0), Cycles(1), Cycles(2), Cycles(3), Cycles(9)}));
    EXPECT_EQ(read, 5U);
    EXPECT_EQ(read_at, Cycles(25));  // the previous write takes until 9
}

TEST(Csb, reads_cross_the_registers_on_the_way_to_the_accumulator) {
    Scene scene;
    DiagnosticLog log;
    CsbConfig config;
    config.retiming = Cycles(6);
    Csb csb("csb", config, nvdla_register_blocks(), log);
    Initiator host("host");
    host.socket.bind(csb.socket);
    std::vector<std::uint64_t> took;
    scene.thread("host", [&](Activity& activity) {
        for (const char* block : {"NVDLA_SDP", "NVDLA_CMAC_A", "NVDLA_CMAC_B", "NVDLA_CACC"}) {
            const Cycles begin = now();
            std::uint32_t status = 0;
            const std::uint32_t address = csb.file(block).block().base;
            activity.spend(host.access(tlm::TLM_READ_COMMAND, address, status));
            took.push_back((now() - begin).value);
        }
    });
    scene.run();
    EXPECT_EQ(took, (std::vector<std::uint64_t>{20, 26, 26, 26}));
}

}  // namespace
}  // namespace npuscope
