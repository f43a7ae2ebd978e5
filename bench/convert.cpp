// SPDX-License-Identifier: Apache-2.0
// `convert`: conversions between layouts on one core, against memcpy of the same bytes in the same
// run. Best of several; the ratio is what counts, both numbers move with the machine.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include "bench/stopwatch.h"
#include "models/data/layout_catalog.h"
#include "models/data/relayout.h"
#include "sim/report/text_table.h"

namespace npuscope::bench {
namespace {

/// Two sentences for elements of a size; the code is that of the target's or the source's scalars.
struct Relayouted {
    std::string_view name;
    std::uint32_t element;
    std::string_view from;
    std::string_view to;
    double most;  ///< times memcpy that are good enough
    ElementCode from_code = ElementCode::Plain;
    ElementCode to_code = ElementCode::Plain;
};

constexpr std::array conversions{
    Relayouted{"fp32 elempack 1 -> 4", 4, "C H W", "C/4 H W C%4", 1.3},
    Relayouted{"fp32 elempack 4 -> 1", 4, "C/4 H W C%4", "C H W", 1.3},
    Relayouted{"fp32 elempack 1 -> 8", 4, "C H W", "C/8 H W C%8", 1.3},
    Relayouted{"fp32 elempack 4 -> 8", 4, "C/4 H W C%4", "C/8 H W C%8", 1.3},
    Relayouted{"fp32 feature cube, 32-byte atom", 4, "C H W", "C/8 H W C%8", 1.3},
    Relayouted{"fp32 NHWC", 4, "C H W", "H W C", 1.3},
    Relayouted{"fp32 NHWC -> NCHW", 4, "H W C", "C H W", 1.3},
    Relayouted{"fp32 16W1C", 4, "C H W", "C H W/16 W%16", 1.3},
    Relayouted{"fp32 1W16C", 4, "C H W", "C/16 H W C%16", 1.3},
    Relayouted{"int8 elempack 1 -> 8", 1, "C H W", "C/8 H W C%8", 2},
    Relayouted{"int8 elempack 8 -> 1", 1, "C/8 H W C%8", "C H W", 2},
    Relayouted{"int8 elempack 1 -> 4", 1, "C H W", "C/4 H W C%4", 2},
    Relayouted{"int8 elempack 1 -> 16", 1, "C H W", "C/16 H W C%16", 2},
    Relayouted{"int8 4W4C8B", 1, "C H W", "H W/4 C/4 W%4 C%4", 2},
    Relayouted{"int8 1W16C8B", 1, "C H W", "C/16 H W C%16", 2},
    Relayouted{"int8 16W1C8B", 1, "C H W", "C H W/16 W%16", 2},
    Relayouted{"int8 feature, 32-byte atom", 1, "C H W", "C/32 H W C%32", 2},
    Relayouted{"int8 feature, 8-byte atom", 1, "C H W", "C/8 H W C%8", 2},
    Relayouted{"int8 feature 32 -> NCHW", 1, "C/32 H W C%32", "C H W", 2},
    Relayouted{"int8 NHWC", 1, "C H W", "H W C", 2},
    Relayouted{"int16 1W16C8BHL", 2, "C H W", "C/16 H W C%16", 3, ElementCode::Plain,
               ElementCode::HighLow},
    Relayouted{"int16 16W1C8BHL", 2, "C H W", "C H W/16 W%16", 3, ElementCode::Plain,
               ElementCode::HighLow},
    Relayouted{"int16 4W4C8BHL", 2, "C H W", "H W/4 C/4 W%4 C%4", 3, ElementCode::Plain,
               ElementCode::HighLow},
    Relayouted{"int16 1W16C8BHL -> NCHW", 2, "C/16 H W C%16", "C H W", 3, ElementCode::HighLow,
               ElementCode::Plain},
};

constexpr std::size_t line = 64;

/// Bytes at a cache line's start, touched.
class Buffer {
 public:
    explicit Buffer(std::size_t bytes) : all_(bytes + line) {
        for (std::size_t i = 0; i < all_.size(); ++i) {
            all_[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
        }
        bytes_ = {
            all_.data() + (line - reinterpret_cast<std::uintptr_t>(all_.data()) % line) % line,
            bytes};
    }
    std::span<std::uint8_t> bytes() { return bytes_; }

 private:
    std::vector<std::uint8_t> all_;
    std::span<std::uint8_t> bytes_;
};

struct Measured {
    double seconds = 0;
    double memcpy_seconds = 0;
    std::uint64_t bytes = 0;
};

Measured measure(const Relayouted& conversion, const LogicalShape& shape, unsigned times) {
    const Layout from = bind(parse_sentence(conversion.from), shape,
                             {.element = conversion.element, .code = conversion.from_code});
    const Layout to = bind(parse_sentence(conversion.to), shape,
                           {.element = conversion.element, .code = conversion.to_code});
    Buffer source(from.bytes), target(to.bytes), copy_from(from.bytes), copy_to(from.bytes);
    const std::vector<double> best = best_of_each(
        times,
        {[&] { relayout(from, source.bytes(), to, target.bytes()); },
         [&] { std::memcpy(copy_to.bytes().data(), copy_from.bytes().data(), from.bytes); }});
    return {best[0], best[1], from.bytes};
}

int run(unsigned times, std::string_view only) {
    const LogicalShape shape{{{'C', 64}, {'H', 256}, {'W', 256}}};
    TextTable table({{"conversion of 64x256x256", Align::Left},
                     {"MB", Align::Right},
                     {"ms", Align::Right},
                     {"GB/s", Align::Right},
                     {"memcpy GB/s", Align::Right},
                     {"/ memcpy", Align::Right},
                     {"at most", Align::Right}});
    bool good = true;
    for (const Relayouted& conversion : conversions) {
        if (conversion.name.find(only) == std::string_view::npos) {
            continue;
        }
        const Measured found = measure(conversion, shape, times);
        const double ratio = found.seconds / found.memcpy_seconds;
        good = good && ratio <= conversion.most;
        const auto bytes = static_cast<double>(found.bytes);
        table.add_row({std::string(conversion.name), fmt::format("{:.1f}", bytes * 1e-6),
                       fmt::format("{:.3f}", found.seconds * 1e3),
                       fmt::format("{:.2f}", bytes / found.seconds * 1e-9),
                       fmt::format("{:.2f}", bytes / found.memcpy_seconds * 1e-9),
                       fmt::format("{:.2f}", ratio), fmt::format("{:.1f}", conversion.most)});
    }
    std::cout << table.text();
    return good ? 0 : 1;
}

}  // namespace
}  // namespace npuscope::bench

int main(int argc, char** argv) {
    CLI::App app("Conversions between layouts against memcpy of the same bytes, on one core");
    unsigned times = 25;
    std::string only;
    app.add_option("--times", times, "runs, of which the best counts")->capture_default_str();
    app.add_option("--only", only, "conversions whose name contains this");
    CLI11_PARSE(app, argc, argv);
    return npuscope::bench::run(times, only);
}
