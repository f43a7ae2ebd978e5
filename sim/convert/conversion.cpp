// SPDX-License-Identifier: Apache-2.0
#include "sim/convert/conversion.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <set>

#include "models/base/error.h"
#include "sim/config/nearest_name.h"
#include "sim/config/text_table.h"

namespace npuscope {
namespace {

[[noreturn]] void refuse_name(const std::string& name) {
    std::vector<std::string> known;
    for (const LayoutRow* row : layout_catalog()) {
        known.emplace_back(row->name);
    }
    const std::optional<std::string> near = nearest_name(name, known);
    throw ConfigError(
        fmt::format("unknown layout '{}'", name),
        near ? fmt::format("did you mean '{}'?", *near)
             : "see `npuscope list layouts`, or give a layout expression such as 'N C/8 H W C%8'");
}

constexpr std::string_view usual_axes = "NCDHW";  ///< of extent 1 where a shape leaves them out

/// Terms are separated by blanks; a single one is an axis, with what may follow it.
bool looks_like_sentence(const std::string& text) {
    const bool axis = !text.empty() && text[0] >= 'A' && text[0] <= 'Z';
    return text.find(' ') != std::string::npos ||
           (axis && (text.size() == 1 ||
                     std::string_view("/%~-:^").find(text[1]) != std::string_view::npos));
}

/// Calls visit(part) for each part of a text separated by `separator`.
template <class Visit>
void for_each_part(std::string_view text, char separator, Visit visit) {
    while (true) {
        const std::size_t end = text.find(separator);
        visit(text.substr(0, end));
        if (end == std::string_view::npos) {
            return;
        }
        text = text.substr(end + 1);
    }
}

void add_parameter(LayoutSpec& spec, std::string_view item) {
    const std::size_t equals = item.find('=');
    std::uint64_t value = 0;
    const char* const end = item.data() + item.size();
    const char* const begin = equals == std::string_view::npos ? end : item.data() + equals + 1;
    const auto result = std::from_chars(begin, end, value);
    if (equals == 0 || result.ec != std::errc() || result.ptr != end) {
        throw ConfigError(fmt::format("layout '{}': '{}' is not a parameter", spec.text, item),
                          "parameters look like atom=8");
    }
    if (!spec.parameters.emplace(std::string(item.substr(0, equals)), value).second) {
        throw ConfigError(
            fmt::format("layout '{}': {} is given twice", spec.text, item.substr(0, equals)));
    }
}

}  // namespace

Layout LayoutSpec::bind_to(const LogicalShape& shape, std::uint32_t element) const {
    if (row != nullptr) {
        return make_layout(*row, {shape, element, parameters});
    }
    for (const LayoutDigit& digit : sentence) {
        if (shape.find(digit.axis) == shape.axes.size() &&
            usual_axes.find(digit.axis) == std::string_view::npos) {
            throw ConfigError(
                fmt::format("layout '{}': {} has no axis {}", text, to_string(shape), digit.axis),
                "name axes of the shape");
        }
    }
    return bind(sentence, shape, {.name = text, .element = element});
}

std::variant<Layout, Diagnostic> LayoutSpec::try_bind(const LogicalShape& shape,
                                                      std::uint32_t element) const {
    try {
        return bind_to(shape, element);
    } catch (const ConfigError& error) {
        return Diagnostic{.sentence = error.sentence(), .remedy = error.remedy()};
    }
}

std::string LayoutSpec::axes_for(std::size_t extents) const {
    if (row != nullptr && row->axes == "KCRS" && extents == 4) {
        return "KCRS";
    }
    static constexpr std::string_view usual[] = {"", "W", "HW", "CHW", "NCHW", "NCDHW"};
    if (extents == 0) {
        throw ConfigError("a single number has no layout", "give an array");
    }
    if (extents >= std::size(usual)) {
        throw ConfigError(fmt::format("a shape of {} extents needs --axes", extents),
                          "one capital letter for each extent");
    }
    return std::string(usual[extents]);
}

LayoutSpec parse_layout_spec(const std::string& text) {
    LayoutSpec spec;
    spec.text = text;
    const std::size_t colon = text.find(':');
    spec.row = find_layout(std::string_view(text).substr(0, colon));
    if (spec.row == nullptr) {
        if (!looks_like_sentence(text)) {
            refuse_name(text.substr(0, colon));
        }
        spec.sentence = parse_sentence(text);
        return spec;
    }
    if (colon != std::string::npos) {
        for_each_part(std::string_view(text).substr(colon + 1), ',',
                      [&spec](std::string_view item) { add_parameter(spec, item); });
    }
    return spec;
}

namespace {

[[noreturn]] void refuse_item(const std::string& text, std::string_view item) {
    throw ConfigError(fmt::format("quantisation '{}': cannot parse '{}'", text, item),
                      "e.g. scale=1.5/1.25,radix=6/5,axis=C,math=float32");
}

template <class T>
std::vector<T> numbers(const std::string& text, std::string_view list) {
    std::vector<T> found;
    for_each_part(list, '/', [&](std::string_view item) {
        T value{};
        const char* const end = item.data() + item.size();
        const auto result = std::from_chars(item.data(), end, value);
        if (result.ec != std::errc() || result.ptr != end) {
            refuse_item(text, item);
        }
        found.push_back(value);
    });
    return found;
}

}  // namespace

Quantisation parse_quantisation(const std::string& text) {
    Quantisation quantisation;
    std::vector<float> scale{1};
    std::vector<int> radix{0};
    std::set<std::string_view> given;
    for_each_part(text, ',', [&](std::string_view item) {
        const std::size_t equals = item.find('=');
        const std::string_view key = item.substr(0, equals);
        const std::string_view value =
            equals == std::string_view::npos ? std::string_view() : item.substr(equals + 1);
        if (!given.insert(key).second) {
            throw ConfigError(fmt::format("quantisation '{}': {} is given twice", text, key),
                              "give it once; '/' separates the numbers of a list");
        }
        if (key == "scale") {
            scale = numbers<float>(text, value);
        } else if (key == "radix") {
            radix = numbers<int>(text, value);
        } else if (key == "axis" && value.size() == 1 && value[0] >= 'A' && value[0] <= 'Z') {
            quantisation.axis = value[0];
        } else if (key == "math" && (value == "float32" || value == "float64")) {
            quantisation.math = value == "float32" ? QuantiseMath::Float32 : QuantiseMath::Float64;
        } else {
            refuse_item(text, item);
        }
    });
    quantisation.factors = quantise_factors(scale, radix);
    if (quantisation.factors.empty()) {
        throw ConfigError(fmt::format("quantisation '{}' has {} scales and {} radices", text,
                                      scale.size(), radix.size()),
                          "give the same number of both, or a single one");
    }
    for (const float factor : quantisation.factors) {
        if (!std::isfinite(factor) || factor == 0) {
            throw ConfigError(fmt::format("quantisation '{}' has a factor of {}", text, factor),
                              "scale * 2^radix must be a number other than 0");
        }
    }
    return quantisation;
}

namespace {

bool is_kneron(const LayoutSpec& spec) {
    return spec.row != nullptr && spec.row->family == "kneron";
}
bool is_ncnn(const LayoutSpec& spec) { return spec.row != nullptr && spec.row->family == "ncnn"; }

std::uint64_t elempack_of(const LayoutSpec& spec) {
    const auto found = spec.parameters.find("elempack");
    return is_ncnn(spec) && found != spec.parameters.end() ? found->second : 1;
}

/// Repacking with a factor that does not divide the axis leaves a blob unchanged.
LayoutSpec kept_packing(const ConversionRequest& request, std::vector<std::string>& warnings) {
    LayoutSpec to = request.to;
    const auto padding = to.parameters.find("padding");
    const std::uint64_t wanted = elempack_of(to);
    if (!is_ncnn(to) || wanted == 0 || elempack_of(request.from) == 0) {
        return to;
    }
    const bool pads = padding != to.parameters.end() && padding->second == 1;
    const std::uint64_t kept =
        ncnn_elempack(request.shape, {elempack_of(request.from), wanted, pads});
    if (kept != wanted) {
        warnings.push_back(fmt::format(
            "elempack {} does not divide axis {} of {}: using elempack {}, as ncnn does", wanted,
            ncnn_packed_axis(request.shape), to_string(request.shape), kept));
        to.parameters["elempack"] = kept;
    }
    return to;
}

void require_type(const ConversionRequest& request) {
    if (request.quantise && request.dequantise) {
        throw ConfigError("--quantise and --dequantise are given together",
                          "give one of them: to fixed point or back");
    }
    const std::string_view type = request.type->name;
    if ((request.quantise || request.dequantise) && type != "int8" && type != "int16" &&
        type != "float32") {
        throw ConfigError(fmt::format("values of type {} are not quantised", type),
                          "int8, int16 or float32");
    }
}

void require_axis(const ConversionRequest& request) {
    for (const auto* quantisation : {&request.quantise, &request.dequantise}) {
        if (!*quantisation) {
            continue;
        }
        const char axis = (*quantisation)->axis;
        const std::size_t factors = (*quantisation)->factors.size();
        if (axis == ' ' && factors > 1) {
            throw ConfigError(
                fmt::format("{} quantisation factors are given, but no axis is named", factors),
                "axis=LETTER names the axis, one factor for each of its indices");
        }
        const std::size_t found = request.shape.find(axis);
        if (axis != ' ' && found == request.shape.axes.size()) {
            throw ConfigError(fmt::format("quantisation factors are given for axis '{}', but the "
                                          "shape is {}",
                                          axis, to_string(request.shape)),
                              "name an axis of the shape");
        }
        if (factors > 1 && request.shape.axes[found].extent != factors) {
            throw ConfigError(
                fmt::format("{} quantisation factors are given for axis '{}', which has {}",
                            factors, axis, counted(request.shape.axes[found].extent, "element")),
                "give one factor for each element, or a single one");
        }
    }
}

/// The Kneron side with the strides of its descriptor.
Layout by_strides(const ConversionRequest& request, const Layout& named,
                  std::vector<std::string>& warnings) {
    const StrideDescriptor descriptor{named.name,         request.shape,
                                      request.stride_npu, named.element,
                                      named.code,         named.sentence.starts_with("C/16")};
    DescriptorLayout bound = bind_descriptor(descriptor, request.group_rule);
    if (!bound.ambiguity.empty()) {
        warnings.push_back(bound.ambiguity);
    }
    return bound.layout;
}

}  // namespace

std::string ConversionRequest::axes_for(std::size_t extents) const {
    const std::string axes = to.axes_for(extents);
    return axes == "KCRS" ? axes : from.axes_for(extents);
}

ConversionPlan plan_conversion(const ConversionRequest& request) {
    require_type(request);
    require_axis(request);
    const ElementRow& real = find_element("float32");
    ConversionPlan conversion;
    conversion.quantise = request.quantise;
    conversion.dequantise = request.dequantise;
    conversion.source_type = request.quantise ? &real : request.type;
    conversion.target_type = request.dequantise ? &real : request.type;
    const LayoutSpec to = kept_packing(request, conversion.warnings);
    conversion.source = request.from.bind_to(request.shape, conversion.source_type->bytes);
    conversion.target = to.bind_to(request.shape, conversion.target_type->bytes);
    if (!request.stride_npu.empty()) {
        if (!is_kneron(request.to) && !is_kneron(request.from)) {
            throw ConfigError("--stride-npu needs a Kneron layout on one side",
                              "see `npuscope list layouts`");
        }
        Layout& side = is_kneron(request.to) ? conversion.target : conversion.source;
        side = by_strides(request, side, conversion.warnings);
    }
    return conversion;
}

}  // namespace npuscope
