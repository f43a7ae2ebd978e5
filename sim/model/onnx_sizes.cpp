// SPDX-License-Identifier: Apache-2.0
#include "sim/model/onnx_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <vector>

#include "models/base/error.h"
#include "sim/config/nearest_name.h"
#include "sim/model/onnx_tensor.h"

namespace npuscope {
namespace {

constexpr std::int64_t open_size = -1;  // neither written nor given; exporters write it, too

/// `1x3x224x224`; nothing if the text has another form.
std::optional<Sizes> sizes_of(const std::string& text) {
    Sizes sizes;
    const char* at = text.data();
    const char* const end = at + text.size();
    for (;;) {
        std::int64_t size = 0;
        const auto [next, error] = std::from_chars(at, end, size);
        if (error != std::errc{} || size < 0 || size > most_elements) {
            return std::nullopt;
        }
        sizes.push_back(size);
        if (next == end) {
            return sizes;
        }
        if (*next != 'x') {
            return std::nullopt;
        }
        at = next + 1;
    }
}

const onnx::TensorShapeProto& shape_of(const onnx::ValueInfoProto& info) {
    return info.type().tensor_type().shape();
}

bool is_fixed(const onnx::TensorShapeProto_Dimension& size) {
    return size.has_dim_value() && size.dim_value() != open_size;
}

std::string name_of(const onnx::TensorShapeProto_Dimension& size) {
    return size.has_dim_param() ? size.dim_param() : std::string();
}

bool is_open(const onnx::ValueInfoProto& info) {
    return std::ranges::any_of(shape_of(info).dim(),
                               [](const auto& size) { return !is_fixed(size); });
}

/// `Nx3xHxW`, as in the file.
std::string written(const onnx::ValueInfoProto& info) {
    std::string text;
    for (const auto& size : shape_of(info).dim()) {
        text += text.empty() ? "" : "x";
        text += is_fixed(size)          ? std::to_string(size.dim_value())
                : name_of(size).empty() ? std::string("?")
                                        : name_of(size);
    }
    return text;
}

}  // namespace

void OnnxSizes::bind(const onnx::GraphProto& graph, const Graph& read) {
    for (const std::string& text : given_) {
        bind_one(text, graph, read);
    }
}

void OnnxSizes::bind_one(const std::string& text, const onnx::GraphProto& graph,
                         const Graph& read) {
    const std::size_t equals = text.rfind('=');
    const std::string name = equals == std::string::npos ? "" : text.substr(0, equals);
    const auto sizes = sizes_of(equals == std::string::npos ? text : text.substr(equals + 1));
    if (!sizes) {
        throw ConfigError(fmt::format("'{}' is not a size option", text),
                          "write --shape 1x3x224x224, --shape INPUT=1x3x224x224 or --shape NAME=4");
    }
    std::vector<const onnx::ValueInfoProto*> open;
    std::set<std::string> known;
    for (const auto& info : graph.input()) {
        if (read.is_constant(info.name())) {
            continue;
        }
        if (info.name() == name) {
            return bind_input(info, *sizes);
        }
        known.insert(info.name());
        if (is_open(info)) {
            open.push_back(&info);
        }
        for (const auto& size : shape_of(info).dim()) {
            if (!name_of(size).empty()) {
                known.insert(name_of(size));
            }
        }
    }
    if (equals == std::string::npos) {
        if (open.size() != 1) {
            throw ConfigError(fmt::format("sizes without an input name need exactly one input with "
                                          "dynamic sizes; the model has {}",
                                          open.size()),
                              open.empty() ? "leave the option out"
                                           : "name the input: --shape INPUT=1x3x224x224");
        }
        return bind_input(*open.front(), *sizes);
    }
    if (!known.contains(name)) {
        const std::vector<std::string> names(known.begin(), known.end());
        throw ConfigError(fmt::format("the model has no input or dynamic size '{}'", name),
                          name_remedy(name, names));
    }
    if (sizes->size() != 1) {
        throw ConfigError(fmt::format("'{}' is a single size, not a tensor", name),
                          fmt::format("give a single number: --shape {}=4", name));
    }
    name_size(name, sizes->front());
}

void OnnxSizes::bind_input(const onnx::ValueInfoProto& info, const Sizes& sizes) {
    const auto& dims = shape_of(info).dim();
    const bool known = info.type().tensor_type().has_shape();
    bool fits = !known || static_cast<std::size_t>(dims.size()) == sizes.size();
    for (int i = 0; known && fits && i < dims.size(); ++i) {
        const std::int64_t size = sizes[static_cast<std::size_t>(i)];
        fits = !is_fixed(dims[i]) || dims[i].dim_value() == size;
        if (fits && !is_fixed(dims[i]) && !name_of(dims[i]).empty()) {
            name_size(name_of(dims[i]), size);
        }
    }
    if (!fits) {
        throw ConfigError(
            fmt::format("input '{}' is {}, not {}", info.name(), written(info), sizes_text(sizes)),
            "give sizes for dynamic dimensions only");
    }
    inputs_[info.name()] = sizes;
}

void OnnxSizes::name_size(const std::string& name, std::int64_t size) {
    const auto [found, is_new] = named_.emplace(name, size);
    if (!is_new && found->second != size) {
        throw ConfigError(fmt::format("'{}' is given as {} and as {}", name, found->second, size),
                          "all sizes of the same name must be equal");
    }
}

std::vector<std::string> OnnxSizes::take_arrays(const onnx::GraphProto& graph, const Graph& read,
                                                const FindArrays& arrays) {
    std::map<std::string, const onnx::ValueInfoProto*> infos;
    std::vector<std::string> names;
    for (const auto& info : graph.input()) {
        if (!read.is_constant(info.name())) {
            infos[info.name()] = &info;
            names.push_back(info.name());
        }
    }
    const int first = names.size() == 1 && shape_of(*infos.begin()->second).dim_size() > 1 ? 1 : 0;
    const bool needed = std::ranges::any_of(infos, [&](const auto& input) {
        return input.second->type().has_tensor_type() && misses_size(*input.second, first);
    });
    if (!arrays || !needed) {
        return {};
    }
    std::map<std::string, ArraySize> taken;
    for (const GivenArray& array : arrays(names)) {
        take_array(*infos.at(array.input), array, first, taken);
    }
    std::vector<std::string> notes;
    for (const auto& [what, size] : taken) {
        keep(size);
        notes.push_back(fmt::format("{} is dynamic and taken as {}", what, size.size));
    }
    return notes;
}

bool OnnxSizes::misses_size(const onnx::ValueInfoProto& info, int first) const {
    if (!info.type().tensor_type().has_shape()) {
        return !inputs_.contains(info.name());
    }
    for (int i = first; i < shape_of(info).dim_size(); ++i) {
        if (!size_of(info, i)) {
            return true;
        }
    }
    return false;
}

void OnnxSizes::take_array(const onnx::ValueInfoProto& info, const GivenArray& array, int first,
                           std::map<std::string, ArraySize>& taken) const {
    const bool known = info.type().tensor_type().has_shape();
    const int rank = static_cast<int>(array.sizes.size());
    bool fits = !known || rank == shape_of(info).dim_size();
    for (int i = first; fits && i < rank; ++i) {
        const std::int64_t size = array.sizes[static_cast<std::size_t>(i)];
        if (const auto own = known ? size_of(info, i) : std::nullopt) {
            fits = i == 0 || *own == size;  // the first may count cases
            continue;
        }
        const std::string name = known ? name_of(shape_of(info).dim(i)) : std::string();
        const std::string what = name.empty() ? fmt::format("dimension {} of '{}'", i, info.name())
                                              : fmt::format("'{}'", name);
        const auto [found, is_new] = taken.emplace(what, ArraySize{&info, i, size, array.file});
        if (!is_new && found->second.size != size) {
            throw ConfigError(fmt::format("{} is {} in '{}' and {} in '{}'", what,
                                          found->second.size, found->second.file, size, array.file),
                              "give arrays that agree: a run has one size for each dimension");
        }
    }
    if (!fits) {
        throw ConfigError(fmt::format("input '{}' is {}, but the array '{}' is {}", info.name(),
                                      written(info), array.file, sizes_text(array.sizes)),
                          "give an array of the model's shape");
    }
}

void OnnxSizes::keep(const ArraySize& size) {
    const auto& shape = shape_of(*size.info);
    const auto index = static_cast<std::size_t>(size.index);
    if (size.index < shape.dim_size() && !name_of(shape.dim(size.index)).empty()) {
        return name_size(name_of(shape.dim(size.index)), size.size);
    }
    Sizes& sizes = inputs_[size.info->name()];
    sizes.resize(std::max({sizes.size(), static_cast<std::size_t>(shape.dim_size()), index + 1}),
                 open_size);
    sizes[index] = size.size;
}

std::vector<std::string> OnnxSizes::take_batches_of_one(const onnx::GraphProto& graph,
                                                        const Graph& read) {
    std::vector<std::string> taken;
    for (const auto& info : graph.input()) {
        const auto& dims = shape_of(info).dim();
        if (read.is_constant(info.name()) || dims.size() < 2 || size_of(info, 0)) {
            continue;
        }
        Sizes sizes{1};
        for (int i = 1; i < dims.size(); ++i) {
            sizes.push_back(size_of(info, i).value_or(open_size));
        }
        const std::string name = name_of(dims[0]);
        if (std::ranges::find(sizes, open_size) != sizes.end()) {
            continue;  // more than a batch is dynamic
        }
        bind_input(info, sizes);
        taken.push_back(name.empty() ? fmt::format("the first size of '{}'", info.name())
                                     : fmt::format("'{}'", name));
    }
    return taken;
}

std::optional<std::int64_t> OnnxSizes::size_of(const onnx::ValueInfoProto& info, int index) const {
    const auto& size = shape_of(info).dim(index);
    const auto input = inputs_.find(info.name());
    if (input != inputs_.end() && input->second[static_cast<std::size_t>(index)] != open_size) {
        return input->second[static_cast<std::size_t>(index)];
    }
    if (is_fixed(size)) {
        return size.dim_value();
    }
    const auto named = named_.find(name_of(size));
    return named == named_.end() || named->first.empty() ? std::nullopt
                                                         : std::optional(named->second);
}

TensorType OnnxSizes::type_of(const onnx::ValueInfoProto& info) const {
    if (!info.has_type() || !info.type().has_tensor_type()) {
        throw ConfigError("it is not a tensor", "use tensors for inputs and outputs");
    }
    const auto& tensor = info.type().tensor_type();
    TensorType type{onnx_element(tensor.elem_type()).type, {}};
    const auto given = inputs_.find(info.name());
    if (!tensor.has_shape() && given == inputs_.end()) {
        throw ConfigError("its sizes are not given",
                          fmt::format("give them: --shape {}=1x3x224x224", info.name()));
    }
    for (int i = 0; i < tensor.shape().dim_size(); ++i) {
        const auto size = size_of(info, i);
        if (!size) {
            const std::string name = name_of(tensor.shape().dim(i));
            throw ConfigError(
                fmt::format("its size '{}' is dynamic", name.empty() ? "?" : name),
                fmt::format("give the sizes of {}: --shape {}=..{}", written(info), info.name(),
                            name.empty() ? "" : fmt::format(", or --shape {}=..", name)));
        }
        if (*size < 0) {
            throw ConfigError(fmt::format("{} is not a size", *size),
                              "export the model with sizes of 0 or more");
        }
        type.sizes.push_back(*size);
    }
    if (!tensor.has_shape()) {
        type.sizes = given->second;
    }
    count_elements(type.sizes);
    return type;
}

bool OnnxSizes::is_stated(const onnx::ValueInfoProto& info) const {
    if (!info.has_type() || !info.type().has_tensor_type() ||
        !info.type().tensor_type().has_shape() ||
        is_held_as_another(info.type().tensor_type().elem_type())) {
        return false;
    }
    for (int i = 0; i < shape_of(info).dim_size(); ++i) {
        if (!size_of(info, i)) {
            return false;
        }
    }
    return true;
}

}  // namespace npuscope
