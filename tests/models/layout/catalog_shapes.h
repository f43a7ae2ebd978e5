// SPDX-License-Identifier: Apache-2.0
// Random tensors that every row of the layout catalogue can hold, with random parameters.
#pragma once

#include <optional>
#include <random>
#include <vector>

#include "models/base/error.h"
#include "models/layout/layout_catalog.h"

namespace npuscope::sample {

class CatalogShapes {
 public:
    explicit CatalogShapes(unsigned seed) : random_(seed) {}

    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

    /// Some shape with the row's axes; often odd, sometimes 1, sometimes a whole block.
    LogicalShape shape(const LayoutRow& row) {
        LogicalShape shape;
        for (const char axis : row.axes) {
            shape.axes.push_back({axis, extent(axis)});
        }
        if (row.name == "ncnn") {
            const std::uint64_t dimensions = 1 + below(4);
            while (shape.axes.size() > dimensions + (dimensions > 2 ? 1 : 0)) {
                shape.axes.erase(shape.axes.begin());
            }
        }
        return shape;
    }

    /// A request that the row accepts, or nothing if the random one was out of its limits.
    std::optional<Layout> layout(const LayoutRow& row, LogicalShape shape) {
        static constexpr std::uint32_t sizes[] = {1, 2, 4, 8};
        const std::uint32_t element = row.element != 0 ? row.element : sizes[below(4)];
        return layout(row, std::move(shape), element);
    }
    std::optional<Layout> layout(const LayoutRow& row, LogicalShape shape, std::uint32_t element) {
        LayoutRequest request{std::move(shape), element, {}};
        for (const LayoutParameter& parameter : row.parameters) {
            if (below(2) == 0) {
                request.parameters[std::string(parameter.name)] = value_for(parameter.name);
            }
        }
        try {
            return make_layout(row, request);
        } catch (const ConfigError&) {
            return std::nullopt;
        }
    }

    /// Bits for every byte of a surface.
    std::vector<std::uint8_t> bytes(std::uint64_t count) {
        std::vector<std::uint8_t> values(count);
        for (std::uint8_t& value : values) {
            value = static_cast<std::uint8_t>(random_());
        }
        return values;
    }

 private:
    std::uint64_t extent(char axis) {
        switch (below(6)) {
            case 0:
                return 1;
            case 1:
                return axis == 'N' ? 2 : 4;
            case 2:
                return axis == 'C' || axis == 'W' || axis == 'K' ? 16 * (1 + below(3)) : 3;
            case 3:
                return axis == 'C' ? 1 + below(4) : 1 + below(7);
            default:
                return axis == 'N' ? 1 : 1 + below(21);
        }
    }
    std::uint64_t value_for(std::string_view name) {
        static constexpr std::uint64_t atoms[] = {8, 16, 32};
        static constexpr std::uint64_t chips[] = {520, 530, 630, 720, 730, 830};
        static constexpr std::uint64_t packs[] = {1, 2, 3, 4, 8, 16};
        if (name == "atom" || name == "lanes") {
            return atoms[below(3)];
        }
        if (name == "chip") {
            return chips[below(6)];
        }
        if (name == "elempack") {
            return packs[below(6)];
        }
        if (name == "padding") {
            return below(2);
        }
        return name.find("stride") != std::string_view::npos && !name.starts_with("stride_")
                   ? 32 * below(200)
                   : 1 + below(8);
    }

    std::mt19937 random_;
};

}  // namespace npuscope::sample
