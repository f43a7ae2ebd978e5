// SPDX-License-Identifier: Apache-2.0
// Registers that define how an operation works: precisions, memories, the buffer, windows,
// operands, and the units that only move bytes.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench/mutation/mutant.h"
#include "models/layout/pixel_format.h"

namespace npuscope::bench {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

/// Every value of `values` for each field that `is` accepts.
template <class Is, class Values>
Mistakes change_fields(const MutationSite& site, const Is& is, const Values& values) {
    Mistakes mistakes;
    for (const Write& write : site.writes) {
        for (const RegisterField& field : write.place.row->fields) {
            if (field.access == RegisterAccess::ReadOnly || !is(write, field)) {
                continue;
            }
            const std::uint32_t old = field_of(write.value, field);
            for (const std::int64_t value : values(old)) {
                if (value >= 0 && value < (std::int64_t{1} << field.width) && value != old) {
                    mistakes.push_back(with_value(
                        write, with_field(write.value, field, static_cast<std::uint32_t>(value))));
                }
            }
        }
    }
    return mistakes;
}

std::vector<std::int64_t> neighbours(std::uint32_t old) {
    return {std::int64_t{old} + 1, std::int64_t{old} - 1};
}
std::vector<std::int64_t> flipped(std::uint32_t old) { return {old == 0 ? 1 : 0}; }
std::vector<std::int64_t> any_code(std::uint32_t /*old*/) { return {0, 1, 2}; }

bool named(const RegisterField& field, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, field.name) != names.end();
}

bool is_precision(const RegisterField& field) {
    return named(field, {"IN_PRECISION", "PROC_PRECISION", "OUT_PRECISION", "INPUT_DATA",
                         "INPUT_DATA_TYPE"});
}

Mistakes precision(const MutationSite& site) {
    return change_fields(
        site, [](const Write&, const RegisterField& field) { return is_precision(field); },
        any_code);
}

Mistakes ram_type(const MutationSite& site) {
    return change_fields(
        site, [](const Write&, const RegisterField& field) { return has(field.name, "RAM_TYPE"); },
        flipped);
}

Mistakes banks(const MutationSite& site) {
    Mistakes mistakes = change_fields(
        site,
        [](const Write& write, const RegisterField&) { return write.place.row->name == "D_BANK"; },
        [](std::uint32_t old) {
            return std::vector<std::int64_t>{std::int64_t{old} - 1, std::int64_t{old} + 1, old / 2,
                                             0};
        });
    // in both units alike
    const std::size_t single = mistakes.size();
    for (const Write& one : site.writes) {
        for (const Write& other : site.writes) {
            if (!one.is("NVDLA_CDMA", "D_BANK") || !other.is("NVDLA_CSC", "D_BANK") ||
                one.operation != other.operation || one.value != other.value) {
                continue;
            }
            for (std::size_t i = 0; i < single; ++i) {
                if (mistakes[i].registers.front() != one.name() ||
                    !mistakes[i].what.ends_with("")) {
                    continue;
                }
                Mistake both = mistakes[i];
                both.what += " in both units";
                both.registers.push_back(other.name());
                both.make = [first = mistakes[i].make, a = one.statement,
                             b = other.statement](Program& program) {
                    first(program);
                    std::get<WriteRegister>(program.statements[b].action).value =
                        std::get<WriteRegister>(program.statements[a].action).value;
                };
                mistakes.push_back(std::move(both));
            }
            return mistakes;
        }
    }
    return mistakes;
}

Mistakes buffer_counts(const MutationSite& site) {
    return change_fields(
        site,
        [](const Write&, const RegisterField& field) {
            return named(field, {"ENTRIES", "RLS_SLICES", "ATOMICS", "GRAINS"});
        },
        [](std::uint32_t old) {
            return std::vector<std::int64_t>{std::int64_t{old} + 1, std::int64_t{old} - 1, 0};
        });
}

Mistakes reuse(const MutationSite& site) {
    return change_fields(
        site,
        [](const Write&, const RegisterField& field) {
            return named(field, {"DATA_REUSE", "WEIGHT_REUSE", "SKIP_DATA_RLS", "SKIP_WEIGHT_RLS"});
        },
        flipped);
}

Mistakes modes(const MutationSite& site) {
    return change_fields(
        site,
        [](const Write&, const RegisterField& field) {
            return named(field, {"CONV_MODE", "DATAIN_FORMAT", "WEIGHT_FORMAT", "FLYING_MODE",
                                 "OUTPUT_DST", "WINOGRAD", "LINE_PACKED", "SURF_PACKED",
                                 "Y_EXTENSION", "BATCHES", "BATCH_NUMBER"});
        },
        flipped);
}

/// Formats that differ only in the positions of their components.
bool same_bytes(const PixelFormat& one, const PixelFormat& other) {
    return one.planes == other.planes && one.channels == other.channels &&
           one.code_bits == other.code_bits && one.floating == other.floating &&
           one.pixel_bytes(0) == other.pixel_bytes(0);
}

/// Another pixel format, with the same bytes or not.
Mistakes pixel_formats(const MutationSite& site, bool of_same_bytes) {
    Mistakes mistakes;
    for (const Write& write : site.writes) {
        for (const RegisterField& field : write.place.row->fields) {
            const PixelFormat* old = field.name == "PIXEL_FORMAT"
                                         ? find_pixel_format(field_of(write.value, field))
                                         : nullptr;
            for (std::uint32_t code = 0; old != nullptr && code < 64; ++code) {
                const PixelFormat* other = find_pixel_format(code);
                const bool same = other != nullptr && same_bytes(*old, *other);
                if (other != old && same == of_same_bytes) {
                    mistakes.push_back(with_value(write, with_field(write.value, field, code)));
                }
            }
        }
    }
    return mistakes;
}

Mistakes pixel_order(const MutationSite& site) { return pixel_formats(site, true); }

Mistakes pixels(const MutationSite& site) {
    Mistakes mistakes = change_fields(
        site,
        [](const Write&, const RegisterField& field) { return field.name == "PIXEL_X_OFFSET"; },
        neighbours);
    for (Mistake& mistake : pixel_formats(site, false)) {
        mistakes.push_back(std::move(mistake));
    }
    return mistakes;
}

Mistakes windows(const MutationSite& site) {
    return change_fields(
        site,
        [](const Write& write, const RegisterField& field) {
            return named(field, {"CONV_X_STRIDE", "CONV_Y_STRIDE", "CONV_X_STRIDE_EXT",
                                 "CONV_Y_STRIDE_EXT", "X_DILATION_EXT", "Y_DILATION_EXT"}) ||
                   write.place.row->name == "D_ZERO_PADDING";
        },
        neighbours);
}

/// Padding, stride or dilation alike in both units.
Mistakes windows_in_both(const MutationSite& site) {
    constexpr std::array pairs{
        std::array{"D_CONV_STRIDE", "CONV_X_STRIDE", "D_CONV_STRIDE_EXT", "CONV_X_STRIDE_EXT"},
        std::array{"D_CONV_STRIDE", "CONV_Y_STRIDE", "D_CONV_STRIDE_EXT", "CONV_Y_STRIDE_EXT"},
        std::array{"D_ZERO_PADDING", "PAD_LEFT", "D_ZERO_PADDING", "PAD_LEFT"},
        std::array{"D_ZERO_PADDING", "PAD_TOP", "D_ZERO_PADDING", "PAD_TOP"}};
    Mistakes mistakes;
    const auto find = [&](std::string_view block, std::string_view row) -> const Write* {
        const auto found = std::ranges::find_if(
            site.writes, [&](const Write& write) { return write.is(block, row); });
        return found == site.writes.end() ? nullptr : &*found;
    };
    for (const auto& [dma_row, dma_field, row, name] : pairs) {
        const Write* one = find("NVDLA_CDMA", dma_row);
        const Write* other = find("NVDLA_CSC", row);
        if (one == nullptr || other == nullptr) {
            continue;
        }
        const auto field = [](const Write& write, std::string_view wanted) {
            return *std::ranges::find(write.place.row->fields, wanted, &RegisterField::name);
        };
        const RegisterField first = field(*one, dma_field);
        const RegisterField second = field(*other, name);
        const std::uint32_t value = field_of(other->value, second);
        Mistake mistake =
            with_value(*one, with_field(one->value, first, value == 0 ? 1 : value - 1));
        mistake.what = fmt::format("{} {} off by one in both units", row, name);
        mistake.registers.push_back(other->name());
        mistake.make = [first_make = mistake.make, statement = other->statement,
                        word = with_field(other->value, second, value == 0 ? 1 : value - 1)](
                           Program& program) {
            first_make(program);
            std::get<WriteRegister>(program.statements[statement].action).value = word;
        };
        mistakes.push_back(std::move(mistake));
    }
    return mistakes;
}

Mistakes pooling(const MutationSite& site) {
    return change_fields(
        site,
        [](const Write& write, const RegisterField& field) {
            const std::string_view row = write.place.row->name;
            return (has(write.place.block->name, "NVDLA_PDP") &&
                    (row == "D_POOLING_KERNEL_CFG" || row == "D_POOLING_PADDING_CFG" ||
                     has(row, "PARTIAL_WIDTH"))) ||
                   field.name == "SPLIT_NUM";
        },
        neighbours);
}

Mistakes operand_modes(const MutationSite& site) {
    Mistakes mistakes = change_fields(
        site,
        [](const Write& write, const RegisterField&) {
            return has(write.place.row->name, "RDMA_CFG") &&
                   write.place.block->name == "NVDLA_SDP_RDMA";
        },
        [](std::uint32_t old) {
            return std::vector<std::int64_t>{old ^ 1U, old ^ 2U};
        });
    return mistakes;
}

Mistakes operand_sources(const MutationSite& site) {
    return change_fields(
        site,
        [](const Write&, const RegisterField& field) {
            return has(field.name, "_ALU_SRC") || has(field.name, "_MUL_SRC");
        },
        flipped);
}

/// A bit of a D_ register that belongs to no field.
Mistakes stray_bits(const MutationSite& site) {
    Mistakes mistakes;
    for (const Write& write : site.writes) {
        if (!write.place.row->name.starts_with("D_")) {
            continue;
        }
        const std::uint32_t holes = ~write_mask(*write.place.row) & ~write.value;
        for (unsigned bit = 31; bit > 0; --bit) {
            if ((holes >> bit & 1U) != 0) {
                mistakes.push_back(with_value(write, write.value | 1U << bit));
                break;
            }
        }
    }
    return mistakes;
}

// --- units that move bytes
// ------------------------------------------------------------------------

Mistakes mover(const MutationSite& site, std::string_view block,
               std::initializer_list<std::string_view> parts) {
    Mistakes mistakes;
    for (const Write& write : site.writes) {
        const std::string_view row = write.place.row->name;
        const bool meant =
            std::ranges::any_of(parts, [&](std::string_view part) { return has(row, part); });
        if (write.place.block->name != block || !meant) {
            continue;
        }
        const std::uint32_t step =
            has(row, "ADDR_LOW") || has(row, "STRIDE") || has(row, "SURF") || has(row, "_LINE") ? 32
                                                                                                : 1;
        const bool count = has(row, "REPEAT") || row == "CFG_LINE";
        for (const std::int64_t value : {std::int64_t{write.value} + (count ? 1 : step),
                                         std::int64_t{write.value} - (count ? 1 : step)}) {
            if (value >= 0) {
                mistakes.push_back(with_value(write, static_cast<std::uint32_t>(value)));
            }
        }
    }
    return mistakes;
}

Mistakes bdma_address(const MutationSite& site) { return mover(site, "NVDLA_BDMA", {"ADDR_LOW"}); }
Mistakes bdma_size(const MutationSite& site) {
    return mover(site, "NVDLA_BDMA",
                 {"CFG_LINE", "CFG_SRC_LINE", "CFG_DST_LINE", "SURF", "CFG_LINE_REPEAT"});
}
Mistakes rubik_address(const MutationSite& site) { return mover(site, "NVDLA_RBK", {"ADDR_LOW"}); }
Mistakes rubik_size(const MutationSite& site) {
    return mover(site, "NVDLA_RBK", {"DATAIN_SIZE", "DATAOUT_SIZE", "DECONV_STRIDE"});
}
Mistakes rubik_stride(const MutationSite& site) {
    return mover(site, "NVDLA_RBK",
                 {"LINE_STRIDE", "SURF_STRIDE", "PLANAR_STRIDE", "CONTRACT_STRIDE"});
}
Mistakes rubik_mode(const MutationSite& site) {
    return change_fields(
        site,
        [](const Write& write, const RegisterField&) {
            return write.place.block->name == "NVDLA_RBK" && write.place.row->name == "D_MISC_CFG";
        },
        any_code);
}

/// A destination on top of its own source.
Mistakes mover_in_place(const MutationSite& site) {
    Mistakes mistakes;
    for (const Write& source : site.writes) {
        const bool bdma = source.is("NVDLA_BDMA", "CFG_SRC_ADDR_LOW");
        if (!bdma && !source.is("NVDLA_RBK", "D_DAIN_ADDR_LOW")) {
            continue;
        }
        for (const Write& target : site.writes) {
            if (target.operation == source.operation &&
                (bdma ? target.is("NVDLA_BDMA", "CFG_DST_ADDR_LOW")
                      : target.is("NVDLA_RBK", "D_DAOUT_ADDR_LOW")) &&
                target.value != source.value) {
                mistakes.push_back(with_value(target, source.value));
                mistakes.push_back(with_value(source, target.value));
            }
        }
    }
    return mistakes;
}

// --- contents
// -------------------------------------------------------------------------------------

Mistakes values(const MutationSite& site) {
    return change_fields(
        site,
        [](const Write& write, const RegisterField& field) {
            const std::string_view row = write.place.row->name;
            return has(row, "CVT_") || has(row, "SRC_VALUE") || has(row, "MEAN") ||
                   has(row, "RECIP") || has(row, "CLIP") || has(row, "TRUNCATE") ||
                   has(row, "DATIN_") || has(row, "DATOUT_") || has(field.name, "PAD_VALUE") ||
                   has(field.name, "SHIFT_VALUE");
        },
        neighbours);
}

Mistakes stages(const MutationSite& site) {
    return change_fields(
        site,
        [](const Write& write, const RegisterField& field) {
            return (has(write.place.row->name, "D_DP_") && has(field.name, "BYPASS")) ||
                   has(field.name, "ALU_ALGO") || has(field.name, "PRELU") ||
                   has(field.name, "POOLING_METHOD") || has(field.name, "NORMALZ_LEN");
        },
        flipped);
}

}  // namespace

std::span<const MistakeKind> mode_kinds() {
    static constexpr std::array kinds{
        MistakeKind{"precision", "a unit is told another type", false, precision},
        MistakeKind{"ram_type", "a surface is told to lie in the other memory", false, ram_type},
        MistakeKind{"banks", "the buffer is divided otherwise", false, banks},
        MistakeKind{"buffer_counts", "entries, slices, atomics or grains are miscounted", false,
                    buffer_counts},
        MistakeKind{"reuse", "a convolution reuses or keeps what it should not", false, reuse},
        MistakeKind{"modes", "a mode bit is wrong", false, modes},
        MistakeKind{"pixels", "pixel format or offset is wrong", false, pixels},
        MistakeKind{"windows", "padding, stride or dilation is wrong in one unit", false, windows},
        MistakeKind{"windows_in_both", "the same in both units", false, windows_in_both},
        MistakeKind{"pooling", "windows or slices of a pooling are wrong", false, pooling},
        MistakeKind{"operand_modes", "an operand has another form", false, operand_modes},
        MistakeKind{"operand_sources", "an operand comes from the other place", false,
                    operand_sources},
        MistakeKind{"stray_bits", "a bit is set that no field holds", false, stray_bits},
        MistakeKind{"bdma_address", "an address of the BDMA is wrong", false, bdma_address},
        MistakeKind{"bdma_size", "a size or stride of the BDMA is wrong", false, bdma_size},
        MistakeKind{"rubik_address", "an address of RUBIK is wrong", false, rubik_address},
        MistakeKind{"rubik_size", "a size of RUBIK is wrong", false, rubik_size},
        MistakeKind{"rubik_stride", "a stride of RUBIK is wrong", false, rubik_stride},
        MistakeKind{"rubik_mode", "mode or type of RUBIK is wrong", false, rubik_mode},
        MistakeKind{"moved_in_place", "a move's input and output are one", false, mover_in_place},
        MistakeKind{"pixel_order", "a pixel's components are taken for others", true, pixel_order},
        MistakeKind{"values", "a conversion or constant is wrong", true, values},
        MistakeKind{"stages", "a stage computes something else", true, stages},
    };
    return kinds;
}

}  // namespace npuscope::bench
