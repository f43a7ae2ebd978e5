// SPDX-License-Identifier: Apache-2.0
// What a file puts into memory: runs of bytes at offsets from the load address. The formats are
//
//   packets   {offset:0x20, size:4, payload:0x00 0x10 0x20 0x30} ,      nv_small and later; the
//             {offset:0x60, size:4, payload:0x00 0x10 0x20 0x30}        whole may be in { }
//
//   listing   # comment                                                 nv_full: key=value, ignored
//             Data_size = 0x1000                                        except for the size; then
//             0xce 0xe4 0xd2 ...                                        bytes, lowest address first
//
//   raw       any .bin file
//
//   Intel HEX :10 0000 00 <16 bytes> checksum      types 00 data, 01 end, 02 and 04 upper address;
//                                                  03 and 05 (start) are ignored
//
//   readmemh  @80  00 1f // comment                one byte per word, @ sets its address; words of
//                                                  more bytes have either byte order
//
//   ELF       its segments that are loaded (PT_LOAD), at their physical addresses; bytes that a
//             segment has only in memory are zeros
//
//   .npy      the elements of an array in C order
//
// Hexadecimal digits in either case. `#` and `//` start a comment in packets and listings.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/base/error.h"
#include "sim/config/file_io.h"

namespace npuscope {

struct MemoryImage {
    /// `size` bytes from `bytes[position]` on belong at `offset`.
    struct Run {
        std::uint64_t offset;
        std::uint64_t position;
        std::uint64_t size;

        bool operator==(const Run&) const = default;
    };
    std::vector<std::uint8_t> bytes;
    std::vector<Run> runs;  ///< in file order; adjacent packets are one run

    bool operator==(const MemoryImage&) const = default;
    /// One more than the last offset: bytes of the region that the image spans.
    std::uint64_t end() const;
};

/// Returns the image that a statement at `place` names.
using ImageSource = std::function<MemoryImage(const std::string& file, const Place& place)>;

/// Packets or a listing; `file` is how messages name it.
MemoryImage parse_memory_text(std::string_view text, const std::string& file);

/// ConfigError with line and column if it is no such file; checksums must be right.
MemoryImage parse_intel_hex(std::string_view text, const std::string& file);

/// Words of a readmemh file.
struct HexWords {
    std::uint32_t bytes = 1;  ///< of a word, 1 to 64; addresses count words
    bool big_endian = false;  ///< the first digits of a word are at its lowest address
};
MemoryImage parse_readmemh(std::string_view text, const std::string& file,
                           const HexWords& words = {});
/// ConfigError with the offset of what is wrong. source: System V ABI, "Object Files"
MemoryImage parse_elf(std::string_view bytes, const std::string& file);
/// ConfigError as from read_npy_header().
MemoryImage parse_array(std::string_view bytes, const std::string& file);
/// Bytes as they are.
MemoryImage raw_image(std::string_view bytes);
MemoryImage raw_image(std::vector<std::uint8_t> bytes);

/// Reads the file; `.bin` is raw, all else text. If it cannot be read, or has more than `most`
/// bytes, the error is at `asked_at`; `shown` is the file's name in messages.
MemoryImage read_memory_file(const std::filesystem::path& path, const std::string& shown,
                             const Place& asked_at = {}, Bytes most = largest_file);

/// Limit on what all images of one program or description may take together.
class ImageBudget {
 public:
    /// What is left of it.
    Bytes left() const { return left_; }
    /// ConfigError at `place` if the image takes more than what is left.
    void take(const MemoryImage& image, const Place& place);

 private:
    Bytes left_ = largest_file;
};

}  // namespace npuscope
