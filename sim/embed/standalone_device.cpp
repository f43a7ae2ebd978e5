// SPDX-License-Identifier: Apache-2.0
#include "sim/embed/standalone_device.h"

#include <fmt/format.h>
#include <tlm_utils/peq_with_get.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <algorithm>
#include <systemc>
#include <utility>
#include <vector>

#include "models/base/error.h"
#include "models/link/clock.h"
#include "models/npu/machine.h"
#include "sim/embed/current_kernel.h"
#include "sim/run/attribution.h"
#include "sim/run/driven_machine.h"
#include "sim/run/kernel_scope.h"
#include "sim/run/machine_counts.h"

namespace npuscope {
namespace {

/// A kernel separate from those of other devices and of the program; the current one from now on.
class Kernel {
 public:
    Kernel() : own_(new sc_core::sc_simcontext) {
        sc_core::sc_curr_simcontext = own_;
        quieten_kernel();
    }
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;
    ~Kernel() { delete own_; }
    sc_core::sc_simcontext* context() const { return own_; }

 private:
    sc_core::sc_simcontext* own_;
};

/// Performs the driver's reads: only a thread of the kernel can wait for their answers.
class Player : public Unit {
 public:
    Player(const sc_core::sc_module_name& name, Machine& machine)
        : Unit(name), registers_(*machine.registers()) {
        bus_.bind(registers_.bus.socket);
        repeat("reads", [this](Activity& activity) { read(activity); });
        spawn_method_at(registers_.interrupts.raised(), "interrupts", [this] { meet_interrupt(); });
    }

    tlm::tlm_response_status access(tlm::tlm_command command, std::uint32_t address,
                                    std::uint32_t& value, sc_core::sc_time& delay) {
        return access_register(bus_, command, address, value, delay);
    }

    void ask(std::uint32_t address) {
        asked_ = address;
        answered_ = false;
        question_.notify(sc_core::SC_ZERO_TIME);
    }
    bool answered() const { return answered_; }
    bool good() const { return good_; }
    std::uint32_t answer() const { return answer_; }

    bool line() const { return registers_.interrupts.controller().line(); }
    /// Posted writes may still change the line, or trigger something else.
    bool writes_in_flight() const { return !registers_.bus.untriggered(); }
    /// The kernel pauses when the line rises.
    void pause_at_interrupts(bool pause) { pauses_ = pause; }

 private:
    void read(Activity& activity) {
        activity.wait_for(question_, WaitKind::Idle, "a read");
        sc_core::sc_time delay;
        good_ = access(tlm::TLM_READ_COMMAND, asked_, answer_, delay) == tlm::TLM_OK_RESPONSE;
        activity.spend(to_cycles(delay));
        answered_ = true;
        sc_core::sc_pause();
    }
    void meet_interrupt() {
        if (pauses_ && line()) {
            sc_core::sc_pause();
        }
    }

    Machine::Registers registers_;
    tlm_utils::simple_initiator_socket<Player> bus_{"bus"};
    sc_core::sc_event question_;
    std::uint32_t asked_ = 0;
    std::uint32_t answer_ = 0;
    bool answered_ = true;
    bool good_ = true;
    bool pauses_ = false;
};

/// Replaces the memory outside while a device ends: requests of its units are not passed on.
class Nowhere : public ForeignMemory {
 public:
    void access(int /*port*/, tlm::tlm_generic_payload& payload,
                sc_core::sc_time& /*delay*/) override {
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    unsigned debug(int /*port*/, tlm::tlm_generic_payload& payload) override {
        return payload.get_data_length();
    }
    void begin(int /*port*/, tlm::tlm_generic_payload& /*payload*/) override {}
};

ConfigError no_register(std::uint32_t address) {
    return ConfigError(fmt::format("no register at {}", to_hex(address)),
                       "`npuscope list registers` prints the map");
}

/// Whether a device's kernel runs in this thread.
thread_local bool kernel_runs = false;

/// Advances the present device's kernel.
void run_kernel(Cycles most) {
    struct Run {
        Run() { kernel_runs = true; }
        Run(const Run&) = delete;
        Run& operator=(const Run&) = delete;
        ~Run() { kernel_runs = false; }
    };
    const Run run;
    npuscope::advance(to_time(most));
}

/// Cycles from now to the last one.
Cycles left_of_clock() {
    const Cycles at = npuscope::now();
    return StandaloneDevice::last_cycle > at ? StandaloneDevice::last_cycle - at : Cycles(0);
}

bool starts_operation(const RegisterRow& row, std::uint32_t value) {
    return (row.name == "D_OP_ENABLE" || row.name.starts_with("CFG_LAUNCH")) && (value & 1U) != 0;
}

}  // namespace

struct StandaloneDevice::Simulation {
    Simulation(const SystemConfig& system, ByteStore* store)
        : memory("memory", memory_beside(system.memory, system.clock()), log),
          machine(system.family->build(system.npu, log)) {
        if (!machine->registers()) {
            throw ConfigError(fmt::format("{} has no registers", system.npu_name()),
                              "use an NPU that runs register programs");
        }
        player = std::make_unique<Player>("player", *machine);
        if (store != nullptr) {
            memory.back_by(*store);
        }
        machine->bind_memory(memory);
        spawn_method_at(end_threads, "end_of_threads", [this] { kill_threads(*player, *machine); });
        spawn_method_at(answers.get_event(), "memory_answers", [this] {
            while (tlm::tlm_generic_payload* payload = answers.get_next_transaction()) {
                memory.answer(*payload);
            }
        });
    }
    ~Simulation() {
        if (leads_outside) {
            memory.lead_to(nowhere);
        }
        end_threads.notify(sc_core::SC_ZERO_TIME);
        run_kernel(Cycles(1));
    }
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    /// Advances time, and reports what failed.
    void run(Cycles most) {
        run_kernel(most);
        if (const std::exception_ptr failure = failure_of(*player, *machine)) {
            std::rethrow_exception(failure);
        }
    }
    /// A write to the register of `row`; returns how far the bus is then ahead of now.
    Cycles post(const RegisterRow& row, std::uint32_t address, std::uint32_t value) {
        sc_core::sc_time delay = to_time(ahead);
        player->access(tlm::TLM_WRITE_COMMAND, address, value, delay);
        if (starts_operation(row, value) && !first_op_enable) {
            first_op_enable = npuscope::now() + to_cycles(delay);
        }
        return to_cycles(delay);
    }
    /// Advances by the time that posted writes have taken on the bus.
    void catch_up() {
        if (const Cycles behind = std::exchange(ahead, Cycles(0)); behind > Cycles(0)) {
            pass(behind);
        }
    }
    /// Advances by all of the cycles, whether or not something happens in them.
    void pass(Cycles cycles) {
        const Cycles end = npuscope::now() + cycles;
        time_is_up.cancel();
        time_is_up.notify(to_time(cycles));
        while (npuscope::now() < end) {
            run(end - npuscope::now());
        }
    }

    /// Runs the next delta cycle of the present time, if there is one; otherwise the kernel would
    /// warn, which takes long.
    void run_delta() {
        if (sc_core::sc_pending_activity_at_current_time()) {
            run(Cycles(0));
        }
    }
    /// Runs all that is due now.
    void run_present() {
        while (sc_core::sc_pending_activity_at_current_time()) {
            run(Cycles(0));
        }
    }
    /// Runs what is due within these cycles; otherwise all of them pass, as the
    /// kernel would not advance while its next event is beyond the limit.
    void run_or_pass(Cycles most) {
        sc_core::sc_time_to_pending_activity() > to_time(most) ? pass(most) : run(most);
    }

    Kernel kernel;
    DiagnosticLog log;
    Nowhere nowhere;
    bool leads_outside = false;
    Memory memory;
    std::unique_ptr<Machine> machine;
    std::unique_ptr<Player> player;
    Cycles ahead;
    std::optional<Cycles> first_op_enable;
    sc_core::sc_event end_threads{"end_threads"};
    sc_core::sc_event time_is_up{"time_is_up"};
    tlm_utils::peq_with_get<tlm::tlm_generic_payload> answers{"answers"};
};

StandaloneDevice::StandaloneDevice(SystemConfig system, ByteStore* store)
    : system_(std::move(system)) {
    const CurrentKernel before;
    simulation_ = std::make_unique<Simulation>(system_, store);
    simulation_->run(Cycles(0));
}

StandaloneDevice::StandaloneDevice(SystemConfig system, ForeignMemory& outside)
    : StandaloneDevice(std::move(system)) {
    simulation_->memory.lead_to(outside);
    simulation_->leads_outside = true;
}

StandaloneDevice::~StandaloneDevice() {
    const CurrentKernel here(simulation_->kernel.context());
    simulation_.reset();
}

const RegisterRow& StandaloneDevice::row_at(std::uint32_t address) const {
    const std::optional<RegisterPlace> place =
        find_place(nvdla_register_blocks(simulation_->machine->registers()->map), address);
    if (!place) {
        throw no_register(address);
    }
    return *place->row;
}

Cycles StandaloneDevice::post_write(std::uint32_t address, std::uint32_t value) {
    const CurrentKernel here(simulation_->kernel.context());
    return simulation_->post(row_at(address), address, value);
}

void StandaloneDevice::write_register(std::uint32_t address, std::uint32_t value) {
    const CurrentKernel here(simulation_->kernel.context());
    const RegisterRow& row = row_at(address);
    simulation_->ahead = simulation_->post(row, address, value);
    if (starts_operation(row, value)) {
        simulation_->catch_up();
    }
}

std::uint32_t StandaloneDevice::read_register(std::uint32_t address) {
    const CurrentKernel here(simulation_->kernel.context());
    row_at(address);
    simulation_->catch_up();
    Player& player = *simulation_->player;
    player.ask(address);
    while (!player.answered()) {
        const Cycles before = npuscope::now();
        simulation_->run(Cycles(1'000'000));
        NPU_CHECK(player.answered() || npuscope::now() > before, "a read is answered");
    }
    if (!player.good()) {
        throw no_register(address);
    }
    return player.answer();
}

void StandaloneDevice::write_memory(Address address, std::span<const std::uint8_t> bytes) {
    const CurrentKernel here(simulation_->kernel.context());
    simulation_->catch_up();
    simulation_->memory.load(address, bytes);
}

void StandaloneDevice::fill_memory(const ByteRun& run, std::uint8_t value) {
    const CurrentKernel here(simulation_->kernel.context());
    simulation_->catch_up();
    simulation_->memory.zero(run.address, run.bytes);  // also if it refuses the range
    if (value != 0) {
        in_pieces(
            run.address, run.bytes.value, [value](Address) { return value; },
            [this](Address at, std::span<const std::uint8_t> bytes) {
                simulation_->memory.load(at, bytes);
            });
    }
}

void StandaloneDevice::read_memory(Address address, std::span<std::uint8_t> bytes) {
    const CurrentKernel here(simulation_->kernel.context());
    simulation_->catch_up();
    simulation_->memory.read(address, bytes);
}

bool StandaloneDevice::is_running() { return kernel_runs; }

Cycles StandaloneDevice::cycles_left() {
    const CurrentKernel here(simulation_->kernel.context());
    simulation_->catch_up();
    return left_of_clock();
}

void StandaloneDevice::advance(Cycles cycles) {
    const CurrentKernel here(simulation_->kernel.context());
    simulation_->catch_up();
    NPU_CHECK(cycles <= left_of_clock(), "the clock can count the cycles");
    simulation_->pass(cycles);
}

DeviceStop StandaloneDevice::run_until_interrupt(Cycles most) {
    const CurrentKernel here(simulation_->kernel.context());
    simulation_->catch_up();
    Player& player = *simulation_->player;
    const Cycles end = npuscope::now() + std::min(most, left_of_clock());
    simulation_->run_present();
    while (player.writes_in_flight() && npuscope::now() < end) {
        simulation_->pass(Cycles(1));
        simulation_->run_present();
    }
    player.pause_at_interrupts(true);
    while (!player.line() && npuscope::now() < end && sc_core::sc_pending_activity()) {
        simulation_->run_or_pass(end - npuscope::now());
    }
    player.pause_at_interrupts(false);
    return player.line()                    ? DeviceStop::Interrupt
           : sc_core::sc_pending_activity() ? DeviceStop::Limit
                                            : DeviceStop::Idle;
}

void StandaloneDevice::run_to(Cycles cycle) {
    const CurrentKernel here(simulation_->kernel.context());
    if (cycle > npuscope::now()) {
        simulation_->pass(cycle - npuscope::now());
    }
    simulation_->run_delta();
}

std::optional<Cycles> StandaloneDevice::next_activity() {
    const CurrentKernel here(simulation_->kernel.context());
    if (!sc_core::sc_pending_activity()) {
        return std::nullopt;
    }
    return to_cycles(sc_core::sc_time_stamp() + sc_core::sc_time_to_pending_activity());
}

void StandaloneDevice::begin_read(std::uint32_t address) {
    const CurrentKernel here(simulation_->kernel.context());
    row_at(address);
    simulation_->player->ask(address);
}

std::optional<std::uint32_t> StandaloneDevice::answer() const {
    const Player& player = *simulation_->player;
    return player.answered() ? std::optional(player.answer()) : std::nullopt;
}

void StandaloneDevice::answer_memory(tlm::tlm_generic_payload& payload) {
    const CurrentKernel here(simulation_->kernel.context());
    simulation_->memory.answer(payload);
}

void StandaloneDevice::answer_memory_after(tlm::tlm_generic_payload& payload, Cycles cycles) {
    const CurrentKernel here(simulation_->kernel.context());
    simulation_->answers.notify(payload, to_time(cycles));
}

const Diagnostics& StandaloneDevice::findings() const { return simulation_->log.findings(); }

DeviceStop StandaloneDevice::run_until_idle(Cycles most) {
    const CurrentKernel here(simulation_->kernel.context());
    simulation_->catch_up();
    const Cycles end = npuscope::now() + std::min(most, left_of_clock());
    while (npuscope::now() < end && sc_core::sc_pending_activity()) {
        simulation_->run_or_pass(end - npuscope::now());
    }
    return sc_core::sc_pending_activity() ? DeviceStop::Limit : DeviceStop::Idle;
}

bool StandaloneDevice::interrupt() {
    const CurrentKernel here(simulation_->kernel.context());
    simulation_->catch_up();
    if (simulation_->player->writes_in_flight()) {
        simulation_->run_present();
    }
    return simulation_->player->line();
}

Cycles StandaloneDevice::now() {
    const CurrentKernel here(simulation_->kernel.context());
    simulation_->catch_up();
    return npuscope::now();
}

Result StandaloneDevice::result() {
    const CurrentKernel here(simulation_->kernel.context());
    simulation_->catch_up();
    Result result;
    Machine& machine = *simulation_->machine;
    const Cycles begin = simulation_->first_op_enable.value_or(Cycles(0));
    const Cycles end = machine.registers()->interrupts.last_raised();
    result.first_op_enable = begin;
    result.cycles = simulation_->first_op_enable && end > begin ? end - begin : Cycles(0);
    result.simulated_cycles = npuscope::now();
    result.operations = machine.operations();
    const std::vector<CauseCycles> own =
        own_cycles(result.operations, {{begin, begin + result.cycles}});
    for (std::size_t i = 0; i < own.size(); ++i) {
        result.operations[i].own = own[i];
    }
    add_operation_counts(machine, result.operations);
    count_machine(machine, simulation_->memory, result);
    result.findings = simulation_->log.findings();
    result.program = "registers";
    result.config = system_;
    return result;
}

}  // namespace npuscope
