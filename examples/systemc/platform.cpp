// SPDX-License-Identifier: Apache-2.0
// A SystemC platform with two NPUs behind one memory: an nv_small at 1 GHz and one at 800 MHz, each
// with a driver that max-pools a frame on the PDP and waits for the interrupt. Registers come from
// a generated header:
//
//     npuscope list registers --npu nv_small --c-header > nv_small_registers.h
//     g++ -std=c++17 platform.cpp -I. $(pkg-config --cflags --libs npuscope-systemc) -o platform
//     ./platform
#include <npuscope/device.h>
#include <tlm_utils/multi_passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "nv_small_registers.h"

constexpr unsigned channels = 8;  // one atom of nv_small
constexpr unsigned side = 24;
constexpr unsigned half = side / 2;

/// One MiB at 0x80000000, answered after 60 ns.
struct Memory : sc_core::sc_module {
    static constexpr std::uint64_t base = 0x8000'0000;
    tlm_utils::multi_passthrough_target_socket<Memory> socket{"socket"};
    std::vector<unsigned char> bytes = std::vector<unsigned char>(1 << 20);

    explicit Memory(const sc_core::sc_module_name& name) : sc_core::sc_module(name) {
        socket.register_b_transport(this, &Memory::transport);
        socket.register_transport_dbg(this, &Memory::debug);
    }
    void transport(int port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        debug(port, payload);
        delay += sc_core::sc_time(60, sc_core::SC_NS);
    }
    unsigned debug(int /*port*/, tlm::tlm_generic_payload& payload) {
        const std::uint64_t begin = payload.get_address() - base;
        if (begin > bytes.size() || payload.get_data_length() > bytes.size() - begin) {
            payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
            return 0;
        }
        unsigned char* here = bytes.data() + begin;
        payload.is_read() ? std::memcpy(payload.get_data_ptr(), here, payload.get_data_length())
                          : std::memcpy(here, payload.get_data_ptr(), payload.get_data_length());
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
        return payload.get_data_length();
    }
};

struct Driver : sc_core::sc_module {
    tlm_utils::simple_initiator_socket<Driver> bus{"bus"};
    sc_core::sc_in<bool> interrupt{"interrupt"};
    sc_core::sc_time took;

    Driver(const sc_core::sc_module_name& name, std::uint32_t from, std::uint32_t to)
        : sc_core::sc_module(name), from_(from), to_(to) {
        SC_HAS_PROCESS(Driver);
        SC_THREAD(run);
    }

 private:
    std::uint32_t access(tlm::tlm_command command, std::uint32_t address, std::uint32_t value) {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        payload.set_data_length(sizeof value);
        payload.set_streaming_width(sizeof value);
        sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
        bus->b_transport(payload, delay);
        if (!payload.is_response_ok()) {
            SC_REPORT_ERROR("driver", payload.get_response_string().c_str());
        }
        wait(delay);
        return value;
    }
    void write(std::uint32_t address, std::uint32_t value) {
        access(tlm::TLM_WRITE_COMMAND, address, value);
    }

    void run() {
        write(NVDLA_GLB_S_INTR_MASK_0, ~NVDLA_GLB_S_INTR_MASK_0_PDP_DONE_MASK0_MASK);
        const std::uint32_t kernel =
            1U << NVDLA_PDP_D_POOLING_KERNEL_CFG_0_KERNEL_WIDTH_SHIFT |
            1U << NVDLA_PDP_D_POOLING_KERNEL_CFG_0_KERNEL_HEIGHT_SHIFT |
            1U << NVDLA_PDP_D_POOLING_KERNEL_CFG_0_KERNEL_STRIDE_WIDTH_SHIFT |
            1U << NVDLA_PDP_D_POOLING_KERNEL_CFG_0_KERNEL_STRIDE_HEIGHT_SHIFT;
        write(NVDLA_PDP_RDMA_D_DATA_CUBE_IN_WIDTH_0, side - 1);
        write(NVDLA_PDP_RDMA_D_DATA_CUBE_IN_HEIGHT_0, side - 1);
        write(NVDLA_PDP_RDMA_D_DATA_CUBE_IN_CHANNEL_0, channels - 1);
        write(NVDLA_PDP_RDMA_D_FLYING_MODE_0, NVDLA_PDP_RDMA_D_FLYING_MODE_0_FLYING_MODE_MASK);
        write(NVDLA_PDP_RDMA_D_SRC_BASE_ADDR_LOW_0, from_);
        write(NVDLA_PDP_RDMA_D_SRC_LINE_STRIDE_0, side * channels);
        write(NVDLA_PDP_RDMA_D_SRC_SURFACE_STRIDE_0, side * side * channels);
        write(NVDLA_PDP_RDMA_D_SRC_RAM_CFG_0, NVDLA_PDP_RDMA_D_SRC_RAM_CFG_0_SRC_RAM_TYPE_MASK);
        write(NVDLA_PDP_RDMA_D_POOLING_KERNEL_CFG_0,
              1U << NVDLA_PDP_RDMA_D_POOLING_KERNEL_CFG_0_KERNEL_WIDTH_SHIFT |
                  1U << NVDLA_PDP_RDMA_D_POOLING_KERNEL_CFG_0_KERNEL_STRIDE_WIDTH_SHIFT);
        write(NVDLA_PDP_D_DATA_CUBE_IN_WIDTH_0, side - 1);
        write(NVDLA_PDP_D_DATA_CUBE_IN_HEIGHT_0, side - 1);
        write(NVDLA_PDP_D_DATA_CUBE_IN_CHANNEL_0, channels - 1);
        write(NVDLA_PDP_D_DATA_CUBE_OUT_WIDTH_0, half - 1);
        write(NVDLA_PDP_D_DATA_CUBE_OUT_HEIGHT_0, half - 1);
        write(NVDLA_PDP_D_DATA_CUBE_OUT_CHANNEL_0, channels - 1);
        write(NVDLA_PDP_D_OPERATION_MODE_CFG_0,
              1U << NVDLA_PDP_D_OPERATION_MODE_CFG_0_POOLING_METHOD_SHIFT |
                  NVDLA_PDP_D_OPERATION_MODE_CFG_0_FLYING_MODE_MASK);
        write(NVDLA_PDP_D_POOLING_KERNEL_CFG_0, kernel);
        write(NVDLA_PDP_D_SRC_BASE_ADDR_LOW_0, from_);
        write(NVDLA_PDP_D_SRC_LINE_STRIDE_0, side * channels);
        write(NVDLA_PDP_D_SRC_SURFACE_STRIDE_0, side * side * channels);
        write(NVDLA_PDP_D_DST_BASE_ADDR_LOW_0, to_);
        write(NVDLA_PDP_D_DST_LINE_STRIDE_0, half * channels);
        write(NVDLA_PDP_D_DST_SURFACE_STRIDE_0, half * half * channels);
        write(NVDLA_PDP_D_DST_RAM_CFG_0, NVDLA_PDP_D_DST_RAM_CFG_0_DST_RAM_TYPE_MASK);
        const sc_core::sc_time begin = sc_core::sc_time_stamp();
        write(NVDLA_PDP_D_OP_ENABLE_0, 1);
        write(NVDLA_PDP_RDMA_D_OP_ENABLE_0, 1);
        while (!interrupt->read()) {
            wait(interrupt->posedge_event());
        }
        took = sc_core::sc_time_stamp() - begin;
        write(NVDLA_GLB_S_INTR_STATUS_0,
              access(tlm::TLM_READ_COMMAND, NVDLA_GLB_S_INTR_STATUS_0, 0));
    }

    std::uint32_t from_;
    std::uint32_t to_;
};

int sc_main(int /*argc*/, char* /*argv*/[]) {
    constexpr unsigned frame_bytes = side * side * channels;
    Memory memory("memory");
    for (unsigned i = 0; i < 2 * frame_bytes; ++i) {
        memory.bytes[i] = static_cast<unsigned char>(i * 37 + i / 11);
    }
    npuscope::Device fast("fast", {"nv_small", {}});
    npuscope::Device slow("slow", {"nv_small", {"npu.clock=800 MHz"}});
    Driver fast_driver("fast_driver", Memory::base, Memory::base + 0x10000);
    Driver slow_driver("slow_driver", Memory::base + frame_bytes, Memory::base + 0x20000);
    sc_core::sc_signal<bool> fast_line("fast_line");
    sc_core::sc_signal<bool> slow_line("slow_line");
    int findings = 0;
    const auto connect = [&](npuscope::Device& npu, Driver& driver,
                             sc_core::sc_signal<bool>& line) {
        npu.dram.bind(memory.socket);
        driver.bus.bind(npu.csb);
        npu.interrupt(line);
        driver.interrupt(line);
        npu.on_finding = [&findings](const std::string& text) {
            std::printf("%s\n", text.c_str());
            ++findings;
        };
    };
    connect(fast, fast_driver, fast_line);
    connect(slow, slow_driver, slow_line);
    sc_core::sc_start(1, sc_core::SC_MS);

    int wrong = 0;
    for (unsigned npu = 0; npu < 2; ++npu) {
        for (unsigned y = 0; y < half; ++y) {
            for (unsigned x = 0; x < half; ++x) {
                for (unsigned c = 0; c < channels; ++c) {
                    signed char most = -128;
                    for (unsigned i = 0; i < 4; ++i) {
                        const unsigned place =
                            ((2 * y + i / 2) * side + 2 * x + i % 2) * channels + c;
                        const auto one =
                            static_cast<signed char>(memory.bytes[npu * frame_bytes + place]);
                        most = one > most ? one : most;
                    }
                    const unsigned place = (npu + 1) * 0x10000 + (y * half + x) * channels + c;
                    wrong += static_cast<signed char>(memory.bytes[place]) != most;
                }
            }
        }
    }
    std::printf("at 1 GHz %s, at 800 MHz %s; %d wrong values, %d findings\n",
                fast_driver.took.to_string().c_str(), slow_driver.took.to_string().c_str(), wrong,
                findings);
    const bool slower = slow_driver.took > fast_driver.took;
    return wrong == 0 && findings == 0 && slower ? 0 : 1;
}
