// SPDX-License-Identifier: Apache-2.0
#include "models/link/cube_reader.h"

namespace npuscope {

void CubeReader::read_line(Activity& activity, const CubeRead& read,
                           const AtomRun<std::int8_t>& run) {
    const FeatureCube& cube = read.cube;
    const auto y = static_cast<std::uint32_t>(run.first_pixel / cube.shape.width);
    const Address address =
        cube.line_address(run.surface, y) + cube.atom * (run.first_pixel % cube.shape.width);
    AtomRun<std::int8_t> line = run;
    const Cycles issued = now();
    const Cycles arrival = port.read(activity, address, cube.atom * run.count, read.purpose);
    line.first_ready = issued + (arrival - now());
    lines.give(activity, std::move(line));
}

void CubeReader::read_cube(Activity& activity) {
    const CubeRead read = jobs.take(activity, WaitKind::Idle);
    const std::uint32_t surfaces = read.cube.surfaces();
    const Shape& shape = read.cube.shape;
    for (std::size_t part = 0; part < read.parts.size(); ++part) {
        for (std::uint32_t surface = 0; surface < surfaces; ++surface) {
            for (std::uint32_t y = 0; y < shape.height; ++y) {
                AtomRun<std::int8_t> run{.values = read.values};
                run.part = static_cast<std::uint32_t>(part);
                run.surface = surface;
                run.first_pixel = std::uint64_t{y} * shape.width + read.parts[part].begin;
                run.count = read.parts[part].width;
                run.last = part + 1 == read.parts.size() && surface + 1 == surfaces &&
                           y + 1 == shape.height;
                read_line(activity, read, run);
            }
        }
    }
}

}  // namespace npuscope
