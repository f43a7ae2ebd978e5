// SPDX-License-Identifier: Apache-2.0
// `npuscope convert`: a tensor from one memory layout to another, in files of any size.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>

#include "models/base/error.h"
#include "models/layout/layout.h"
#include "sim/command_line/choice.h"
#include "sim/command_line/command.h"
#include "sim/command_line/given_options.h"
#include "sim/command_line/output_paths.h"
#include "sim/config/file_io.h"
#include "sim/config/printable.h"
#include "sim/convert/conversion.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t most_entries = 4096;  ///< of a picture

struct ConvertArguments {
    std::vector<std::string> files;
    std::string shape;
    std::string axes;
    std::string type;
    std::string from = "nchw";
    std::string to = "nchw";
    std::string quantise;
    std::string dequantise;
    std::string stride_npu;
    std::string group_rule = "reader";
    std::string explain;
    std::uint64_t picture = 0;
    std::string json;
    std::string wmb;
    std::string wgs;
};

std::string bytes_text(std::uint64_t bytes) {
    return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
}

std::vector<std::uint64_t> numbers(const char* option, const std::string& text) {
    std::vector<std::uint64_t> found;
    const char* at = text.data();
    const char* const end = text.data() + text.size();
    while (true) {
        std::uint64_t value = 0;
        const auto result = std::from_chars(at, end, value);
        if (result.ec != std::errc() || (result.ptr != end && *result.ptr != ',')) {
            throw ConfigError(fmt::format("{} '{}' is not a list of numbers", option, text),
                              "give numbers separated by commas");
        }
        found.push_back(value);
        if (result.ptr == end) {
            return found;
        }
        at = result.ptr + 1;
    }
}

void require_axes(const std::string& axes) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const bool capital = axes[i] >= 'A' && axes[i] <= 'Z';
        if (!capital || axes.find(axes[i]) != i) {
            throw ConfigError(
                capital ? fmt::format("--axes '{}': {} occurs twice", axes, axes[i])
                        : fmt::format("--axes '{}': an axis is not a capital letter", axes),
                "use capital letters, none of them twice");
        }
    }
}

FileConversion read_job(const ConvertArguments& arguments) {
    FileConversion job;
    require_axes(arguments.axes);
    job.request.from = parse_layout_spec(arguments.from);
    job.request.to = parse_layout_spec(arguments.to);
    job.axes = arguments.axes;
    job.type = arguments.type;
    job.wmb = arguments.wmb;
    job.wgs = arguments.wgs;
    if (arguments.group_rule != "reader" && arguments.stride_npu.empty()) {
        throw ConfigError("--group-rule: no effect without --stride-npu",
                          "give both, or leave it out");
    }
    if (!(job.wmb.empty() && job.wgs.empty()) && arguments.files.size() > 2) {
        throw ConfigError("--wmb and --wgs go with one pair of files", "name IN and OUT");
    }
    if (!arguments.shape.empty()) {
        const auto extents = static_cast<std::size_t>(std::ranges::count(arguments.shape, 'x')) + 1;
        job.request.shape = parse_shape(
            arguments.shape, job.axes.empty() ? job.request.axes_for(extents) : job.axes);
    }
    if (!arguments.quantise.empty()) {
        job.request.quantise = parse_quantisation(arguments.quantise);
    }
    if (!arguments.dequantise.empty()) {
        job.request.dequantise = parse_quantisation(arguments.dequantise);
    }
    if (!arguments.stride_npu.empty()) {
        job.request.stride_npu = numbers("--stride-npu", arguments.stride_npu);
    }
    job.request.group_rule =
        arguments.group_rule == "reader" ? GroupRule::Reader : GroupRule::Extent;
    return job;
}

void warn(const ConversionPlan& conversion, std::ostream& err) {
    for (const std::string& warning : conversion.warnings) {
        err << "warning: " << printable_line(warning) << '\n';
    }
}

/// Bytes that do not fit the width follow below, with the entries' names repeated.
std::string folded(const std::string& picture, std::size_t width) {
    constexpr std::size_t names = 12;  // `Entry #0`
    const std::string head = picture.substr(0, picture.find('\n'));
    std::string text;
    for (std::size_t begin = names; begin < head.size();) {
        std::size_t end = head.find(']', begin) + 1;
        for (std::size_t next = head.find(']', end);
             next != std::string::npos && names + next + 1 - begin <= width;
             next = head.find(']', end)) {
            end = next + 1;
        }
        text += text.empty() ? "" : "\n";
        std::istringstream lines(picture);
        for (std::string line; std::getline(lines, line);) {
            text += line.substr(0, names) + line.substr(begin, end - begin) + '\n';
        }
        begin = end;
    }
    return text;
}

/// Of --explain.
std::vector<std::uint64_t> element_index(const ConvertArguments& arguments,
                                         const LogicalShape& shape) {
    std::vector<std::uint64_t> index = numbers("--explain", arguments.explain);
    bool inside = index.size() == shape.axes.size();
    for (std::size_t axis = 0; inside && axis < index.size(); ++axis) {
        inside = index[axis] < shape.axes[axis].extent;
    }
    if (!inside) {
        throw ConfigError(fmt::format("--explain {} is not an element of {}", arguments.explain,
                                      to_string(shape)),
                          "one index for each axis, counted from 0");
    }
    return index;
}

/// The layouts themselves, as requested by --explain and --picture.
void show(const ConvertArguments& arguments, const ConversionPlan& conversion, std::ostream& out,
          std::size_t width) {
    if (!arguments.explain.empty()) {
        const auto index = element_index(arguments, conversion.source.shape);
        out << printable(explain_element(conversion.source, index))
            << printable(explain_element(conversion.target, index));
    }
    if (arguments.picture > 0) {
        out << printable(
            fmt::format("{} ({}) of {}, {}\n{}", conversion.target.name, conversion.target.sentence,
                        to_string(conversion.target.shape), bytes_text(conversion.target.bytes),
                        folded(draw_entries(conversion.target, {arguments.picture, 16}), width)));
    }
}

/// Without files: only the output of --explain and --picture.
ExitCode show_alone(const ConvertArguments& arguments, const FileConversion& job,
                    const Console& console) {
    GivenOptions unused;
    unused.add(!arguments.json.empty(), "--json");
    unused.add(!arguments.wmb.empty(), "--wmb");
    unused.add(!arguments.wgs.empty(), "--wgs");
    if (!unused.none()) {
        throw ConfigError(unused.names() + ": no effect without files", "name IN and OUT");
    }
    ConversionRequest request = job.request;
    if (request.shape.axes.empty()) {
        throw ConfigError("--shape is missing", "it cannot be derived without an input file");
    }
    request.type = &find_element(job.type.empty() ? "int8" : job.type);
    const ConversionPlan conversion =
        takes_winograd(request) ? plan_winograd(request, *request.type) : plan_conversion(request);
    warn(conversion, console.err);
    show(arguments, conversion, console.out, console.out_width);
    return ExitCode::Good;
}

using FilePairs = std::vector<std::pair<fs::path, fs::path>>;

/// Input and output of every conversion: IN OUT, or IN .. FOLDER.
FilePairs file_pairs(const std::vector<std::string>& files) {
    if (files.size() < 2) {
        throw ConfigError(
            fmt::format("an input and an output file are needed, but {} given",
                        files.empty() ? "none is" : "only one is"),
            "name both, or no file but --shape, together with --explain or --picture");
    }
    const fs::path last = files.back();
    std::error_code error;
    const bool folder = files.size() > 2 || fs::is_directory(last, error) || !last.has_filename();
    FilePairs pairs;
    for (std::size_t i = 0; i + 1 < files.size(); ++i) {
        const fs::path input = files[i];
        pairs.emplace_back(input, folder ? last / input.filename() : last);
    }
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            if (pairs[i].second == pairs[j].second) {
                throw ConfigError(
                    fmt::format("'{}' and '{}' would both become '{}'", pairs[j].first.string(),
                                pairs[i].first.string(), pairs[i].second.string()),
                    "convert them into different folders");
            }
        }
    }
    return pairs;
}

/// Everything that can be wrong before the first output is written.
void require_possible(const ConvertArguments& arguments, const FileConversion& job,
                      const FilePairs& pairs) {
    std::vector<OutputPath> outputs{{"--json", arguments.json, OutputKind::Text},
                                    {"--wmb", arguments.wmb},
                                    {"--wgs", arguments.wgs}};
    std::vector<std::string> inputs;
    for (const auto& [input, output] : pairs) {
        if (!file_exists(input)) {
            throw ConfigError(fmt::format(
                "cannot read '{}': no such file (put the file there, or correct its name)",
                input.string()));
        }
        inputs.push_back(input.string());
        outputs.push_back({"OUT", output.string()});
    }
    require_separate(outputs, inputs);
    for (const auto& pair : pairs) {
        const ConversionPlan conversion = plan_file(job, pair.first);
        if (&pair == pairs.data() && !arguments.explain.empty()) {
            element_index(arguments, conversion.source.shape);
        }
    }
}

nlohmann::ordered_json layout_json(const Layout& layout) {
    return {{"name", layout.name},
            {"sentence", layout.sentence},
            {"element_bytes", layout.element},
            {"bytes", layout.bytes}};
}

ExitCode run(const ConvertArguments& arguments, const Console& console) {
    FileConversion job = read_job(arguments);
    const bool shows = !arguments.explain.empty() || arguments.picture > 0;
    if (shows && arguments.files.empty()) {
        return show_alone(arguments, job, console);
    }
    std::ostream& text = arguments.json == "-" ? console.err : console.out;
    nlohmann::ordered_json report = nlohmann::ordered_json::array();
    const FilePairs pairs = file_pairs(arguments.files);
    require_possible(arguments, job, pairs);
    for (const auto& pair : pairs) {
        const fs::path& input = pair.first;
        const fs::path& output = pair.second;
        const bool terminal = ::isatty(STDERR_FILENO) == 1;
        const std::string shown_name = printable_line(input.string());
        int shown = -1;
        if (terminal) {
            job.progress = [&](double share) {
                const int percent = static_cast<int>(share * 100);
                if (percent != shown) {
                    console.err << fmt::format("\r{:>3} % of {}", percent, shown_name)
                                << std::flush;
                    shown = percent;
                }
            };
        }
        const ConvertedFile done = convert_file(job, input, output);
        if (shown >= 0) {
            console.err << '\r' << std::string(shown_name.size() + 9, ' ') << '\r';
        }
        warn(done.conversion, console.err);
        if (shows && report.empty()) {
            show(arguments, done.conversion, text,
                 arguments.json == "-" ? console.err_width : console.out_width);
        }
        text << fmt::format("{} -> {}: {} {} to {}, {}\n", shown_name,
                            printable_line(output.string()), done.conversion.source.name,
                            to_string(done.conversion.source.shape), done.conversion.target.name,
                            bytes_text(done.bytes));
        report.push_back({{"input", input.string()},
                          {"output", output.string()},
                          {"from", layout_json(done.conversion.source)},
                          {"to", layout_json(done.conversion.target)},
                          {"warnings", done.conversion.warnings}});
    }
    const std::string report_text =
        report.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
    write_output(arguments.json, report_text + '\n', console);
    return ExitCode::Good;
}

void add_options_of_convert(CLI::App& app, ConvertArguments& arguments) {
    app.add_option("FILES", arguments.files,
                   "IN OUT, or IN.. FOLDER: .npy files or raw bytes; OUT is written as .npy if its "
                   "name ends in .npy");
    app.add_option("--shape", arguments.shape,
                   "extents in the order of the axes, e.g. 1x3x224x224; not needed for .npy files")
        ->option_text("SIZES");
    app.add_option("--axes", arguments.axes,
                   "letters of the shape's axes; usually NCHW, CHW, HW, W, or KCRS for weights")
        ->option_text("LETTERS");
    app.add_option("--type", arguments.type,
                   "element type on the NPU's side: int8, int16, float32, ...")
        ->option_text("TYPE");
    app.add_option(
           "--from", arguments.from,
           "layout of IN: a name of `npuscope list layouts`, name:key=value or a layout expression")
        ->capture_default_str()
        ->type_name("LAYOUT");
    app.add_option("--to", arguments.to, "layout of OUT")
        ->capture_default_str()
        ->type_name("LAYOUT");
    app.add_option("--quantise,--quantize", arguments.quantise,
                   "float32 to fixed point: scale=1.5/1.25,radix=6/5,axis=C,math=float32; lists "
                   "hold one number for each index of the axis")
        ->option_text("NUMBERS");
    app.add_option("--dequantise,--dequantize", arguments.dequantise,
                   "fixed point to float32; same syntax as --quantise")
        ->option_text("NUMBERS");
    app.add_option("--stride-npu", arguments.stride_npu,
                   "strides of the Kneron layout in elements, one per axis: 96,1,32,4")
        ->option_text("STRIDES");
    app.add_option("--group-rule", arguments.group_rule,
                   "how the channel-group stride is derived from the strides: reader (as the "
                   "vendor's readers do) or extent (over axes longer than 1)")
        ->check(one_of<std::string>({{"reader", "reader"}, {"extent", "extent"}}))
        ->capture_default_str()
        ->type_name("RULE");
    app.add_option("--explain", arguments.explain,
                   "index of an element, e.g. 0,2,5,7: prints how its byte offset is computed")
        ->option_text("INDEX");
    app.add_option("--picture", arguments.picture, "draw this many 16-byte entries (default 3)")
        ->expected(0, 1)
        ->default_str("3")
        ->transform(whole_number(1, most_entries));
    app.add_option("--wmb", arguments.wmb,
                   "compress weights: file for the mask; OUT receives the non-zero values")
        ->option_text("FILE");
    app.add_option("--wgs", arguments.wgs, "file for the group sizes, with --wmb")
        ->option_text("FILE");
    app.add_option("--json", arguments.json,
                   "file for a summary of the conversion as JSON; - is standard output")
        ->option_text("FILE");
}

}  // namespace

Command convert_command() {
    return {"convert", "moves a tensor from one memory layout to another",
            "npuscope convert --shape 1x3x224x224 --type int8 --from nchw --to 4W4C8B in.npy "
            "out.bin --quantise scale=1.0,radix=7",
            [](CLI::App& app, NpuFamilies /*families*/) {
                const auto arguments = std::make_shared<ConvertArguments>();
                add_options_of_convert(app, *arguments);
                return [arguments](const Console& console) { return run(*arguments, console); };
            }};
}

}  // namespace npuscope
