// SPDX-License-Identifier: Apache-2.0
// `convert`: conversions between layouts on one core, against memcpy of the same bytes in the same
// run. Best of several; the ratio is what counts, both numbers move with the machine.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "bench/stopwatch.h"
#include "models/data/layout_catalog.h"
#include "models/data/relayout.h"
#include "sim/convert/convert_files.h"
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

/// Float to fixed point and back on the way.
struct Quantised {
    std::string_view name;
    const char* from;
    const char* to;
    const char* type;
    const char* quantise;
    const char* dequantise;
};

constexpr double quantised_most = 3;

constexpr std::array quantisations{
    Quantised{"float -> int8 1W16C8B", "nchw", "1W16C8B", "int8", "scale=1.2,radix=5", ""},
    Quantised{"float -> int8 16W1C8B", "nchw", "16W1C8B", "int8", "scale=1.2,radix=5", ""},
    Quantised{"float -> int16 1W16C8BHL", "nchw", "1W16C8BHL", "int16", "radix=12", ""},
    Quantised{"int8 1W16C8B -> float", "1W16C8B", "nchw", "int8", "", "scale=1.2,radix=5"},
};

/// The larger side counts as the bytes of the conversion.
Measured measure(const Quantised& quantised, const LogicalShape& shape, unsigned times) {
    ConversionRequest request;
    request.from = parse_layout_spec(quantised.from);
    request.to = parse_layout_spec(quantised.to);
    request.shape = shape;
    request.type = &find_stored_type(quantised.type);
    if (*quantised.quantise != 0) {
        request.quantise = parse_quantisation(quantised.quantise);
    } else {
        request.dequantise = parse_quantisation(quantised.dequantise);
    }
    const Conversion conversion = plan_conversion(request);
    const std::uint64_t bytes = std::max(conversion.source.bytes, conversion.target.bytes);
    Buffer source(conversion.source.bytes), target(conversion.target.bytes), copy_from(bytes),
        copy_to(bytes);
    if (request.quantise) {
        std::ranges::fill(source.bytes(), std::uint8_t{0x3F});  // 0.747 everywhere
    }
    const std::vector<double> best = best_of_each(
        times, {[&] { npuscope::convert(conversion, source.bytes(), target.bytes(), {}); },
                [&] { std::memcpy(copy_to.bytes().data(), copy_from.bytes().data(), bytes); }});
    return {best[0], best[1], bytes};
}

/// A tensor of many gigabytes from file to file, in a process of its own.
int run_large(const std::string& folder, std::uint64_t gibibytes) {
    const std::filesystem::path input = std::filesystem::path(folder) / "large_in.bin";
    const std::filesystem::path output = std::filesystem::path(folder) / "large_out.bin";
    std::ofstream(input).close();
    std::filesystem::resize_file(input, gibibytes << 30U);
    FileConversion job;
    job.request.from = parse_layout_spec("nchw");
    job.request.to = parse_layout_spec("1W16C8B");
    job.request.shape = {{{'N', 1}, {'C', 64}, {'H', gibibytes * 1024}, {'W', 16384}}};
    job.type = "int8";
    const Bytes peak = peak_memory([&] { convert_file(job, input, output); });
    std::cout << fmt::format("{} GiB, nchw to 1W16C8B: {} bytes written, peak {} MiB resident\n",
                             gibibytes, std::filesystem::file_size(output), peak.value >> 20U);
    std::filesystem::remove(input);
    std::filesystem::remove(output);
    return peak.value <= std::uint64_t{1} << 30U ? 0 : 1;
}

struct TableRow {
    std::string name;
    Measured found;
    double most;
};

std::vector<TableRow> measure_all(unsigned times, std::string_view only) {
    const LogicalShape cube{{{'C', 64}, {'H', 256}, {'W', 256}}};
    const LogicalShape batch{{{'N', 1}, {'C', 64}, {'H', 256}, {'W', 256}}};
    std::vector<TableRow> rows;
    for (const Relayouted& conversion : conversions) {
        if (conversion.name.find(only) != std::string_view::npos) {
            rows.push_back(
                {std::string(conversion.name), measure(conversion, cube, times), conversion.most});
        }
    }
    for (const Quantised& quantised : quantisations) {
        if (quantised.name.find(only) != std::string_view::npos) {
            rows.push_back(
                {std::string(quantised.name), measure(quantised, batch, times), quantised_most});
        }
    }
    return rows;
}

int run(unsigned times, std::string_view only) {
    TextTable table({{"conversion of 64x256x256", Align::Left},
                     {"MB", Align::Right},
                     {"ms", Align::Right},
                     {"GB/s", Align::Right},
                     {"memcpy GB/s", Align::Right},
                     {"/ memcpy", Align::Right},
                     {"at most", Align::Right}});
    bool good = true;
    for (const TableRow& row : measure_all(times, only)) {
        const double ratio = row.found.seconds / row.found.memcpy_seconds;
        good = good && ratio <= row.most;
        const auto bytes = static_cast<double>(row.found.bytes);
        table.add_row({row.name, fmt::format("{:.1f}", bytes * 1e-6),
                       fmt::format("{:.3f}", row.found.seconds * 1e3),
                       fmt::format("{:.2f}", bytes / row.found.seconds * 1e-9),
                       fmt::format("{:.2f}", bytes / row.found.memcpy_seconds * 1e-9),
                       fmt::format("{:.2f}", ratio), fmt::format("{:.1f}", row.most)});
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
    std::string large;
    std::uint64_t gibibytes = 8;
    app.add_option("--only", only, "conversions whose name contains this");
    app.add_option("--large", large,
                   "folder: convert a file of --gib there and print the peak of memory instead");
    app.add_option("--gib", gibibytes, "size of that file")->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    return large.empty() ? npuscope::bench::run(times, only)
                         : npuscope::bench::run_large(large, gibibytes);
}
