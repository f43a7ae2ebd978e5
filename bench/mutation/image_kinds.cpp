// SPDX-License-Identifier: Apache-2.0
// What is loaded: images that are short, at the wrong place, swapped, or damaged.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "bench/mutation/mutant.h"

namespace npuscope::bench {
namespace {

struct Load {
    std::size_t statement;
    const LoadMemory* load;

    ByteRun run() const { return {load->address, Bytes(load->image.end())}; }
};

std::vector<Load> loads_of(const MutationSite& site) {
    std::vector<Load> loads;
    for (std::size_t i = 0; i < site.program.statements.size(); ++i) {
        const auto* load = std::get_if<LoadMemory>(&site.at(i).action);
        if (load != nullptr && !load->image.runs.empty()) {
            loads.push_back({i, load});
        }
    }
    return loads;
}

LoadMemory& load_at(Program& program, std::size_t statement) {
    return std::get<LoadMemory>(program.statements[statement].action);
}

Mistake of_load(const MutationSite& site, const Load& load, std::string what) {
    Mistake mistake;
    mistake.what = fmt::format("'{}' {}", load.load->file, what);
    mistake.registers = {fmt::format("'{}'", load.load->file)};
    mistake.bytes = {load.run()};
    mistake.places = {site.at(load.statement).place};
    mistake.in_images = true;
    return mistake;
}

/// Omits everything from `end` on.
void cut(MemoryImage& image, std::uint64_t end) {
    std::erase_if(image.runs, [&](const MemoryImage::Run& run) { return run.offset >= end; });
    for (MemoryImage::Run& run : image.runs) {
        run.size = std::min(run.size, end - run.offset);
    }
}

/// In an image that omits zeros itself, a missing byte cannot be detected.
Mistakes cut_images(const MutationSite& site, bool sparse) {
    Mistakes mistakes;
    for (const Load& load : loads_of(site)) {
        if ((load.load->image.runs.size() > 1) != sparse) {
            continue;
        }
        const std::uint64_t size = load.load->image.end();
        for (const std::uint64_t less : {std::uint64_t{1}, std::uint64_t{32}, size / 8, size / 2}) {
            if (less == 0 || less >= size) {
                continue;
            }
            Mistake mistake = of_load(site, load, fmt::format("is {} bytes short", less));
            mistake.make = [statement = load.statement, end = size - less](Program& program) {
                cut(load_at(program, statement).image, end);
            };
            mistakes.push_back(std::move(mistake));
        }
    }
    return mistakes;
}

Mistakes image_short(const MutationSite& site) { return cut_images(site, false); }
Mistakes image_short_sparse(const MutationSite& site) { return cut_images(site, true); }

Mistakes image_shifted(const MutationSite& site) {
    Mistakes mistakes;
    const auto atom = static_cast<std::int64_t>(site.npu.datapath.memory_atom.value);
    for (const Load& load : loads_of(site)) {
        for (const std::int64_t by : {std::int64_t{1}, atom, -atom, std::int64_t{4096}}) {
            Mistake mistake = of_load(site, load, fmt::format("is loaded {} bytes off", by));
            const Address moved(load.load->address.value + static_cast<std::uint64_t>(by));
            mistake.bytes.push_back({moved, load.run().bytes});
            mistake.make = [statement = load.statement, moved](Program& program) {
                load_at(program, statement).address = moved;
            };
            mistakes.push_back(std::move(mistake));
        }
    }
    return mistakes;
}

/// Two images of the same size cannot be told apart.
Mistakes swap_images(const MutationSite& site, bool alike) {
    Mistakes mistakes;
    const std::vector<Load> loads = loads_of(site);
    for (std::size_t i = 0; i < loads.size(); ++i) {
        for (std::size_t j = i + 1; j < loads.size(); ++j) {
            if ((loads[i].run().bytes == loads[j].run().bytes) != alike) {
                continue;
            }
            Mistake mistake =
                of_load(site, loads[i], fmt::format("and '{}' are swapped", loads[j].load->file));
            mistake.bytes.push_back(loads[j].run());
            mistake.places.push_back(site.at(loads[j].statement).place);
            mistake.make = [a = loads[i].statement, b = loads[j].statement](Program& program) {
                std::swap(load_at(program, a).address, load_at(program, b).address);
            };
            mistakes.push_back(std::move(mistake));
        }
    }
    return mistakes;
}

Mistakes images_swapped(const MutationSite& site) { return swap_images(site, false); }
Mistakes images_swapped_alike(const MutationSite& site) { return swap_images(site, true); }

Mistakes image_missing(const MutationSite& site) {
    Mistakes mistakes;
    for (const Load& load : loads_of(site)) {
        Mistake mistake = of_load(site, load, "is not loaded");
        mistake.make = without(site, load.statement, "").make;
        mistakes.push_back(std::move(mistake));
    }
    return mistakes;
}

Mistakes image_on_another(const MutationSite& site) {
    Mistakes mistakes;
    const std::vector<Load> loads = loads_of(site);
    for (std::size_t i = 0; i < loads.size(); ++i) {
        for (std::size_t j = 0; j < loads.size(); ++j) {
            if (i == j || loads[i].load->address == loads[j].load->address) {
                continue;
            }
            Mistake mistake = of_load(
                site, loads[i], fmt::format("is loaded where '{}' belongs", loads[j].load->file));
            mistake.bytes.push_back(loads[j].run());
            mistake.make = [a = loads[i].statement, to = loads[j].load->address](Program& program) {
                load_at(program, a).address = to;
            };
            mistakes.push_back(std::move(mistake));
        }
    }
    return mistakes;
}

/// What a convolution uses as an element.
std::uint64_t element_bytes(const MutationSite& site) {
    return std::ranges::any_of(site.writes,
                               [](const Write& write) {
                                   return write.is("NVDLA_CDMA", "D_MISC_CFG") &&
                                          (write.value >> 8U & 3U) != 0;
                               })
               ? 2
               : 1;
}

/// A byte of what a CDMA address points to gets another value; 0: a whole element becomes 0.
/// The zeros that pad a file after its last element are excluded.
bool is_filling(const MemoryImage& image, std::uint64_t offset) {
    for (const MemoryImage::Run& part : image.runs) {
        if (part.offset <= offset && offset < part.offset + part.size) {
            const auto rest = std::span(image.bytes)
                                  .subspan(part.position, part.size)
                                  .subspan(offset - part.offset);
            return std::ranges::all_of(rest, [](std::uint8_t byte) { return byte == 0; });
        }
    }
    return true;
}

Mistakes damage(const MutationSite& site, std::string_view address_register, std::uint8_t change,
                const char* what) {
    Mistakes mistakes;
    for (const Write& write : site.writes) {
        if (!write.is("NVDLA_CDMA", address_register)) {
            continue;
        }
        for (const Load& load : loads_of(site)) {
            const ByteRun run = load.run();
            if (Address(write.value) < run.address || Address(write.value) >= run.end()) {
                continue;
            }
            const std::uint64_t first = write.value - run.address.value;
            const std::uint64_t element = change == 0 ? element_bytes(site) : 1;
            for (const std::uint64_t offset :
                 {first, first + element, first + 5 * element, first + 16}) {
                if (is_filling(load.load->image, offset)) {
                    continue;
                }
                Mistake mistake = of_load(site, load, fmt::format("{} at {:#x}", what, offset));
                mistake.bytes = {{write.is("NVDLA_CDMA", "D_WEIGHT_ADDR_LOW")
                                      ? run.address + Bytes(offset)
                                      : Address(write.value),
                                  Bytes(64)}};
                mistake.registers = {write.name()};
                mistake.make = [statement = load.statement, offset, element,
                                change](Program& program) {
                    MemoryImage& image = load_at(program, statement).image;
                    for (std::uint64_t at = offset; at < offset + element; ++at) {
                        for (const MemoryImage::Run& part : image.runs) {
                            if (part.offset <= at && at < part.offset + part.size) {
                                std::uint8_t& byte = image.bytes[part.position + at - part.offset];
                                byte = change == 0 ? 0 : static_cast<std::uint8_t>(byte ^ change);
                            }
                        }
                    }
                };
                mistakes.push_back(std::move(mistake));
            }
        }
    }
    return mistakes;
}

bool compresses(const MutationSite& site) {
    return std::ranges::any_of(site.writes, [](const Write& write) {
        return write.is("NVDLA_CDMA", "D_WEIGHT_FORMAT") && (write.value & 1U) != 0;
    });
}

Mistakes wgs_damage(const MutationSite& site) {
    return compresses(site) ? damage(site, "D_WGS_ADDR_LOW", 0x04, "has another group size")
                            : Mistakes{};
}
Mistakes wmb_damage(const MutationSite& site) {
    return compresses(site) ? damage(site, "D_WMB_ADDR_LOW", 0x10, "has another mask bit")
                            : Mistakes{};
}
Mistakes weight_zero(const MutationSite& site) {
    return compresses(site) ? damage(site, "D_WEIGHT_ADDR_LOW", 0, "stores a zero") : Mistakes{};
}

Mistakes image_bytes(const MutationSite& site) {
    Mistakes mistakes;
    for (const Load& load : loads_of(site)) {
        Mistake mistake = of_load(site, load, "has its bytes swapped in pairs");
        mistake.make = [statement = load.statement](Program& program) {
            std::vector<std::uint8_t>& bytes = load_at(program, statement).image.bytes;
            for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
                std::swap(bytes[i], bytes[i + 1]);
            }
        };
        mistakes.push_back(std::move(mistake));
        Mistake one = of_load(site, load, "has one byte wrong");
        one.make = [statement = load.statement](Program& program) {
            std::vector<std::uint8_t>& bytes = load_at(program, statement).image.bytes;
            bytes[bytes.size() / 2] ^= 0x55;
        };
        mistakes.push_back(std::move(one));
    }
    return mistakes;
}

}  // namespace

std::span<const MistakeKind> image_kinds() {
    static constexpr std::array kinds{
        MistakeKind{"image_short", "the end of an image is missing", false, image_short},
        MistakeKind{"image_shifted", "an image is loaded at another address", false, image_shifted},
        MistakeKind{"images_swapped", "two images are swapped", false, images_swapped},
        MistakeKind{"image_missing", "an image is not loaded", false, image_missing},
        MistakeKind{"image_on_another", "an image is loaded on another one", false,
                    image_on_another},
        MistakeKind{"wgs_damage", "a group size of compressed weights is wrong", false, wgs_damage},
        MistakeKind{"wmb_damage", "a mask bit of compressed weights is wrong", false, wmb_damage},
        MistakeKind{"weight_zero", "compressed weights store a zero", false, weight_zero},
        MistakeKind{"image_short_sparse", "the end of an image that leaves zeros out is missing",
                    true, image_short_sparse},
        MistakeKind{"images_swapped_alike", "two images of one size are swapped", true,
                    images_swapped_alike},
        MistakeKind{"image_bytes", "bytes of an image are wrong", true, image_bytes},
    };
    return kinds;
}

}  // namespace npuscope::bench
