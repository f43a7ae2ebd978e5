// SPDX-License-Identifier: Apache-2.0
// Drives clock and reset of bench.sv as built by Verilator's --sc: a SystemC module.
#include <memory>
#include <systemc>

#include "Vbench.h"
#include "verilated.h"

int sc_main(int argc, char** argv) {
    Verilated::commandArgs(argc, argv);
    sc_core::sc_clock clock("clock", 1, sc_core::SC_NS);
    sc_core::sc_signal<bool> reset_n("reset_n");
    sc_core::sc_signal<bool> done("done");
    const auto bench = std::make_unique<Vbench>("bench");
    bench->clk(clock);
    bench->rst_n(reset_n);
    bench->done(done);
    reset_n = false;
    sc_core::sc_start(4, sc_core::SC_NS);
    reset_n = true;
    while (!done && !Verilated::gotFinish()) {
        sc_core::sc_start(1000, sc_core::SC_NS);
    }
    bench->final();
    return done ? 0 : 1;
}
