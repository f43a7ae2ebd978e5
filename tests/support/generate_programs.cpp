// SPDX-License-Identifier: Apache-2.0
// generate_programs --preset P|all --kind K|all --seed S --count N --out DIR
// writes DIR/<preset>_<kind>_<seed>/program.cfg with its images, for seeds S .. S+N-1.
#include <CLI/CLI.hpp>
#include <iostream>

#include "tests/support/generate_program.h"

namespace {

struct Wish {
    std::string preset = "all";
    std::string kind = "all";
    std::uint64_t seed = 1;
    std::uint64_t count = 1;
    std::string out;
};

void write_all(const Wish& wish) {
    for (const npuscope::PresetParameters& preset : npuscope::generator_presets()) {
        for (const npuscope::LayerKind kind : npuscope::layer_kinds()) {
            const bool wanted = (wish.preset == "all" || wish.preset == preset.name) &&
                                (wish.kind == "all" || wish.kind == layer_kind_name(kind));
            if (!wanted || !supports(preset, kind)) {
                continue;
            }
            for (std::uint64_t i = 0; i < wish.count; ++i) {
                const auto program = npuscope::generate_program(preset, kind, wish.seed + i);
                write_folder(program, std::filesystem::path(wish.out) / program.name);
            }
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    Wish wish;
    CLI::App app("writes random register programs with their expected checksums");
    app.add_option("--preset", wish.preset, "nv_small ... nv_large, or all");
    app.add_option("--kind", wish.kind, "convolution, image, ... , or all");
    app.add_option("--seed", wish.seed, "first seed");
    app.add_option("--count", wish.count, "seeds");
    app.add_option("--out", wish.out, "folder")->required();
    CLI11_PARSE(app, argc, argv);
    try {
        if (wish.preset != "all") {
            npuscope::generator_preset(wish.preset);
        }
        if (wish.kind != "all") {
            npuscope::layer_kind(wish.kind);
        }
        write_all(wish);
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return 2;
    }
    return 0;
}
