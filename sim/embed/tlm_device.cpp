// SPDX-License-Identifier: Apache-2.0
// The NPU runs in its own kernel, which follows the platform's: it is resumed whenever something
// happens in it, up to the cycle that the platform's time has reached. So the platform may have any
// clock, and nothing of the model is visible in its hierarchy. It runs only in a method of the
// platform: kernels share the place to which threads return, which a platform thread would corrupt.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <deque>
#include <stdexcept>

#include "include/npuscope/device.h"
#include "models/base/error.h"
#include "sim/config/diagnostic_report.h"
#include "sim/embed/calling_process.h"
#include "sim/embed/current_kernel.h"
#include "sim/embed/embedded_system.h"
#include "sim/embed/memory_requests.h"
#include "sim/embed/standalone_device.h"
#include "sim/report/reports.h"
#include "sim/run/driven_machine.h"

namespace npuscope {
namespace {

SystemConfig read_setup(const Device::Setup& setup) {
    try {
        return read_embedded_system(setup.npu, setup.changes);
    } catch (const ConfigError& error) {
        throw std::invalid_argument(error.what());
    }
}

}  // namespace

struct Device::Inside : ForeignMemory {
    Inside(Device& device, SystemConfig read, bool non_blocking)
        : owner(device),
          system(std::move(read)),
          memory(
              non_blocking,
              [this](int port) -> tlm::tlm_fw_transport_if<>* {
                  return port == 0           ? owner.dram.operator->()
                         : has_second_port() ? owner.sram.operator->()
                                             : nullptr;
              },
              kick) {
        make();
    }

    void make() {
        memory.forget();
        npu.reset();
        try {
            npu = std::make_unique<StandaloneDevice>(system, *this);
        } catch (const ConfigError& error) {
            throw std::invalid_argument(error.what());
        }
        origin = sc_core::sc_time_stamp();
        edges = 0;
        told = 0;
        reset_asked = false;
        ++lives;
        fail_requests();
    }

    // --- Time: cycle n is visible at the nearest step of the platform's time. ---

    long double cycles_per_step() const {
        if (period != sc_core::SC_ZERO_TIME) {
            return 1.0L / static_cast<long double>(period.value());
        }
        return static_cast<long double>(system.clock().value) *
               static_cast<long double>(sc_core::sc_get_time_resolution().to_seconds());
    }
    void count_edge() {
        if (edges > 0) {
            period = sc_core::sc_time_stamp() - last_edge;
        }
        last_edge = sc_core::sc_time_stamp();
        ++edges;
        kick.notify(sc_core::SC_ZERO_TIME);
    }
    bool is_clocked() const { return owner.clock.size() > 0; }
    Cycles cycle() const {
        if (is_clocked()) {
            return Cycles(edges);
        }
        const auto steps = static_cast<long double>((sc_core::sc_time_stamp() - origin).value());
        return Cycles(static_cast<std::uint64_t>((steps + 0.5L) * cycles_per_step()));
    }
    sc_core::sc_time time_of(Cycles cycles) const {
        const long double steps = static_cast<long double>(cycles.value) / cycles_per_step();
        return origin +
               sc_core::sc_time::from_value(static_cast<std::uint64_t>(std::llround(steps)));
    }
    /// The time left until this cycle, unless the NPU is reset before; with a clock, the thread
    /// waits for its edges here.
    sc_core::sc_time until(Cycles cycles, std::uint64_t life) const {
        if (life != lives) {
            return sc_core::SC_ZERO_TIME;
        }
        if (is_clocked()) {
            while (Cycles(edges) < cycles && life == lives) {
                sc_core::wait(owner.clock->posedge_event());
            }
            return sc_core::SC_ZERO_TIME;
        }
        const sc_core::sc_time end = time_of(cycles);
        return end > sc_core::sc_time_stamp() ? end - sc_core::sc_time_stamp()
                                              : sc_core::SC_ZERO_TIME;
    }
    Cycles cycles_of(const sc_core::sc_time& time) const {
        return Cycles(static_cast<std::uint64_t>(
            std::ceil(static_cast<long double>(time.value()) * cycles_per_step() - 0.5L)));
    }

    // --- Memory of the platform ---

    bool has_second_port() const { return owner.sram.size() > 0; }

    void access(int port, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
        if (port > 0 && !has_second_port()) {
            payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
            return;
        }
        const CurrentKernel here(platform);
        tlm::tlm_generic_payload copy;  // without extensions, which are the model's
        copy_request(payload, copy);
        sc_core::sc_time answer = sc_core::SC_ZERO_TIME;
        try {
            port == 0 ? owner.dram->b_transport(copy, answer)
                      : owner.sram->b_transport(copy, answer);
            payload.set_response_status(copy.get_response_status());
        } catch (const sc_core::sc_report& report) {
            payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
            trouble = fmt::format("memory of the platform: {}: {}", report.get_msg_type(),
                                  report.get_msg());
        }
        delay += sc_core::sc_time::from_value(cycles_of(answer).value * 1000);
    }

    unsigned debug(int port, tlm::tlm_generic_payload& payload) override {
        if (port > 0 && !has_second_port()) {
            return 0;
        }
        const CurrentKernel here(platform);
        tlm::tlm_generic_payload copy;
        copy_request(payload, copy);
        return port == 0 ? owner.dram->transport_dbg(copy) : owner.sram->transport_dbg(copy);
    }

    void begin(int port, tlm::tlm_generic_payload& payload) override {
        memory.begin(port, payload);
    }

    /// Runs the NPU up to this cycle, with the memory's answers and requests in it.
    void go_on() {
        do {
            npu->run_to(cycle());
            memory.send();
        } while (memory.hand_in(
            [this](tlm::tlm_generic_payload& payload) { npu->answer_memory(payload); }));
        trouble += memory.take_trouble();
    }

    static void copy_request(const tlm::tlm_generic_payload& from, tlm::tlm_generic_payload& to) {
        to.set_command(from.get_command());
        to.set_address(from.get_address());
        to.set_data_ptr(from.get_data_ptr());
        to.set_data_length(from.get_data_length());
        to.set_streaming_width(from.get_streaming_width());
    }

    // --- Registers: requests of the platform's threads, served by the method ---

    struct Request {
        bool write = false;
        std::uint32_t address = 0;
        std::uint32_t value = 0;
        Cycles end{};            ///< of a write on the bus
        std::uint64_t life = 0;  ///< for which it is
        bool begun = false;
        bool done = false;
        tlm::tlm_response_status response = tlm::TLM_OK_RESPONSE;

        bool is_good() const { return response == tlm::TLM_OK_RESPONSE; }
    };

    void serve() {
        while (!requests.empty()) {
            Request& request = *requests.front();
            try {
                if (request.write) {
                    request.end = cycle() + npu->post_write(request.address, request.value);
                } else if (!request.begun) {
                    npu->begin_read(request.address);
                    request.begun = true;
                    npu->run_to(cycle());
                }
            } catch (const ConfigError&) {
                request.response = tlm::TLM_ADDRESS_ERROR_RESPONSE;
            }
            if (!request.write && request.is_good()) {
                const std::optional<std::uint32_t> answer = npu->answer();
                if (!answer) {
                    return;
                }
                request.value = *answer;
            }
            end_request();
        }
    }
    void end_request() {
        Request& request = *requests.front();
        request.done = true;
        requests.pop_front();
        served.notify(sc_core::SC_ZERO_TIME);
    }
    /// The NPU for which they are no longer exists.
    void fail_requests() {
        while (!requests.empty() && requests.front()->life < lives) {
            requests.front()->response = tlm::TLM_GENERIC_ERROR_RESPONSE;
            end_request();
        }
    }

    // --- Reports ---

    void tell() {
        const Diagnostics& all = npu->findings();
        while (told < all.size()) {
            const Diagnostic& finding = all[told++];
            if (owner.on_finding) {
                owner.on_finding(diagnostic_json(finding).dump());
            } else if (finding.severity == Severity::Error) {
                SC_REPORT_WARNING("npuscope", finding.sentence.c_str());
            }
        }
        if (!trouble.empty()) {
            const std::string text = std::exchange(trouble, {});
            SC_REPORT_WARNING("npuscope", text.c_str());
        }
    }

    Device& owner;
    SystemConfig system;
    sc_core::sc_event kick;
    MemoryRequests memory;  ///< where each burst is a separate transaction
    sc_core::sc_simcontext* platform = sc_core::sc_get_curr_simcontext();
    std::unique_ptr<StandaloneDevice> npu;
    sc_core::sc_time origin;  ///< of the cycles
    std::uint64_t lives = 0;  ///< power-ups, the one at the beginning included
    bool is_going_on = false;
    bool reset_asked = false;  ///< where it could not be done at once
    std::uint64_t edges = 0;
    sc_core::sc_time last_edge;
    sc_core::sc_time period;  ///< of the clock, from its last two edges
    std::size_t told = 0;
    std::string trouble;
    std::deque<std::shared_ptr<Request>> requests;  ///< served also if the thread is killed
    sc_core::sc_event served;
};

Device::Device(const sc_core::sc_module_name& name, const Setup& setup)
    : sc_core::sc_module(name),
      csb("csb"),
      dram("dram"),
      sram("sram"),
      interrupt("interrupt"),
      clock("clock"),
      inside_(std::make_unique<Inside>(*this, read_setup(setup), setup.non_blocking)) {
    dram.register_nb_transport_bw(this, &Device::take_phase);
    sram.register_nb_transport_bw(this, &Device::take_phase);
    csb.register_b_transport(this, &Device::access_register);
    sc_core::sc_spawn_options options;
    options.spawn_method();
    sc_core::sc_spawn([this] { go_on(); }, sc_core::sc_gen_unique_name("go_on"), &options);
}

Device::~Device() = default;

void Device::start_of_simulation() {
    if (inside_->is_clocked()) {
        spawn_method_at(clock->posedge_event(), sc_core::sc_gen_unique_name("edges"),
                        [this] { inside_->count_edge(); });
    }
}

void Device::go_on() {
    Inside& in = *inside_;
    if (in.reset_asked) {
        in.make();
    }
    in.is_going_on = true;
    try {
        in.go_on();
        in.serve();
        in.go_on();
    } catch (const ConfigError& error) {
        SC_REPORT_ERROR("npuscope", error.what());
    }
    if (interrupt->read() != in.npu->interrupt()) {
        interrupt->write(in.npu->interrupt());
    }
    in.tell();
    in.is_going_on = false;
    const std::optional<Cycles> next = in.npu->next_activity();
    if (next && !in.is_clocked()) {
        const sc_core::sc_time at = in.time_of(*next);
        const sc_core::sc_time& now = sc_core::sc_time_stamp();
        sc_core::next_trigger(at > now ? at - now : sc_core::SC_ZERO_TIME, in.kick);
    } else {
        sc_core::next_trigger(in.kick);
    }
}

tlm::tlm_sync_enum Device::take_phase(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                      sc_core::sc_time& delay) {
    return inside_->memory.take_phase(payload, phase, delay);
}

void Device::access_register(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    Inside& in = *inside_;
    if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) {
        payload.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
        return;
    }
    if (payload.get_data_length() != 4 || payload.get_streaming_width() < 4) {
        payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
        return;
    }
    if (payload.get_address() % 4 != 0 || payload.get_address() > 0xffff'fffcU) {
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    if (payload.get_data_ptr() == nullptr) {
        payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
        return;
    }
    if (payload.get_byte_enable_ptr() != nullptr) {
        payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
        return;
    }
    if (delay > sc_core::SC_ZERO_TIME) {
        sc_core::wait(delay);
        delay = sc_core::SC_ZERO_TIME;
    }
    const auto shared = std::make_shared<Inside::Request>();
    Inside::Request& request = *shared;
    request.write = payload.is_write();
    request.address = static_cast<std::uint32_t>(payload.get_address());
    if (payload.is_write()) {
        std::memcpy(&request.value, payload.get_data_ptr(), sizeof request.value);
    }
    request.life = in.lives + (in.reset_asked ? 1 : 0);
    in.requests.push_back(shared);
    in.kick.notify(sc_core::SC_ZERO_TIME);
    while (!request.done) {
        sc_core::wait(in.served);
    }
    payload.set_response_status(request.response);
    if (!request.is_good()) {
        return;
    }
    if (payload.is_write()) {
        delay += in.until(request.end, request.life);
    } else {
        std::memcpy(payload.get_data_ptr(), &request.value, sizeof request.value);
    }
}

void Device::reset() {
    Inside& in = *inside_;
    const CallingProcess caller = calling_process();
    if (caller == CallingProcess::Thread) {
        run_in_method([&in] { in.make(); });
    } else if (caller == CallingProcess::None && !in.is_going_on &&
               !StandaloneDevice::is_running()) {
        in.make();
    } else {
        in.reset_asked = true;
    }
    in.kick.notify(sc_core::SC_ZERO_TIME);
}

std::uint64_t Device::cycles() const { return inside_->cycle().value; }

std::string Device::result() const { return json_report(inside_->npu->result()); }

}  // namespace npuscope
