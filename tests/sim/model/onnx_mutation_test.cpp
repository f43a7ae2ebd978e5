// SPDX-License-Identifier: Apache-2.0
// Damaged models, the same ones in every run: each is planned for either kind of NPU, or refused
// with a ConfigError.
#include <gtest/gtest.h>

#include <random>

#include "models/base/error.h"
#include "sim/compile/nvdla/nvdla_target.h"
#include "sim/compile/tinpu/layer_plan.h"
#include "sim/model/graph.h"
#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "tests/sim/fuzz/mutate.h"
#include "tests/support/sample_models.h"

namespace npuscope {
namespace {

using test::ModelBuilder;

void plan(const std::string& bytes) {
    const Graph graph = finish_graph(parse_onnx(bytes, "damaged.onnx"));
    plan_layers(graph, LayerNpuConfig{});
    PlanTarget target;
    target.images = false;
    plan_segments(graph, target);
}

template <class Damage>
void survive(const std::vector<std::string>& seeds, int rounds, Damage damage) {
    for (int i = 0; i < rounds; ++i) {
        const std::string bytes = damage(seeds[static_cast<std::size_t>(i) % seeds.size()]);
        try {
            plan(bytes);
        } catch (const ConfigError& error) {
            ASSERT_FALSE(std::string(error.what()).empty());
        } catch (const std::exception& error) {
            FAIL() << "round " << i << ": " << error.what();
        }
    }
}

std::vector<std::string> seeds() {
    test::ConvShape shape;
    return {test::conv_model(shape, {}).bytes(), test::residual_model({}).bytes(),
            test::transposed_model({}).bytes(),  test::fc_model({}).bytes(),
            test::max_pool_model(2, 2).bytes(),  test::average_pool_model({}).bytes(),
            test::global_pool_model({}).bytes(), test::branch_model(1).bytes(),
            test::branch_model({}).bytes(),      test::function_model().bytes()};
}

TEST(OnnxMutation, DamagedBytesAreReadOrRefused) {
    fuzz::Mutator mutator(3);
    survive(seeds(), 3000, [&](const std::string& seed) { return mutator.damage(seed); });
}

/// Valid protobuf with wrong numbers in it, which byte changes rarely reach.
class NumberDamage {
 public:
    std::string operator()(const std::string& seed) {
        onnx::ModelProto model;
        model.ParseFromString(seed);
        for (int times = 1 + static_cast<int>(random_() % 3); times > 0; --times) {
            damage(*model.mutable_graph());
        }
        return model.SerializeAsString();
    }

 private:
    std::int64_t odd_number() {
        constexpr std::int64_t numbers[] = {0, -1,  1,          2,         3,        -2,
                                            7, 300, 1LL << 40U, INT64_MIN, INT64_MAX};
        return numbers[random_() % std::size(numbers)];
    }
    template <class Repeated>
    int place(const Repeated& field) {
        return static_cast<int>(random_() % static_cast<unsigned>(field.size()));
    }

    void damage(onnx::GraphProto& graph) {
        auto& node = *graph.mutable_node(place(graph.node()));
        switch (random_() % 6) {
            case 0:
                damage_attribute(node);
                break;
            case 1:
                damage_sizes(*graph.mutable_initializer());
                break;
            case 2:
                if (node.input_size() > 0) {
                    node.set_input(place(node.input()), graph.node(place(graph.node())).output(0));
                }
                break;
            case 3:
                node.set_op_type(graph.node(place(graph.node())).op_type());
                break;
            case 4: {
                auto& shape =
                    *graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
                shape.mutable_dim(place(shape.dim()))->set_dim_value(odd_number());
                break;
            }
            default:
                if (node.input_size() > 0) {
                    node.mutable_input()->RemoveLast();
                }
        }
    }
    void damage_attribute(onnx::NodeProto& node) {
        if (node.attribute_size() == 0) {
            auto* attribute = node.add_attribute();
            attribute->set_name("strides");
            attribute->set_type(onnx::AttributeProto_AttributeType_INTS);
            attribute->add_ints(odd_number());
            return;
        }
        auto& attribute = *node.mutable_attribute(place(node.attribute()));
        attribute.set_i(odd_number());
        if (attribute.ints_size() > 0) {
            attribute.set_ints(place(attribute.ints()), odd_number());
        }
    }
    template <class Initializers>
    void damage_sizes(Initializers& initializers) {
        if (initializers.empty()) {
            return;
        }
        auto& tensor = initializers[place(initializers)];
        if (tensor.dims_size() > 0) {
            tensor.set_dims(place(tensor.dims()), odd_number());
        } else {
            tensor.add_dims(odd_number());
        }
    }

    std::mt19937 random_{5};
};

TEST(OnnxMutation, WrongNumbersAreReadOrRefused) { survive(seeds(), 3000, NumberDamage()); }

TEST(OnnxMutation, DamagedArraysAreReadOrRefused) {
    GraphValue value = zeros({ElementType::Int8, {2, 3}});
    const std::string seed = npy_bytes(value);
    fuzz::Mutator mutator(9);
    for (int i = 0; i < 3000; ++i) {
        try {
            parse_npy(mutator.damage(seed), "damaged.npy");
        } catch (const ConfigError& error) {
            ASSERT_FALSE(std::string(error.what()).empty());
        }
    }
}

}  // namespace
}  // namespace npuscope
