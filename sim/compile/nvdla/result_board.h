// SPDX-License-Identifier: Apache-2.0
// Who has yet to read each result of a network: behind the last reader its bytes are free. Inputs
// count as results; outputs have a reader that never comes.
#pragma once

#include <optional>
#include <vector>

#include "sim/compile/nvdla/plan_context.h"
#include "sim/model/network_shapes.h"

namespace npuscope {

class ResultBoard {
 public:
    ResultBoard(const Network& network, const std::vector<LayerShapes>& shapes)
        : shapes_(shapes), results_(shapes.size()), output_(shapes.size(), false) {
        for (const LayerShapes& layer : shapes) {
            for (const std::optional<std::size_t> source : layer.sources) {
                ++at(source).readers_to_come;
            }
        }
        for (const std::size_t output : network_outputs(network, shapes)) {
            output_[output] = true;
            ++results_[output].readers_to_come;
        }
    }

    /// Nothing: the network's input.
    const WrittenCube& cube_of(std::optional<std::size_t> source) { return *at(source).cube; }
    bool is_there(std::size_t layer) const { return results_[layer].cube.has_value(); }
    bool is_output(std::size_t layer) const { return output_[layer]; }

    void place_input(std::optional<std::size_t> source, WrittenCube cube) {
        at(source).cube = std::move(cube);
        at(source).in_memory = true;
    }
    /// `planned`: its number in the plan.
    void place_result(std::size_t layer, WrittenCube cube, std::size_t planned) {
        results_[layer].cube = std::move(cube);
        results_[layer].in_memory = true;
        results_[layer].planned = planned;
    }
    /// Joined to another layer: the result never is in memory.
    void join(std::size_t layer) { results_[layer].cube = WrittenCube{}; }

    /// A layer has been planned that read its sources.
    void note_reads(std::size_t layer, PlanContext& context) {
        for (const std::optional<std::size_t> source : shapes_[layer].sources) {
            if (at(source).in_memory) {
                note_read(at(source), context);
            }
        }
    }

 private:
    struct Result {
        std::optional<WrittenCube> cube;
        std::size_t readers_to_come = 0;
        std::vector<std::size_t> readers;    ///< last operation of each layer that has read it
        bool in_memory = false;              ///< false as well where it was joined
        std::optional<std::size_t> planned;  ///< number in plan.layers; inputs have none
    };

    Result& at(std::optional<std::size_t> source) { return source ? results_[*source] : input_; }

    static void note_read(Result& result, PlanContext& context) {
        result.readers.push_back(context.plan.operations.size() - 1);
        if (result.planned) {
            PlannedLayer& layer = context.plan.layers[*result.planned];
            layer.last_reader = result.readers.back();
            ++layer.readers;
        }
        if (--result.readers_to_come == 0) {
            context.give_back(*result.cube, result.readers);
        }
    }

    const std::vector<LayerShapes>& shapes_;
    Result input_;
    std::vector<Result> results_;
    std::vector<bool> output_;
};

}  // namespace npuscope
