// SPDX-License-Identifier: Apache-2.0
// Drives clock and reset of bench.sv as Verilator's --cc gives it.
#include <memory>

#include "Vbench.h"
#include "verilated.h"

int main(int argc, char** argv) {
    const auto context = std::make_unique<VerilatedContext>();
    context->commandArgs(argc, argv);
    const auto bench = std::make_unique<Vbench>(context.get());
    for (unsigned half = 0; !bench->done && !context->gotFinish(); ++half) {
        bench->clk = half % 2;
        bench->rst_n = half > 8;
        bench->eval();
        context->timeInc(1);
    }
    bench->final();
    return bench->done ? 0 : 1;
}
