// SPDX-License-Identifier: Apache-2.0
// A memory image without mistakes for an NPU of 32-byte atoms: input, output, plain weights, and
// compressed weights of 40 kernels x 64 channels of which every second one is zero.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/check/image_check.h"

namespace npuscope::sample {

inline NpuConfig large_npu() {
    NpuConfig npu;
    npu.name = "large";
    npu.datapath = {.atomic_c = 64, .atomic_k = 32, .memory_atom = Bytes(32)};
    npu.cdma.weight_compression = true;
    return npu;
}
inline NpuConfig small_npu() {
    NpuConfig npu;
    npu.name = "small";
    npu.cdma.weight_compression = false;
    return npu;
}

struct SampleImage {
    NpuConfig npu = large_npu();
    std::string text = R"(npu: nv_large
memory:
  - {file: input.bin, address: 0x90000000}
  - {file: weight.bin, address: 0x80000000}
  - {file: wmb.bin, address: 0x80002000, format: bin}
  - {file: wgs.bin, address: 0x80003000}
  - {file: plain.bin, address: 0x80004000}
surfaces:
  - {name: input, layout: feature, type: int8, shape: 1x64x13x15, address: 0x90000000, line_stride: 480, surface_stride: 6240}
  - {name: output, layout: feature, shape: 1x40x13x15, address: 0xa0000000}
  - {name: weight, layout: weight_dc, type: int8, shape: 40x64x1x1, address: 0x80000000, bytes: 1280}
  - {name: wmb, layout: wmb, of: weight, address: 0x80002000, bytes: 384}
  - {name: wgs, layout: wgs, of: weight, address: 0x80003000, bytes: 8}
  - {name: plain, layout: weight_dc, shape: 8x4x1x1, address: 0x80004000, bytes: 128}
)";
    std::map<std::string, std::vector<std::uint8_t>> files{
        {"input.bin", std::vector<std::uint8_t>(12480, 1)},
        {"weight.bin", std::vector<std::uint8_t>(1280, 3)},
        {"wmb.bin", mask()},
        {"wgs.bin", {0, 4, 0, 0, 0, 1, 0, 0}},
        {"plain.bin", std::vector<std::uint8_t>(128, 5)}};

    /// 2560 elements, padded to whole lines of 128 bytes.
    static std::vector<std::uint8_t> mask() {
        std::vector<std::uint8_t> bytes(384);
        for (std::size_t i = 0; i < 320; ++i) {
            bytes[i] = 0x55;
        }
        return bytes;
    }

    CheckReport checked() const {
        const ImageDescription image = parse_image(text, "image.yaml");
        const MemoryConfig memory;
        return check_image_description(image, {npu.name, &npu, memory},
                                       [this](const ImageFile& file) {
                                           const auto found = files.find(file.file);
                                           if (found == files.end()) {
                                               throw ConfigError("no such file: " + file.file);
                                           }
                                           MemoryImage loaded;
                                           loaded.bytes = found->second;
                                           loaded.runs.push_back({0, 0, loaded.bytes.size()});
                                           return loaded;
                                       });
    }
};

}  // namespace npuscope::sample
