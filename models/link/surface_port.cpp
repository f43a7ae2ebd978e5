// SPDX-License-Identifier: Apache-2.0
#include "models/link/surface_port.h"

#include <algorithm>

#include "models/link/clock.h"

namespace npuscope {

std::span<const std::uint8_t> CubeWriter::packed(const PixelRun& run) {
    const std::uint64_t atom = cube_.atom.value;
    if (!values_) {
        bytes_.resize(std::max<std::size_t>(bytes_.size(), run.count * atom));
        return {bytes_.data(), run.count * atom};
    }
    const std::uint64_t pixels = std::uint64_t{cube_.shape.width} * cube_.shape.height;
    return {bytes_.data() + (pixels * run.surface + run.first) * atom, run.count * atom};
}

Cycles CubeWriter::write(Activity& writer, DmaPort& port, const PixelRun& run,
                         const Purpose& purpose) {
    const std::uint32_t width = cube_.shape.width;
    const std::uint64_t atom = cube_.atom.value;
    Cycles response = now();
    std::uint64_t pixel = run.first;
    const std::uint64_t end = run.first + run.count;
    while (pixel < end) {
        const std::uint64_t x = pixel % width;
        const std::uint64_t count =
            cube_.line_packed() ? end - pixel : std::min(end - pixel, width - x);
        const Address address =
            cube_.line_address(run.surface, static_cast<std::uint32_t>(pixel / width)) +
            Bytes(x * atom);
        const std::span<const std::uint8_t> bytes = packed({run.surface, pixel, count});
        const Cycles leaves = run.leaves + run.interval * (pixel - run.first);
        response = port.write(writer, {address, bytes, leaves, run.interval}, purpose);
        pixel += count;
    }
    return response;
}

void RunReader::open(const ByteStreamSetup& setup, const ByteRun& run, const Purpose& purpose) {
    ByteStreamSetup begun = setup;
    begun.first = now() + Cycles(1);
    buffer_ = setup.buffer;
    stream_.emplace(begun, run);
    port.open(*stream_, purpose);
}

Cycles RunReader::take(Activity& activity, Bytes bytes, const Pace& pace) {
    const std::uint64_t wanted = bytes == Bytes(0) ? 0 : stream_->beats_until(bytes);
    Cycles last = now();
    while (stream_->taken() < wanted) {
        const std::uint64_t end = std::min(wanted, stream_->taken() + buffer_);
        port.wait_issued(activity, end);
        while (stream_->taken() < end) {
            last = pace(std::max(stream_->arrival(stream_->taken()), now()));
            stream_->take(last);
        }
    }
    return last;
}

}  // namespace npuscope
