// SPDX-License-Identifier: Apache-2.0
#include "sim/check/plain_operators.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "models/arith/fixed_point.h"
#include "models/arith/float16.h"
#include "models/cdp/cdp_lut_math.h"
#include "models/cdp/cdp_math.h"
#include "models/sdp/sdp_math.h"

namespace npuscope {
namespace {

/// Sign-extended.
std::int32_t read_element(const SparseMemory& memory, Address address, Bytes bytes) {
    std::array<std::uint8_t, 2> data{};
    memory.read(address, std::span(data).first(bytes.value));
    return bytes.value == 1 ? static_cast<std::int8_t>(data[0])
                            : static_cast<std::int16_t>(data[0] | data[1] << 8);
}

/// The values of all channels at one pixel, as elements.
ElementTensor column_of(const Tensor<std::int32_t>& cube, std::uint32_t y, std::uint32_t x,
                        bool bytes) {
    const Shape shape{cube.shape.channels, 1, 1};
    const auto fill = [&](auto column) -> ElementTensor {
        for (std::uint32_t c = 0; c < shape.channels; ++c) {
            using Element = std::decay_t<decltype(column.values[0])>;
            column.values[c] = static_cast<Element>(cube.at(c, y, x));
        }
        return column;
    };
    return bytes ? fill(Tensor<std::int8_t>(shape)) : fill(Tensor<std::int16_t>(shape));
}

void set_column(const ElementTensor& column, std::uint32_t y, std::uint32_t x,
                Tensor<std::int32_t>& cube) {
    const auto widened = [](auto element) -> std::int32_t { return element; };
    std::visit(
        [&](const auto& values) {
            for (std::uint32_t c = 0; c < cube.shape.channels; ++c) {
                cube.at(c, y, x) = widened(values.values[c]);
            }
        },
        column);
}

/// A component of the operand that is combined with each channel at one pixel.
Tensor<std::int16_t> operand_at(const SparseMemory& memory, const OperandSurface& operand,
                                std::uint32_t component, const SurfacePlace& pixel,
                                std::uint32_t channels) {
    const std::uint32_t atom = operand.elements_per_atom;
    const Bytes pair = operand.component * operand.components;
    Tensor<std::int16_t> column(Shape{channels, 1, 1});
    for (std::uint32_t c = 0; c < channels; ++c) {
        Address address = operand.base + operand.component * component;
        if (operand.spread == OperandSpread::PerChannel) {
            address = address + pair * c;
        } else {
            address = address + operand.surface_stride * (c / atom) +
                      operand.line_stride * pixel.row + pair * atom * pixel.column +
                      pair * (c % atom);
        }
        column.values[c] =
            static_cast<std::int16_t>(read_element(memory, address, operand.component));
    }
    return column;
}

SdpOperands operands_at(const SparseMemory& memory, const SdpJob& job, const SurfacePlace& pixel,
                        std::uint32_t channels) {
    SdpOperands operands;
    for (std::size_t stage = 0; stage < operands.size(); ++stage) {
        if (const auto& fetch = job.operands[stage]) {
            if (fetch->alu) {
                operands[stage].alu = operand_at(memory, fetch->surface, 0, pixel, channels);
            }
            if (fetch->mul) {
                operands[stage].mul =
                    operand_at(memory, fetch->surface, fetch->alu ? 1 : 0, pixel, channels);
            }
        }
    }
    return operands;
}

/// One pixel's channels in integers; lanes after the last channel count as 0.
/// source: NV_NVDLA_CDP_DP_{cvtin,cvtout}.v, widths
std::vector<std::int32_t> normalise_integers(const CdpNormalization& how,
                                             const std::vector<std::int32_t>& column,
                                             const LookupTables& tables) {
    const bool bytes = how.precision == Precision::Int8;
    const auto wire = [](Conversion conversion, unsigned bits) {
        conversion.offset = static_cast<std::int32_t>(
            sign_extend(static_cast<std::uint64_t>(std::int64_t{conversion.offset}), bits));
        return conversion;
    };
    const Conversion in = wire(how.input, bytes ? 8 : 16);
    const Conversion out = wire(how.output, bytes ? 25 : 32);
    const ConvertorWidths in_widths =
        bytes ? ConvertorWidths{25, 9, 9} : ConvertorWidths{33, 17, 17};
    const ConvertorWidths out_widths =
        bytes ? ConvertorWidths{42, 8, 8} : ConvertorWidths{50, 16, 16};
    std::vector<std::int64_t> centres(column.size());
    for (std::size_t c = 0; c < std::min<std::size_t>(column.size(), how.channels); ++c) {
        centres[c] = convert(column[c], in, in_widths);
    }
    const std::size_t reach = how.local_size / 2;
    std::vector<std::int32_t> result(column.size());
    for (std::size_t c = 0; c < column.size(); ++c) {
        std::int64_t sum = 0;
        for (std::size_t n = c - std::min(c, reach); n < std::min(c + reach + 1, column.size());
             ++n) {
            sum += centres[n] * centres[n];
        }
        sum = how.square_sum_bypass ? centres[c] : sum;
        LookupCounters counters;
        const std::int64_t factor =
            bytes ? cdp_lookup(static_cast<std::int32_t>(sum), how.lut, tables, counters)
                  : cdp_lookup(sum, how.lut, tables, counters);
        const std::int64_t product = how.multiply_bypass ? factor : factor * centres[c];
        result[c] = static_cast<std::int32_t>(convert(product, out, out_widths));
    }
    return result;
}

ElementTensor normalised(const CdpNormalization& how, const Tensor<std::int32_t>& input,
                         std::uint32_t y, std::uint32_t x, const LookupTables& tables) {
    if (how.precision == Precision::Fp16) {
        return compute_cdp(how, column_of(input, y, x, false), tables).values;
    }
    std::vector<std::int32_t> column(input.shape.channels);
    for (std::uint32_t c = 0; c < input.shape.channels; ++c) {
        column[c] = input.at(c, y, x);
    }
    Tensor<std::int16_t> result({input.shape.channels, 1, 1});
    std::ranges::transform(normalise_integers(how, column, tables), result.values.begin(),
                           [](std::int32_t value) { return static_cast<std::int16_t>(value); });
    return result;
}

Precision precision_of(Bytes element) {
    return element.value == 1 ? Precision::Int8 : Precision::Int16;
}

double number_of(Precision precision, std::int32_t bits) {
    return precision == Precision::Fp16 ? double{widen(static_cast<Fp16>(bits))} : bits;
}

ElementType element_of(Precision precision) {
    return precision == Precision::Int8    ? ElementType::Int8
           : precision == Precision::Int16 ? ElementType::Int16
                                           : ElementType::Float16;
}

}  // namespace

ElementReader reader_of(const SparseMemory& memory) {
    return [&memory](Address address, Bytes bytes) { return read_element(memory, address, bytes); };
}

void write_surface(const PlainSurface& surface, SparseMemory& memory) {
    surface.for_each_place([&](const SurfacePlace& place) {
        const auto bits = static_cast<std::uint32_t>(
            surface.batches[place.batch].at(place.channel, place.row, place.column));
        const std::array<std::uint8_t, 2> data{static_cast<std::uint8_t>(bits),
                                               static_cast<std::uint8_t>(bits >> 8U)};
        memory.write(surface.address(place), std::span(data).first(bytes_of(surface.precision)));
    });
}

Tensor<std::int32_t> plain_cube(const SparseMemory& memory, const FeatureCube& cube) {
    Tensor<std::int32_t> tensor(cube.shape);
    for (std::uint32_t c = 0; c < cube.shape.channels; ++c) {
        for (std::uint32_t y = 0; y < cube.shape.height; ++y) {
            for (std::uint32_t x = 0; x < cube.shape.width; ++x) {
                tensor.at(c, y, x) =
                    read_element(memory, in_cube(cube, {0, c, y, x}), cube.element);
            }
        }
    }
    return tensor;
}

PlainCubes plain_sdp(const SparseMemory& memory, const SdpJob& job, const NpuConfig& npu,
                     const LookupTables& tables, const PlainCubes* flying) {
    const Shape shape = job.whole_atoms(npu.datapath);
    PlainCubes sources = flying != nullptr ? *flying : PlainCubes{plain_cube(memory, *job.source)};
    PlainCubes results;
    for (Tensor<std::int32_t>& source : sources) {
        source.shape.channels = shape.channels;  // lanes after the last kernel are 0
        source.values.resize(source.shape.elements());
        Tensor<std::int32_t> result(shape);
        for (std::uint32_t y = 0; y < shape.height; ++y) {
            for (std::uint32_t x = 0; x < shape.width; ++x) {
                const SdpOperands operands = operands_at(memory, job, {0, 0, y, x}, shape.channels);
                if (flying == nullptr) {
                    const ElementTensor column =
                        column_of(source, y, x, job.source->element == Bytes(1));
                    set_column(compute_sdp(job.stages, column, operands, tables).values, y, x,
                               result);
                    continue;
                }
                Tensor<std::int32_t> column(Shape{shape.channels, 1, 1});
                for (std::uint32_t c = 0; c < shape.channels; ++c) {
                    column.values[c] = source.at(c, y, x);
                }
                set_column(compute_sdp(job.stages, column, operands, tables).values, y, x, result);
            }
        }
        results.push_back(std::move(result));
    }
    return results;
}

namespace {

/// What a stage fetches as one of its operands: one value per element or per channel.
Tensor<std::int32_t> operand_values(const SparseMemory& memory, const OperandSurface& surface,
                                    std::uint32_t component, Shape shape) {
    if (surface.spread == OperandSpread::PerChannel) {
        shape.height = shape.width = 1;
    }
    Tensor<std::int32_t> values(shape);
    for (std::uint32_t y = 0; y < shape.height; ++y) {
        for (std::uint32_t x = 0; x < shape.width; ++x) {
            const auto column =
                operand_at(memory, surface, component, {0, 0, y, x}, shape.channels);
            for (std::uint32_t c = 0; c < shape.channels; ++c) {
                values.at(c, y, x) = column.values[c];
            }
        }
    }
    return values;
}

}  // namespace

std::vector<PlainArray> operand_arrays(const SparseMemory& memory, const SdpJob& job) {
    constexpr std::array stages{"bs", "bn", "ew"};
    std::vector<PlainArray> arrays;
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
        const auto& fetch = job.operands[stage];
        if (!fetch) {
            continue;
        }
        const Precision precision = job.stages.processing == Precision::Fp16
                                        ? Precision::Fp16
                                        : precision_of(fetch->surface.component);
        for (std::uint32_t i = 0; i < fetch->surface.components; ++i) {
            const char* part = fetch->alu && i == 0 ? "alu" : "mul";
            arrays.push_back(as_array(std::string(stages[stage]) + '_' + part, precision,
                                      {operand_values(memory, fetch->surface, i, job.shape)},
                                      job.shape.channels));
        }
    }
    return arrays;
}

PlainSurface sdp_result(const SdpJob& job, PlainCubes values) {
    PlainSurface surface;
    surface.shape = job.shape;
    surface.shape.channels =
        std::min(values.front().shape.channels, job.destination->shape.channels);
    surface.precision = job.stages.output;
    surface.batches = std::move(values);
    surface.address = [cube = *job.destination,
                       batch = job.batch_stride](const SurfacePlace& place) {
        return in_cube(cube, place) + batch * place.batch;
    };
    return surface;
}

PlainSurface plain_cdp(const SparseMemory& memory, const CdpJob& job, const LookupTables& tables) {
    const Tensor<std::int32_t> input = plain_cube(memory, job.source);
    PlainSurface surface;
    surface.shape = input.shape;
    surface.precision = job.normalization.precision;
    Tensor<std::int32_t> result(input.shape);
    for (std::uint32_t y = 0; y < input.shape.height; ++y) {
        for (std::uint32_t x = 0; x < input.shape.width; ++x) {
            set_column(normalised(job.normalization, input, y, x, tables), y, x, result);
        }
    }
    surface.batches = {std::move(result)};
    surface.address = [cube = job.destination](const SurfacePlace& place) {
        return in_cube(cube, place);
    };
    return surface;
}

PlainArray as_array(std::string name, Precision precision, const PlainCubes& batches,
                    std::uint32_t channels) {
    const Shape& whole = batches.front().shape;
    channels = std::min(channels, whole.channels);
    PlainArray array{std::move(name), element_of(precision), {}, {}};
    array.shape = {batches.size(), channels, whole.height, whole.width};
    for (const Tensor<std::int32_t>& batch : batches) {
        const std::size_t count = std::size_t{channels} * whole.height * whole.width;
        for (std::size_t i = 0; i < count; ++i) {
            array.numbers.push_back(number_of(precision, batch.values[i]));
        }
    }
    return array;
}

PlainArray as_array(std::string name, Precision precision, const WeightKernels& kernels) {
    PlainArray array{std::move(name), element_of(precision), {}, {}};
    std::visit(
        [&](const auto& all) {
            array.shape = {all.shape.kernels, all.shape.channels, all.shape.rows,
                           all.shape.columns};
            for (const auto value : all.values) {
                array.numbers.push_back(number_of(precision, value));
            }
        },
        kernels);
    return array;
}

}  // namespace npuscope
