// SPDX-License-Identifier: Apache-2.0
// `doors`: register programs through every interface by which a program can embed an NPU. Bytes are
// those that the programs check; cycles are printed next to the command line's.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/bench_main.h"
#include "bench/stopwatch.h"
#include "include/npuscope/axi.h"
#include "include/npuscope/axi_memory.h"
#include "include/npuscope/axi_monitor.h"
#include "include/npuscope/device.h"
#include "models/base/error.h"
#include "sim/config/preset.h"
#include "sim/config/system_config.h"
#include "sim/program/read_program.h"
#include "sim/run/session.h"
#include "tests/support/c_door.h"
#include "tests/support/families.h"
#include "tests/support/platform.h"

namespace npuscope::bench {
namespace {

struct Arguments {
    std::string npu = "nv_small";
    std::string door = "c";
    unsigned seed = 0;
    bool json = false;
    std::vector<std::string> programs;
};

/// Outcome of a program at a door.
struct Passage {
    int checks = 0;
    int failed = 0;
    std::uint64_t cycles = 0;
    std::size_t findings = 0;
    double seconds = 0;     ///< of the simulation thread, including the bench's memory
    std::string trouble{};  ///< why it did not finish, or a protocol violation
};

/// Latency of the external memory, in cycles: fixed, or random if there is a seed.
struct Latency {
    std::uint64_t least;
    std::uint64_t most;
};

Latency latency_of(const Arguments& arguments, const SystemConfig& system) {
    const std::uint64_t fixed = system.memory.read_latency.value;
    return arguments.seed == 0 ? Latency{fixed, fixed} : Latency{1, 300};
}

void note_result(const nlohmann::json& result, Passage& passage) {
    passage.cycles = result["cycles"];
    passage.findings = result["findings"].size();
}

void note_player(const ProgramPlayer& player, Passage& passage) {
    passage.checks = player.checks;
    passage.failed = player.failed;
}

Passage pass_c(const Arguments& arguments, const SystemConfig& system, const Program& program,
               std::span<const RegisterBlock> blocks) {
    const bool timed = arguments.door == "c_timed";
    const Latency latency = latency_of(arguments, system);
    test::TimedCMemory memory(latency.least, latency.most, arguments.seed == 0 ? 0 : 50,
                              arguments.seed);
    const npuscope_timed_memory calls = memory.calls();
    npuscope_device* device = nullptr;
    test::good(timed ? npuscope_create_timed(arguments.npu.c_str(), nullptr, 0, &calls, &device)
                     : npuscope_create(arguments.npu.c_str(), nullptr, 0, nullptr, &device));
    Passage passage;
    const std::unique_ptr<DrivenDevice> door =
        timed ? std::make_unique<test::TimedCDoor>(device, memory)
              : std::make_unique<test::CDoor>(device);
    ProgramPlayer player(program, blocks, *door);
    try {
        player.play();
    } catch (const std::runtime_error& error) {
        passage.trouble = error.what();
    }
    note_player(player, passage);
    char* text = nullptr;
    test::good(npuscope_result(device, &text));
    note_result(nlohmann::json::parse(text), passage);
    npuscope_free(text);
    test::good(npuscope_destroy(device));
    return passage;
}

/// Returns at once with a delay, and supports debug transport.
struct QuickMemory : sc_core::sc_module {
    QuickMemory(const sc_core::sc_module_name& name, std::uint64_t cycles)
        : sc_core::sc_module(name), delay_(static_cast<double>(cycles), sc_core::SC_NS) {
        for (auto* socket : {&first, &second}) {
            socket->register_b_transport(this, &QuickMemory::transport);
            socket->register_transport_dbg(this, &QuickMemory::debug);
        }
    }
    void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        test::move_bytes(payload, bytes);
        delay += delay_;
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
    unsigned debug(tlm::tlm_generic_payload& payload) {
        test::move_bytes(payload, bytes);
        return payload.get_data_length();
    }
    tlm_utils::simple_target_socket<QuickMemory> first{"first"};
    tlm_utils::simple_target_socket<QuickMemory> second{"second"};
    test::MemoryBytes bytes;

 private:
    sc_core::sc_time delay_;
};

constexpr int bus_bits = 64;

/// AXI pins between a port of the NPU and a memory; `other`: at another port of the same memory.
struct Pins {
    Pins(sc_core::sc_clock& clock, const AxiMemory<bus_bits>::Setup& setup,
         const Pins* other = nullptr)
        : memory(sc_core::sc_gen_unique_name("memory"), setup,
                 other == nullptr ? nullptr : &other->memory) {
        const auto wire = [&](auto& module) {
            module.clock(clock);
            module.reset_n(reset_n);
            module.bind_wires(wires);
        };
        wire(axi);
        wire(monitor);
        wire(memory);
        reset_n.write(true);
        axi.back_door = [this](tlm::tlm_generic_payload& payload) {
            for (unsigned i = 0; i < payload.get_data_length(); ++i) {
                payload.get_data_ptr()[i] = memory.peek(payload.get_address() + i);
            }
            return payload.get_data_length();
        };
    }
    AxiWires<bus_bits> wires;
    sc_core::sc_signal<bool> reset_n;
    AxiMaster<bus_bits> axi{sc_core::sc_gen_unique_name("axi"),
                            {.most_beats = 16, .ids = 8, .in_flight = 256}};
    AxiMonitor<bus_bits> monitor{sc_core::sc_gen_unique_name("monitor")};
    AxiMemory<bus_bits> memory;
};

Passage pass_platform(const Arguments& arguments, const SystemConfig& system,
                      const Program& program, std::span<const RegisterBlock> blocks) {
    const bool fast = arguments.door == "tlm";
    const bool pins = arguments.door == "axi";
    const bool phases = arguments.door == "tlm_phases" || pins;
    const Latency latency = latency_of(arguments, system);
    std::vector<std::string> changes{"npu.clock=1 GHz"};
    if (!fast) {
        changes.emplace_back("npu.mcif.transactions=values");
    }
    Device npu("npu", {arguments.npu, changes, phases});
    std::optional<QuickMemory> quick;
    std::optional<test::PatientMemory> patient;
    std::optional<test::PatientMemory> second;
    sc_core::sc_clock clock("clock", 1, sc_core::SC_NS);
    std::optional<Pins> first_pins;
    std::optional<Pins> second_pins;
    std::optional<test::Driver> driver;
    if (pins) {
        const AxiMemory<bus_bits>::Setup setup{
            .seed = arguments.seed,
            .least_latency = static_cast<unsigned>(latency.least),
            .most_latency = static_cast<unsigned>(latency.most),
            .stall_percent = arguments.seed == 0 ? 0U : 30U,
            .reorders = arguments.seed != 0};
        first_pins.emplace(clock, setup);
        second_pins.emplace(clock, setup, &*first_pins);
        npu.dram.bind(first_pins->axi.socket);
        npu.sram.bind(second_pins->axi.socket);
        npu.clock(clock);
        driver.emplace("driver", program, blocks, test::ByteAccess(&first_pins->memory));
    } else if (fast) {
        quick.emplace("quick", latency.least + 1);
        npu.dram.bind(quick->first);
        npu.sram.bind(quick->second);
        driver.emplace("driver", program, blocks, quick->bytes);
    } else {
        const test::Behaviour behaviour{latency.least + 1, latency.most + 1, false, arguments.seed};
        patient.emplace("patient", phases, behaviour);
        second.emplace("second", phases, behaviour, &patient->bytes);
        npu.dram.bind(patient->socket);
        npu.sram.bind(second->socket);
        patient->offer_debug_transport();
        second->offer_debug_transport();
        driver.emplace("driver", program, blocks, patient->bytes);
    }
    driver->bus.bind(npu.csb);
    sc_core::sc_signal<bool> line;
    npu.interrupt(line);
    driver->interrupt(line);
    Passage passage;
    npu.on_finding = [](const std::string& /*json*/) {};
    for (auto* port : {&first_pins, &second_pins}) {
        if (*port) {
            (*port)->monitor.on_violation = [&](const std::string& text) {
                passage.trouble = text;
            };
        }
    }
    driver->when_done = [] { sc_core::sc_stop(); };
    const double patience = 60.0;  // seconds of the platform's time: 6e10 cycles
    sc_core::sc_start(sc_core::sc_time(patience, sc_core::SC_SEC));
    note_player(driver->player, passage);
    note_result(nlohmann::json::parse(npu.result()), passage);
    if (!driver->player.done) {
        passage.trouble = driver->failure.empty() ? "it does not come to its end" : driver->failure;
    } else if (patient && !patient->faults.empty()) {
        passage.trouble = patient->faults.front();
    }
    return passage;
}

void print(const std::string& name, const Passage& passage, const Result& alone, bool json) {
    if (json) {
        const nlohmann::json line{{"program", name},
                                  {"checks", passage.checks},
                                  {"failed", passage.failed},
                                  {"cycles", passage.cycles},
                                  {"cycles_of_command_line", alone.cycles.value},
                                  {"findings", passage.findings},
                                  {"findings_of_command_line", alone.findings.size()},
                                  {"seconds", passage.seconds},
                                  {"trouble", passage.trouble}};
        fmt::print("{}\n", line.dump());
        return;
    }
    fmt::print(
        "{}: {} of {} checks hold, {} cycles, {} by the command line, {} findings, {} by the "
        "command line{}\n",
        name, passage.checks - passage.failed, passage.checks, passage.cycles, alone.cycles.value,
        passage.findings, alone.findings.size(),
        passage.trouble.empty() ? "" : "; " + passage.trouble);
}

int run(int argc, char** argv) {
    Arguments arguments;
    CLI::App app("Register programs through another program's door to an NPU");
    app.add_option("programs", arguments.programs,
                   "One .cfg or .txn, or its folder; more than one for the doors of C")
        ->required();
    app.add_option("--npu", arguments.npu, "Preset")->capture_default_str();
    app.add_option("--door", arguments.door,
                   "c, c_timed (memory outside), tlm (fast), tlm_waits, tlm_phases or axi")
        ->check(CLI::IsMember({"c", "c_timed", "tlm", "tlm_waits", "tlm_phases", "axi"}))
        ->capture_default_str();
    app.add_option("--seed", arguments.seed,
                   "Latency and order of the memory outside by chance; 0: its own latency")
        ->capture_default_str();
    app.add_flag("--json", arguments.json, "A line of JSON for each program, for bench/every_door");
    CLI11_PARSE(app, argc, argv);

    const SystemConfig system = test::preset_system(configs_folder(), arguments.npu);
    const FamilyRegisters registers = system.family->registers(system.npu);
    const bool in_c = arguments.door.starts_with("c");
    if (!in_c && arguments.programs.size() > 1) {
        throw ConfigError("a platform plays one program", "name one, or a door of C");
    }
    bool good = true;
    for (const std::string& path : arguments.programs) {
        const Program program = read_program(path, RegisterNames(registers.blocks));
        const Result alone = run_program(program, system, {});
        const double begin = seconds_of_thread();
        Passage passage = in_c ? pass_c(arguments, system, program, registers.blocks)
                               : pass_platform(arguments, system, program, registers.blocks);
        passage.seconds = seconds_of_thread() - begin;
        print(program.name, passage, alone, arguments.json);
        good = good && passage.failed == 0 && passage.trouble.empty() &&
               (arguments.seed != 0 || arguments.door == "axi" ||
                passage.cycles == alone.cycles.value);
    }
    return good ? 0 : 1;
}

}  // namespace
}  // namespace npuscope::bench

int main(int argc, char** argv) {
    return npuscope::bench::bench_main(argc, argv, npuscope::bench::run);
}
