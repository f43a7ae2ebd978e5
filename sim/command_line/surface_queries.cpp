// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/surface_queries.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/error.h"
#include "sim/config/element_type.h"
#include "sim/config/file_io.h"
#include "sim/config/nearest_name.h"
#include "sim/config/text_table.h"
#include "sim/convert/tensor_difference.h"

namespace npuscope {
namespace {

NamedSurface find_surface(const std::string& asked, const std::vector<NamedSurface>& known) {
    const auto found = std::ranges::find(known, asked, &NamedSurface::name);
    if (found != known.end()) {
        return *found;
    }
    if (is_surface_spec(asked)) {
        return {.name = asked, .spec = asked};
    }
    std::vector<std::string> names;
    std::string all;
    for (const NamedSurface& surface : known) {
        names.push_back(surface.name);
        all += (all.empty() ? "known: " : ", ") + surface.name;
    }
    const auto nearest = nearest_name(asked, names);
    throw ConfigError(
        fmt::format("unknown surface '{}'", asked),
        known.empty() ? "neither the program nor a description (--surfaces) names surfaces; give "
                        "ADDRESS:SHAPE:TYPE:LAYOUT, e.g. 0x90000000:1x16x10x10:int8:feature:atom=8"
                      : (nearest ? fmt::format("did you mean '{}'? {}", *nearest, all) : all));
}

/// Its spec parsed; a mistake is reported at the program's comment.
SurfaceSpec spec_of(const NamedSurface& surface) {
    try {
        return parse_surface_spec(surface.spec);
    } catch (const ConfigError& error) {
        throw ConfigError(surface.place, error.sentence(), error.remedy());
    }
}

std::string number_text(double number) { return fmt::format("{}", number); }

/// A row for one comparison.
CheckResult row_of(CheckKind kind, const std::string& subject, const SurfaceSpec& surface,
                   const TensorDifference& difference) {
    CheckResult row;
    row.kind = kind;
    row.subject = subject;
    row.address = surface.base;
    row.bytes = Bytes(surface.layout.bytes);
    row.pass = difference.mismatches == 0;
    row.expected = row.actual = counted(difference.elements, "element");
    if (!row.pass) {
        row.address = difference.first.address;
        row.expected = number_text(difference.first.expected);
        row.actual = number_text(difference.first.actual);
        row.difference = difference;
    }
    return row;
}

/// A result that never came.
CheckResult unmade_row(CheckKind kind, const std::string& subject, const SurfaceSpec& surface) {
    CheckResult row;
    row.kind = kind;
    row.subject = subject;
    row.address = surface.base;
    row.bytes = Bytes(surface.layout.bytes);
    row.expected = "its result";
    row.actual = "the layer never finished";
    row.reached = false;
    return row;
}

}  // namespace

SurfaceFile parse_surface_file(const std::string& text, const std::string& option) {
    const std::size_t equals = text.rfind('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
        throw ConfigError(
            fmt::format("{} {}: a surface and a file are needed", option, text),
            fmt::format("write {} SURFACE=FILE, e.g. {} conv1=conv1.npy", option, option));
    }
    return {text.substr(0, equals), text.substr(equals + 1)};
}

void SurfaceQueries::keep(Query query, const NamedSurface& where, RunOptions& options) {
    query.kept = options.keep.size();
    options.keep.push_back({.run = {query.surface.base, Bytes(query.surface.layout.used)},
                            .after = where.after,
                            .segment = where.segment});
    queries_.push_back(std::move(query));
}

void SurfaceQueries::ask(const std::vector<NamedSurface>& surfaces, RunOptions& options) {
    std::vector<NamedSurface> known = surfaces;
    known.insert(known.end(), wishes_.described.begin(), wishes_.described.end());
    for (const std::string& text : wishes_.dump) {
        const SurfaceFile wish = parse_surface_file(text, "--dump");
        const NamedSurface where = find_surface(wish.surface, known);
        keep({CheckKind::Golden, wish.surface, spec_of(where), 0,
              [file = wish.file](const Query& query, auto elements, Result&) {
                  write_atomically(file, surface_npy(query.surface, elements));
              }},
             where, options);
    }
    for (const std::string& text : wishes_.golden) {
        const SurfaceFile wish = parse_surface_file(text, "--golden");
        const NamedSurface where = find_surface(wish.surface, known);
        const SurfaceSpec surface = spec_of(where);
        const ElementType type = surface.type->type;
        std::vector<double> numbers = read_elements(type, read_surface_file(surface, wish.file));
        keep(
            {CheckKind::Golden, wish.surface, surface, 0,
             [type, numbers = std::move(numbers)](const Query& query, auto elements,
                                                  Result& result) {
                 const TensorDifference difference =
                     compare_tensors({query.surface.base, query.surface.layout}, numbers,
                                     read_elements(type, elements));
                 result.checks.push_back(row_of(query.kind, query.name, query.surface, difference));
             }},
            where, options);
    }
}

void SurfaceQueries::expect(std::vector<LayerExpectation> layers, RunOptions& options) {
    for (LayerExpectation& layer : layers) {
        SurfaceSpec surface = spec_of(layer.surface);
        const NamedSurface where = layer.surface;
        const std::string name = layer.layer;
        keep(
            {CheckKind::Layer, name, std::move(surface), 0,
             [wanted = std::move(layer)](const Query& query, auto elements, Result& result) {
                 const bool is_signed = std::ranges::all_of(wanted.numbers, [&](double number) {
                     return number - wanted.zero <= range_of(ElementType::Int8).high;
                 });
                 std::vector<double> numbers =
                     read_elements(is_signed ? ElementType::Int8 : ElementType::Uint8, elements);
                 for (double& number : numbers) {
                     number += wanted.zero;
                 }
                 const TensorDifference difference = compare_tensors(
                     {query.surface.base, query.surface.layout}, wanted.numbers, numbers);
                 result.checks.push_back(row_of(query.kind, query.name, query.surface, difference));
             }},
            where, options);
    }
}

void SurfaceQueries::answer(Result& result) const {
    for (const Query& query : queries_) {
        const std::vector<std::uint8_t>& memory = result.kept.at(query.kept);
        if (memory.empty()) {
            result.checks.push_back(unmade_row(query.kind, query.name, query.surface));
            continue;
        }
        query.use(query, query.surface.elements(memory), result);
    }
}

void name_surfaces(Diagnostics& findings, const std::vector<NamedSurface>& surfaces) {
    if (findings.empty() || surfaces.empty()) {
        return;
    }
    std::vector<std::pair<const NamedSurface*, SurfaceSpec>> known;
    known.reserve(surfaces.size());
    for (const NamedSurface& surface : surfaces) {
        known.emplace_back(&surface, spec_of(surface));
    }
    for (Diagnostic& finding : findings) {
        const auto holds = [&](const auto& entry) {
            const Address base = entry.second.base;
            return finding.address && *finding.address >= base &&
                   finding.address->value - base.value < entry.second.layout.bytes;
        };
        const auto found = std::ranges::find_if(known, holds);
        if (found != known.end() && finding.surface != found->first->name) {
            finding.surface = finding.surface.empty()
                                  ? found->first->name
                                  : fmt::format("{} ({})", found->first->name, finding.surface);
        }
    }
}

void name_surfaces(std::vector<CheckResult>& checks, const std::vector<NamedSurface>& surfaces,
                   const Program& program) {
    for (const Statement& statement : program.statements) {
        const auto* crc = std::get_if<CheckCrc>(&statement.action);
        const auto surface = std::ranges::find_if(surfaces, [&](const NamedSurface& one) {
            return crc != nullptr && one.after == crc->sync && spec_of(one).base == crc->address;
        });
        const auto check = std::ranges::find(checks, statement.place, &CheckResult::place);
        if (crc != nullptr && surface != surfaces.end() && check != checks.end()) {
            check->subject = surface->name;
        }
    }
}

}  // namespace npuscope
