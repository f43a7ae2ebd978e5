// SPDX-License-Identifier: Apache-2.0
// Sizes of a model's tensors: those that its file fixes, and dynamic ones, named or unnamed, that a
// user gives. ConfigErrors have no location: the caller adds it.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/model/graph.h"
#include "sim/model/onnx_reader.h"

namespace npuscope {

class OnnxSizes {
 public:
    explicit OnnxSizes(OpenSizes given) : given_(std::move(given)) {}

    /// Finds what each of the given sizes refers to. ConfigError for one without a match.
    void bind(const onnx::GraphProto& graph, const Graph& read);
    /// Takes dynamic sizes that are not known yet from arrays given as inputs. The first size of a
    /// model's only input stays as it is: that of its array counts cases. ConfigError if arrays
    /// contradict each other, or the file. Returns a note for each size.
    std::vector<std::string> take_arrays(const onnx::GraphProto& graph, const Graph& read,
                                         const FindArrays& arrays);
    /// Sets the first size of an input to 1 if it is the only dynamic one: a batch. Returns a note
    /// for each one set.
    std::vector<std::string> take_batches_of_one(const onnx::GraphProto& graph, const Graph& read);
    /// A tensor's type. A size may be 0: the past of a decoder before its first step, or the regions
    /// of interest of a Resize.
    TensorType type_of(const onnx::ValueInfoProto& info) const;
    /// Whether element type and sizes are known.
    bool is_stated(const onnx::ValueInfoProto& info) const;

 private:
    /// A dynamic size, as an array has it.
    struct ArraySize {
        const onnx::ValueInfoProto* info;
        int index;
        std::int64_t size;
        std::string file;
    };

    void bind_one(const std::string& text, const onnx::GraphProto& graph, const Graph& read);
    void bind_input(const onnx::ValueInfoProto& info, const Sizes& sizes);
    void name_size(const std::string& name, std::int64_t size);
    /// Whether one from index `first` on is not known.
    bool misses_size(const onnx::ValueInfoProto& info, int first) const;
    void take_array(const onnx::ValueInfoProto& info, const GivenArray& array, int first,
                    std::map<std::string, ArraySize>& taken) const;
    void keep(const ArraySize& size);
    /// Size `index` of a tensor; nothing if it is dynamic.
    std::optional<std::int64_t> size_of(const onnx::ValueInfoProto& info, int index) const;

    OpenSizes given_;
    std::map<std::string, Sizes> inputs_;        ///< by name; -1: not known
    std::map<std::string, std::int64_t> named_;  ///< by size name
};

}  // namespace npuscope
