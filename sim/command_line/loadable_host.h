// SPDX-License-Identifier: Apache-2.0
// The host before, between and after the tasks of a loadable that was planned from a model: an
// application with a real driver does this itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sim/command_line/input_files.h"
#include "sim/command_line/network_files.h"
#include "sim/loadable/host_edges.h"
#include "sim/loadable/loadable_program.h"
#include "sim/model/host_values.h"

namespace npuscope {

class LoadableHost : public std::enable_shared_from_this<LoadableHost> {
 public:
    /// ConfigError if the loadable does not have as many submits as its host's part expects; the
    /// calls below if it has other tensors.
    LoadableHost(HostEdges edges, std::size_t submits);

    /// The inputs of the first submit, from files of the model's inputs; without files from zeros.
    LoadableInputs read(const std::vector<BoundTensor>& tensors, const NetworkFiles& files);
    /// The host's part before a later submit: its inputs, from the outputs of earlier ones.
    RunNode before(std::size_t submit, const LoadableProgram& made);
    /// The model's outputs, from the loadable's.
    Case finish(const std::vector<GraphValue>& outputs);

 private:
    Case zero_inputs() const;
    Case named_case(const InputReader& reader, const std::string& path) const;
    std::vector<std::uint8_t> input_bytes(const BoundTensor& bound);
    void put_output(std::size_t index, const GraphValue& output);
    /// Evaluates all nodes whose inputs are known.
    void evaluate();

    HostEdges edges_;
    HostValues values_;
    std::set<std::string> known_;
};

}  // namespace npuscope
