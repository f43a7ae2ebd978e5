// SPDX-License-Identifier: Apache-2.0
#include "models/link/surface_port.h"

#include <algorithm>

#include "models/base/check.h"
#include "models/link/clock.h"

namespace npuscope {

ByteStream::ByteStream(const ByteStreamSetup& setup, const ByteRun& run)
    : setup_(setup), run_(run), beats_(0), taken_last_(setup.buffer) {
    NPU_CHECK(setup.buffer > 0 && setup.run > 0, "a stream's buffer and runs have beats");
    NPU_CHECK(run.bytes > Bytes(0), "a stream has bytes");
    beats_ = beats_until(run.bytes);
}

std::uint64_t ByteStream::beats_until(Bytes bytes) const {
    const std::uint64_t width = setup_.beat.value;
    return divide_up((run_.address + bytes).value, width) - run_.address.value / width;
}

std::optional<Cycles> ByteStream::place_for(std::uint64_t beat) const {
    if (beat < setup_.buffer) {
        return setup_.first;
    }
    const std::uint64_t before = beat - setup_.buffer;
    if (before >= taken_) {
        return std::nullopt;
    }
    return std::max(setup_.first, taken_last_[before % setup_.buffer] + Cycles(1));
}

ByteRun ByteStream::run_from(std::uint64_t beat) const {
    const std::uint64_t width = setup_.beat.value;
    const std::uint64_t line = run_.address.value / width * width;
    const std::uint64_t end = std::min((run_.address + run_.bytes).value,
                                       line + std::min(beat + setup_.run, beats_) * width);
    const Address begin(std::max(run_.address.value, line + beat * width));
    return {begin, Address(end) - begin};
}

std::optional<ReadBurst> ByteStream::next_burst() {
    const std::optional<Cycles> ready = place_for(asked_);
    if (!ready) {
        return std::nullopt;
    }
    ReadBurst burst{*ready, 1};
    if (asked_ % setup_.run == 0) {
        burst.run = run_from(asked_);
    }
    const std::uint64_t border = std::min(beats_, (asked_ / setup_.run + 1) * setup_.run);
    while (asked_ + burst.beats < border) {
        const std::optional<Cycles> next = place_for(asked_ + burst.beats);
        if (!next || *next > burst.ready) {
            break;
        }
        ++burst.beats;
    }
    asked_ += burst.beats;
    return burst;
}

void ByteStream::take(Cycles time) {
    NPU_CHECK(!arrivals_.empty(), "a beat is taken when it has been issued");
    arrivals_.pop_front();
    taken_last_[taken_ % setup_.buffer] = time;
    ++taken_;
}

std::vector<PixelRun> surface_runs(const FeatureCube& cube, const FlowingAtoms& atoms,
                                   const PixelRun& run) {
    std::vector<PixelRun> runs;
    for_each_surface_run(cube, atoms, run, [&](const PixelRun& part) { runs.push_back(part); });
    return runs;
}

LateBytes fetch_lines_late(DmaPort& port, const FeatureCube& cube, const Purpose& purpose) {
    const std::size_t length = cube.line_bytes().value;
    LateBytes lines(length * cube.lines());
    std::span<std::uint8_t> left = lines.all();
    for_each_line(cube, [&](CubeLine line) {
        port.fetch_late(cube.line_address(line.surface, line.y), lines, left.first(length),
                        purpose);
        left = left.subspan(length);
    });
    return lines;
}

namespace {

template <class T>
Tensor<T> unpack_lines_of(const FeatureCube& cube, std::span<const std::uint8_t> lines) {
    Tensor<T> tensor(cube.shape);
    const std::size_t length = cube.line_bytes().value;
    for_each_line(cube, [&](CubeLine line) {
        unpack_line(cube, line, lines.first(length), tensor);
        lines = lines.subspan(length);
    });
    return tensor;
}

}  // namespace

ElementTensor unpack_lines(const FeatureCube& cube, std::span<const std::uint8_t> lines) {
    if (cube.element == Bytes(1)) {
        return unpack_lines_of<std::int8_t>(cube, lines);
    }
    return unpack_lines_of<std::int16_t>(cube, lines);
}

std::shared_ptr<const ElementTensor> fetch_elements_late(ValueThread& values, DmaPort& port,
                                                         const FeatureCube& cube,
                                                         const Purpose& purpose) {
    auto tensor = std::make_shared<ElementTensor>();
    if (purpose.values) {
        values.post([tensor, cube, lines = fetch_lines_late(port, cube, purpose)] {
            *tensor = unpack_lines(cube, lines.all());
        });
    }
    return tensor;
}

CubeWriter::CubeWriter(const FeatureCube& cube, std::shared_ptr<const ElementTensor> tensor,
                       ValueThread& values, std::uint32_t batch)
    : cube_(cube), values_(true), late_(true), bytes_(bytes_of_lines(cube)) {
    values.post([cube, tensor = std::move(tensor), batch, bytes = bytes_] {
        std::visit([&](const auto& of) { pack_lines(cube, of, batch, bytes.all()); }, *tensor);
    });
}

void CubeWriter::pack_again(const PixelRun& run) {
    const std::uint64_t width = cube_.shape.width;
    const std::uint32_t atom = cube_.channels_per_atom();
    const std::uint64_t end = run.first + run.count;
    std::visit(
        [&](const auto& tensor) {
            FeatureCube piece = cube_;  // the pixels of the run in one line of one surface
            const std::uint32_t first = run.surface * atom;
            piece.shape.channels = std::min(atom, tensor.shape.channels - first);
            piece.shape.height = 1;
            for (std::uint64_t pixel = run.first; pixel < end; pixel += piece.shape.width) {
                const auto y = static_cast<std::uint32_t>(pixel / width);
                const auto x = static_cast<std::uint32_t>(pixel % width);
                piece.shape.width = static_cast<std::uint32_t>(std::min(end - pixel, width - x));
                pack_line(piece, CubeLine{0, 0},
                          cut(tensor, {first, batch_ * cube_.shape.height + y, x, piece.shape}),
                          line(run.surface, y).subspan(x * cube_.atom.value));
            }
        },
        *growing_);
}

std::span<const std::uint8_t> CubeWriter::packed(const PixelRun& run) {
    const std::uint64_t atom = cube_.atom.value;
    if (!values_) {
        if (bytes_.size < run.count * atom) {
            bytes_ = LateBytes(run.count * atom);
            std::ranges::fill(bytes_.all(), std::uint8_t{0});
        }
        return bytes_.all().first(run.count * atom);
    }
    if (growing_) {
        pack_again(run);
    }
    const std::uint64_t pixels = std::uint64_t{cube_.shape.width} * cube_.shape.height;
    return bytes_.all().subspan((pixels * run.surface + run.first) * atom, run.count * atom);
}

WriteResponse CubeWriter::write(Activity& writer, DmaPort& port, const PixelRun& run,
                                const Purpose& purpose) {
    const std::uint32_t width = cube_.shape.width;
    const std::uint64_t atom = cube_.atom.value;
    WriteResponse response{now()};
    std::uint64_t pixel = run.first;
    const std::uint64_t end = run.first + run.count;
    while (pixel < end) {
        const std::uint64_t x = pixel % width;
        const bool to_end = cube_.line_packed() && !lines_apart_ && !run.part;
        const Address address =
            cube_.line_address(run.surface, static_cast<std::uint32_t>(pixel / width)) +
            Bytes(x * atom) + run.offset;
        std::uint64_t count = to_end ? end - pixel : std::min(end - pixel, width - x);
        const Pieces pieces{cube_.atom, run.part.value_or(cube_.atom)};
        const bool joined = run.part && run.together == 1 && !run.apart && count > 1 &&
                            port.takes_pieces(address, pieces, purpose);
        if (run.part && !joined) {
            count = 1;
        }
        const std::span<const std::uint8_t> bytes =
            packed({run.surface, pixel, count})
                .subspan(run.offset.value, (count - 1) * atom + pieces.written.value);
        const Cycles leaves = run.leaves + run.interval * ((pixel - run.first) / run.together);
        const auto last_line = static_cast<std::uint32_t>((pixel + count - 1) / width);
        const std::uint32_t first_surface = pixel_packed_ ? 0 : run.surface;
        const Address line = cube_.line_address(first_surface, last_line);
        response = port.write(writer,
                              {.address = address,
                               .bytes = bytes,
                               .first = leaves,
                               .interval = run.interval,
                               .last = leaves + run.interval * (divide_up(count, run.together) - 1),
                               .request = run.apart ? address : line + cube_.atom * run.column,
                               .pieces = joined ? pieces : Pieces{},
                               .late = late_ ? &bytes_ : nullptr},
                              purpose);
        pixel += count;
    }
    return response;
}

void CubeWriter::store(DmaPort& port, std::uint32_t first, std::uint32_t surfaces,
                       const Purpose& purpose) {
    for (std::uint32_t surface = first; values_ && surface < first + surfaces; ++surface) {
        for (std::uint32_t y = 0; y < cube_.shape.height; ++y) {
            port.store(cube_.line_address(surface, y), bytes_, line(surface, y), purpose);
        }
    }
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
        const std::uint64_t end = std::min(wanted, stream_->taken() + port.look_ahead(buffer_));
        port.wait_issued(activity, end);
        while (stream_->taken() < end) {
            last = pace(std::max(stream_->arrival(stream_->taken()), now()));
            stream_->take(last);
        }
        port.room_made();
    }
    return last;
}

}  // namespace npuscope
