// SPDX-License-Identifier: Apache-2.0
#include "sim/check/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace npuscope {
namespace {

// Sources that several rules share.
constexpr std::string_view guide_patterns = "TI NNC for MCUs, User's Guide v2.1.0, section 4.2.1";
constexpr std::string_view guide_numbers = "TI NNC for MCUs, User's Guide v2.1.0, section 4.3.1";
constexpr std::string_view the_program = "the program itself";
constexpr std::string_view regions = "the memory's configuration (memory.regions)";
constexpr std::string_view format_page = "NVDLA format page";
constexpr std::string_view plans = "check, plan, run";  // commands that plan a model

constexpr std::array all_rules{
    Rule{"absent_feature", Severity::Warning, "check",
         "The NPU has what an operation or a surface uses; `run` refuses the operation.",
         "the preset's configuration"},
    Rule{"address_width", Severity::Error, "run", "Addresses fit the bits of the memory port.",
         "the preset's mcif.address_bits"},
    Rule{"avgpool_reduce", Severity::Error, plans,
         "A global average pools over exactly height and width.", guide_patterns},
    Rule{"banks_too_few", Severity::Error, "check",
         "The data banks hold the whole input, and the weight banks a group of kernels.",
         "NVDLA programming guide, D_RELEASE and D_BANK"},
    Rule{"batch_*", Severity::Error, plans, "The batch has the size that the NPU takes.",
         guide_patterns},
    Rule{"bdma_busy", Severity::Error, "run",
         "A BDMA group is launched only after its previous launch has ended.",
         "nv_full RTL, NV_NVDLA_BDMA_csb.v"},
    Rule{"bdma_empty", Severity::Error, "check, run",
         "A launch of the BDMA has at least one command.", "nv_full RTL, NV_NVDLA_BDMA_csb.v"},
    Rule{"bdma_full", Severity::Error, "run",
         "A command is added to the BDMA only while it has a free slot.",
         "nv_full RTL, NV_NVDLA_BDMA_csb.v"},
    Rule{"bias_constant", Severity::Error, plans, "Biases are constants of the model.",
         "the pattern matcher"},
    Rule{"bias_integer", Severity::Error, plans, "Biases are integers.", guide_numbers},
    Rule{"bias_range", Severity::Error, plans,
         "Biases fit the width that the weights' width implies.", guide_numbers},
    with(
        &Rule::hides_deviation,
        with(&Rule::beside_verdict,
             Rule{"by_shape", Severity::Note, "check, run",
                  "A model's layers are integer; float layers are timed as if they were quantised.",
                  "information"})),
    Rule{"channels_multiple_of_*", Severity::Error, plans,
         "Channels are multiples of what the pattern requires.", guide_patterns},
    Rule{"check_not_made",
         Severity::Error,
         "check, run",
         "The id that a check waits for is raised, so that the check is made.",
         the_program,
         {},
         Shows::Start},
    Rule{"clip_range", Severity::Error, plans, "A layer clips to the range of a feature map.",
         guide_numbers},
    Rule{"clip_required", Severity::Error, plans, "A layer ends with a clip.", guide_numbers},
    Rule{"closed_early", Severity::Error, "run",
         "The SDP ends an operation after all atoms of its convolution.",
         "nv_small RTL, NV_NVDLA_CACC_delivery_ctrl.v, replayed"},
    of_the_end(
        Rule{"compared_early", Severity::Error, "check",
             "A result is compared only after the program has observed the end of its operation.",
             the_program}),
    of_the_end(Rule{"compares_no_result", Severity::Error, "check",
                    "Bytes that are compared with an expectation are written by an operation.",
                    the_program}),
    of_the_end(Rule{"compares_partly", Severity::Warning, "check",
                    "A result is compared from its first byte to its last.", the_program}),
    of_the_end(Rule{"compares_unwritten", Severity::Error, "check, run",
                    "Bytes that are compared with an expectation are initialised.", the_program}),
    Rule{"compression_incomplete", Severity::Error, "check",
         "Compressed weights have both a mask and group sizes.", format_page},
    Rule{"conv_2d", Severity::Error, plans, "Convolutions and poolings have two dimensions.",
         guide_patterns},
    Rule{"descriptor", Severity::Error, plans,
         "A descriptor of the TINPU describes a layer that the engine takes.",
         "the simulator's programming interface of the TINPU (the vendor's is not public)"},
    Rule{"dilation_1", Severity::Error, plans, "Kernels are not dilated.", guide_patterns},
    Rule{"div_power_of_two", Severity::Error, plans, "Divisors are powers of two.", guide_numbers},
    Rule{"ends_meet", Severity::Warning, "check, run",
         "The last atoms of two successive convolutions do not meet in the accumulator's delivery "
         "buffer.",
         "nv_small RTL, NV_NVDLA_CACC_delivery_ctrl.v, replayed"},
    Rule{"fc_inputs", Severity::Error, plans,
         "A fully connected layer has as many inputs as the pattern requires.",
         "tinyml-tensorlab, NPU_CONFIGURATION_GUIDELINES.md"},
    with(&Rule::beside_verdict,
         Rule{"float_on_host", Severity::Note, "run",
              "A model's layers are integer; float layers run on the host.", "information"}),
    Rule{"floor_required", Severity::Error, plans, "The shift is followed by Floor.",
         guide_numbers},
    Rule{"flush_not_awaited", Severity::Warning, "check, run",
         "A convolution starts after the buffer has been cleared: S_CBUF_FLUSH_STATUS is polled; "
         "`check` reports a note.",
         "NVDLA programming guide; nv_small RTL"},
    Rule{"folded_scales", Severity::Note, "check, run",
         "On an NPU that supports only power-of-two scales with 8-bit weights, other scales are "
         "folded into the weights, which are re-rounded.",
         guide_numbers},
    Rule{"gemm_plain", Severity::Error, plans,
         "A Gemm has alpha 1, beta 1 and no transposed operand.", "the pattern matcher"},
    Rule{"groups_1", Severity::Error, plans, "Convolutions have one group, or as many as channels.",
         guide_patterns},
    Rule{"host_only", Severity::Error, plans,
         "At least one of a model's layers with MACs runs on the NPU.", "the status of a run"},
    Rule{"image_miscounted", Severity::Warning, "check, run",
         "The sequencer counts the blocks of a row of image kernels correctly.",
         "nv_small RTL, NV_NVDLA_CSC_dl.v, replayed"},
    Rule{"impossible_register", Severity::Error, "check, run",
         "The registers of a convolution are consistent with each other.",
         "NVDLA programming guide; nv_small RTL and nv_full C model"},
    Rule{"impossible_reuse", Severity::Error, "check, run",
         "Data and weights that a convolution reuses match its own shape and order.",
         "nv_full C model, CDMA and CSC"},
    Rule{"input_8bit", Severity::Error, plans, "The input is an 8-bit integer feature map.",
         guide_numbers},
    Rule{"input_zero_point", Severity::Error, plans, "Quantised inputs have the zero point 0.",
         guide_numbers},
    Rule{"interrupt_masked", Severity::Error, "check, run",
         "An interrupt that is awaited is not masked.", "NVDLA register specification, GLB"},
    Rule{"kernel_limit", Severity::Error, plans, "Kernels do not exceed the limits of the pattern.",
         guide_patterns},
    Rule{"layer_differs", Severity::Error, "check",
         "A layer's result is what the model's layer gives (`--prove --model`).",
         "the model, computed by ONNX's operators"},
    Rule{"lines_left", Severity::Warning, "check, run",
         "Where another pooling operation follows, the windows of a pooling operation cover its "
         "input down to the last line.",
         "nv_small RTL, NV_NVDLA_PDP_CORE_cal2d.v, replayed"},
    of_surfaces(Rule{"lines_overlap", Severity::Error, "check",
                     "Strides are at least as large as the lines and surfaces that they separate.",
                     format_page}),
    of_surfaces(Rule{"load_overlap", Severity::Error, "check",
                     "A file does not overwrite bytes of another one that were never read.",
                     the_program}),
    with(
        &Rule::beside_others,
        of_the_end(Rule{"loaded_unread", Severity::Warning, "check",
                        "Every loaded file is read, from its first byte to its last non-zero byte.",
                        the_program})),
    Rule{"lut_in_use", Severity::Warning, "check, run",
         "A look-up table is not written while an operation looks values up in it.",
         "nv_small RTL of SDP and CDP register access: the tables exist once"},
    Rule{"lut_incomplete", Severity::Warning, "check",
         "The entries of a look-up table are loaded before values are looked up in it.",
         "NVDLA LUT page, entries of the X and Y tables"},
    Rule{"lut_not_writable", Severity::Warning, "check, run",
         "A look-up table is written only while it is selected for writing; `check` reports a "
         "note, because silicon drops the write.",
         "nv_small RTL of SDP and CDP register access", Severity::Note},
    Rule{"lut_past_end", Severity::Warning, "check, run",
         "A look-up table is not written past its last entry.",
         "nv_small RTL of SDP and CDP register access"},
    Rule{"map_mismatch", Severity::Error, "check",
         "A TINPU layer reads a feature map with the shape and type it was written with, and "
         "matches what the program declares about it.",
         the_program},
    Rule{"memory_error_response", Severity::Error, "run",
         "The platform's memory answers every access without an error and without calling wait().",
         "IEEE 1666-2011, 14.7: tlm_response_status; include/npuscope/device.h"},
    Rule{"memory_room", Severity::Error, "plan, run",
         "A surface fits the region that it is placed in.", regions},
    Rule{"memory_size", Severity::Warning, "check, run",
         "The feature maps that are live at the same time fit the NPU's memory.",
         "F28P55x data sheet"},
    Rule{"misaligned", Severity::Error, "check, run",
         "Addresses, strides and sizes are multiples of what the memory atom, or the TINPU's "
         "buffer, requires.",
         "NVDLA format page, table 35; register masks of nv_small and nv_full RTL"},
    Rule{"nan_in_lanes", Severity::Error, "check",
         "The lanes after the last channel of an fp16 cube hold no NaN: some units use them "
         "unmasked.",
         "nv_full C model; NVDLA format page"},
    of_the_end(Rule{"never_ends", Severity::Error, "check, run",
                    "What a program waits for is raised by an earlier operation or statement.",
                    the_program}),
    hidden_from_runs(
        of_surfaces(Rule{"never_loaded", Severity::Error, "check, run",
                         "A surface is loaded or written before it is read.", the_program}),
        "uninitialised_read"),
    Rule{"never_starts",
         Severity::Error,
         "check",
         "Every enabled block starts: it is enabled in the next register group, together with all "
         "blocks of its pipeline and both ends of an on-the-fly connection.",
         "nv_small RTL, register groups of the units",
         {},
         Shows::Start,
         true,
         true},
    Rule{"no_products", Severity::Note, plans, "A model has layers with MACs.", "information"},
    with(&Rule::beside_verdict, Rule{"no_raw_output", Severity::Note, "run",
                                     "8-bit outputs have raw bytes.", "information"}),
    Rule{"not_a_number", Severity::Error, "check", "Elements of fp16 surfaces are not NaN.",
         "the description of the image"},
    Rule{"not_executed", Severity::Error, "run", "Every statement of a program is executed.",
         the_program},
    with(&Rule::own_line,
         Rule{"not_proved", Severity::Note, "check",
              "Every result can be compared with a tensor operation (`--prove`).", "information"}),
    Rule{"not_quantised", Severity::Error, plans,
         "A layer's input, weights and result are quantised.", "docs/float_models.md"},
    Rule{"not_taken", Severity::Note, "check",
         "A layer of a model runs on the NPU; otherwise the host computes it, for a given reason.",
         "the preset's restrictions; docs/tinpu.md"},
    with(&Rule::beside_verdict,
         Rule{"open_batch", Severity::Note, "check, run",
              "A model states its batch size; a dynamic one is taken as 1.", "information"}),
    with(&Rule::beside_verdict,
         Rule{"open_size", Severity::Note, "check, run",
              "A model states its sizes; dynamic ones are those of the given arrays.",
              "information"}),
    Rule{"operand_kind", Severity::Warning, "check",
         "The same bytes are not used as two of feature data, weights and per-channel values.",
         "the program itself"},
    hidden_from_runs(Rule{"operand_unused", Severity::Error, "check, run",
                          "What a read DMA fetches is used; a DMA that reads in vain never ends.",
                          "nv_small RTL, NV_NVDLA_SDP_rdma.v, op_en and done of its parts"},
                     "operand_unused"),
    Rule{"out_of_bounds", Severity::Error, "check",
         "Everything that is loaded, read, written or compared lies in a memory region.", regions},
    Rule{"outside_memory", Severity::Error, "run", "Every access lies in a memory region.",
         regions},
    of_surfaces(Rule{"overwritten_operand", Severity::Error, "check",
                     "An operand is read before a result overwrites parts of it.", the_program}),
    of_surfaces(Rule{"partly_loaded", Severity::Warning, "check",
                     "An operand lies completely within a loaded file; files may omit zeros.",
                     the_program}),
    of_the_end(Rule{"partly_unread", Severity::Warning, "check",
                    "A result is read completely if it is read at all.", the_program}),
    of_surfaces(Rule{"partly_written", Severity::Warning, "check",
                     "An operand that comes from an operation was written completely.",
                     the_program}),
    Rule{"pool_area", Severity::Error, plans,
         "An average divides by the number of elements of its whole window.", guide_patterns},
    Rule{"post_extension_channels", Severity::Error, "check, run",
         "Kernels whose rows are interleaved have at most half as many channels as a weight cube "
         "for two rows, a quarter for four.",
         "NVDLA format page; NVDLA compiler"},
    Rule{"precision_conversion", Severity::Error, "check, run",
         "A unit converts only between precisions that the format page allows; int8 to fp16 hangs "
         "the SDP or writes wrong bytes. A warning where the SDP converts the result of a "
         "non-direct convolution.",
         "NVDLA format page, tables 29 to 32; nv_full RTL, replayed"},
    Rule{"precision_mismatch", Severity::Error, "check, run",
         "Units that pass a result on the fly are programmed with one precision; a warning where "
         "the SDP takes integers in another width.",
         "NVDLA programming guide; nv_full C model"},
    Rule{"preclip_range", Severity::Error, plans,
         "A layer with a residual clips to a fixed range before adding it.", guide_numbers},
    Rule{"preclip_required", Severity::Error, plans,
         "A layer with a residual clips before adding it.", guide_numbers},
    Rule{"prelu_per_element", Severity::Note, "check",
         "PReLU slopes are fetched per channel; the unit also accepts per-element ones.",
         "NVDLA format page, PReLU Data Format"},
    Rule{"quantised_exact", Severity::Error, plans,
         "A quantised layer is one that the NPU computes exactly.", guide_numbers},
    with(&Rule::beside_verdict, Rule{"quantised_for_target", Severity::Note, "check, run",
                                     "The outputs reach the target signal-to-noise ratio for all "
                                     "calibration inputs, if necessary with layers left in float.",
                                     "information"}),
    with(&Rule::beside_verdict,
         Rule{"quantised_here", Severity::Note, "check, run",
              "A model's layers are integer; float ones are quantised with the calibration inputs.",
              "information"}),
    hidden_from_runs(
        with(&Rule::of_order,
             of_surfaces(Rule{"race", Severity::Error, "check, run",
                              "An operation starts only after the end of another one that reads or "
                              "writes the same bytes, unless both only read.",
                              the_program})),
        "uninitialised_read"),
    Rule{"read_back", Severity::Error, "check",
         "A register of an operation reads back the value that was written to it.", the_program},
    Rule{"register_in_use",
         Severity::Error,
         "check, run",
         "A register group is not written while its operation is enabled: the write is lost.",
         "nv_small RTL, register access logic of the units",
         {},
         Shows::Register,
         true,
         true},
    Rule{"register_mismatch", Severity::Error, "check, run",
         "Units of the convolution pipeline that share a parameter are programmed with the same "
         "value.",
         "NVDLA programming guide; nv_small RTL"},
    Rule{"register_read_only", Severity::Note, "check, run",
         "A register that only the hardware writes ignores writes.",
         "NVDLA register specification; nv_small RTL"},
    Rule{"register_unknown", Severity::Error, "check, run", "A write must reach a register.",
         "NVDLA register specification"},
    Rule{"register_unwritten", Severity::Warning, "check",
         "The registers of the SDP's stages, and both output scale and shift, are written before "
         "it starts: their reset values do not disable them.",
         "NVDLA register specification, SDP"},
    Rule{"register_value",
         Severity::Error,
         "check, run",
         "Every register holds a value that the machine accepts and that is consistent with the "
         "other registers.",
         "NVDLA register specification; nv_small and nv_full RTL",
         {},
         Shows::Register,
         true,
         false},
    Rule{"residual_8bit", Severity::Error, plans, "A residual is an 8-bit integer feature map.",
         guide_numbers},
    Rule{"residual_add", Severity::Error, plans, "A residual is combined by addition.",
         guide_patterns},
    Rule{"residual_pointwise", Severity::Error, plans,
         "Only a point-wise convolution takes a residual.", guide_patterns},
    Rule{"residual_shape", Severity::Error, plans, "A residual has the shape of the output.",
         guide_patterns},
    Rule{"result_differs", Severity::Error, "check",
         "The bytes of a result are those of the tensor operation that the registers describe "
         "(`--prove`).",
         "NVDLA format page; NVDLA unit description"},
    of_surfaces(Rule{"result_lost", Severity::Error, "check",
                     "A result is read before it is overwritten.", the_program}),
    of_the_end(
        Rule{"result_unused", Severity::Warning, "check",
             "A result is read by an operation, or compared where the program compares results.",
             "the program itself"}),
    Rule{"reuse_of_nothing", Severity::Warning, "check, run",
         "A convolution reuses data or weights only where the previous one kept them.",
         "nv_full C model, CDMA and CSC"},
    Rule{"round_required", Severity::Error, plans, "An average is rounded.", guide_numbers},
    Rule{"rounded_scales", Severity::Note, "check, run",
         "A model's scales that are not powers of two are rounded to 15 bits, so results of a "
         "layer may differ from the model's by one step.",
         "NVDLA_SDP.rdl, operands of 16 bits"},
    Rule{"scale_1_w*", Severity::Error, plans, "With weights of this width the scale is 1.",
         guide_numbers},
    Rule{"scale_integer", Severity::Error, plans, "Scales are integers.", guide_numbers},
    Rule{"scale_u*", Severity::Error, plans, "Scales fit an unsigned integer of this width.",
         guide_numbers},
    Rule{"sequence_order", Severity::Error, plans,
         "The nodes of a layer follow each other in the order that the NPU computes them in.",
         guide_numbers},
    Rule{"shape_mismatch",
         Severity::Error,
         "check, run",
         "Units that pass a result on the fly are programmed with one shape.",
         "NVDLA programming guide",
         {},
         Shows::Register,
         false,
         true},
    Rule{"shift_*bit", Severity::Error, plans, "The right shift fits a number of this width.",
         guide_numbers},
    Rule{"short_debug_transport", Severity::Error, "run",
         "The platform's memory returns all bytes of an operand by debug transport.",
         "IEEE 1666-2011, 11.3: transport_dbg; include/npuscope/device.h"},
    Rule{"size_mismatch", Severity::Error, "check",
         "A described surface, and a job's weights, have the bytes that shape and layout need.",
         format_page},
    Rule{"slice_offset", Severity::Warning, "check",
         "Parts of one surface lie whole lines apart and have its strides.", format_page},
    Rule{"stale_weights", Severity::Warning, "check, run",
         "A convolution uses all the weights that it fetches; any remainder is read by the next "
         "one as its first weights.",
         "nv_small RTL, NV_NVDLA_CSC_wl.v and NV_NVDLA_CDMA_wt.v, replayed"},
    with(
        &Rule::beside_verdict,
        Rule{"stated_sizes", Severity::Note, "check, run",
             "Sizes that a model states agree with those computed from its nodes.", "information"}),
    Rule{"stored_zero", Severity::Error, "check, run", "Compressed weights store no zero.",
         "NVDLA format page; nv_full C model"},
    Rule{"stride_limit", Severity::Error, plans, "Strides are among those that the pattern takes.",
         guide_patterns},
    of_surfaces(Rule{"stride_mismatch", Severity::Warning, "check",
                     "A result is read with the strides with which it was written.", the_program}),
    Rule{"strides_apart", Severity::Warning, "check",
         "The surface stride of a cube is not off by one atom, or one atom per line, from the size "
         "of its lines.",
         "the program itself"},
    Rule{"surface_differs", Severity::Error, "check",
         "A surface has the contents of the other image, or of the file.",
         "what the user asks for"},
    of_surfaces(
        Rule{"surface_overlap", Severity::Error, "check",
             "Surfaces of one chain of units do not share bytes, unless the SDP works in place.",
             the_program}),
    Rule{"suspicious_register", Severity::Warning, "check, run",
         "Every register of a convolution has a meaningful value, even where the convolution can "
         "be computed regardless.",
         "NVDLA programming guide; nv_small RTL"},
    Rule{"tconv_stride_eq_kernel", Severity::Error, plans,
         "A transposed convolution has the stride of its kernel.", guide_patterns},
    with(&Rule::beside_verdict, Rule{"time_not_counted", Severity::Note, "check, run",
                                     "The host implements the operators of all nodes that the NPU "
                                     "does not support, and their sizes are known.",
                                     "information"}),
    Rule{"unfinished", Severity::Error, "run",
         "An operation that is enabled ends before the program does.", the_program},
    of_surfaces(Rule{"uninitialised_read", Severity::Error, "check, run",
                     "Bytes are loaded, filled or written before they are read.", the_program}),
    Rule{"values_outside", Severity::Error, "check",
         "The elements of a surface lie between the values that its description gives.",
         "the description of the image"},
    Rule{"weight_4bit", Severity::Error, plans, "Weights have 2 or 8 bits.", guide_patterns},
    Rule{"weight_bytes_mismatch", Severity::Error, "check, run",
         "The size of compressed weights is that of the values that their mask selects.",
         "NVDLA format page; nv_full C model"},
    Rule{"weight_constant", Severity::Error, plans, "Weights are constants of the model.",
         "the pattern matcher"},
    Rule{"weight_integer", Severity::Error, plans, "Weights are integers.", guide_numbers},
    Rule{"weight_range", Severity::Error, plans, "Weights fit the width of their pattern.",
         guide_numbers},
    Rule{"weight_zero_point", Severity::Error, plans,
         "Quantised weights have a constant zero point that the NPU takes.", guide_numbers},
    Rule{"wgs_mismatch", Severity::Error, "check, run",
         "Each group size is that of the values that the group's mask selects.",
         "NVDLA format page; nv_full C model"},
    with(&Rule::beside_verdict,
         Rule{"wide_maps", Severity::Note, "run",
              "An NPU with 16-bit feature maps rounds sums and results at other points than the "
              "model: its outputs approximate the model's.",
              "NVDLA doc v1/ias/precision.rst"}),
    Rule{"window_area", Severity::Error, plans,
         "A window has as many elements as the pattern requires.",
         "tinyml-tensorlab, NPU_CONFIGURATION_GUIDELINES.md"},
    Rule{"window_mismatch", Severity::Error, "check",
         "The output of a layer of the TINPU has the size that input, window, stride and padding "
         "give.",
         "ONNX operators Conv, MaxPool, AveragePool: output shapes"},
    Rule{"windows_flushed", Severity::Error, "check, run",
         "The number of pooling windows that end beyond the input follows from padding and stride "
         "alone; otherwise the PDP produces more results than there are windows, and the next "
         "pooling operation hangs or starts with them.",
         "nv_small and nv_full RTL, NV_NVDLA_PDP_CORE_cal1d.v and cal2d.v, flush_num"},
    Rule{"wmb_bytes_mismatch", Severity::Error, "check, run",
         "The size of a mask is that of one bit for each weight.",
         "NVDLA format page; nv_full C model"},
    Rule{"wmb_mismatch", Severity::Error, "check", "A mask has no bits set after its last element.",
         format_page}};

/// `*` in a row's id stands for digits.
bool matches(std::string_view pattern, std::string_view id) {
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos) {
        return pattern == id;
    }
    const std::string_view head = pattern.substr(0, star);
    const std::string_view tail = pattern.substr(star + 1);
    if (id.size() <= head.size() + tail.size() || !id.starts_with(head) || !id.ends_with(tail)) {
        return false;
    }
    const std::string_view number = id.substr(head.size(), id.size() - head.size() - tail.size());
    return std::ranges::all_of(number, [](char one) { return one >= '0' && one <= '9'; });
}

}  // namespace

std::span<const Rule> rules() { return all_rules; }

const Rule* find_rule(std::string_view id) {
    const auto exact = std::ranges::lower_bound(all_rules, id, {}, &Rule::id);
    if (exact != all_rules.end() && exact->id == id) {
        return &*exact;
    }
    const auto rule =
        std::ranges::find_if(all_rules, [&](const Rule& row) { return matches(row.id, id); });
    return rule == all_rules.end() ? nullptr : &*rule;
}

std::string rules_text(std::string_view prefix, std::string_view command) {
    std::string text;
    for (const Rule& rule : all_rules) {
        if (rule.id.starts_with(prefix) && rule.applied.find(command) != std::string_view::npos) {
            text += fmt::format("{:<24}{:<8} {}\n    {}\n    source: {}\n", rule.id,
                                enum_name(rule.severity), rule.applied, rule.sentence, rule.source);
        }
    }
    return text;
}

std::string rules_markdown() {
    std::string text =
        "# Rules\n\n"
        "Every finding that `check`, `run` and `plan` report carries the id of a rule. This page "
        "is the output of `npuscope list rules --markdown`. A run that fails also reports what "
        "`check` finds.\n\n"
        "| id | severity | reported by | rule | source |\n|---|---|---|---|---|\n";
    for (const Rule& rule : all_rules) {
        text += fmt::format("| `{}` | {} | {} | {} | {} |\n", rule.id, enum_name(rule.severity),
                            rule.applied, rule.sentence, rule.source);
    }
    return text;
}

}  // namespace npuscope
