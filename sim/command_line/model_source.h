// SPDX-License-Identifier: Apache-2.0
// A model's file as the graph that a command plans: dynamic sizes bound, float layers treated as
// integers if only time is requested.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/command_line/input_files.h"
#include "sim/config/system_config.h"
#include "sim/model/graph.h"
#include "sim/quantise/quantise_model.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name
class App;
}

namespace npuscope {

/// How often a sum of two maps of different scales may read one, and a TINPU's layer its map.
enum class SumReads {
    Once,  ///< a loadable can express it for every sum of an SDP with three stages
    Twice  ///< fewer results differ from the model's
};
template <>
struct EnumNames<SumReads> {
    static constexpr std::array names{std::pair{SumReads::Once, std::string_view("once")},
                                      std::pair{SumReads::Twice, std::string_view("twice")}};
};

/// How a model's file is read.
struct ModelChoices {
    std::vector<std::string> shape{};
    std::string calibration;
    QuantiseOptions quantise;
    PixelChoices pixels;
    std::optional<SumReads> sums{};
    std::optional<std::uint64_t> batch{};
    std::string labels;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field(
            "shape", self.shape,
            "sizes for dynamic dimensions: 1x3x224x224 for the only input that has any, "
            "INPUT=1x3x224x224, or NAME=4 for every dimension of that name; default: those of "
            "the arrays given as inputs or for calibration");
        visit.field("calibration", self.calibration,
                    "folder of typical inputs to quantise a float model with");
        visit.field("quantise", self.quantise, "how a float model is quantised");
        visit.field("pixels", self.pixels, "how pixels of pictures become inputs");
        visit.field(
            "sums", self.sums,
            "how often an addition of two feature maps with different scales may read one of them. "
            "NVDLA: twice is more accurate; default: once where the SDP has a third stage, else "
            "twice. TINPU: twice reads the input map again for finer weights; default: twice where "
            "results could otherwise be more than one step off");
        visit.field("batch", self.batch,
                    "number of inputs to run where several are given; default: all");
        visit.field("labels", self.labels,
                    "file with one class name per line, for outputs with as many elements");
    }
};

void add_model_options(CLI::App& app, ModelChoices& choices);
/// Those for inputs and outputs of a run.
void add_value_options(CLI::App& app, ModelChoices& choices);
/// Those that define a model's sizes and how it is quantised.
void add_quantise_options(CLI::App& app, ModelChoices& choices);
/// Reads a model and quantises it with the calibration's inputs.
QuantisedModel quantise_file(const std::string& model, const ModelChoices& choices);

/// What was done to reach the target of a quantised model, with the ratios before and after; empty
/// if nothing was.
std::string target_sentence(const QuantisedModel& model);

/// What a command needs of a model.
enum class ModelUse {
    Shape,  ///< time only; weights may be missing
    Time,   ///< cycles of its layers, without inputs
    Values  ///< its outputs
};

/// A shape table or a model as a graph, in forms that the NPU supports. `inputs`: file or folder
/// whose arrays determine dynamic sizes; may be empty. ConfigError if it is neither.
Graph read_any_network(const std::string& network, const SystemConfig& system,
                       const ModelChoices& choices, ModelUse use, const std::string& inputs = {});

}  // namespace npuscope
