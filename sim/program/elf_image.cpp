// SPDX-License-Identifier: Apache-2.0
// What a loader puts into memory for an ELF file: its program headers say which bytes go where.
//
//     | 7f 'E' 'L' 'F' | class | data | ... | header | ... | program headers | ... | segments |
//
// class 1: 32 bits, 2: 64 bits; data 1: low byte first, 2: high byte first.
// source: System V ABI, "Object Files" and "Program Loading"
#include <fmt/format.h>

#include <string>

#include "sim/config/npy_file.h"
#include "sim/program/memory_image.h"

namespace npuscope {
namespace {

constexpr std::uint64_t loaded_segment = 1;  // PT_LOAD
constexpr std::uint64_t no_header = 0xffff;  // PN_XNUM: more headers than the field can count
constexpr Bytes most_zeros{std::uint64_t{64} << 20U};  // that segments have only in memory

class ElfFile {
 public:
    ElfFile(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {
        if (!bytes.starts_with("\x7f"
                               "ELF")) {
            refuse(0, "it does not begin with the magic number of ELF", "is this the right file?");
        }
        wide_ = choice(4, "class", "32-bit and 64-bit") == 2;
        big_endian_ = choice(5, "byte order", "little-endian and big-endian") == 2;
    }

    MemoryImage image() {
        const std::uint64_t headers = wide_ ? field(32, 8) : field(28, 4);
        const std::uint64_t size = field(wide_ ? 54 : 42, 2);
        const std::uint64_t count = field(wide_ ? 56 : 44, 2);
        if (count == 0 || count == no_header || size < (wide_ ? 56U : 32U)) {
            refuse(wide_ ? 54 : 42, "it has no program headers that could be loaded",
                   "link it; an object file has no addresses yet");
        }
        MemoryImage image;
        for (std::uint64_t i = 0; i < count; ++i) {
            if (headers > bytes_.size()) {
                refuse(wide_ ? 32 : 28, "its program headers begin after its end", cut_short);
            }
            take(headers + i * size, image);
        }
        return image;
    }

 private:
    static constexpr const char* cut_short = "the file is cut short, or its header is damaged";

    [[noreturn]] void refuse(std::uint64_t offset, const std::string& what,
                             const std::string& remedy) const {
        throw ConfigError(fmt::format("'{}': {}, at byte {:#x}", file_, what, offset), remedy);
    }
    unsigned choice(std::size_t offset, const char* what, const char* known) const {
        const std::uint64_t value = field(offset, 1);
        if (value != 1 && value != 2) {
            refuse(offset, fmt::format("its {} is {}", what, value),
                   fmt::format("1 and 2 are supported: {}", known));
        }
        return static_cast<unsigned>(value);
    }
    std::uint64_t field(std::uint64_t offset, std::uint64_t size) const {
        if (offset > bytes_.size() || bytes_.size() - offset < size) {
            refuse(offset,
                   fmt::format("it ends before the end of a header field of {} byte{}", size,
                               size == 1 ? "" : "s"),
                   cut_short);
        }
        std::uint64_t value = 0;
        for (std::uint64_t i = 0; i < size; ++i) {
            const std::uint64_t at = big_endian_ ? offset + i : offset + size - 1 - i;
            value = value << 8U | static_cast<unsigned char>(bytes_[at]);
        }
        return value;
    }

    /// The segment of the program header at `header`.
    void take(std::uint64_t header, MemoryImage& image) {
        if (field(header, 4) != loaded_segment) {
            return;
        }
        const std::uint64_t word = wide_ ? 8 : 4;
        const std::uint64_t first = header + word;  // of offset, virtual, physical, sizes
        const std::uint64_t offset = field(first, word);
        const std::uint64_t address = field(first + 2 * word, word);
        const std::uint64_t stored = field(first + 3 * word, word);
        const std::uint64_t size = field(first + 4 * word, word);
        if (stored > size) {
            refuse(first + 3 * word, "a segment has more bytes in the file than in memory",
                   cut_short);
        }
        if (offset > bytes_.size() || bytes_.size() - offset < stored) {
            refuse(first,
                   fmt::format(
                       "a segment of {} bytes at offset {:#x} extends beyond the file's {} bytes",
                       stored, offset, bytes_.size()),
                   cut_short);
        }
        if (size - stored > most_zeros.value - zeros_ || address > ~std::uint64_t{0} - size) {
            refuse(first + 4 * word, fmt::format("a segment takes {} bytes of memory", size),
                   fmt::format("at most {} bytes without file contents (.bss) are supported",
                               most_zeros.value));
        }
        zeros_ += size - stored;
        if (image.bytes.size() > largest_file.value) {
            refuse(header, "too many segments reuse the same bytes of the file", cut_short);
        }
        if (size > 0) {
            image.runs.push_back({address, image.bytes.size(), size});
            const std::string_view segment = bytes_.substr(offset, stored);
            image.bytes.insert(image.bytes.end(), segment.begin(), segment.end());
            image.bytes.resize(image.bytes.size() + (size - stored));
        }
    }

    std::string_view bytes_;
    const std::string& file_;
    std::uint64_t zeros_ = 0;
    bool wide_ = false;
    bool big_endian_ = false;
};

}  // namespace

MemoryImage parse_elf(std::string_view bytes, const std::string& file) {
    return ElfFile(bytes, file).image();
}

MemoryImage parse_array(std::string_view bytes, const std::string& file) {
    const std::span<const std::uint8_t> all(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                            bytes.size());
    const NpyHeader header = read_npy_header(all, file);
    return raw_image(in_c_order(header, all.subspan(header.data_begin)));
}

}  // namespace npuscope
