// SPDX-License-Identifier: Apache-2.0
// Input and output images of a network in the layouts of Kneron's presets: what the machine reads
// and writes is the same tensor, whatever the files look like.
#include "sim/compile/surface_files.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "models/layout/layout_catalog.h"
#include "models/layout/relayout.h"
#include "sim/compile/nvdla/network_planner.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/nvdla/plan_program.h"
#include "sim/config/npy_file.h"
#include "sim/config/preset.h"
#include "sim/run/session.h"
#include "tests/sim/message_of.h"
#include "tests/support/temp_folder.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

class SurfaceFiles : public testing::Test {
 protected:
    void write(const fs::path& name, const std::string& bytes) const {
        fs::create_directories((folder_ / name).parent_path());
        std::ofstream(folder_ / name, std::ios::binary) << bytes;
    }
    std::string read(const fs::path& name) const {
        std::ifstream file(folder_ / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    }

    /// Runs the network on the preset's machine from `inputs` to `outputs` below the folder.
    void run(const Network& network, const std::string& preset, const char* inputs,
             const char* outputs) const {
        SystemConfig system = nvdla_system();
        nvdla_npu(system) = read_preset<NpuConfig>(find_preset(configs_folder(), "npu", preset));
        system.memory = read_preset<MemoryConfig>(find_preset(configs_folder(), "memory", "ideal"));
        Plan plan = plan_network(network, {nvdla_npu(system), system.memory, true});
        const NetworkSurfaces surfaces =
            network_surfaces(network, plan, nvdla_npu(system).surfaces);
        load_inputs(surfaces, folder_ / inputs, plan);
        RunOptions options;
        for (const ByteRun& bytes : surfaces.output_bytes()) {
            options.keep.push_back({bytes});
        }
        const Result result = run_program(plan_program(std::move(plan)), system, options);
        ASSERT_EQ(result.status(), RunStatus::Unchecked);
        save_outputs(surfaces, result.kept, folder_ / outputs);
    }

    const TempFolder folder_;
};

Network small_network(const std::string& more_input, const std::string& more) {
    return parse_network(
        "name: small\n"
        "input: {channels: 3, height: 9, width: 11" +
            more_input + "}\n" + more +
            "layers:\n"
            "  - {name: c1, kind: conv, kernels: 20, kernel: 3, padding: 1, relu: true}\n"
            "  - {name: p1, kind: max_pool, kernel: 2, stride: 2}\n",
        "small.yaml");
}

std::string pixels() {
    std::string bytes;
    for (int i = 0; i < 3 * 9 * 11; ++i) {
        bytes += static_cast<char>(i * 29 % 251 - 125);
    }
    return bytes;
}

const LogicalShape image{{{'N', 1}, {'C', 3}, {'H', 9}, {'W', 11}}};

std::string relayouted(const std::string& bytes, const Layout& from, const Layout& to) {
    std::string moved(to.bytes, '\0');
    relayout(from, {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, to,
             {reinterpret_cast<std::uint8_t*>(moved.data()), moved.size()});
    return moved;
}

Layout named(const char* name, const LogicalShape& shape, std::uint64_t chip) {
    return make_layout(*find_layout(name), {shape, 1, {{"chip", chip}}});
}

TEST_F(SurfaceFiles, ImagesOfKneronsFormatsAreTheSameTensors) {
    const std::array<std::uint64_t, 4> extents{1, 3, 9, 11};
    const Layout plain = plain_layout(image, 1);
    write("array/input.npy", npy_header(find_element("int8"), extents) + pixels());
    write("image/input.bin", relayouted(pixels(), plain, named("4W4C8B", image, 730)));
    for (const auto& [preset, chip] :
         {std::pair{"kl520", 520U}, {"kl630", 630U}, {"kl720", 720U}}) {
        run(small_network("", ""), preset, "array", "from_array");
        run(small_network("", ""), preset, "image", "from_image");
        EXPECT_EQ(read("from_array/p1.npy"), read("from_image/p1.npy")) << preset;
        EXPECT_EQ(read("from_array/p1.bin"), read("from_image/p1.bin")) << preset;
        const std::string array = read("from_array/p1.npy");
        const LogicalShape result{{{'N', 1}, {'C', 20}, {'H', 4}, {'W', 5}}};
        const std::string values = array.substr(array.size() - result.elements());
        EXPECT_NE(values, std::string(values.size(), values[0]));
        EXPECT_EQ(read("from_array/p1.bin"),
                  relayouted(values, plain_layout(result, 1), named("16W1C8B", result, chip)));
    }
}

TEST_F(SurfaceFiles, ANetworkMayDeclareAnyLayoutOfItsNpu) {
    const Layout plain = plain_layout(image, 1);
    write("array/input.bin", pixels());
    write("packed/input.bin", relayouted(pixels(), plain, named("16W1C8B", image, 720)));
    run(small_network(", layout: 16W1C8B", ""), "kl720", "packed", "a");
    run(small_network(", layout: nhwc", "output_layout: \"feature:atom=8\"\n"), "nv_small", "array",
        "b");
    EXPECT_EQ(read("b/p1.bin").size(), 3U * 4 * 5 * 8);
    run(small_network(", layout: 4W4C8B", ""), "kl720", "packed", "c");  // as many bytes
    EXPECT_NE(read("a/p1.npy"), read("c/p1.npy"));
}

TEST_F(SurfaceFiles, PixelsAreTheTensorThatLies128BelowThem) {
    const std::array<std::uint64_t, 4> extents{1, 3, 9, 11};
    std::string below = pixels();
    for (char& byte : below) {
        byte = static_cast<char>(byte ^ static_cast<char>(0x80));
    }
    write("array/input.npy", npy_header(find_element("int8"), extents) + below);
    run(small_network("", ""), "nv_small", "array", "from_array");
    for (const char* format : {"T_A8B8G8R8", "T_R8G8B8X8", "T_Y8___V8U8_N444"}) {
        const Network network =
            small_network(std::string(", layout: ") + format + ", type: uint8", "");
        write("pixels/input.npy", npy_header(find_element("uint8"), extents) + pixels());
        run(network, "nv_small", "pixels", "from_pixels");
        EXPECT_EQ(read("from_pixels/p1.npy"), read("from_array/p1.npy")) << format;
        write("image/input.bin", relayouted(pixels(), plain_layout(image, 1),
                                            make_layout(*find_layout(format), {image, 1, {}})));
        run(network, "nv_small", "image", "from_image");
        EXPECT_EQ(read("from_image/p1.npy"), read("from_array/p1.npy")) << format;
        EXPECT_NE(
            sample::message_of([&] { run(network, "nv_small", "array", "out"); }).find("uint8"),
            std::string::npos);
    }
}

TEST_F(SurfaceFiles, WhatTheNpuDoesNotTakeIsRefused) {
    write("in/input.bin", pixels());
    EXPECT_NE(sample::message_of([&] {
                  run(small_network(", layout: 1W16C8B", ""), "kl520", "in", "out");
              }).find("the NPU does not support layout '1W16C8B' of the input"),
              std::string::npos);
    // of another chip, which has one of the same name
    for (const auto& [preset, chip] : {std::pair{"kl720", 520}, {"kl730", 520}, {"kl520", 720}}) {
        const std::string layout = "16W1C8B:chip=" + std::to_string(chip);
        const std::string own = "16W1C8B:chip=" + std::string(preset).substr(2);
        EXPECT_NE(sample::message_of([&] {
                      run(small_network("", "output_layout: \"" + layout + "\"\n"), preset, "in",
                          "out");
                  }).find("the NPU does not support layout '" + layout + "' of the output"),
                  std::string::npos)
            << preset;
        EXPECT_EQ(sample::message_of([&] {
                      run(small_network("", "output_layout: \"" + own + "\"\n"), preset, "in",
                          "out");
                  }).find("does not support"),
                  std::string::npos)
            << preset;
    }
    EXPECT_NE(sample::message_of([&] {
                  run(small_network("", ""), "kl720", "in", "out");
              }).find("has 297 bytes, but 4W4C8B"),
              std::string::npos);
    EXPECT_NE(sample::message_of([&] {
                  run(small_network("", ""), "kl720", "none", "out");
              }).find("there is no folder"),
              std::string::npos);
    EXPECT_FALSE(fs::exists(folder_ / "out"));
}

}  // namespace
}  // namespace npuscope
