// SPDX-License-Identifier: Apache-2.0
// Registers for the address and size of a surface, with another value.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench/mutation/mutant.h"

namespace npuscope::bench {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

bool is_mover(const Write& write) {
    return write.place.block->name == "NVDLA_BDMA" || write.place.block->name == "NVDLA_RUBIK";
}

bool is_size(std::string_view field) {
    constexpr std::array names{"DATAIN_WIDTH",     "DATAIN_HEIGHT",     "DATAIN_CHANNEL",
                               "DATAIN_WIDTH_EXT", "DATAIN_HEIGHT_EXT", "DATAIN_CHANNEL_EXT",
                               "DATAOUT_WIDTH",    "DATAOUT_HEIGHT",    "DATAOUT_CHANNEL",
                               "WEIGHT_WIDTH_EXT", "WEIGHT_HEIGHT_EXT", "WEIGHT_CHANNEL_EXT",
                               "WEIGHT_KERNEL",    "BYTE_PER_KERNEL",   "WIDTH",
                               "HEIGHT",           "CHANNEL",           "CUBE_IN_WIDTH",
                               "CUBE_IN_HEIGHT",   "CUBE_IN_CHANNEL",   "CUBE_OUT_WIDTH",
                               "CUBE_OUT_HEIGHT",  "CUBE_OUT_CHANNEL"};
    return std::ranges::find(names, field) != names.end();
}

template <class Change>
Mistakes change_sizes(const MutationSite& site, const Change& change) {
    Mistakes mistakes;
    for (const Write& write : site.writes) {
        for (const RegisterField& field : write.place.row->fields) {
            if (!is_size(field.name) || is_mover(write)) {
                continue;
            }
            const std::uint32_t old = field_of(write.value, field);
            const std::uint32_t value = change(old);
            if (value != old && value < (1U << field.width)) {
                mistakes.push_back(with_value(write, with_field(write.value, field, value)));
            }
        }
    }
    return mistakes;
}

Mistakes size_one_more(const MutationSite& site) {
    return change_sizes(site, [](std::uint32_t value) { return value + 1; });
}
Mistakes size_one_less(const MutationSite& site) {
    return change_sizes(site, [](std::uint32_t value) { return value == 0 ? 0 : value - 1; });
}
Mistakes size_not_minus_one(const MutationSite& site) {  // doubled, as with bytes for elements
    return change_sizes(site, [](std::uint32_t value) { return 2 * value + 1; });
}

/// Registers of one operation that must agree.
struct Meaning {
    const char* name;
    std::array<std::array<const char*, 3>, 6> fields;  // block, register, field
};

constexpr std::array meanings{
    Meaning{"input width",
            {{{"NVDLA_CDMA", "D_DATAIN_SIZE_0", "DATAIN_WIDTH"},
              {"NVDLA_CDMA", "D_DATAIN_SIZE_EXT_0", "DATAIN_WIDTH_EXT"},
              {"NVDLA_CSC", "D_DATAIN_SIZE_EXT_0", "DATAIN_WIDTH_EXT"}}}},
    Meaning{"input height",
            {{{"NVDLA_CDMA", "D_DATAIN_SIZE_0", "DATAIN_HEIGHT"},
              {"NVDLA_CDMA", "D_DATAIN_SIZE_EXT_0", "DATAIN_HEIGHT_EXT"},
              {"NVDLA_CSC", "D_DATAIN_SIZE_EXT_0", "DATAIN_HEIGHT_EXT"}}}},
    Meaning{"input channels",
            {{{"NVDLA_CDMA", "D_DATAIN_SIZE_1", "DATAIN_CHANNEL"},
              {"NVDLA_CSC", "D_DATAIN_SIZE_EXT_1", "DATAIN_CHANNEL_EXT"},
              {"NVDLA_CSC", "D_WEIGHT_SIZE_EXT_1", "WEIGHT_CHANNEL_EXT"}}}},
    Meaning{"kernels",
            {{{"NVDLA_CDMA", "D_WEIGHT_SIZE_1", "WEIGHT_KERNEL"},
              {"NVDLA_CSC", "D_WEIGHT_SIZE_EXT_1", "WEIGHT_KERNEL"},
              {"NVDLA_CSC", "D_DATAOUT_SIZE_1", "DATAOUT_CHANNEL"},
              {"NVDLA_CACC", "D_DATAOUT_SIZE_1", "DATAOUT_CHANNEL"},
              {"NVDLA_SDP", "D_DATA_CUBE_CHANNEL", "CHANNEL"},
              {"NVDLA_SDP_RDMA", "D_DATA_CUBE_CHANNEL", "CHANNEL"}}}},
    Meaning{"SDP width",
            {{{"NVDLA_SDP", "D_DATA_CUBE_WIDTH", "WIDTH"},
              {"NVDLA_SDP_RDMA", "D_DATA_CUBE_WIDTH", "WIDTH"},
              {"NVDLA_CSC", "D_DATAOUT_SIZE_0", "DATAOUT_WIDTH"},
              {"NVDLA_CACC", "D_DATAOUT_SIZE_0", "DATAOUT_WIDTH"}}}},
    Meaning{"SDP height",
            {{{"NVDLA_SDP", "D_DATA_CUBE_HEIGHT", "HEIGHT"},
              {"NVDLA_SDP_RDMA", "D_DATA_CUBE_HEIGHT", "HEIGHT"},
              {"NVDLA_CSC", "D_DATAOUT_SIZE_0", "DATAOUT_HEIGHT"},
              {"NVDLA_CACC", "D_DATAOUT_SIZE_0", "DATAOUT_HEIGHT"}}}},
    Meaning{"pooled channels",
            {{{"NVDLA_PDP", "D_DATA_CUBE_IN_CHANNEL", "CUBE_IN_CHANNEL"},
              {"NVDLA_PDP", "D_DATA_CUBE_OUT_CHANNEL", "CUBE_OUT_CHANNEL"},
              {"NVDLA_PDP_RDMA", "D_DATA_CUBE_IN_CHANNEL", "CUBE_IN_CHANNEL"}}}},
    Meaning{"pooled width",
            {{{"NVDLA_PDP", "D_DATA_CUBE_IN_WIDTH", "CUBE_IN_WIDTH"},
              {"NVDLA_PDP_RDMA", "D_DATA_CUBE_IN_WIDTH", "CUBE_IN_WIDTH"}}}},
    Meaning{"pooled height",
            {{{"NVDLA_PDP", "D_DATA_CUBE_IN_HEIGHT", "CUBE_IN_HEIGHT"},
              {"NVDLA_PDP_RDMA", "D_DATA_CUBE_IN_HEIGHT", "CUBE_IN_HEIGHT"}}}},
    Meaning{"normalised width", {{{"NVDLA_CDP_RDMA", "D_DATA_CUBE_WIDTH", "WIDTH"}}}},
};

/// The field of a meaning that the write sets.
const RegisterField* meant_field(const Meaning& meaning, const Write& write) {
    for (const auto& [block, row, name] : meaning.fields) {
        if (block == nullptr || !write.is(block, row)) {
            continue;
        }
        for (const RegisterField& field : write.place.row->fields) {
            if (field.name == name) {
                return &field;
            }
        }
    }
    return nullptr;
}

void add_alike(const MutationSite& site, const Meaning& meaning, int step, Mistakes& mistakes) {
    std::vector<std::pair<std::size_t, std::uint32_t>> changes;
    Mistake mistake;
    for (const Write& write : site.writes) {
        const RegisterField* field = write.operation == 0 ? meant_field(meaning, write) : nullptr;
        if (field == nullptr) {
            continue;
        }
        const std::int64_t value = std::int64_t{field_of(write.value, *field)} + step;
        if (value < 0 || value >= (std::int64_t{1} << field->width)) {
            return;
        }
        changes.emplace_back(write.statement,
                             with_field(write.value, *field, static_cast<std::uint32_t>(value)));
        mistake.registers.push_back(write.name());
    }
    if (changes.size() < 2) {
        return;
    }
    mistake.what = fmt::format("{} {:+} in {} registers", meaning.name, step, changes.size());
    mistake.make = [changes](Program& program) {
        for (const auto& [statement, value] : changes) {
            std::get<WriteRegister>(program.statements[statement].action).value = value;
        }
    };
    mistakes.push_back(std::move(mistake));
}

Mistakes size_in_all_units(const MutationSite& site) {
    Mistakes mistakes;
    for (const Meaning& meaning : meanings) {
        for (const int step : {-1, 1, 8}) {
            add_alike(site, meaning, step, mistakes);
        }
    }
    return mistakes;
}

/// Width for height: two fields of one register, or two registers of one cube.
Mistakes sizes_swapped(const MutationSite& site) {
    Mistakes mistakes;
    for (const Write& one : site.writes) {
        const auto& fields = one.place.row->fields;
        if (fields.size() == 2 && is_size(fields[0].name) && is_size(fields[1].name) &&
            fields[0].width == fields[1].width) {
            const std::uint32_t low = field_of(one.value, fields[0]);
            const std::uint32_t high = field_of(one.value, fields[1]);
            if (low != high) {
                mistakes.push_back(with_value(
                    one, with_field(with_field(one.value, fields[0], high), fields[1], low)));
            }
        }
    }
    return mistakes;
}

bool is_line_stride(const Write& write) {
    return has(write.place.row->name, "LINE_STRIDE") || has(write.place.row->name, "UV_STRIDE");
}
bool is_surface_stride(const Write& write) {
    return has(write.place.row->name, "SURFACE_STRIDE") ||
           has(write.place.row->name, "SURF_STRIDE");
}

template <class Is, class Change>
Mistakes change_words(const MutationSite& site, const Is& is, const Change& change) {
    Mistakes mistakes;
    for (const Write& write : site.writes) {
        if (!is(write) || is_mover(write) || write.place.block->name == "NVDLA_CACC") {
            continue;
        }
        const std::uint32_t value = change(write.value);
        if (value != write.value) {
            mistakes.push_back(with_value(write, value));
        }
    }
    return mistakes;
}

std::uint32_t atom_of(const MutationSite& site) {
    return static_cast<std::uint32_t>(site.npu.datapath.memory_atom.value);
}

Mistakes line_stride_plus_atom(const MutationSite& site) {
    return change_words(site, is_line_stride,
                        [&](std::uint32_t value) { return value + atom_of(site); });
}
Mistakes line_stride_minus_atom(const MutationSite& site) {
    return change_words(site, is_line_stride, [&](std::uint32_t value) {
        return value < atom_of(site) ? value : value - atom_of(site);
    });
}
Mistakes line_stride_doubled(const MutationSite& site) {
    return change_words(site, is_line_stride, [](std::uint32_t value) { return 2 * value; });
}
Mistakes surface_stride_plus_atom(const MutationSite& site) {
    return change_words(site, is_surface_stride,
                        [&](std::uint32_t value) { return value + atom_of(site); });
}
Mistakes surface_stride_zero(const MutationSite& site) {
    return change_words(site, is_surface_stride, [](std::uint32_t) { return 0U; });
}
Mistakes batch_stride(const MutationSite& site) {
    return change_words(
        site, [](const Write& write) { return has(write.place.row->name, "BATCH_STRIDE"); },
        [&](std::uint32_t value) { return value + atom_of(site); });
}

bool is_address(const Write& write) {
    return has(write.place.row->name, "ADDR_LOW") && !is_mover(write);
}

Mistakes move_addresses(const MutationSite& site, std::int64_t by) {
    return change_words(site, is_address, [&](std::uint32_t value) {
        return value < 0x1000 ? value : static_cast<std::uint32_t>(value + by);
    });
}

Mistakes address_plus_atom(const MutationSite& site) { return move_addresses(site, atom_of(site)); }
Mistakes address_minus_atom(const MutationSite& site) {
    return move_addresses(site, -std::int64_t{atom_of(site)});
}
Mistakes address_plus_32(const MutationSite& site) { return move_addresses(site, 32); }
Mistakes address_plus_4k(const MutationSite& site) { return move_addresses(site, 4096); }
Mistakes address_misaligned(const MutationSite& site) { return move_addresses(site, 1); }
Mistakes address_high(const MutationSite& site) {
    return change_words(
        site, [](const Write& write) { return has(write.place.row->name, "ADDR_HIGH"); },
        [](std::uint32_t value) { return value + 1; });
}

Mistakes addresses_swapped(const MutationSite& site) {
    Mistakes mistakes;
    for (std::size_t i = 0; i < site.writes.size(); ++i) {
        for (std::size_t j = i + 1; j < site.writes.size(); ++j) {
            const Write& one = site.writes[i];
            const Write& other = site.writes[j];
            if (!is_address(one) || !is_address(other) || one.value == other.value ||
                one.value < 0x1000 || other.value < 0x1000 || one.operation != other.operation) {
                continue;
            }
            Mistake mistake = with_value(one, other.value);
            mistake.what = fmt::format("{} and {} swapped", one.name(), other.name());
            mistake.registers.push_back(other.name());
            mistake.make = [first = one, second = other](Program& program) {
                std::get<WriteRegister>(program.statements[first.statement].action).value =
                    second.value;
                std::get<WriteRegister>(program.statements[second.statement].action).value =
                    first.value;
            };
            mistakes.push_back(std::move(mistake));
        }
    }
    return mistakes;
}

Mistakes bytes_of_weights(const MutationSite& site) {
    Mistakes mistakes;
    for (const Write& write : site.writes) {
        const std::string_view row = write.place.row->name;
        if (row == "D_WEIGHT_BYTES" || row == "D_WMB_BYTES") {
            for (const std::uint32_t value :
                 {write.value + 128, write.value - 128, 2 * write.value, write.value / 256 * 128}) {
                if (value != write.value && value < 0x10000000) {
                    mistakes.push_back(with_value(write, value));
                }
            }
        }
    }
    return mistakes;
}

}  // namespace

std::span<const MistakeKind> register_kinds() {
    static constexpr std::array kinds{
        MistakeKind{"size_plus_one", "a size is one larger", false, size_one_more},
        MistakeKind{"size_minus_one", "a size is one smaller", false, size_one_less},
        MistakeKind{"size_doubled", "a size counts bytes", false, size_not_minus_one},
        MistakeKind{"size_all_units", "a size is wrong alike in all units", false,
                    size_in_all_units},
        MistakeKind{"size_swapped", "width for height", false, sizes_swapped},
        MistakeKind{"line_stride_plus", "a line stride is an atom larger", false,
                    line_stride_plus_atom},
        MistakeKind{"line_stride_minus", "a line stride is an atom smaller", false,
                    line_stride_minus_atom},
        MistakeKind{"line_stride_twice", "a line stride is doubled", false, line_stride_doubled},
        MistakeKind{"surface_stride_plus", "a surface stride is an atom larger", false,
                    surface_stride_plus_atom},
        MistakeKind{"surface_stride_zero", "a surface stride is 0", false, surface_stride_zero},
        MistakeKind{"batch_stride", "a batch stride is an atom larger", false, batch_stride},
        MistakeKind{"address_plus_atom", "an address is an atom higher", false, address_plus_atom},
        MistakeKind{"address_minus_atom", "an address is an atom lower", false, address_minus_atom},
        MistakeKind{"address_plus_32", "an address is 32 bytes higher", false, address_plus_32},
        MistakeKind{"address_plus_4k", "an address is 4 KiB higher", false, address_plus_4k},
        MistakeKind{"address_misaligned", "an address is a byte higher", false, address_misaligned},
        MistakeKind{"address_high", "the upper half of an address is wrong", false, address_high},
        MistakeKind{"addresses_swapped", "two surfaces are swapped", false, addresses_swapped},
        MistakeKind{"weight_bytes", "the bytes of weights or mask are miscounted", false,
                    bytes_of_weights},
    };
    return kinds;
}

}  // namespace npuscope::bench
