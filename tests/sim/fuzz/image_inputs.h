// SPDX-License-Identifier: Apache-2.0
// Inputs of the memory image fuzzer: a description, a line `===` and the content that every file of
// the description has; a text without that line is each kind of file in turn.
#pragma once

#include <string>

#include "models/base/error.h"
#include "sim/check/image_check.h"

namespace npuscope::fuzz {

inline const std::string image_seed =
    "npu: nv_small\n"
    "memory:\n"
    "  - {file: input.hex, address: 0x90000000}\n"
    "  - {file: mask.mem, address: 0x80002000, format: ihex}\n"
    "surfaces:\n"
    "  - {name: input, layout: feature, type: int8, shape: 1x16x2x3, address: 0x90000000, "
    "line_stride: 24, surface_stride: 48}\n"
    "  - {name: output, layout: feature, shape: 1x8x2x3, address: 0xa0000000, bytes: 48}\n"
    "  - {name: weight, layout: weight_dc, shape: 8x16x1x1, address: 0x90000000, bytes: 128}\n"
    "  - {name: wmb, layout: wmb, of: weight, address: 0x80002000, bytes: 128}\n"
    "  - {name: wgs, layout: wgs, of: weight, address: 0x80003000}\n"
    "  - {name: bias, layout: per_channel, type: int16, shape: 1x8x1x1, address: 0x80004000, "
    "components: 2}\n"
    "  - {name: r, layout: raw, bytes: 5, address: 0x80005000, role: output}\n"
    "===\n"
    ":0400100001020304E2\n:020000040001F9\n:00000001FF\n";

inline void parse_every_format(const std::string& text) {
    const auto parse = [&](auto reader) {
        try {
            reader(text, "fuzz");
        } catch (const ConfigError&) {
            return;
        }
    };
    parse(parse_memory_text);
    parse(parse_intel_hex);
    parse([](const std::string& words, const std::string& file) {
        parse_readmemh(words, file);
        parse_readmemh(words, file, {.bytes = 4, .big_endian = true});
    });
    parse(parse_elf);
    parse(parse_array);
}

inline void parse_images(const std::string& text) {
    const std::string border = "\n===\n";
    const std::size_t end = text.find(border);
    if (end == std::string::npos) {
        return parse_every_format(text);
    }
    const std::string content = text.substr(end + border.size());
    const ImageDescription image = parse_image(text.substr(0, end + 1), "fuzz.yaml");
    NpuConfig npu;
    npu.cdma.weight_compression = text.size() % 2 == 0;
    const MemoryConfig memory;
    const ImageTarget target{npu.name, &npu, memory};
    const auto load = [&](const ImageFile& file) { return image_of(file, content); };
    check_image_description(image, target, load);
    const ImageContents contents(image, target, load);
    image_differences(contents, contents);
}

}  // namespace npuscope::fuzz
