// SPDX-License-Identifier: Apache-2.0
// A user's queries of memory after a program has run: surfaces to be written to files (--dump),
// compared with files (--golden), and layers' results compared with a reference computation
// (--compare-layers). A surface is given by name, or in full as ADDRESS:SHAPE:TYPE:LAYOUT. A result
// is read as soon as its layer is done, before its memory is reused; others at the end.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/convert/surface_spec.h"
#include "sim/run/session.h"

namespace npuscope {

/// `SURFACE=FILE`.
struct SurfaceFile {
    std::string surface;
    std::string file;
};
/// Cut at the last `=`. ConfigError if one of both is missing; `option` is the option's name.
SurfaceFile parse_surface_file(const std::string& text, const std::string& option);

/// A user's requests.
struct SurfaceWishes {
    std::vector<std::string> dump;
    std::vector<std::string> golden;
    bool compare_layers = false;
    std::vector<NamedSurface> described{};  ///< of a memory image's description

    bool any() const { return !dump.empty() || !golden.empty() || compare_layers; }
};

/// A layer's result in memory, and its expected values in row-major order.
struct LayerExpectation {
    std::string layer;
    NamedSurface surface;
    std::int32_t zero = 0;  ///< memory holds values less this
    std::vector<double> numbers;
};

class SurfaceQueries {
 public:
    explicit SurfaceQueries(SurfaceWishes wishes) : wishes_(std::move(wishes)) {}

    const SurfaceWishes& wishes() const { return wishes_; }
    /// Finds the surfaces of a program, and adds to `options` what the run has to keep. ConfigError
    /// for an unknown name, and for a file that does not fit.
    void ask(const std::vector<NamedSurface>& surfaces, RunOptions& options);
    /// The same for the layers of a network, in its order.
    void expect(std::vector<LayerExpectation> layers, RunOptions& options);
    /// Writes files, and adds a row to the result's checks for everything that was compared.
    void answer(Result& result) const;

 private:
    struct Query {
        CheckKind kind = CheckKind::Golden;
        std::string name;
        SurfaceSpec surface;
        std::size_t kept = 0;  ///< index into Result::kept
        std::function<void(const Query&, std::span<const std::uint8_t> elements, Result&)> use;
    };
    void keep(Query query, const NamedSurface& where, RunOptions& options);

    SurfaceWishes wishes_;
    std::vector<Query> queries_;
};

/// Adds to findings at an address the name of the surface at that address.
void name_surfaces(Diagnostics& findings, const std::vector<NamedSurface>& surfaces);
/// Adds to comparisons of memory the name of the surface that begins there; to a checked id, that
/// of the result.
void name_surfaces(std::vector<CheckResult>& checks, const std::vector<NamedSurface>& surfaces,
                   const Program& program);

}  // namespace npuscope
