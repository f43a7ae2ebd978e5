// SPDX-License-Identifier: Apache-2.0
// `convert`: conversions between layouts on one core, against memcpy of the same bytes in the same
// run. Best of several runs; the ratio is what counts, both times depend on the host.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "bench/convert_rows.h"
#include "bench/stopwatch.h"
#include "sim/config/text_table.h"
#include "sim/convert/conversion.h"

namespace npuscope::bench {
namespace {

constexpr std::size_t line = 64;

/// Bytes aligned to a cache line, already touched.
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

/// The larger side counts as the bytes of the conversion.
Measured measure(const ConvertRow& row, unsigned times) {
    ConversionRequest request;
    request.from = parse_layout_spec(row.from);
    request.to = parse_layout_spec(row.to);
    request.shape = parse_shape(row.shape, "NCHW");
    request.type = &find_element(row.type);
    if (*row.quantise != 0) {
        request.quantise = parse_quantisation(row.quantise);
    }
    if (*row.dequantise != 0) {
        request.dequantise = parse_quantisation(row.dequantise);
    }
    const ConversionPlan conversion = plan_conversion(request);
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

/// A tensor of many gigabytes from file to file, in its own process.
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

/// A missed limit is shown in the row; the exit status tells that all were measured.
int run(unsigned times, std::string_view only) {
    TextTable table({{"conversion of 4 Mi values", Align::Left},
                     {"MB", Align::Right},
                     {"ms", Align::Right},
                     {"GB/s", Align::Right},
                     {"memcpy GB/s", Align::Right},
                     {"/ memcpy", Align::Right},
                     {"at most", Align::Right},
                     {"", Align::Left}});
    unsigned rows = 0, good = 0;
    for (const ConvertRow& row : convert_rows) {
        if (std::string_view(row.name).find(only) == std::string_view::npos) {
            continue;
        }
        const Measured found = measure(row, times);
        const double ratio = found.seconds / found.memcpy_seconds;
        const auto bytes = static_cast<double>(found.bytes);
        ++rows;
        good += ratio <= row.most ? 1U : 0U;
        table.add_row({row.name, fmt::format("{:.1f}", bytes * 1e-6),
                       fmt::format("{:.3f}", found.seconds * 1e3),
                       fmt::format("{:.2f}", bytes / found.seconds * 1e-9),
                       fmt::format("{:.2f}", bytes / found.memcpy_seconds * 1e-9),
                       fmt::format("{:.2f}", ratio), fmt::format("{:.1f}", row.most),
                       ratio <= row.most ? "pass" : "MISSED"});
    }
    std::cout << table.text() << fmt::format("{} of {} within their limit\n", good, rows);
    return 0;
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
