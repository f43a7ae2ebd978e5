// SPDX-License-Identifier: Apache-2.0
#include "tests/support/generate_program.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "tests/support/generate_parts.h"

namespace npuscope {

namespace {

Front any_convolution(Scene& scene) {
    return scene.random.chance(35) ? image_front(scene) : convolution_front(scene, nullptr);
}

Front any_front(Scene& scene) {
    return scene.random.chance(40) ? any_convolution(scene) : memory_front(scene, nullptr);
}

/// One more layer on the output of another.
Layer next_layer(Scene& scene, const oracle::Surface& input) {
    switch (scene.random.size(0, 4)) {
        case 0:
            return sdp_layer(scene, memory_front(scene, &input), {.stages = true});
        case 1:
            return pool_layer(scene, &input);
        case 2:
            return normalise_layer(scene, &input);
        default:
            return sdp_layer(scene, convolution_front(scene, &input), {.stages = true});
    }
}

/// Layers that each read the output of the previous one. Half of them are programmed while the
/// previous one still runs, which uses the other register group; tables have no second group.
void run_chain(Scene& scene) {
    scene.unmask_all();
    Layer layer = sdp_layer(scene, any_front(scene), {.stages = scene.random.chance(70)});
    scene.program(layer);
    scene.start(layer);
    const std::uint32_t more = scene.random.size(1, 2);
    for (std::uint32_t i = 0; i < more; ++i) {
        scene.settle(layer);
        const Layer next = next_layer(scene, layer.output);
        const bool early = next.tables.empty() && scene.random.chance(50);
        if (early) {
            scene.program(next);
        }
        scene.wait(next, scene.finish(layer));
        if (!early) {
            scene.program(next);
        }
        scene.start(next);
        layer = next;
    }
    scene.finish(layer);
}

void run_ping_pong(Scene& scene) {
    const Layer first = sdp_layer(scene, any_convolution(scene), {.stages = true});
    const Layer second = sdp_layer(scene, any_convolution(scene), {.stages = true});
    scene.program(first);
    if (scene.random.chance(50)) {
        scene.start(first);
        scene.program(second);
        scene.start(second);
    } else {
        scene.program(second);
        scene.point_and_start(first);
        scene.point_and_start(second);
    }
    scene.finish(first);
    scene.finish(second);
}

struct KindRow {
    LayerKind kind;
    std::string_view name;
    void (*run)(Scene&);
};

constexpr std::array kind_table{
    KindRow{
        LayerKind::Convolution, "convolution",
        [](Scene& s) { s.run(sdp_layer(s, convolution_front(s, nullptr), {.stages = false})); }},
    KindRow{LayerKind::Image, "image",
            [](Scene& s) { s.run(sdp_layer(s, image_front(s), {.stages = false})); }},
    KindRow{LayerKind::ConvolutionSdp, "convolution_sdp",
            [](Scene& s) { s.run(sdp_layer(s, any_convolution(s), {.stages = true})); }},
    KindRow{LayerKind::Sdp, "sdp",
            [](Scene& s) { s.run(sdp_layer(s, memory_front(s, nullptr), {.stages = true})); }},
    KindRow{LayerKind::ElementWise, "element_wise",
            [](Scene& s) {
                s.run(sdp_layer(s, any_front(s), {.stages = true, .element_wise = true}));
            }},
    KindRow{LayerKind::Table, "table",
            [](Scene& s) {
                const SdpWish wish{
                    .stages = s.random.chance(50), .element_wise = true, .table = true};
                s.run(sdp_layer(s, any_front(s), wish));
            }},
    KindRow{LayerKind::Pool, "pool", [](Scene& s) { s.run(pool_layer(s, nullptr)); }},
    KindRow{LayerKind::SdpPool, "sdp_pool",
            [](Scene& s) {
                s.run(pool_behind(
                    s, sdp_layer(s, memory_front(s, nullptr), {.stages = true, .to_pool = true})));
            }},
    KindRow{LayerKind::ConvolutionPool, "convolution_pool",
            [](Scene& s) {
                s.run(pool_behind(
                    s, sdp_layer(s, any_convolution(s), {.stages = true, .to_pool = true})));
            }},
    KindRow{LayerKind::Normalise, "normalise",
            [](Scene& s) { s.run(normalise_layer(s, nullptr)); }},
    KindRow{LayerKind::Chain, "chain", run_chain},
    KindRow{LayerKind::PingPong, "ping_pong", run_ping_pong},
};

constexpr auto kind_list = [] {
    std::array<LayerKind, kind_table.size()> list{};
    for (std::size_t i = 0; i < list.size(); ++i) {
        list[i] = kind_table[i].kind;
    }
    return list;
}();

const KindRow& row_of(LayerKind kind) { return kind_table[static_cast<std::size_t>(kind)]; }

bool needs_element_wise(LayerKind kind) {
    return kind == LayerKind::ElementWise || kind == LayerKind::Table;
}

/// Seeds of different presets and kinds do not follow each other.
std::uint64_t mixed(const PresetParameters& preset, LayerKind kind, std::uint64_t seed) {
    std::uint64_t mix = seed;
    for (const char c : preset.name) {
        mix = Random(mix ^ static_cast<std::uint64_t>(c)).bits();
    }
    return Random(mix + static_cast<std::uint64_t>(kind)).bits();
}

void write_file(const std::filesystem::path& path, const std::string& text) {
    std::ofstream out(path, std::ios::binary);
    out << text;
    out.close();
    if (!out) {
        throw std::runtime_error("cannot write " + path.string());
    }
}

}  // namespace

std::span<const LayerKind> layer_kinds() { return kind_list; }

std::string_view layer_kind_name(LayerKind kind) { return row_of(kind).name; }

LayerKind layer_kind(std::string_view name) {
    for (const KindRow& row : kind_table) {
        if (row.name == name) {
            return row.kind;
        }
    }
    throw std::invalid_argument("no layer kind '" + std::string(name) + "'");
}

bool supports(const PresetParameters& preset, LayerKind kind) {
    return !needs_element_wise(kind) || preset.element_wise || preset.name == "nv_small";
}

GeneratedProgram generate_program(const PresetParameters& preset, LayerKind kind,
                                  std::uint64_t seed) {
    Scene scene(preset, mixed(preset, kind, seed));
    GeneratedProgram program;
    program.name = fmt::format("{}_{}_{}", preset.name, layer_kind_name(kind), seed);
    scene.text.comment(program.name);
    row_of(kind).run(scene);
    program.cfg = scene.text.text();
    program.files = scene.text.files();
    program.expected = std::move(scene.expected);
    if (needs_element_wise(kind) && !preset.element_wise) {
        program.settings.emplace_back("npu.sdp.element_wise=true");
    }
    return program;
}

void write_folder(const GeneratedProgram& program, const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    write_file(folder / "program.cfg", program.cfg);
    for (const auto& [name, text] : program.files) {
        write_file(folder / name, text);
    }
}

}  // namespace npuscope
