// SPDX-License-Identifier: Apache-2.0
// Inputs of a model from files: arrays and pictures that are named after its inputs, and folders of
// them, one per case. A pixel, or an element of a uint8 array, becomes (pixel - mean) * scale.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/describe.h"
#include "sim/command_line/given_options.h"
#include "sim/convert/picture.h"
#include "sim/model/graph.h"
#include "sim/model/onnx_reader.h"
#include "sim/quantise/calibration.h"

namespace npuscope {

inline constexpr std::size_t most_cases = 100'000;  ///< of a model's inputs

enum class ChannelOrder { Rgb, Bgr };

template <>
struct EnumNames<ChannelOrder> {
    static constexpr std::array names{std::pair{ChannelOrder::Rgb, std::string_view("rgb")},
                                      std::pair{ChannelOrder::Bgr, std::string_view("bgr")}};
};

/// Conversion of pixels.
struct PixelChoices {
    std::string mean = "0";
    std::string scale = "1";
    std::optional<ChannelOrder> order{};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("mean", self.mean,
                    "value subtracted from pixels (0 to 255): one number, or one per channel, "
                    "separated by commas");
        visit.field("scale", self.scale,
                    "factor applied to pixels after subtracting the mean: one number, or one per "
                    "channel; fractions such as 1/255 are allowed");
        visit.field("order", self.order,
                    "channel order of a picture in the input; default: rgb for a model, bgr for a "
                    "loadable");
    }
};

/// How many of the cases given are run. ConfigError if that is more than there are.
std::size_t wanted_cases(std::optional<std::uint64_t> batch, std::size_t given);

/// Value range of an input: that of its array's type or, for types wider than 8 bits, that of the
/// values themselves.
ValueRange facts_of(const GraphValue& value);

/// The arrays that `path` holds for a model with these inputs. They are not checked, and what is no
/// array is passed over: reading them as cases reports it.
std::vector<GivenArray> given_arrays(const std::vector<std::string>& inputs,
                                     const std::filesystem::path& path);

/// What inputs are for. A run computes with NaN, but no range can be calibrated with it.
enum class InputUse { Run, Calibration };

class InputReader {
 public:
    /// ConfigError for invalid numbers.
    InputReader(const Graph& graph, const PixelChoices& choices, InputUse use = InputUse::Run);

    /// One file as that input. ConfigError if it does not fit; nothing is resized.
    GraphValue read(const std::string& input, const std::filesystem::path& file) const;
    /// The file of an input in a folder: an array or a picture, or raw bytes (.bin) where they are
    /// allowed. Nothing if there is none; ConfigError if there are several.
    static std::optional<std::filesystem::path> find(const std::string& input,
                                                     const std::filesystem::path& folder,
                                                     bool allows_raw = false);
    /// The cases that `path` holds: a folder for each, with a file for each input; or, for a model
    /// with one input, a file for each; or one file. An array of more pictures than the model's
    /// batch size makes several cases. Sorted by name. ConfigError if there is none, or one does
    /// not fit.
    std::vector<Case> cases(const std::filesystem::path& path) const;
    /// Whether every choice for pixels had an effect on something that was read.
    bool has_used_choices() const { return unused().none(); }
    /// ConfigError if one had none.
    void require_use_of_choices() const;

 private:
    std::vector<GraphValue> read_all(const std::string& input,
                                     const std::filesystem::path& file) const;
    std::vector<Case> cases_of_file(const std::filesystem::path& file) const;
    Case case_of_folder(const std::filesystem::path& folder) const;
    GraphValue placed(const Picture& picture, const TensorType& type,
                      const std::string& file) const;
    void scale_pixels(GraphValue& value, const TensorType& type, const std::string& file) const;
    GivenOptions unused() const;

    const Graph& graph_;
    PixelChoices choices_;
    InputUse use_;
    std::vector<double> mean_;
    std::vector<double> scale_;
    mutable bool pixels_read_ = false;    ///< pictures or uint8 arrays
    mutable bool pictures_read_ = false;  ///< of several channels, which have an order
    mutable bool grey_read_ = false;      ///< pictures of one channel
};

}  // namespace npuscope
