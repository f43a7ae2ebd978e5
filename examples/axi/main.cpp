// SPDX-License-Identifier: Apache-2.0
// Drives clock and reset of bench.sv as built by Verilator's --cc. With +resets=COUNT the program
// is interrupted that many times, with requests in flight, before it may finish; if the memory of
// this process grows with them, the exit code is 1.
#include <malloc.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>

#include "Vbench.h"
#include "verilated.h"

extern "C" int npuscope_pins_open(int npu);

namespace {

class Bench {
 public:
    Bench(int argc, char** argv) {
        context_->commandArgs(argc, argv);
        bench_ = std::make_unique<Vbench>(context_.get());
    }
    ~Bench() { bench_->final(); }
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    /// Runs cycles of the clock, with reset or without; fewer if the program ends first.
    void run(std::uint64_t cycles, bool reset) {
        for (std::uint64_t half = 0; half < 2 * cycles && goes_on(); ++half) {
            bench_->clk = half % 2 != 0;
            bench_->rst_n = !reset;
            bench_->eval();
            context_->timeInc(1);
        }
    }
    bool goes_on() const { return !bench_->done && !context_->gotFinish(); }
    bool done() const { return bench_->done; }
    /// The number after NAME= on the command line; 0 without it.
    std::uint64_t number(const std::string& name) const {
        const std::string text = context_->commandArgsPlusMatch((name + "=").c_str());
        return text.empty() ? 0 : std::strtoull(text.c_str() + name.size() + 2, nullptr, 10);
    }

 private:
    const std::unique_ptr<VerilatedContext> context_ = std::make_unique<VerilatedContext>();
    std::unique_ptr<Vbench> bench_;
};

/// Bytes that this process has allocated and not freed.
std::uint64_t allocated() {
    const auto all = mallinfo2();
    return all.uordblks + all.hblkhd;
}

/// Resets `resets` times, each after 1 to `most` cycles; returns whether memory stays the same.
bool break_off(Bench& bench, std::uint64_t resets, std::uint64_t most) {
    constexpr std::uint64_t most_growth = 8 * 1024;  // bytes, during the second half of the resets
    std::minstd_rand chance(1);
    std::uint64_t in_flight = 0;
    std::uint64_t before = 0;
    for (std::uint64_t i = 0; i < resets && bench.goes_on(); ++i) {
        before = i == resets / 2 ? allocated() : before;
        bench.run(1 + chance() % most, false);
        in_flight += static_cast<std::uint64_t>(npuscope_pins_open(0));
        bench.run(4, true);
    }
    const std::uint64_t after = allocated();
    const std::uint64_t growth = after > before ? after - before : 0;
    std::printf("%llu resets with %llu requests in flight, %llu bytes of growth\n",
                static_cast<unsigned long long>(resets), static_cast<unsigned long long>(in_flight),
                static_cast<unsigned long long>(growth));
    if (in_flight == 0) {
        std::printf("no reset has found a request in flight: try another +reset_after\n");
    }
    return bench.goes_on() && in_flight > 0 && growth <= most_growth;
}

}  // namespace

int main(int argc, char** argv) {
    Bench bench(argc, argv);
    bench.run(4, true);
    const std::uint64_t resets = bench.number("resets");
    if (resets != 0 && !break_off(bench, resets, bench.number("reset_after"))) {
        return 1;
    }
    while (bench.goes_on()) {
        bench.run(1000, false);
    }
    return bench.done() ? 0 : 1;
}
