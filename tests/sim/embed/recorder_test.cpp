// SPDX-License-Identifier: Apache-2.0
// What an NPU requests from a memory, and a driver from an NPU, recorded and replayed.
#include "include/npuscope/recorder.h"

#include <gmock/gmock-matchers.h>

#include "include/npuscope/axi.h"
#include "include/npuscope/axi_memory.h"
#include "include/npuscope/axi_monitor.h"
#include "tests/support/temp_folder.h"

namespace npuscope::recorder_test {
namespace {

using sc_core::SC_NS;
using testing::HasSubstr;

/// Bytes that answer after a while that depends on the address; nothing beyond 64 KiB.
struct Memory : sc_core::sc_module {
    explicit Memory(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
        socket.register_b_transport(this, &Memory::transport);
        socket.register_transport_dbg(this, &Memory::move);
    }
    void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        wait(delay +
             sc_core::sc_time(10 + static_cast<double>(payload.get_address() / 64 % 7), SC_NS));
        delay = sc_core::sc_time(3, SC_NS);
        payload.set_response_status(move(payload) > 0 ? tlm::TLM_OK_RESPONSE
                                                      : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }
    unsigned move(tlm::tlm_generic_payload& payload) {
        if (payload.get_address() + payload.get_data_length() > bytes.size()) {
            return 0;
        }
        unsigned char* const here = bytes.data() + payload.get_address();
        unsigned char* const there = payload.get_data_ptr();
        payload.is_read() ? std::copy_n(here, payload.get_data_length(), there)
                          : std::copy_n(there, payload.get_data_length(), here);
        return payload.get_data_length();
    }
    tlm_utils::simple_target_socket<Memory> socket{"socket"};
    std::vector<unsigned char> bytes = std::vector<unsigned char>(1 << 16);
};

struct Initiator : sc_core::sc_module {
    explicit Initiator(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
        SC_HAS_PROCESS(Initiator);
        SC_THREAD(run);
    }
    tlm::tlm_response_status access(bool write, std::uint64_t address, std::size_t size,
                                    bool debug) {
        std::vector<unsigned char> data(size, static_cast<unsigned char>(address / 32));
        tlm::tlm_generic_payload payload;
        payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
        payload.set_address(address);
        payload.set_data_ptr(data.data());
        payload.set_data_length(static_cast<unsigned>(size));
        payload.set_streaming_width(static_cast<unsigned>(size));
        sc_core::sc_time delay(1, SC_NS);
        if (debug) {
            socket->transport_dbg(payload);
        } else {
            socket->b_transport(payload, delay);
        }
        return payload.get_response_status();
    }
    void run() {
        for (unsigned i = 0; i < 20; ++i) {
            sc_core::sc_spawn([this, i] {
                wait(2.0 * i, SC_NS);
                access(i < 10, 32 * (i % 10), 32, false);
            });
        }
        wait(200, SC_NS);
        EXPECT_EQ(access(false, 1 << 16, 4, false), tlm::TLM_ADDRESS_ERROR_RESPONSE);
        access(false, 32, 8, true);
    }
    tlm_utils::simple_initiator_socket<Initiator> socket{"socket"};
};

/// Records into files of a folder that lives as long as the test.
struct Files {
    TempFolder folder;
    std::string csv = (folder.path() / "a.csv").string();
    std::string vcd = (folder.path() / "a.vcd").string();
};

std::string text_of(const std::string& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(Recorder, writesWhatCrosses) {
    const Files files;
    Memory memory("memory");
    Initiator initiator("initiator");
    Recorder recorder("recorder", {files.csv, files.vcd});
    initiator.socket.bind(recorder.from);
    recorder.to.bind(memory.socket);
    sc_core::sc_start(1, sc_core::SC_US);
    EXPECT_EQ(recorder.accesses(), 22U);
    recorder.flush();
    const std::vector<RecordedAccess> rows = read_recording(files.csv);
    ASSERT_EQ(rows.size(), 22U);
    EXPECT_EQ(rows.front().begin, 1000U);
    EXPECT_EQ(rows.front().end, 1000U + 10'000U + 3000U);
    EXPECT_TRUE(rows.front().is_write());
    EXPECT_EQ(rows[1].data, std::vector<unsigned char>(32, 1));
    EXPECT_EQ(rows[15].data, std::vector<unsigned char>(32, 5));
    EXPECT_EQ(rows[20].response, "TLM_ADDRESS_ERROR_RESPONSE");
    EXPECT_TRUE(rows[21].is_debug());
    const std::string drawn = text_of(files.vcd);
    EXPECT_THAT(drawn, HasSubstr("#1000\nb0 a\nb100000 b\n1w\nb1 s\n"));
    EXPECT_THAT(drawn, HasSubstr("#3000\nb100000 a\nb100000 b\n1w\nb10 s\n"));
    std::uint64_t last = 0;
    std::istringstream lines(drawn);
    for (std::string line; std::getline(lines, line);) {
        if (line[0] == '#') {
            EXPECT_GT(std::stoull(line.substr(1)), last);
            last = std::stoull(line.substr(1));
        }
    }
    EXPECT_GT(last, 200'000U);
}

constexpr char kRows[] =
    "begin_ps,end_ps,access,address,bytes,response,data\n"
    "5000,9000,write,0x40,4,ok,01020304\n"
    "5500,9000,debug_read,0x0,1,ok,07\n"
    "60000,80000,read,0x40,4,ok,01020304\n"
    "61000,80000,read,0x80,2,ok,0102\n"
    "62000,80000,read,0x10000,1,ok,00\n"
    "63000,80000,read,0x10008,2,TLM_ADDRESS_ERROR_RESPONSE,0107\n";  // its data say nothing

TEST(Replayer, tellsWhatIsAnsweredDifferently) {
    const Files files;
    std::ofstream(files.csv) << kRows;
    Memory memory("memory");
    Replayer replayer("replayer", files.csv);
    replayer.to.bind(memory.socket);
    std::vector<std::string> texts;
    replayer.on_difference = [&](const RecordedAccess&, const std::string& text) {
        texts.push_back(text);
    };
    sc_core::sc_start(1, sc_core::SC_US);
    EXPECT_EQ(replayer.left(), 0U);
    EXPECT_EQ(replayer.differences(), 2U);
    EXPECT_THAT(
        texts, testing::UnorderedElementsAre("byte 0 of 0000 differs from 0102",
                                             "the response is TLM_ADDRESS_ERROR_RESPONSE, not ok"));
    EXPECT_EQ(memory.bytes[0x43], 4);
}

TEST(Replayer, isDoneAtOnceWithoutTransactions) {
    const Files files;
    std::ofstream(files.csv) << "begin_ps,end_ps,access,address,bytes,response,data\n"
                                "5500,9000,debug_read,0x0,1,ok,07\n";
    Memory memory("memory");
    Replayer replayer("replayer", files.csv);
    replayer.to.bind(memory.socket);
    bool done = false;
    sc_core::sc_spawn([&] {
        sc_core::wait(replayer.done);
        done = true;
    });
    sc_core::sc_start(1, sc_core::SC_US);
    EXPECT_TRUE(done);
}

TEST(Replayer, drivesAnAxiPort) {
    const Files files;
    std::ofstream(files.csv) << kRows;
    sc_core::sc_clock clock("clock", 1, SC_NS);
    sc_core::sc_signal<bool> reset_n("reset_n");
    AxiWires<64> wires;
    AxiMaster<64> master("master");
    AxiMonitor<64> monitor("monitor");
    AxiMemory<64> memory("memory",
                         {7, 2, 30, 50, true, 0x10000, 0x20000, AxiResponse::DecodeError});
    Replayer replayer("replayer", files.csv);
    const auto bind = [&](auto& module) {
        module.clock(clock), module.reset_n(reset_n), module.bind_wires(wires);
    };
    bind(master), bind(monitor), bind(memory);
    reset_n.write(true);
    Recorder recorder("recorder", {files.csv + "2", ""});
    replayer.to.bind(recorder.from);
    recorder.to.bind(master.socket);
    sc_core::sc_start(1, sc_core::SC_US);
    EXPECT_EQ(replayer.left(), 0U);
    EXPECT_EQ(replayer.differences(), 2U);
    EXPECT_EQ(recorder.accesses(), 5U);
    EXPECT_EQ(monitor.violations(), 0U);
    EXPECT_EQ(memory.peek(0x43), 4);
}

TEST(Replayer, refusesWhatIsNoRecording) {
    const Files files;
    const auto refused = [&](const char* text) -> std::string {
        std::ofstream(files.csv) << text;
        try {
            read_recording(files.csv);
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_THAT(refused("begin\n"), HasSubstr("a.csv:1: not a recording"));
    EXPECT_THAT(refused("begin_ps\nx,1,read,0,0,ok,\n"), HasSubstr("a.csv:2: a number is none"));
    EXPECT_THAT(refused("begin_ps\n1,1,read,0,2,ok,00\n"), HasSubstr("there are 1 bytes of data"));
    for (const std::string row :
         {"-1,1,read,0,1,ok,00", "1,1x,read,0,1,ok,00", "1,1,read,0,1,ok,001", "1,1,read,0,,ok,00",
          "1,1,read,0,1,ok,0z"}) {
        EXPECT_THAT(refused(("begin_ps\n" + row).c_str()), HasSubstr("a.csv:2: a number is none"))
            << row;
    }
    EXPECT_THAT(refused("begin_ps\n1,1,foo,0,1,ok,00\n"), HasSubstr("no such access: foo"));
    EXPECT_THAT(refused("begin_ps\n1,1,debug_foo,0,1,ok,00\n"), HasSubstr("no such access"));
    EXPECT_THROW(Recorder("r", {"/nowhere/at/all.csv", ""}), std::runtime_error);
}

}  // namespace
}  // namespace npuscope::recorder_test
