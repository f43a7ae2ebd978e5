// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/input_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

#include "models/base/error.h"
#include "sim/command_line/given_options.h"
#include "sim/config/file_io.h"
#include "sim/config/file_name.h"
#include "sim/config/npy_file.h"
#include "sim/config/text_table.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 7> endings{".bin",  ".npy", ".png", ".jpg",
                                             ".jpeg", ".pgm", ".ppm"};

[[noreturn]] void refuse(const std::string& file, const std::string& sentence,
                         const std::string& remedy) {
    throw ConfigError(Place{file, 0, 0}, sentence, remedy);
}

/// `0.5` or `1/255`.
std::optional<double> fraction_of(std::string_view text) {
    const std::size_t slash = text.find('/');
    std::array<double, 2> parts{0, 1};
    for (std::size_t i = 0; i < (slash == std::string_view::npos ? 1U : 2U); ++i) {
        const std::string_view part = i == 1 ? text.substr(slash + 1) : text.substr(0, slash);
        const auto [end, error] =
            std::from_chars(part.data(), part.data() + part.size(), parts.at(i));
        if (error != std::errc{} || end != part.data() + part.size()) {
            return std::nullopt;
        }
    }
    const double number = parts[0] / parts[1];
    return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

/// Comma-separated numbers.
std::vector<double> numbers_of(const std::string& text, const char* option) {
    std::vector<double> numbers;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const auto number = fraction_of(std::string_view(text).substr(begin, end - begin));
        if (!number) {
            throw ConfigError(
                fmt::format("{} '{}' is neither a number nor a comma-separated list of numbers",
                            option, text),
                fmt::format("write {} 127.5 or {} 123.675,116.28,103.53", option, option));
        }
        numbers.push_back(*number);
        begin = end + 1;
    }
    return numbers;
}

/// Positions of channels, rows and columns in a model's input; nothing if it is not a picture.
struct PictureAxes {
    std::size_t channels;
    std::size_t rows;
    std::size_t columns;
};
std::optional<PictureAxes> picture_axes(const Sizes& sizes) {
    const auto is_colour = [](std::int64_t size) { return size == 1 || size == 3; };
    if (sizes.size() == 4 && sizes[0] == 1 && is_colour(sizes[1])) {
        return PictureAxes{1, 2, 3};
    }
    if (sizes.size() == 4 && sizes[0] == 1 && is_colour(sizes[3])) {
        return PictureAxes{3, 1, 2};
    }
    return std::nullopt;
}

/// Entries of a folder, sorted by name.
std::vector<fs::path> sorted_entries(const fs::path& folder) {
    std::vector<fs::path> entries;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().filename().string().starts_with('.')) {
            continue;
        }
        entries.push_back(entry.path());
        if (entries.size() > most_cases) {
            throw ConfigError(
                fmt::format("'{}' holds more than {} entries", folder.string(), most_cases),
                "use a few hundred inputs");
        }
    }
    std::ranges::sort(entries);
    return entries;
}

/// With the place of the first one in the array.
void refuse_nan(const GraphValue& array, const std::string& file) {
    const auto found =
        std::ranges::find_if(array.numbers, [](double number) { return std::isnan(number); });
    if (found == array.numbers.end()) {
        return;
    }
    auto rest = found - array.numbers.begin();
    Sizes place = array.type.sizes;
    for (std::size_t axis = place.size(); axis-- > 0;) {
        const auto size = array.type.sizes[axis];
        place[axis] = rest % size;
        rest /= size;
    }
    refuse(file, fmt::format("element [{}] is NaN", fmt::join(place, ", ")),
           "calibrate with typical inputs: no range holds a NaN");
}

/// One array as its cases: as is, or its first dimension cut into the model's batches.
std::vector<GraphValue> split_batch(GraphValue value, const TensorType& type,
                                    const std::string& file) {
    Sizes one = value.type.sizes;
    const bool single = type.sizes.size() == one.size() + 1 && type.sizes.front() == 1 &&
                        std::equal(one.begin(), one.end(), type.sizes.begin() + 1);
    if (single && type.sizes.size() == 4) {  // channels, rows and columns of one map
        one = value.type.sizes = type.sizes;
    }
    const bool more = one.size() == type.sizes.size() && !value.numbers.empty() && !one.empty() &&
                      type.sizes[0] > 0 && one[0] > type.sizes[0] && one[0] % type.sizes[0] == 0;
    if (more) {
        one[0] = type.sizes[0];
    }
    if (one != type.sizes) {
        refuse(file,
               fmt::format("the array is {}, but the model takes {}", sizes_text(value.type.sizes),
                           sizes_text(type.sizes)),
               "give an array of the model's shape, or several stacked along the first dimension");
    }
    if (!more) {
        return {std::move(value)};
    }
    const std::size_t elements = count_elements(one);
    std::vector<GraphValue> parts;
    for (std::size_t begin = 0; begin < value.numbers.size(); begin += elements) {
        const auto from = value.numbers.begin() + static_cast<std::ptrdiff_t>(begin);
        parts.push_back(
            {{value.type.element, one}, {from, from + static_cast<std::ptrdiff_t>(elements)}});
    }
    return parts;
}

using InputFile = std::pair<std::string, fs::path>;

/// Files in the folder that are named after the inputs.
std::vector<InputFile> named_files(const std::vector<std::string>& inputs, const fs::path& folder) {
    std::vector<InputFile> files;
    for (const std::string& input : inputs) {
        if (const auto file = InputReader::find(input, folder, true)) {
            files.emplace_back(input, *file);
        }
    }
    return files;
}

std::vector<InputFile> files_for(const std::vector<std::string>& inputs, const fs::path& path) {
    const bool single = inputs.size() == 1;
    if (!fs::is_directory(path)) {
        return single && file_exists(path) ? std::vector{InputFile{inputs.front(), path}}
                                           : std::vector<InputFile>{};
    }
    std::vector<InputFile> files = named_files(inputs, path);
    if (!files.empty()) {
        return files;
    }
    for (const fs::path& entry : sorted_entries(path)) {
        if (fs::is_directory(entry)) {
            std::ranges::move(named_files(inputs, entry), std::back_inserter(files));
        } else if (single) {
            files.emplace_back(inputs.front(), entry);
        }
    }
    return files;
}

}  // namespace

std::vector<GivenArray> given_arrays(const std::vector<std::string>& inputs, const fs::path& path) {
    std::vector<GivenArray> arrays;
    for (const auto& [input, file] : files_for(inputs, path)) {
        if (names_npy(file)) {
            arrays.push_back({input, file.string(), read_npy(file).type.sizes});
        }
    }
    return arrays;
}

std::size_t wanted_cases(std::optional<std::uint64_t> batch, std::size_t given) {
    if (batch && *batch > given) {
        throw ConfigError(fmt::format("--batch {}: {} given", *batch,
                                      counted(given, "input") + (given == 1 ? " is" : " are")),
                          "give more, or leave out --batch");
    }
    return batch ? static_cast<std::size_t>(*batch) : given;
}

ValueRange facts_of(const GraphValue& value) {
    const ElementType element = value.type.element;
    if (element == ElementType::Int8 || element == ElementType::Uint8) {
        return {true, range_of(element), false};
    }
    NumberRange range{0, 0};
    bool whole = true;
    for (const double number : value.numbers) {
        whole = whole && number == std::trunc(number);
        range = {std::min(range.low, number), std::max(range.high, number)};
    }
    if (whole && fits_bits(range, 8)) {
        range = range.low >= 0 && range.high > range_of(ElementType::Int8).high
                    ? range_of(ElementType::Uint8)
                    : range_of(ElementType::Int8);
    }
    return {whole, range, false};
}

InputReader::InputReader(const Graph& graph, const PixelChoices& choices, InputUse use)
    : graph_(graph),
      choices_(choices),
      use_(use),
      mean_(numbers_of(choices.mean, "--mean")),
      scale_(numbers_of(choices.scale, "--scale")) {
    if (std::ranges::count(scale_, 0.0) > 0) {
        throw ConfigError(
            fmt::format("--scale '{}': a factor of 0 makes all pixels 0", choices.scale),
            "write it as a number other than 0, e.g. 1/255");
    }
}

GraphValue InputReader::placed(const Picture& picture, const TensorType& type,
                               const std::string& file) const {
    const auto axes = picture_axes(type.sizes);
    const auto size = [&](std::size_t axis) { return static_cast<std::size_t>(type.sizes[axis]); };
    const bool fits = axes && size(axes->channels) == picture.channels &&
                      size(axes->rows) == picture.height && size(axes->columns) == picture.width;
    if (!fits) {
        refuse(
            file,
            fmt::format("the picture has {}, {} and {}, but the model takes {}",
                        counted(picture.height, "row"), counted(picture.width, "column"),
                        counted(picture.channels, "channel"), sizes_text(type.sizes)),
            axes ? "resize or convert it first: npuscope does not resize" : "give an array (.npy)");
    }
    GraphValue value = zeros({ElementType::Uint8, type.sizes});
    const bool first = axes->channels == 1;
    const std::size_t plane = picture.width * picture.height;
    for (std::size_t i = 0; i < plane; ++i) {
        for (std::size_t c = 0; c < picture.channels; ++c) {
            const std::size_t from =
                choices_.order == ChannelOrder::Bgr ? picture.channels - 1 - c : c;
            value.numbers[first ? c * plane + i : i * picture.channels + c] =
                picture.pixels[i * picture.channels + from];
        }
    }
    return value;
}

void InputReader::scale_pixels(GraphValue& value, const TensorType& type,
                               const std::string& file) const {
    const bool plain = mean_ == std::vector{0.0} && scale_ == std::vector{1.0};
    pixels_read_ = pixels_read_ || value.type.element == ElementType::Uint8;
    if (plain || value.type.element != ElementType::Uint8) {
        return;
    }
    const auto axes = picture_axes(type.sizes);
    const std::size_t channels =
        axes ? static_cast<std::size_t>(type.sizes[axes->channels]) : std::size_t{1};
    for (const auto* numbers : {&mean_, &scale_}) {
        if (numbers->size() != 1 && numbers->size() != channels) {
            refuse(file,
                   fmt::format("{} has {} numbers where the input has {}",
                               numbers == &mean_ ? "--mean" : "--scale", numbers->size(),
                               counted(channels, "channel")),
                   "give one, or one for each channel");
        }
    }
    const std::size_t plane =
        axes && axes->channels == 1
            ? static_cast<std::size_t>(type.sizes[2]) * static_cast<std::size_t>(type.sizes[3])
            : 1;
    const auto of = [](const std::vector<double>& numbers, std::size_t channel) {
        return numbers[numbers.size() == 1 ? 0 : channel];
    };
    for (std::size_t i = 0; i < value.numbers.size(); ++i) {
        const std::size_t channel = i / plane % channels;
        value.numbers[i] = (value.numbers[i] - of(mean_, channel)) * of(scale_, channel);
    }
    value.type.element = type.element == ElementType::Float64 ? type.element : ElementType::Float32;
    settle(value);
}

std::vector<GraphValue> InputReader::read_all(const std::string& input,
                                              const fs::path& file) const {
    const TensorType& type = graph_.types.at(input);
    std::vector<GraphValue> values;
    if (is_picture_file(file)) {
        const Picture picture = read_picture(file);
        (picture.channels > 1 ? pictures_read_ : grey_read_) = true;
        values.push_back(placed(picture, type, file.string()));
    } else if (!names_npy(file) && file_exists(file)) {
        refuse(file.string(), "the file is neither an array nor a picture",
               "give a .npy file or a picture: PNG, JPEG, PGM or PPM");
    } else {
        GraphValue array = read_npy(file);
        if (use_ == InputUse::Calibration) {
            refuse_nan(array, file.string());
        }
        values = split_batch(std::move(array), type, file.string());
    }
    for (GraphValue& value : values) {
        scale_pixels(value, type, file.string());
    }
    return values;
}

GraphValue InputReader::read(const std::string& input, const fs::path& file) const {
    std::vector<GraphValue> values = read_all(input, file);
    if (values.size() != 1) {
        refuse(file.string(),
               fmt::format("the array holds {} inputs instead of one", values.size()),
               "give one of them");
    }
    return std::move(values.front());
}

std::optional<fs::path> InputReader::find(const std::string& input, const fs::path& folder,
                                          bool allows_raw) {
    std::optional<fs::path> found;
    for (const char* ending : std::span(endings).subspan(allows_raw ? 0 : 1)) {
        const std::string name = file_name(input, ending);
        if (!file_exists(folder / name)) {
            continue;
        }
        if (found) {
            throw ConfigError(fmt::format("'{}' holds both {} and {}", folder.string(),
                                          found->filename().string(), name),
                              "remove one of them");
        }
        found = folder / name;
    }
    return found;
}

std::vector<Case> InputReader::cases_of_file(const fs::path& file) const {
    const std::string& input = graph_.inputs.front();
    std::vector<Case> cases;
    for (GraphValue& value : read_all(input, file)) {
        cases.push_back({{input, std::move(value)}});
    }
    return cases;
}

Case InputReader::case_of_folder(const fs::path& folder) const {
    Case one;
    for (const std::string& input : graph_.inputs) {
        const auto file = find(input, folder);
        // a missing file is reported by the reader
        one[input] = read(input, file ? *file : folder / file_name(input, ".npy"));
    }
    return one;
}

GivenOptions InputReader::unused() const {
    const PixelChoices usual;
    GivenOptions options;
    options.add(choices_.mean != usual.mean && !pixels_read_, "--mean");
    options.add(choices_.scale != usual.scale && !pixels_read_, "--scale");
    options.add(choices_.order != usual.order && !pictures_read_, "--order");
    return options;
}

void InputReader::require_use_of_choices() const {
    if (const GivenOptions options = unused(); !options.none()) {
        throw ConfigError(fmt::format("{}: no effect on the inputs, which are {}", options.names(),
                                      grey_read_ ? "grey: they have a single channel" : "arrays"),
                          pixels_read_
                              ? (grey_read_ ? "leave it out" : "give a picture, or leave it out")
                              : "give a picture or an array of uint8, or leave it out");
    }
}

std::vector<Case> InputReader::cases(const fs::path& path) const {
    if (!file_exists(path)) {
        throw ConfigError(fmt::format("there is no file or folder '{}'", path.string()),
                          "name a folder of .npy files or pictures, or one such file");
    }
    const bool single = graph_.inputs.size() == 1;
    if (!fs::is_directory(path)) {
        if (!single) {
            throw ConfigError(fmt::format("the model has {} inputs, but '{}' is a single file",
                                          graph_.inputs.size(), path.string()),
                              "name a folder with a file for each input");
        }
        return cases_of_file(path);
    }
    std::vector<Case> cases;
    bool folders = false;
    for (const fs::path& entry : sorted_entries(path)) {
        if (fs::is_directory(entry)) {
            cases.push_back(case_of_folder(entry));
            folders = true;
        } else if (single && !folders && (names_npy(entry) || is_picture_file(entry))) {
            std::ranges::move(cases_of_file(entry), std::back_inserter(cases));
        }
    }
    if (cases.empty() && !single) {
        cases.push_back(case_of_folder(path));
    }
    if (cases.empty()) {
        throw ConfigError(fmt::format("'{}' holds no inputs", path.string()),
                          "put a .npy file or a picture for each case there, or a folder with one "
                          "for each input");
    }
    return cases;
}

}  // namespace npuscope
