// SPDX-License-Identifier: Apache-2.0
// The unit as a verifier's test bench drives it: registers over TLM-2.0, descriptors in memory.
#include "models/tinpu/tinpu_port.h"

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstring>

#include "models/npu/layer_npu.h"
#include "models/tinpu/tinpu_descriptor.h"
#include "tests/models/tinpu/sample_job.h"
#include "tests/support/simulate.h"

namespace npuscope::tinpu_port_test {
namespace {

using sample::pointwise_job;

constexpr Address descriptor_at{0x80040000};

struct Bench : sc_core::sc_module {
    DiagnosticLog log;
    Memory memory{"memory", {}, log};
    LayerNpu npu{"npu", {{}, {}}, log};
    tlm_utils::simple_initiator_socket<Bench> host{"host"};
    sc_core::sc_in<bool> interrupt{"interrupt"};
    Scene scene;

    explicit Bench(const sc_core::sc_module_name& name = "bench") : sc_core::sc_module(name) {
        npu.mcif.memory.bind(memory.socket);
        host.bind(npu.port.socket);
        interrupt.bind(npu.port.interrupt);
    }

    tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address,
                                    std::uint32_t& value, unsigned bytes = 4) {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        payload.set_data_length(bytes);
        payload.set_streaming_width(bytes);
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        host->b_transport(payload, delay);
        sc_core::wait(delay);
        return payload.get_response_status();
    }
    static std::uint64_t offset_of(const char* name) {
        return find_register(tinpu_registers(), name)->offset;
    }
    void write(const char* name, std::uint32_t value) {
        EXPECT_EQ(access(tlm::TLM_WRITE_COMMAND, offset_of(name), value), tlm::TLM_OK_RESPONSE);
    }
    std::uint32_t read(const char* name) {
        std::uint32_t value = 0;
        EXPECT_EQ(access(tlm::TLM_READ_COMMAND, offset_of(name), value), tlm::TLM_OK_RESPONSE);
        return value;
    }
    void start(Address descriptor) {
        write("DESCRIPTOR_LOW", static_cast<std::uint32_t>(descriptor.value));
        write("DESCRIPTOR_HIGH", static_cast<std::uint32_t>(descriptor.value >> 32U));
        write("START", 1);
    }
    void await(Activity& activity) {
        while (!interrupt.read()) {
            activity.wait_for(interrupt.value_changed_event(), WaitKind::Starved, "interrupt");
        }
    }
};

TEST(TinpuPort, ALayerRunsFromItsDescriptorToItsInterrupt) {
    Bench bench;
    const TinpuJob job = pointwise_job();
    sample::load_operands(bench.memory, job);
    bench.memory.load(descriptor_at, store_descriptor(job));
    bench.scene.thread("host", [&](Activity& activity) {
        EXPECT_EQ(bench.read("IDENTITY"), tinpu_identity);
        EXPECT_EQ(bench.read("STATUS"), 0U);
        bench.start(descriptor_at);
        EXPECT_EQ(bench.read("DESCRIPTOR_LOW"), descriptor_at.value);
        EXPECT_EQ(bench.read("STATUS"), 0x101U);
        bench.await(activity);
        EXPECT_EQ(bench.read("INTERRUPT_STATUS"), 1U);
        EXPECT_EQ(bench.read("STATUS"), 0U);
        EXPECT_EQ(bench.read("LAYERS_DONE"), 1U);
        bench.write("INTERRUPT_STATUS", 1);
        activity.spend(Cycles(1));
        EXPECT_FALSE(bench.interrupt.read());
    });
    bench.scene.run();
    const Tensor<std::int32_t> input = sample::counted_map(job.input.shape);
    const Tensor<std::int32_t> output = sample::output_of(bench.memory, job);
    for (std::size_t i = 0; i < input.values.size(); ++i) {
        EXPECT_EQ(output.values[i], (2 * input.values[i] - 3) >> 1);
    }
    EXPECT_TRUE(bench.log.findings().empty());
}

TEST(TinpuPort, LayersMayBeStartedAheadAndEndInOrder) {
    Bench bench;
    const TinpuJob first = pointwise_job();
    TinpuJob second = first;
    second.input = first.output;
    second.output.base = first.input.base;
    sample::load_operands(bench.memory, first);
    bench.memory.load(descriptor_at, store_descriptor(first));
    bench.memory.load(descriptor_at + Bytes(256), store_descriptor(second));
    bench.scene.thread("host", [&](Activity& activity) {
        bench.start(descriptor_at);
        bench.start(descriptor_at + Bytes(256));
        EXPECT_EQ(bench.read("STATUS"), 0x201U);
        bench.await(activity);
        EXPECT_EQ(bench.read("LAYERS_DONE"), 1U);
        bench.write("INTERRUPT_STATUS", 3);
        activity.spend(Cycles(1));
        bench.await(activity);
        EXPECT_EQ(bench.read("LAYERS_DONE"), 2U);
    });
    bench.scene.run();
    EXPECT_TRUE(bench.log.findings().empty());
    const std::int32_t input = sample::counted_map(first.input.shape).values[5];
    const std::int32_t once = (2 * input - 3) >> 1;
    EXPECT_EQ(sample::output_of(bench.memory, second).values[5], (2 * once - 3) >> 1);
}

TEST(TinpuPort, ADescriptorThatIsNoneIsRefusedWithAFinding) {
    Bench bench;
    std::vector<std::uint8_t> bytes = store_descriptor(pointwise_job());
    bytes[3] = 9;
    bench.memory.load(descriptor_at, bytes);
    bench.scene.thread("host", [&](Activity& activity) {
        bench.start(descriptor_at);
        bench.await(activity);
        EXPECT_EQ(bench.read("INTERRUPT_STATUS"), 2U);
        EXPECT_EQ(bench.read("STATUS"), 0U);
        EXPECT_EQ(bench.read("LAYERS_DONE"), 0U);
    });
    bench.scene.run();
    ASSERT_EQ(bench.log.findings().size(), 1U);
    const Diagnostic& finding = bench.log.findings().front();
    EXPECT_EQ(finding.id, "descriptor");
    EXPECT_EQ(finding.address, descriptor_at);
    EXPECT_NE(finding.sentence.find("version is 9"), std::string::npos);
}

TEST(TinpuPort, MaskedInterruptsDoNotRaiseTheLine) {
    Bench bench;
    bench.memory.zero(descriptor_at, Bytes(descriptor_bytes));
    bench.scene.thread("host", [&](Activity& activity) {
        bench.write("INTERRUPT_MASK", 2);
        bench.start(descriptor_at);
        activity.spend(Cycles(1000));
        EXPECT_FALSE(bench.interrupt.read());
        EXPECT_EQ(bench.read("INTERRUPT_STATUS"), 2U);
        bench.write("INTERRUPT_MASK", 0);
        activity.spend(Cycles(1));
        EXPECT_TRUE(bench.interrupt.read());
    });
    bench.scene.run();
}

TEST(TinpuPort, WrongAccessesAreAnsweredAsSuch) {
    Bench bench;
    bench.scene.thread("host", [&](Activity& /*activity*/) {
        std::uint32_t value = 0;
        EXPECT_EQ(bench.access(tlm::TLM_READ_COMMAND, 0x20, value),
                  tlm::TLM_ADDRESS_ERROR_RESPONSE);
        EXPECT_EQ(bench.access(tlm::TLM_READ_COMMAND, 0x1'0000'0000, value),
                  tlm::TLM_ADDRESS_ERROR_RESPONSE);
        EXPECT_EQ(bench.access(tlm::TLM_READ_COMMAND, 2, value), tlm::TLM_BURST_ERROR_RESPONSE);
        EXPECT_EQ(bench.access(tlm::TLM_WRITE_COMMAND, 4, value, 2), tlm::TLM_BURST_ERROR_RESPONSE);
        bench.write("IDENTITY", 0);  // read only
        EXPECT_EQ(bench.read("IDENTITY"), tinpu_identity);
        EXPECT_EQ(bench.read("START"), 0U);
    });
    bench.scene.run();
}

}  // namespace
}  // namespace npuscope::tinpu_port_test
