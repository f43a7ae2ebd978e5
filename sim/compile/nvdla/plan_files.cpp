// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/plan_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <variant>

#include "models/base/error.h"
#include "sim/compile/surface_files.h"
#include "sim/config/file_name.h"
#include "sim/config/json_writer.h"
#include "sim/config/printable.h"
#include "sim/config/text_table.h"
#include "sim/config/yaml_writer.h"
#include "sim/model/network.h"

namespace npuscope {
namespace {

/// `5 + 27` where the operation uses the convolution buffer.
std::string banks_text(const Operation& operation) {
    const auto* conv = std::get_if<ConvOperation>(&operation.job);
    if (conv == nullptr) {
        return "";
    }
    const BankSplit& banks = conv->conv.cdma.banks;
    return fmt::format("{} + {}", banks.data, banks.weight);
}

std::string percent_more(Cycles other, Cycles chosen) {
    const double ratio = static_cast<double>(other.value) / static_cast<double>(chosen.value);
    return fmt::format("{:+.1f} %", 100.0 * (ratio - 1.0));
}

constexpr std::uint64_t packet_bytes = 32;
constexpr std::array pattern_names{"ALL_ZERO", "ONES", "AFIVE", "FIVEA", "ADDR"};

std::string unit_argument(const std::string& unit) { return unit.empty() ? "" : unit + ", "; }

/// How the primary port is named where memory is given by a number. source: nv_small traces
int port_number(MemoryPort port) { return port == MemoryPort::Primary ? 1 : 0; }

/// A name without characters that would end its quotes or its line.
std::string in_quotes(const std::string& name) {
    std::string text;
    for (const char letter : printable_line(name)) {
        text += letter == '"' ? std::string("\\x22") : std::string(1, letter);
    }
    return text;
}

/// One call per statement.
struct StatementText {
    std::string operator()(const InitMemory& init) const {
        return fmt::format("mem_init({}, {:#x}, {:#x}, {});", memory_port_name(init.memory),
                           init.address.value, init.bytes.value,
                           pattern_names[static_cast<std::size_t>(init.fill)]);
    }
    std::string operator()(const LoadMemory& load) const {
        return fmt::format("mem_load({}, {:#x}, \"{}\");", memory_port_name(load.memory),
                           load.address.value, load.file);
    }
    std::string operator()(const WriteRegister& write) const {
        return fmt::format("reg_write({}, {:#x});", write.name, write.value);
    }
    std::string operator()(const ReadRegister& read) const {
        return fmt::format("reg_read_check({}, {:#x});", read.name, read.expected);
    }
    std::string operator()(const PollRegister& poll) const {
        return poll.mask == 0xffffffff
                   ? fmt::format("poll_reg_equal({}, {:#x});", poll.name, poll.expected)
                   : fmt::format("poll_reg_equal({}, {:#x}, {:#x});", poll.name, poll.expected,
                                 poll.mask);
    }
    std::string operator()(const NotifyOnInterrupt& notify) const {
        return fmt::format("intr_notify({}{});", unit_argument(notify.unit), notify.sync);
    }
    std::string operator()(const WaitForInterrupt& /*wait*/) const {
        throw ConfigError("a .cfg trace has no statement that waits for the interrupt line",
                          "name the interrupt: intr_notify");
    }
    std::string operator()(const ReadMemory& /*read*/) const {
        throw ConfigError("a .cfg trace has no statement that reads a word of memory",
                          "compare a region: check_crc or check_file");
    }
    std::string operator()(const SyncNotify& notify) const {
        return fmt::format("sync_notify({}{});", unit_argument(notify.unit), notify.sync);
    }
    std::string operator()(const SyncWait& wait) const {
        return fmt::format("sync_wait({}{});", unit_argument(wait.unit), wait.sync);
    }
    std::string operator()(const CheckCrc& check) const {
        return fmt::format("check_crc({}, {}, {:#x}, {:#x}, {:#x});", check.sync,
                           port_number(check.memory), check.address.value, check.bytes.value,
                           check.crc);
    }
    std::string operator()(const CheckImage& check) const {
        return fmt::format("check_file({}, {}, {:#x}, {:#x}, \"{}\");", check.sync,
                           memory_port_name(check.memory), check.address.value, check.bytes.value,
                           check.file);
    }
    std::string operator()(const CheckNothing& check) const {
        return fmt::format("check_nothing({});", check.sync);
    }
    std::string operator()(const BeginLayer& layer) const {
        return fmt::format("// layer {}: {}, {} operation{}, {} MACs", in_quotes(layer.name),
                           in_quotes(layer.kind), layer.operations,
                           layer.operations == 1 ? "" : "s", layer.macs);
    }
    std::string operator()(const LaunchJob& launch) const {
        const auto* job = dynamic_cast<const WrittenJob*>(launch.job.get());
        if (job == nullptr) {
            throw ConfigError(
                fmt::format("a .cfg trace has no statement that launches '{}'", launch.job->name),
                "the NPU's family writes its descriptor");
        }
        std::string text =
            fmt::format("launch_job(\"{}\", \"{}\"", in_quotes(job->name), in_quotes(job->kind));
        for (std::size_t at = 0; at < job->descriptor.size(); at += 4) {
            std::uint32_t word = 0;
            for (std::size_t i = at; i < std::min(at + 4, job->descriptor.size()); ++i) {
                word |= std::uint32_t{job->descriptor[i]} << 8U * (i - at);
            }
            text += fmt::format(", {:#x}", word);
        }
        return text + ");";
    }
    std::string operator()(const WaitForJobs& /*wait*/) const { return "wait_for_jobs();"; }
    std::string operator()(const MeetInstances& /*meet*/) const { return "meet_instances();"; }
    std::string operator()(const RunNode& node) const {
        std::string text = fmt::format("run_node(\"{}\", \"{}\", {}, {}", in_quotes(node.name),
                                       in_quotes(node.op), node.cycles.value, node.macs);
        const auto add = [&](const char* kind, const std::vector<ByteRun>& runs) {
            for (const ByteRun& run : runs) {
                text += fmt::format(", {}, {:#x}, {:#x}", kind, run.address.value, run.bytes.value);
            }
        };
        add("reads", node.reads);
        add("writes", node.writes);
        return text + ");";
    }
    std::string operator()(const BeginSegment& /*segment*/) const {
        throw ConfigError("a .cfg trace has no statement for a segment of a model",
                          "each has a folder of its own");
    }
};

void append_byte(std::string& text, std::uint8_t byte) {
    constexpr std::string_view digits = "0123456789abcdef";
    text += "0x";
    text += digits[byte >> 4U];
    text += digits[byte & 15U];
    text += ' ';
}

}  // namespace

std::string plan_table(const Plan& plan, std::size_t width) {
    TextTable table({{"layer", Align::Left},
                     {"kind", Align::Left},
                     {"result", Align::Right},
                     {"MACs", Align::Right},
                     {"operations", Align::Right},
                     {"data + weight banks", Align::Right},
                     {"predicted cycles", Align::Right},
                     {"address", Align::Right}});
    for (const PlannedLayer& layer : plan.layers) {
        table.add_row({layer.name, std::string(enum_name(layer.kind)), shape_text(layer.shape),
                       with_separators(layer.macs), std::to_string(layer.operations),
                       banks_text(plan.operations[layer.first_operation]),
                       layer.cut ? with_separators(layer.cut->predicted.value) : "",
                       to_hex(layer.stored.cube.base)});
    }
    return table.text(width);
}

std::string plan_reasons(const Plan& plan) {
    std::string text;
    for (const PlannedLayer& layer : plan.layers) {
        if (!layer.cut) {
            text += fmt::format("{}: {} on the {}, no alternatives\n", layer.name,
                                counted(layer.operations, "operation"),
                                enum_name(plan.operations[layer.last_operation()].last_unit()));
            continue;
        }
        const Cycles predicted = layer.cut->predicted;
        text += fmt::format("{}: {}: {} cycles\n", layer.name, layer.cut->choice,
                            with_separators(predicted.value));
        for (const PlanAlternative& other : layer.cut->alternatives) {
            const std::string why = !other.refused.empty() ? "; " + other.refused
                                    : other.predicted < predicted
                                        ? ", too small a gain for more operations"
                                        : "";
            text += fmt::format("    {}: {} cycles ({}){}\n", other.choice,
                                with_separators(other.predicted.value),
                                percent_more(other.predicted, predicted), why);
        }
        if (layer.cut->alternatives.empty()) {
            text += "    no alternative fits the convolution buffer\n";
        }
    }
    return text;
}

std::string memory_map_yaml(const Plan& plan, const std::string& npu) {
    std::string text = fmt::format("network: {}\nnpu: {}\nbytes: {}\nimages:\n", quoted(plan.name),
                                   yaml_quoted(npu), plan.memory.value);
    for (const PlannedImage& image : plan.images) {
        const auto& pixels = plan.input.pixels;
        const std::string layout =
            image.name == "input" && pixels
                ? fmt::format(", layout: {}, shape: 1x{}, line_stride: {}, x_offset: {}",
                              pixels->format->name, shape_text(pixels->shape()),
                              pixels->line_stride[0].value, pixels->x_offset)
                : "";
        const std::string until =
            image.last_reader ? fmt::format(", last_operation: {}", *image.last_reader) : "";
        text += fmt::format("  - {{name: {}, file: {}, address: {}, bytes: {}{}{}}}\n",
                            yaml_quoted(image.name), yaml_quoted(file_name(image.name, ".dat")),
                            to_hex(image.address), image.bytes.value, layout, until);
    }
    text += "results:\n";
    for (const PlannedLayer& layer : plan.layers) {
        const FeatureCube& cube = layer.stored.cube;
        text += fmt::format(
            "  - {{name: {}, layout: feature, type: {}, shape: 1x{}, address: {}, bytes: {}, "
            "line_stride: {}, surface_stride: {}, first_operation: {}, last_operation: {}{}{}}}\n",
            yaml_quoted(layer.name), enum_name(map_element(plan.precision)), shape_text(cube.shape),
            to_hex(cube.base), cube.extent().value, cube.line_stride.value,
            cube.surface_stride.value, layer.first_operation,
            layer.last_reader == 0 ? layer.last_operation() : layer.last_reader,
            layer.stored.in_sram ? ", memory: sram" : "",
            layer.output && layer.readers > 0 ? ", output: true" : "");
    }
    return text;
}

std::string trace_text(const Program& program) {
    std::string text = fmt::format("// {}\n", printable_line(program.name));
    for (const Statement& statement : program.statements) {
        text += std::visit(StatementText{}, statement.action);
        text += '\n';
    }
    for (const NamedSurface& surface : program.surfaces) {
        text += fmt::format("// {} {} = {}{}{}\n", surface.is_result ? "result" : "surface",
                            in_quotes(surface.name), surface.spec,
                            surface.after.empty() ? "" : " after ", in_quotes(surface.after));
    }
    return text;
}

std::string image_text(const MemoryImage& image) {
    std::string text = "{\n";
    for (const MemoryImage::Run& run : image.runs) {
        for (std::uint64_t at = 0; at < run.size; at += packet_bytes) {
            const std::uint64_t size = std::min(packet_bytes, run.size - at);
            text += text.size() > 2 ? " ,\n" : "";
            fmt::format_to(std::back_inserter(text),
                           "{{offset:{:#x}, size:{}, payload:", run.offset + at, size);
            for (std::uint64_t i = 0; i < size; ++i) {
                append_byte(text, image.bytes[run.position + at + i]);
            }
            text.back() = '}';
        }
    }
    return text += "\n}\n";
}

void save_program(const Program& program, OutputFolder& out, const std::filesystem::path& folder) {
    for (const Statement& statement : program.statements) {
        if (const auto* load = std::get_if<LoadMemory>(&statement.action)) {
            out.write(folder / load->file, image_text(load->image));
        } else if (const auto* check = std::get_if<CheckImage>(&statement.action)) {
            out.write(folder / check->file, image_text(check->image));
        }
    }
    out.write(folder / "program.cfg", trace_text(program));
}

}  // namespace npuscope
