// SPDX-License-Identifier: Apache-2.0
#include "tests/support/generate_scene.h"

#include <fmt/format.h>

#include <algorithm>

namespace npuscope {

namespace {

// Bits that stay masked when only one kind of interrupt is wanted. source: NVDLA_GLB.rdl
constexpr std::uint32_t mask_all_but_sdp = 0x3f03fc;
constexpr std::uint32_t mask_all_but_pdp = 0x3f03cf;
constexpr std::uint32_t mask_all_but_layer_ends = 0x3f03c0;  // SDP, CDP and PDP

std::uint32_t interrupt_mask(const Layer& layer) {
    return layer.unit == "PDP" ? mask_all_but_pdp : mask_all_but_sdp;
}

}  // namespace

std::uint64_t Scene::allocate(std::uint64_t bytes) {
    const bool secondary = preset.secondary_memory && random.chance(15);
    std::uint64_t& next = secondary ? secondary_ : primary_;
    const std::uint64_t address = next + 32ULL * random.size(0, 64);
    next = (address + bytes + 0xffff) / 0x10000 * 0x10000;
    return address;
}

oracle::Surface Scene::place(const CubeSize& size) {
    const std::uint64_t atom = preset.atom;
    oracle::Surface surface;
    surface.atom = preset.atom;
    surface.channels = size.channels;
    surface.height = size.height;
    surface.width = size.width;
    const bool one_pixel = size.height == 1 && size.width == 1;
    const bool gaps = !one_pixel && random.chance(50);
    surface.line_stride = atom * (size.width + (gaps ? random.size(0, 5) : 0));
    surface.surface_stride =
        surface.line_stride * size.height + (gaps ? atom * random.size(0, 9) : 0);
    surface.base = allocate(surface.bytes());
    return surface;
}

std::uint8_t Scene::random_byte(std::uint32_t style, std::uint8_t before) {
    switch (style) {
        case 0:  // extremes
            return random.one_of<std::uint8_t>({0x80, 0x7f, 0x81, 0x00});
        case 1:  // small
            return static_cast<std::uint8_t>(random.between(-9, 9));
        case 2:  // mostly zero
            return random.chance(60) ? std::uint8_t{0} : random.byte();
        case 3:  // neighbours are alike
        case 4:
        case 5:
        case 6:
            return static_cast<std::uint8_t>(std::clamp<std::int64_t>(
                static_cast<std::int8_t>(before) + random.between(-9, 9), -128, 127));
        default:
            return random.byte();
    }
}

void Scene::load_random(std::uint64_t address, std::uint64_t bytes, const std::string& name,
                        bool operand) {
    const std::uint32_t style = operand ? 20 : random.size(0, 19);
    std::vector<std::uint8_t> image(bytes);
    std::uint8_t before = random.byte();
    for (std::uint64_t i = 0; i < bytes; ++i) {
        before = image[i] = random_byte(style, before);
        memory.write(address + i, image[i]);
    }
    text.load(address, image, fmt::format("{}_{}.dat", name, files_++), random);
}

oracle::Surface Scene::load_surface(const CubeSize& size, const std::string& name) {
    const oracle::Surface surface = place(size);
    load_random(surface.base, surface.bytes(), name);
    return surface;
}

void Scene::place_output(Layer& layer, const CubeSize& size) {
    layer.output = place(size);
    layer.output_bytes = layer.output.bytes() + 32ULL * random.size(0, 3);
    primary_ += 0x1000;
    secondary_ += 0x1000;
    text.clear(layer.output.base, layer.output_bytes);
}

void Scene::program(const Layer& layer) {
    text.comment(layer.sentence);
    if (layer.convolution) {
        text.write("NVDLA_GLB.S_INTR_MASK_0",
                   unmask_all_ ? mask_all_but_layer_ends : interrupt_mask(layer));
        text.write("NVDLA_GLB.S_INTR_STATUS_0", 0);
        const std::uint32_t weights = random.size(1, 15);
        text.write("NVDLA_CDMA.S_ARBITER_0", weights | random.size(1, 15) << 16U);
    }
    for (const RegisterValue& value : layer.tables) {
        text.write(value);
    }
    for (const UnitRegisters& unit : layer.units) {
        unit.emit(text, random);
    }
    if (layer.convolution) {
        text.poll("NVDLA_CDMA.S_CBUF_FLUSH_STATUS_0", 1);
    }
}

void Scene::start(const Layer& layer) {
    for (const UnitRegisters& unit : layer.units) {
        unit.enable(text);
    }
}

void Scene::point_and_start(const Layer& layer) {
    for (const UnitRegisters& unit : layer.units) {
        unit.point(text);
        unit.enable(text);
    }
}

void Scene::settle(const Layer& layer) { oracle::write_cube(layer.output, layer.values, memory); }

void Scene::wait(const Layer& layer, const std::string& sync) {
    for (const UnitRegisters& unit : layer.units) {
        text.wait(unit.name(), sync);
    }
}

std::string Scene::finish(const Layer& layer) {
    std::string sync = fmt::format("sync_id_{}", syncs_++);
    const bool tell_silent = !layer.silent.empty() && !layer.convolution && random.chance(30);
    const std::string silent_sync = fmt::format("sync_id_{}", syncs_);
    if (tell_silent) {
        ++syncs_;
        text.notify(layer.silent, silent_sync);
    }
    text.notify(fmt::format("{}_{}", layer.unit, layer.group), sync);
    if (tell_silent) {
        text.check_nothing(silent_sync);
    }
    settle(layer);
    ExpectedRegion region{layer.output.base, memory.bytes(layer.output.base, layer.output_bytes),
                          0};
    region.crc = oracle::crc32(region.bytes);
    text.check_crc(sync, region.address, region.bytes.size(), region.crc);
    expected.push_back(std::move(region));
    return sync;
}

}  // namespace npuscope
