// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/run/random_graph.h"

#include <algorithm>
#include <random>

namespace npuscope::test {
namespace {

/// A tensor of int8 values.
struct Map {
    std::string name;
    std::int64_t channels;
    std::int64_t height;
    std::int64_t width;
};

class GraphMaker {
 public:
    explicit GraphMaker(unsigned seed) : random_(seed) {}

    ModelBuilder make() {
        builder_.floats("low", {}, {-128}).floats("zero", {}, {0}).floats("high", {}, {127});
        const int inputs = size(1, 2);
        for (int i = 0; i < inputs; ++i) {
            const Map map{name("x"), size(1, 9), size(4, 8), size(4, 8)};
            builder_.input(map.name, {1, map.channels, map.height, map.width});
            maps_.push_back(map);
        }
        const int steps = size(3, 14);
        for (int i = 0; i < steps; ++i) {
            step();
        }
        builder_.output(maps_.back().name);
        if (const Map& other = any(); chance(50) && other.name != maps_.back().name) {
            builder_.output(other.name);
        }
        if (chance(30)) {
            builder_.node("Sigmoid", name("end"), {any().name});
            builder_.output(builder_.last());
        }
        return std::move(builder_);
    }

 private:
    int size(int least, int most) {
        return least + static_cast<int>(random_() % static_cast<unsigned>(most - least + 1));
    }
    unsigned next_seed() { return static_cast<unsigned>(random_()); }
    bool chance(int percent) { return size(1, 100) <= percent; }
    std::string name(const char* kind) { return kind + std::to_string(++named_); }
    /// Late ones rather than early ones.
    const Map& any() {
        const int last = static_cast<int>(maps_.size()) - 1;
        return maps_[static_cast<std::size_t>(chance(50) ? last : size(0, last))];
    }

    void step() {
        switch (size(1, 10)) {
            case 1:
            case 2:
            case 3:
            case 4:
                return convolve();
            case 5:
            case 6:
                return add();
            case 7:
                return pool();
            case 8:
                return concatenate();
            case 9:
                return transpose();
            default:
                return reshape();
        }
    }

    void push(Map map) {
        map.name = builder_.last();
        maps_.push_back(map);
    }
    void clip() {
        builder_.node("Clip", name("clip"), {builder_.last(), chance(50) ? "low" : "zero", "high"});
    }

    void convolve() {
        Map map = any();
        const std::int64_t kernel = chance(50) ? 1 : 3;
        const std::int64_t padding = kernel / 2;
        const bool deep = chance(20);
        const std::int64_t kernels = deep ? map.channels : size(1, 12);
        const std::int64_t inside = deep ? 1 : map.channels;
        const std::string conv = name("conv");
        builder_.floats(conv + "_w", {kernels, inside, kernel, kernel},
                        some_numbers(static_cast<std::size_t>(kernels * inside * kernel * kernel),
                                     -127, 127, next_seed()));
        builder_.floats(conv + "_b", {1, kernels, 1, 1},
                        some_numbers(static_cast<std::size_t>(kernels), -3000, 3000, next_seed()));
        builder_.floats(conv + "_d", {}, {chance(50) ? 512.0F : 2048.0F});
        builder_.node("Conv", conv, {map.name, conv + "_w"});
        builder_.ints("pads", {padding, padding, padding, padding});
        builder_.integer("group", deep ? map.channels : 1);
        builder_.node("Add", conv + "_add", {builder_.last(), conv + "_b"});
        builder_.node("Div", conv + "_div", {builder_.last(), conv + "_d"});
        builder_.node("Floor", conv + "_floor", {builder_.last()});
        clip();
        map.channels = kernels;
        push(map);
    }

    /// Of two maps of one shape; the second may be the first.
    void add() {
        const Map first = any();
        std::vector<Map> same;
        for (const Map& map : maps_) {
            if (map.channels == first.channels && map.height == first.height &&
                map.width == first.width) {
                same.push_back(map);
            }
        }
        const Map& second = same[random_() % same.size()];
        builder_.node("Add", name("add"), {first.name, second.name});
        clip();
        push(first);
    }

    void pool() {
        Map map = any();
        if (std::min(map.height, map.width) < 2) {
            return;
        }
        builder_.node("MaxPool", name("pool"), {map.name});
        builder_.ints("kernel_shape", {2, 2}).ints("strides", {1, 1});
        --map.height;
        --map.width;
        push(map);
    }

    void concatenate() {
        Map map = any();
        builder_.node("Concat", name("concat"), {map.name, map.name}).integer("axis", 1);
        map.channels *= 2;
        push(map);
    }
    void transpose() {
        Map map = any();
        builder_.node("Transpose", name("turn"), {map.name}).ints("perm", {0, 1, 3, 2});
        std::swap(map.height, map.width);
        push(map);
    }
    /// Another cube of the same numbers.
    void reshape() {
        Map map = any();
        const std::string shape = name("shape");
        builder_.int64s(shape, {1, map.width, map.channels, map.height});
        builder_.node("Reshape", name("reshape"), {map.name, shape});
        push({{}, map.width, map.channels, map.height});
    }

    std::mt19937 random_;
    ModelBuilder builder_;
    std::vector<Map> maps_;
    int named_ = 0;
};

}  // namespace

ModelBuilder random_graph(unsigned seed) { return GraphMaker(seed).make(); }

}  // namespace npuscope::test
