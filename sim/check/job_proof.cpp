// SPDX-License-Identifier: Apache-2.0
#include "sim/check/job_proof.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "models/base/check.h"
#include "models/memory/memory.h"
#include "models/tinpu/tinpu_descriptor.h"
#include "models/tinpu/tinpu_job.h"
#include "sim/check/job_maps.h"
#include "sim/check/memory_rules.h"
#include "sim/check/proof_words.h"

namespace npuscope {
namespace {

/// Elements of maps and of kernels, by their positions.
class LayerOperands {
 public:
    LayerOperands(const SparseMemory& memory, const TinpuJob& job) : memory_(memory), job_(job) {}

    std::int64_t map(const MapSurface& map, std::uint32_t c, std::uint32_t y,
                     std::uint32_t x) const {
        const Shape& shape = map.shape;
        const std::uint64_t offset =
            (std::uint64_t{y} * shape.width + x) * std::uint64_t{shape.channels} + c;
        const std::uint8_t byte = byte_at(map.base + Bytes(offset));
        return map.is_signed ? std::int64_t{static_cast<std::int8_t>(byte)} : std::int64_t{byte};
    }

    /// R S C K, K fastest; depth-wise R S K.
    std::int64_t weight(std::uint32_t k, std::uint32_t c, std::uint32_t r, std::uint32_t s) const {
        const WeightSurface& weights = *job_.weights;
        const bool by_channel = job_.work == TinpuWork::Depthwise;
        const std::uint64_t kernels =
            by_channel ? job_.input.shape.channels : job_.output.shape.channels;
        const std::uint64_t depth = by_channel ? 1 : job_.input.shape.channels;
        const std::uint64_t index =
            ((std::uint64_t{r} * job_.columns + s) * depth + c) * kernels + k;
        const std::uint64_t bit = index * weights.bits;
        const unsigned above = 8 - weights.bits - static_cast<unsigned>(bit % 8);
        const auto high = static_cast<std::int8_t>(byte_at(weights.base + Bytes(bit / 8)) << above);
        return high >> (8 - weights.bits);
    }

    BnormChannel constants(std::uint32_t channel) const {
        std::array<std::uint8_t, constant_row_bytes> row{};
        memory_.read(*job_.constants + Bytes(std::uint64_t{channel} * constant_row_bytes), row);
        const std::uint32_t bias =
            static_cast<std::uint32_t>(row[0] | row[1] << 8U | row[2] << 16U) |
            static_cast<std::uint32_t>(row[3]) << 24U;
        return {static_cast<std::int32_t>(bias), row[4], static_cast<std::uint8_t>(row[5] & 31U)};
    }

 private:
    std::uint8_t byte_at(Address address) const {
        std::array<std::uint8_t, 1> byte{};
        memory_.read(address, byte);
        return byte[0];
    }

    const SparseMemory& memory_;
    const TinpuJob& job_;
};

/// Where a window's tap hits the input in one direction; nothing in the padding.
std::optional<std::uint32_t> met(std::int64_t place, std::uint32_t size) {
    return place >= 0 && place < std::int64_t{size}
               ? std::optional(static_cast<std::uint32_t>(place))
               : std::nullopt;
}

struct Tap {
    std::uint32_t r = 0;
    std::uint32_t s = 0;
    std::optional<std::uint32_t> y;  ///< of the input
    std::optional<std::uint32_t> x;
    bool padded = false;  ///< inside the input and its padding

    bool inside() const { return y && x; }
};

/// The positions of the input that contribute to output (y, x).
std::vector<Tap> taps_of(const TinpuJob& job, std::uint32_t out_y, std::uint32_t out_x) {
    const Convolution& g = job.geometry;
    const Shape& in = job.input.shape;
    std::vector<Tap> taps;
    for (std::uint32_t r = 0; r < job.rows; ++r) {
        for (std::uint32_t s = 0; s < job.columns; ++s) {
            const std::int64_t r_steps = std::int64_t{r} * g.dilation_y;
            const std::int64_t s_steps = std::int64_t{s} * g.dilation_x;
            if (job.work == TinpuWork::Transposed) {  // y * stride + r * dilation - pad = out_y
                const std::int64_t y = std::int64_t{out_y} + g.pad_top - r_steps;
                const std::int64_t x = std::int64_t{out_x} + g.pad_left - s_steps;
                if (y % g.stride_y == 0 && x % g.stride_x == 0) {
                    taps.push_back({r, s, met(y / g.stride_y, in.height),
                                    met(x / g.stride_x, in.width), false});
                }
                continue;
            }
            const std::int64_t y = std::int64_t{out_y} * g.stride_y + r_steps - g.pad_top;
            const std::int64_t x = std::int64_t{out_x} * g.stride_x + s_steps - g.pad_left;
            const bool padded = y < std::int64_t{in.height} + job.pad_bottom &&
                                x < std::int64_t{in.width} + job.pad_right;
            taps.push_back({r, s, met(y, in.height), met(x, in.width), padded});
        }
    }
    return taps;
}

std::int64_t product_sum(const TinpuJob& job, const LayerOperands& operands, std::uint32_t k,
                         const std::vector<Tap>& taps) {
    const bool by_channel = job.work == TinpuWork::Depthwise;
    std::int64_t sum = 0;
    for (const Tap& tap : taps) {
        if (!tap.inside()) {
            continue;
        }
        if (by_channel) {
            sum += operands.map(job.input, k, *tap.y, *tap.x) * operands.weight(k, 0, tap.r, tap.s);
            continue;
        }
        for (std::uint32_t c = 0; c < job.input.shape.channels; ++c) {
            sum += operands.map(job.input, c, *tap.y, *tap.x) * operands.weight(k, c, tap.r, tap.s);
        }
    }
    return sum;
}

/// sum * area / count, to the nearest; ties as the job defines.
std::int64_t window_sum(const TinpuJob& job, std::int64_t sum, std::int64_t count) {
    if (count == 0) {
        return 0;
    }
    const std::int64_t product = sum * job.rows * job.columns;
    std::int64_t whole = product / count;
    std::int64_t rest = product % count;
    if (rest < 0) {
        rest += count;
        --whole;
    }
    const bool up = 2 * rest > count ||
                    (2 * rest == count && (job.rounding == HalfRounding::Up || whole % 2 != 0));
    return whole + (up ? 1 : 0);
}

std::int64_t pooled(const TinpuJob& job, const LayerOperands& operands, std::uint32_t c,
                    const std::vector<Tap>& taps) {
    std::int64_t sum = 0;
    std::int64_t inside = 0;
    std::int64_t padded = 0;
    std::optional<std::int64_t> largest;
    for (const Tap& tap : taps) {
        padded += tap.padded ? 1 : 0;
        if (tap.inside()) {
            const std::int64_t value = operands.map(job.input, c, *tap.y, *tap.x);
            sum += value;
            ++inside;
            largest = std::max(largest.value_or(value), value);
        }
    }
    if (job.work == TinpuWork::MaxPool) {
        return largest.value_or(INT32_MIN);
    }
    return window_sum(job, sum, job.count_padding ? padded : inside);
}

std::int64_t clipped(std::int64_t value, const ClipRange& range) {
    return std::clamp<std::int64_t>(value, range.low, range.high);
}

std::int64_t element_of(const TinpuJob& job, const LayerOperands& operands, std::uint32_t c,
                        std::uint32_t y, std::uint32_t x, const std::vector<Tap>& taps) {
    const bool multiplies = job.weights.has_value();
    const std::int64_t sum =
        multiplies ? product_sum(job, operands, c, taps) : pooled(job, operands, c, taps);
    if (job.work == TinpuWork::MaxPool) {
        return sum;
    }
    const BnormChannel row = operands.constants(c);
    std::int64_t value = ((sum + row.bias) * row.scale) >> row.shift;
    if (job.residual) {
        // source: TI NNC for MCUs, User's Guide v2.1.0, section 4.2: clipped to 10 bits before Add
        constexpr ClipRange before{-512, 511};
        value = clipped(value, before) + operands.map(*job.residual, c, y, x);
    }
    return clipped(value, job.clip);
}

/// As the bits in memory.
Tensor<std::int32_t> plain_layer(const SparseMemory& memory, const TinpuJob& job) {
    const LayerOperands operands(memory, job);
    Tensor<std::int32_t> result(job.output.shape);
    for (std::uint32_t y = 0; y < result.shape.height; ++y) {
        for (std::uint32_t x = 0; x < result.shape.width; ++x) {
            const std::vector<Tap> taps = taps_of(job, y, x);
            for (std::uint32_t c = 0; c < result.shape.channels; ++c) {
                const auto byte =
                    static_cast<std::int8_t>(element_of(job, operands, c, y, x, taps));
                result.at(c, y, x) = std::int32_t{byte};
            }
        }
    }
    return result;
}

PlainSurface surface_of(const MapSurface& map, Tensor<std::int32_t> values) {
    PlainSurface surface{.shape = map.shape};
    surface.is_unsigned = !map.is_signed;
    surface.batches.push_back(std::move(values));
    surface.address = [map](const SurfacePlace& at) {
        return map.base +
               Bytes((std::uint64_t{at.row} * map.shape.width + at.column) * map.shape.channels +
                     at.channel);
    };
    return surface;
}

PlainArray array_of(const char* name, const LayerOperands& operands, const MapSurface& map) {
    PlainArray array{name, map.is_signed ? ElementType::Int8 : ElementType::Uint8, {}, {}};
    array.shape = {1, map.shape.channels, map.shape.height, map.shape.width};
    for (std::uint32_t c = 0; c < map.shape.channels; ++c) {
        for (std::uint32_t y = 0; y < map.shape.height; ++y) {
            for (std::uint32_t x = 0; x < map.shape.width; ++x) {
                array.numbers.push_back(static_cast<double>(operands.map(map, c, y, x)));
            }
        }
    }
    return array;
}

/// Kernels x channels x rows x columns; of a depth-wise layer channels x 1.
PlainArray kernels_of(const LayerOperands& operands, const TinpuJob& job) {
    const bool by_channel = job.work == TinpuWork::Depthwise;
    const std::uint32_t channels = by_channel ? 1 : job.input.shape.channels;
    PlainArray array{"weights", ElementType::Int8, {}, {}};
    array.shape = {job.output.shape.channels, channels, job.rows, job.columns};
    for (std::uint32_t k = 0; k < job.output.shape.channels; ++k) {
        for (std::uint32_t c = 0; c < channels; ++c) {
            for (std::uint32_t r = 0; r < job.rows; ++r) {
                for (std::uint32_t s = 0; s < job.columns; ++s) {
                    array.numbers.push_back(static_cast<double>(operands.weight(k, c, r, s)));
                }
            }
        }
    }
    return array;
}

std::vector<PlainArray> operand_arrays(const SparseMemory& memory, const TinpuJob& job) {
    const LayerOperands operands(memory, job);
    std::vector<PlainArray> arrays{array_of("input", operands, job.input)};
    if (job.residual) {
        arrays.push_back(array_of("residual", operands, *job.residual));
    }
    if (job.weights) {
        arrays.push_back(kernels_of(operands, job));
    }
    return arrays;
}

/// The reference memory as the host sees it.
class PlainHostMemory : public HostMemory {
 public:
    PlainHostMemory(SparseMemory& memory, std::vector<ByteRun>& known)
        : memory_(memory), known_(known) {}
    void load(Address address, std::span<const std::uint8_t> bytes) override {
        memory_.write(address, bytes);
        known_.push_back({address, Bytes(bytes.size())});
    }
    void read(Address address, std::span<std::uint8_t> bytes) const override {
        memory_.read(address, bytes);
    }

 private:
    SparseMemory& memory_;
    std::vector<ByteRun>& known_;
};

class PlainJobRun {
 public:
    PlainJobRun(const MemoryConfig& machine, bool keep_arrays)
        : machine_(machine), keep_arrays_(keep_arrays) {}

    std::vector<ProvedResult> run(const Program& program) {
        for (const Statement& statement : program.statements) {
            place_ = statement.place;
            std::visit([this](const auto& action) { follow(action); }, statement.action);
        }
        return std::move(results_);
    }

 private:
    void follow(const InitMemory& init) {
        fill_memory(init, machine_, memory_);
        known_.push_back({init.address, init.bytes});
    }
    void follow(const LoadMemory& load) {
        PlainHostMemory host(memory_, known_);
        for (const MemoryImage::Run& run : load.image.runs) {
            host.load(load.address + Bytes(run.offset),
                      std::span(load.image.bytes).subspan(run.position, run.size));
        }
    }
    void follow(const LaunchJob& launch) {
        const auto* job = dynamic_cast<const TinpuJob*>(launch.job.get());
        NPU_CHECK(job != nullptr, "a program's jobs are those of its NPU");
        if (launch.before) {
            PlainHostMemory host(memory_, known_);
            launch.before(host);
        }
        ProvedResult result;
        result.operation = job->name;
        result.unit = "tinpu";
        result.meaning = meaning_of(*job);
        result.after = job->name;
        result.place = place_;
        result.unproved = why_not(*job);
        if (result.unproved.empty()) {
            if (keep_arrays_) {
                result.arrays = operand_arrays(memory_, *job);
            }
            result.surface = surface_of(job->output, plain_layer(memory_, *job));
            write_surface(*result.surface, memory_);
            known_.push_back({job->output.base, job->output.bytes()});
            if (keep_arrays_) {
                result.arrays.push_back(
                    array_of("result", LayerOperands(memory_, *job), job->output));
            }
        } else {
            lost_.emplace_back(job->name, ByteRun{job->output.base, job->output.bytes()});
        }
        results_.push_back(std::move(result));
    }
    template <class Other>
    void follow(const Other& /*action*/) {}

    std::string why_not(const TinpuJob& job) {
        std::string reason;
        for (const SurfaceUse& use : surfaces_of(job)) {
            if (use.writes || use.runs.empty()) {
                continue;
            }
            for (const auto& [name, run] : lost_) {
                if (common_byte({run}, use.runs)) {
                    reason = "it reads the result of " + name + ", which is not proved";
                }
            }
            if (reason.empty() && !is_known(use.extent())) {
                reason = "it reads bytes that the program never writes: its " + use.surface;
            }
        }
        return reason;
    }

    bool is_known(const ByteRun& run) {
        known_ = with_runs({}, std::move(known_)).runs;  // in order, and joined where they touch
        return std::ranges::any_of(known_, [&](const ByteRun& one) {
            return one.address <= run.address && run.end() <= one.end();
        });
    }

    const MemoryConfig& machine_;
    bool keep_arrays_;
    Place place_;
    SparseMemory memory_;
    std::vector<ByteRun> known_;
    std::vector<std::pair<std::string, ByteRun>> lost_;
    std::vector<ProvedResult> results_;
};

std::vector<std::uint8_t> drawn_bytes(const std::string& name, std::size_t count) {
    std::seed_seq seeds(name.begin(), name.end());
    std::mt19937 random(seeds);
    std::vector<std::uint8_t> bytes(count);
    std::ranges::generate(bytes, [&] { return static_cast<std::uint8_t>(random()); });
    return bytes;
}

/// Maps that the host has yet to provide, and where files are.
struct HostShelf {
    struct Awaited {
        NamedMap map;
        std::string after;  ///< the job of the result that is listed before it; empty: none is
    };
    std::vector<Awaited> maps;
    std::vector<NamedMap> provided;
    std::vector<ByteRun> files;
    std::set<std::string> launched;

    /// Takes from the shelf what the job reads and no file fills: of several maps at one place the
    /// first one whose turn has come.
    std::vector<NamedMap> take(const TinpuJob& job) {
        std::vector<NamedMap> taken;
        take(job.input, taken);
        if (job.residual) {
            take(*job.residual, taken);
        }
        provided.insert(provided.end(), taken.begin(), taken.end());
        return taken;
    }

 private:
    void take(const MapSurface& read, std::vector<NamedMap>& taken) {
        const auto lies_there = [&](const NamedMap& host) { return lies_as(read, host.map); };
        const bool is_first = std::ranges::none_of(provided, lies_there);
        const auto found = std::ranges::find_if(maps, [&](const Awaited& host) {
            const bool in_file = std::ranges::any_of(files, [&](const ByteRun& one) {
                return common_byte({one}, {host.map.run()}).has_value();
            });
            const bool has_turn = host.after.empty() || launched.contains(host.after);
            return lies_there(host.map) && !in_file && (has_turn || is_first);
        });
        if (found != maps.end()) {
            taken.push_back(found->map);
            maps.erase(found);
        }
    }
};

HostShelf shelf_of(const Program& program) {
    HostShelf shelf;
    std::string after;
    for (const NamedSurface& surface : program.surfaces) {
        if (surface.is_result) {
            after = surface.after;
        } else if (std::optional<NamedMap> map = map_of(surface)) {
            shelf.maps.push_back({std::move(*map), after});
        }
    }
    return shelf;
}

HostWork storing(const std::vector<NamedMap>& taken, const HostMaps& maps) {
    std::vector<std::pair<Address, std::vector<std::uint8_t>>> brought;
    for (const NamedMap& host : taken) {
        const auto given = maps.find(host.name);
        brought.emplace_back(host.map.base, given != maps.end()
                                                ? given->second
                                                : drawn_bytes(host.name, host.map.bytes().value));
    }
    return [brought = std::move(brought)](HostMemory& memory) {
        for (const auto& [address, bytes] : brought) {
            memory.load(address, bytes);
        }
    };
}

}  // namespace

Program with_host_maps(Program program, const HostMaps& maps) {
    HostShelf shelf = shelf_of(program);
    for (Statement& statement : program.statements) {
        if (const auto* load = std::get_if<LoadMemory>(&statement.action)) {
            shelf.files.push_back({load->address, Bytes(load->image.end())});
        }
        auto* launch = std::get_if<LaunchJob>(&statement.action);
        const auto* job =
            launch == nullptr ? nullptr : dynamic_cast<const TinpuJob*>(launch->job.get());
        const std::vector<NamedMap> taken =
            job == nullptr ? std::vector<NamedMap>{} : shelf.take(*job);
        if (!taken.empty()) {
            launch->before = storing(taken, maps);
        }
        if (launch != nullptr) {
            shelf.launched.insert(launch->job->name);
        }
    }
    return program;
}

bool launches_known_jobs(const Program& program) {
    std::size_t launches = 0;
    std::size_t known = 0;
    for (const Statement& statement : program.statements) {
        if (const auto* launch = std::get_if<LaunchJob>(&statement.action)) {
            ++launches;
            known += dynamic_cast<const TinpuJob*>(launch->job.get()) != nullptr ? 1U : 0U;
        }
    }
    return launches > 0 && known == launches;
}

std::vector<ProvedResult> plain_job_results(const Program& program, const MemoryConfig& machine,
                                            bool keep_arrays) {
    return PlainJobRun(machine, keep_arrays).run(program);
}

}  // namespace npuscope
