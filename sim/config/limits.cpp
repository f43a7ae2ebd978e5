// SPDX-License-Identifier: Apache-2.0
#include "sim/config/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "models/base/error.h"
#include "sim/config/json_writer.h"
#include "sim/config/yaml_writer.h"

namespace npuscope {
namespace {

/// Whether a field's name matches that of a row, in which a `*` stands for any unit.
constexpr bool is_named(std::string_view row, std::string_view field) {
    const std::size_t star = row.find('*');
    if (star == std::string_view::npos || !field.starts_with(row.substr(0, star))) {
        return row == field;
    }
    const std::string_view rest = field.substr(star);
    const std::size_t dot = rest.find('.');
    return dot != std::string_view::npos && rest.substr(dot) == row.substr(star + 1);
}

constexpr std::uint64_t many = largest_count;
constexpr std::uint64_t size = 65536;             // far beyond any NPU; keeps products in 64 bits
constexpr std::uint64_t millisecond = 1'000'000;  // in cycles at 1 GHz: longer than any latency
constexpr std::uint64_t terahertz = 1'000'000'000'000;
constexpr std::size_t most_regions = 1024;  // each is compared with all others

// source: the values of the presets, and what the equations of models/*_timing divide by or reserve
constexpr std::array limits{
    Limit{"memory.beat_interval", 1, millisecond},
    Limit{"memory.regions[].beat_interval", 1, millisecond}, Limit{"npu.clock", 1, terahertz},
    Limit{"memory.regions[].dram.clock", 1, terahertz},
    Limit{"memory.regions[].bandwidth", 1, 1000 * terahertz},
    // more than any JEDEC family has, and few enough to keep the state of each bank
    Limit{"memory.regions[].dram.organisation.channels", 1, 64},
    Limit{"memory.regions[].dram.organisation.ranks", 1, 16},
    Limit{"memory.regions[].dram.organisation.bank_groups", 1, 16},
    Limit{"memory.regions[].dram.organisation.banks", 1, 64},
    Limit{"npu.mcif.bus_width", 4, 64, true},
    Limit{"npu.mcif.max_burst", 1, 256},  // source: AXI4, AxLEN
    Limit{"npu.mcif.address_bits", 32, 64}, Limit{"npu.mcif.outstanding_reads", 1, many},
    Limit{"npu.*.read_ahead", 1, many}, Limit{"npu.*.read_runs", 1, many},
    Limit{"host.cycles_per_mac", 0, many}, Limit{"host.cycles_per_element", 0, many},
    Limit{"host.operator_overhead", 0, 1'000'000'000},
    Limit{"energy.actions[].bytes", 1, 1ULL << 40U}, Limit{"energy.actions[].bank", 1, 1ULL << 40U},
    Limit{"network.zeros", 0, 100}, Limit{"network.input.channels", 1, size},
    Limit{"network.input.height", 1, 1U << 24U}, Limit{"network.input.width", 1, size},
    Limit{"network.layers[].kernels", 0, size}, Limit{"network.layers[].kernel", 1, size},
    Limit{"network.layers[].stride", 1, size}, Limit{"network.layers[].padding", 0, size},
    Limit{"network.layers[].padding_end", 0, size}, Limit{"network.layers[].kernel_width", 1, size},
    Limit{"network.layers[].stride_width", 1, size},
    Limit{"network.layers[].padding_width", 0, size},
    Limit{"network.layers[].padding_width_end", 0, size},
    Limit{"network.layers[].dilation", 1, size}, Limit{"network.layers[].dilation_width", 1, size},
    Limit{"network.layers[].groups", 1, size}, Limit{"network.layers[].zeros", 0, 100},
    Limit{"image.surfaces[].bytes", 0, 1ULL << 48U},
    Limit{"image.surfaces[].line_stride", 0, 1ULL << 48U},
    Limit{"image.surfaces[].surface_stride", 0, 1ULL << 48U},
    Limit{"image.surfaces[].batch_stride", 0, 1ULL << 48U},
    Limit{"image.surfaces[].line_stride_1", 0, 1ULL << 48U},
    Limit{"image.surfaces[].components", 1, 2}, Limit{"image.memory[].word", 1, 64},
    Limit{"experiment.run.max_cycles", 1, 1'000'000'000'000},
    Limit{"experiment.model.batch", 1, 100'000},
    Limit{"experiment.model.quantise.target_decibels", 0, 200},
    Limit{"experiment.run.instances", 1, 64}, Limit{"experiment.run.stream", 0, 10'000},
    Limit{"experiment.run.threads", 0, 1024}};

/// Numbers of a configuration by their dotted names.
class Numbers {
 public:
    explicit Numbers(const SystemConfig& system) : root_(to_json(system)) {}

    /// Nothing if the configuration has no such number.
    std::optional<std::uint64_t> find(std::string_view field) const {
        std::optional<std::uint64_t> found;
        each(field, [&](const std::string& /*name*/, std::uint64_t value) { found = value; });
        return found;
    }
    /// All numbers of a row; `[]` in it stands for every entry of a list.
    template <class Visitor>
    void each(std::string_view row, const Visitor& visit) const {
        walk(root_, row, {}, visit);
    }

    const Json& all() const { return root_; }

 private:
    template <class Visitor>
    static void walk(const Json& node, std::string_view row, const std::string& name,
                     const Visitor& visit) {
        if (row.empty()) {
            if (node.is_boolean()) {
                visit(name, node.get<bool>() ? 1U : 0U);
            } else if (node.is_number_unsigned()) {
                visit(name, node.get<std::uint64_t>());
            }
            return;
        }
        const std::size_t dot = row.find('.');
        const std::string_view rest = dot == std::string_view::npos ? "" : row.substr(dot + 1);
        std::string key(row.substr(0, dot));
        const bool list = key.ends_with("[]");
        key.resize(key.size() - (list ? 2 : 0));
        if (!node.is_object() || !node.contains(key)) {
            return;
        }
        const Json& child = node.at(key);
        const std::string path = join_path(name, key);
        if (!list) {
            walk(child, rest, path, visit);
            return;
        }
        for (std::size_t i = 0; child.is_array() && i < child.size(); ++i) {
            walk(child[i], rest, index_path(path, i), visit);
        }
    }

    Json root_;
};

using Values = Relation::Values;

// Fields that every family has; NVDLA's and the TINPU's own are in their families' sources.
constexpr std::array relations{burst_in("npu.*.read_ahead")};

// Limits of hardware numbers that no row names.
constexpr Limit any_latency{"", 0, millisecond};
constexpr Limit any_count{"", 0, many};

/// Null if no row is for the field.
const Limit* find_row(std::span<const Limit> rows, std::string_view field) {
    const auto found =
        std::ranges::find_if(rows, [&](const Limit& row) { return is_named(row.field, field); });
    return found == rows.end() ? nullptr : &*found;
}

LimitRows rows_of(const NpuFamily* family) {
    return family == nullptr ? LimitRows{} : family->limits();
}

/// Null if the field may have any value of its type.
const Limit* find_limit(const NpuFamily* family, std::string_view field,
                        std::string_view type = {}) {
    if (const Limit* row = find_row(rows_of(family).limits, field)) {
        return row;
    }
    if (const Limit* row = find_row(limits, field)) {
        return row;
    }
    const bool hardware = field.starts_with("npu.") || field.starts_with("memory.");
    if (hardware && type.ends_with("cycles")) {
        return &any_latency;
    }
    return hardware && type.ends_with("integer") ? &any_count : nullptr;
}

std::string text_of(const Limit& limit) {
    return fmt::format("{} to {}{}", limit.least, limit.most,
                       limit.power_of_two ? ", a power of two" : "");
}

[[noreturn]] void refuse(const Limit& limit, const std::string& field, std::uint64_t value,
                         const Place& place) {
    throw ConfigError(
        {.sentence = fmt::format("'{}' is {}, but must be {}", field, value, text_of(limit)),
         .remedy = fmt::format("nearest legal value: {}{}{}", field,
                               field.starts_with("--") ? " " : "=", limit.nearest(value)),
         .field = field,
         .place = place,
         .value = std::to_string(value),
         .allowed = text_of(limit),
         .nearest = std::to_string(limit.nearest(value))});
}

/// Relations between fields that this configuration has.
class Relations {
 public:
    Relations(const SystemConfig& system, const std::vector<FieldRow>& rows, const Numbers& numbers)
        : family_(system.family), rows_(rows), numbers_(numbers) {
        for (const std::span<const Relation> all :
             {rows_of(family_).relations, std::span<const Relation>(relations)}) {
            for (const Relation& relation : all) {
                for (const FieldRow& row : rows) {
                    if (is_named(relation.fields[0], row.name)) {
                        Relation of_field = relation;
                        of_field.fields[0] = row.name;
                        add(of_field);
                    }
                }
            }
        }
    }

    /// The first one that does not hold, or null.
    const Relation* broken() const {
        const auto found = std::ranges::find_if(
            all_, [&](const Relation& relation) { return !relation.holds(values_of(relation)); });
        return found == all_.end() ? nullptr : &*found;
    }

    Values values_of(const Relation& relation, std::string_view changed = {},
                     std::uint64_t value = 0) const {
        Values values;
        for (const std::string_view field : relation.fields) {
            const auto given = field.empty() ? std::nullopt : numbers_.find(field);
            values.push_back(!field.empty() && field == changed ? value : given.value_or(0));
        }
        return values;
    }

    /// `npu.datapath.memory_atom=8 or npu.datapath.atomic_k=16`: each one alone is legal, unless
    /// other relations are broken that it is not part of.
    std::string nearest_of(const Relation& relation) const {
        std::string text = nearest_of(relation, all_);
        if (text.empty()) {
            std::vector<Relation> held;
            std::ranges::copy_if(all_, std::back_inserter(held), [&](const Relation& other) {
                return &other == &relation || other.holds(values_of(other));
            });
            text = nearest_of(relation, held);
        }
        return text;
    }

 private:
    void add(const Relation& relation) {
        const bool has_all = std::ranges::all_of(relation.fields, [&](std::string_view field) {
            return field.empty() || numbers_.find(field);
        });
        if (has_all) {
            all_.push_back(relation);
        }
    }

    /// With which all of `kept` hold.
    std::string nearest_of(const Relation& relation, const std::vector<Relation>& kept) const {
        std::string text;
        for (const std::string_view field : std::span(relation.fields).first(2)) {
            const auto row = std::ranges::find(rows_, field, &FieldRow::name);
            const Limit* limit =
                find_limit(family_, field, row == rows_.end() ? "integer" : row->type);
            const auto best = limit == nullptr ? std::nullopt : nearest(field, *limit, kept);
            if (best) {
                const std::string flag = *best == 0 ? "false" : "true";
                text += fmt::format("{}{}={}", text.empty() ? "" : " or ", field,
                                    limit->flag() ? flag : std::to_string(*best));
            }
        }
        return text;
    }

    std::optional<std::uint64_t> nearest(std::string_view field, const Limit& limit,
                                         std::vector<Relation> kept) const {
        const std::uint64_t present = numbers_.find(field).value_or(0);
        const auto others = std::partition(kept.begin(), kept.end(), [&](const Relation& one) {
            return std::ranges::count(one.fields, field) > 0;
        });
        const auto holds_now = [&](const Relation& one) { return one.holds(values_of(one)); };
        if (!std::all_of(others, kept.end(), holds_now)) {
            return std::nullopt;
        }
        kept.erase(others, kept.end());
        const auto holds = [&](std::uint64_t value) {
            return limit.allows(value) && std::ranges::all_of(kept, [&](const Relation& one) {
                       return one.holds(values_of(one, field, value));
                   });
        };
        const std::uint64_t far = std::min(std::max(present - std::min(present, limit.least),
                                                    limit.most - std::min(limit.most, present)),
                                           most_steps);
        for (std::uint64_t step = 0; step <= far; ++step) {
            if (present >= limit.least + step && holds(present - step)) {
                return present - step;
            }
            if (present <= limit.most - std::min(limit.most, step) && holds(present + step)) {
                return present + step;
            }
        }
        return nearest_power(present, limit, holds);
    }

    /// Where the nearest value is far away: from a power of two with which all holds, halving the
    /// distance to the present value.
    template <class Holds>
    static std::optional<std::uint64_t> nearest_power(std::uint64_t present, const Limit& limit,
                                                      const Holds& holds) {
        std::optional<std::uint64_t> best;
        const auto distance = [&](std::uint64_t value) {
            return value > present ? value - present : present - value;
        };
        const auto consider = [&](std::uint64_t value) {
            if (holds(value) && (!best || distance(value) < distance(*best))) {
                best = value;
            }
        };
        consider(limit.least);
        for (std::uint64_t value = 1; value <= limit.most; value *= 2) {
            consider(value);
        }
        for (std::uint64_t wrong = present;
             best && !limit.power_of_two && distance(wrong) + 1 < distance(*best);) {
            const std::uint64_t middle = wrong / 2 + *best / 2 + (wrong % 2 + *best % 2) / 2;
            (holds(middle) ? *best : wrong) = middle;
        }
        return best;
    }

    static constexpr std::uint64_t most_steps = 1024;

    const NpuFamily* family_;
    const std::vector<FieldRow>& rows_;
    const Numbers& numbers_;
    std::vector<Relation> all_;
};

using PlaceOf = std::function<Place(const std::string& field)>;

/// Lists that the NPU at hand cannot work without.
void check_lists(const Json& system, const PlaceOf& place_of) {
    const auto weights = Json::json_pointer("/npu/restrictions/weights");
    if (system.contains(weights) && system.at(weights).empty()) {
        const std::string field = "npu.restrictions.weights";
        throw ConfigError(
            {.sentence = fmt::format("'{}' is empty: no layer could have weights", field),
             .remedy = "list at least one width, e.g. " + field +
                       "=[{bits: 8, bias_bits: 16, scale_bits: 8}]",
             .field = field,
             .place = place_of(field)});
    }
}

/// Where a change of the command line gave one of these fields its value; otherwise the first one's
/// place.
Place place_of_any(std::span<const std::string> fields, const PlaceOf& place_of) {
    for (const std::string& field : fields) {
        if (Place place = place_of(field); place.file.starts_with("--set ")) {
            return place;
        }
    }
    return place_of(fields.front());
}

/// Regions have different names, no byte in common, and one model of time each; they end within 64
/// bits.
void check_regions(const MemoryConfig& memory, const PlaceOf& place_of) {
    const auto field_of = [](std::size_t index, const char* part) {
        return fmt::format("memory.regions[{}].{}", index, part);
    };
    const auto refuse_regions = [&](const std::vector<std::string>& fields,
                                    const std::string& sentence, const std::string& remedy) {
        throw ConfigError({.sentence = sentence,
                           .remedy = remedy,
                           .field = fields.front(),
                           .place = place_of_any(fields, place_of)});
    };
    if (memory.regions.size() > most_regions) {
        refuse_regions({"memory.regions"},
                       fmt::format("'memory.regions' has {} entries, more than {}",
                                   memory.regions.size(), most_regions),
                       "join regions that are alike");
    }
    for (std::size_t i = 0; i < memory.regions.size(); ++i) {
        const MemoryRegionConfig& region = memory.regions[i];
        if (region.bandwidth && region.dram) {
            refuse_regions({field_of(i, "bandwidth"), field_of(i, "dram")},
                           fmt::format("region '{}' has a bandwidth and a DRAM model", region.name),
                           "leave out one of them");
        }
        if (region.size > Bytes(0) &&
            region.base.value + (region.size.value - 1) < region.base.value) {
            refuse_regions({field_of(i, "base"), field_of(i, "size")},
                           fmt::format("region '{}' of {} bytes at {} goes beyond the last address "
                                       "of 64 bits",
                                       region.name, region.size.value, to_hex(region.base)),
                           fmt::format("nearest legal value: {}={}", field_of(i, "base"),
                                       to_hex(Address(0 - region.size.value))));
        }
        for (std::size_t k = 0; k < i; ++k) {
            const MemoryRegionConfig& other = memory.regions[k];
            if (region.name == other.name) {
                refuse_regions({field_of(i, "name"), field_of(k, "name")},
                               fmt::format("two regions are called '{}'", region.name),
                               "give each region a `name` of its own");
            }
            const Address later = std::max(region.base, other.base);
            const auto reaches = [&](const MemoryRegionConfig& one) {
                return later - one.base < one.size;
            };
            if (reaches(region) && reaches(other)) {
                refuse_regions({field_of(i, "base"), field_of(k, "base"), field_of(i, "size"),
                                field_of(k, "size")},
                               fmt::format("regions '{}' and '{}' overlap at {}", other.name,
                                           region.name, to_hex(later)),
                               "move one of them, or make it smaller");
            }
        }
    }
}

}  // namespace

std::string limit_text(const NpuFamily* family, std::string_view field, std::string_view type) {
    const Limit* limit = find_limit(family, field, type);
    return limit == nullptr || limit->flag() ? "" : text_of(*limit);
}

std::string relations_text(const NpuFamily* family, std::string_view field) {
    std::string text;
    for (const std::span<const Relation> rows :
         {rows_of(family).relations, std::span<const Relation>(relations)}) {
        for (const Relation& relation : rows) {
            const bool concerns = std::ranges::any_of(
                relation.fields, [&](std::string_view row) { return is_named(row, field); });
            if (concerns && text.find(relation.sentence) == std::string::npos) {
                text += std::string(relation.sentence) + '\n';
            }
        }
    }
    return text;
}

void check_limit(const std::string& row, const std::string& field, std::uint64_t value,
                 const Place& place) {
    const Limit* limit = find_row(limits, row);
    if (limit != nullptr && !limit->allows(value)) {
        refuse(*limit, field, value, place);
    }
}

void check_limits(const SystemConfig& system,
                  const std::function<Place(const std::string& field)>& place_of) {
    if (system.family != nullptr && system.npu_name().empty()) {
        throw ConfigError({.sentence = "'npu.name' is empty",
                           .remedy = "results show it: give the NPU a name",
                           .field = "npu.name",
                           .place = place_of("npu.name")});
    }
    const Numbers numbers(system);
    const std::vector<FieldRow> rows = list_fields(system);
    for (const FieldRow& row : rows) {
        const Limit* limit = find_limit(system.family, row.name, row.type);
        if (limit == nullptr) {
            continue;
        }
        numbers.each(row.name, [&](const std::string& field, std::uint64_t value) {
            if (!limit->allows(value)) {
                refuse(*limit, field, value, place_of(field));
            }
        });
    }
    const Relations between(system, rows, numbers);
    if (const Relation* broken = between.broken()) {
        const Values values = between.values_of(*broken);
        const std::string nearest = between.nearest_of(*broken);
        std::vector<std::string> changed(broken->fields.begin(), broken->fields.end());
        std::erase(changed, "");
        throw ConfigError(
            {.sentence = fmt::format("'{}' is {} and '{}' is {}: {}", changed[0], values[0],
                                     changed[1], values[1], broken->sentence),
             .remedy = "nearest legal values: " + nearest,
             .field = changed[0],
             .place = place_of_any(changed, place_of),
             .nearest = nearest});
    }
    check_lists(numbers.all(), place_of);
    check_regions(system.memory, place_of);
}

}  // namespace npuscope
