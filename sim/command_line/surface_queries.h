// SPDX-License-Identifier: Apache-2.0
// What a user wants to know of memory when a program has run: surfaces to be written to files
// (--dump), held against files (--golden), and layers' results held against a plain computation
// (--compare-layers). A surface is named, or said in full as ADDRESS:SHAPE:TYPE:LAYOUT. A result is
// taken as soon as its layer is done, before its memory is used again; all else when the run is over.
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
/// Cut at the last `=`. ConfigError where one of both is missing; `option` is how it is called.
SurfaceFile parse_surface_file(const std::string& text, const std::string& option);

/// What a user asked for.
struct SurfaceWishes {
    std::vector<std::string> dump;
    std::vector<std::string> golden;
    bool compare_layers = false;
    std::vector<NamedSurface> described{};  ///< of a memory image's description

    bool any() const { return !dump.empty() || !golden.empty() || compare_layers; }
};

/// A layer's result in memory, and what should be there: numbers in row-major order.
struct LayerExpectation {
    std::string layer;
    NamedSurface surface;
    std::int32_t zero = 0;  ///< memory holds numbers less this
    std::vector<double> numbers;
};

class SurfaceQueries {
 public:
    explicit SurfaceQueries(SurfaceWishes wishes) : wishes_(std::move(wishes)) {}

    const SurfaceWishes& wishes() const { return wishes_; }
    /// Finds the surfaces of a program, and adds to `options` what the run has to keep. ConfigError
    /// for a name that nothing has, and for a file that does not fit.
    void ask(const std::vector<NamedSurface>& surfaces, RunOptions& options);
    /// The same of the layers of a network, in its order.
    void expect(std::vector<LayerExpectation> layers, RunOptions& options);
    /// Writes files, and adds a row to the result's checks for everything that was compared.
    void answer(Result& result) const;

 private:
    struct Query {
        CheckKind kind = CheckKind::Golden;
        std::string name;
        SurfaceSpec surface;
        std::size_t kept = 0;  ///< of Result::kept
        std::function<void(const Query&, std::span<const std::uint8_t> elements, Result&)> use;
    };
    void keep(Query query, const NamedSurface& where, RunOptions& options);

    SurfaceWishes wishes_;
    std::vector<Query> queries_;
};

/// Gives findings at an address the name of the surface that lies there.
void name_surfaces(Diagnostics& findings, const std::vector<NamedSurface>& surfaces);
/// Gives comparisons of memory the name of the surface that begins there; of a checked id, that of
/// the result.
void name_surfaces(std::vector<CheckResult>& checks, const std::vector<NamedSurface>& surfaces,
                   const Program& program);

}  // namespace npuscope
