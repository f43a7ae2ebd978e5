// SPDX-License-Identifier: Apache-2.0
// Configuration of an NPU that runs layer patterns (family tinpu): the engine and what it supports.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/describe.h"
#include "models/base/quantity.h"
#include "models/mcif/mcif_timing.h"
#include "models/memory/memory_config.h"
#include "models/tinpu/tinpu_job.h"
#include "sim/model/candidate.h"
#include "sim/model/graph.h"

namespace npuscope {

// What a preset's hardware supports: rows of widths, multiples and limits, and switches where the
// vendor's documents contradict each other. A value of 0 is no limit.

/// Whether something that only one of the vendor's documents allows is accepted.
enum class Verdict { Allow, Refuse };
template <>
struct EnumNames<Verdict> {
    static constexpr std::array names{std::pair{Verdict::Allow, std::string_view("allow")},
                                      std::pair{Verdict::Refuse, std::string_view("refuse")}};
};

/// What determines the width of a bias.
enum class BiasWidth { Weights, FeatureMap };
template <>
struct EnumNames<BiasWidth> {
    static constexpr std::array names{
        std::pair{BiasWidth::Weights, std::string_view("weights")},
        std::pair{BiasWidth::FeatureMap, std::string_view("feature_map")}};
};

/// Widths that go with weights of `bits` bits.
struct WeightWidths {
    std::uint32_t bits = 8;
    std::uint32_t bias_bits = 24;
    std::uint32_t scale_bits = 0;
    std::uint32_t least_fc_inputs = 0;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.required("bits", self.bits, "bits of a signed weight");
        visit.required("bias_bits", self.bias_bits, "bits of the signed bias");
        visit.field("scale_bits", self.scale_bits,
                    "bits of the unsigned scale; 0: the scale is always 1");
        visit.field("least_fc_inputs", self.least_fc_inputs,
                    "minimum number of inputs of FC, where beyond_guidelines is refuse");
    }
};

/// Sizes that one pattern supports.
struct PatternLimits {
    Pattern pattern = Pattern::Gconv;
    std::uint32_t input_channels = 1;
    std::uint32_t output_channels = 1;
    std::uint32_t most_rows = 0;
    std::uint32_t most_columns = 0;
    bool one_side = false;
    std::uint32_t least_area = 0;
    std::vector<std::string> strides;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.required("pattern", self.pattern, "pattern that the limits apply to");
        visit.field("input_channels", self.input_channels, "input channels are a multiple of this");
        visit.field("output_channels", self.output_channels,
                    "output channels are a multiple of this");
        visit.field("most_rows", self.most_rows, "maximum number of kernel rows; 0: any");
        visit.field("most_columns", self.most_columns, "maximum number of kernel columns; 0: any");
        visit.field("one_side", self.one_side, "one of rows and columns may exceed its limit");
        visit.field("least_area", self.least_area, "minimum number of elements of the window");
        visit.field("strides", self.strides,
                    "supported strides, rows x columns, e.g. 2x1; empty: any");
    }
};

struct Restrictions {
    std::vector<WeightWidths> weights{{2, 16, 8}, {4, 16, 8}, {8, 24, 0}};
    WeightWidths pooling{2, 16, 8};
    std::vector<PatternLimits> patterns;
    std::vector<PatternLimits> guidelines;
    std::vector<std::uint32_t> clip_bits{2, 4, 8};
    std::uint32_t preclip_bits = 10;
    std::uint32_t shift_bits = 5;
    std::uint32_t batch = 1;
    Verdict beyond_guidelines = Verdict::Allow;
    Verdict four_bit_weights = Verdict::Allow;
    Verdict narrow_maps = Verdict::Allow;
    Verdict dilation = Verdict::Allow;
    Verdict padded_channels = Verdict::Refuse;
    BiasWidth bias_width = BiasWidth::Weights;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("weights", self.weights, "widths of bias and scale by width of the weights");
        visit.field("pooling", self.pooling, "widths of bias and scale of pools");
        visit.field("patterns", self.patterns, "sizes that each pattern takes");
        visit.field(
            "guidelines", self.guidelines,
            "tighter size limits, given only by the vendor's guidelines; see beyond_guidelines");
        visit.field("clip_bits", self.clip_bits,
                    "widths of feature maps: clip ranges are those of their integers");
        visit.field("preclip_bits", self.preclip_bits,
                    "bits of the signed range that is clipped to before a residual is added");
        visit.field("shift_bits", self.shift_bits, "bits of the right shift's amount");
        visit.field("batch", self.batch,
                    "batch size of a layer; 0: no layer has it, all run on the host");
        visit.field("beyond_guidelines", self.beyond_guidelines,
                    "sizes that the vendor's guidelines forbid and its page of patterns does not");
        visit.field(
            "four_bit_weights", self.four_bit_weights,
            "4-bit weights, which the vendor's page of patterns lists but also calls a future "
            "feature");
        visit.field(
            "narrow_maps", self.narrow_maps,
            "2-bit and 4-bit feature maps; one sentence of the vendor's page of patterns says that "
            "maps are 8-bit");
        visit.field("dilation", self.dilation,
                    "dilated kernels, which the vendor's page of patterns does not mention");
        visit.field("padded_channels", self.padded_channels,
                    "GCONV input channels that are not a multiple of the required number: allow "
                    "pads them with zeros");
        visit.field("bias_width", self.bias_width,
                    "what the width of a bias follows from: weights (tool 2.x) or feature_map "
                    "(tool 1.2)");
    }
};

struct LayerNpuConfig {
    std::string family = "tinpu";
    std::string name = "unnamed";
    Hertz clock{150'000'000};
    std::string memory;
    McifConfig mcif;
    TinpuConfig engine;
    Restrictions restrictions;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("family", self.family, "kind of NPU: tinpu (runs layer patterns)");
        visit.field("name", self.name, "name of the preset, as results show it");
        visit.field("clock", self.clock,
                    "clock of engine and host; reports use it, and a DRAM with a clock of its own");
        visit.field("memory", self.memory,
                    "preset of the NPU's memory, where the command line names none");
        visit.field("mcif", self.mcif, "memory interface");
        visit.field("engine", self.engine, "the layer engine");
        visit.field("restrictions", self.restrictions, "restrictions of the engine");
    }
};

// Whether the restrictions allow a candidate: every rule of the table, and what violates it.

struct CheckedLayer {
    std::uint32_t weight_bits = 0;  ///< 0: no weights
    Diagnostics problems;           ///< rule, node, value, allowed values, the nearest of them
};

/// Weights are assumed as narrow as their values allow; wider if only a wider width breaks no rule.
CheckedLayer check_restrictions(const GraphView& model, const Restrictions& restrictions,
                                const Candidate& candidate);

}  // namespace npuscope
