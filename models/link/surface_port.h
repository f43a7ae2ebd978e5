// SPDX-License-Identifier: Apache-2.0
// Whole surfaces through a memory port: functional fetch of a feature cube, and timed writing of a
// result cube piece by piece, each piece carrying its real bytes.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/base/value_thread.h"
#include "models/layout/feature_cube.h"
#include "models/layout/tensor.h"
#include "models/link/dma_port.h"
#include "models/link/read_stream.h"

namespace npuscope {

// One run of memory, read from its beginning to its end. What was requested and not taken yet has
// slots in a buffer of beats; a slot is requested again in the cycle after its beat was taken. It
// is cut into pieces of limited length, each a separate transaction. Times only, no SystemC.

struct ByteStreamSetup {
    Cycles first;               ///< no beat is at the arbiter before
    Bytes beat{4};              ///< of the bus
    std::uint64_t buffer = 16;  ///< beats that may wait to be taken
    std::uint64_t run = 64;     ///< most beats of one transaction
};

class ByteStream : public ReadStream {
 public:
    /// `run` must not be empty.
    ByteStream(const ByteStreamSetup& setup, const ByteRun& run);

    std::uint64_t beats() const override { return beats_; }
    std::optional<ReadBurst> next_burst() override;
    void arrived(std::span<const Cycles> times) override {
        arrivals_.insert(arrivals_.end(), times.begin(), times.end());
    }

    /// Beats that hold the first `bytes` bytes.
    std::uint64_t beats_until(Bytes bytes) const;
    /// When beat `number` arrived; it has been issued and not yet taken.
    Cycles arrival(std::uint64_t number) const { return arrivals_[number - taken_]; }
    std::uint64_t taken() const { return taken_; }
    /// The next beat is taken at `time`, not before the previous one.
    void take(Cycles time);

 private:
    /// When a beat may be requested; nothing while not known yet.
    std::optional<Cycles> place_for(std::uint64_t beat) const;
    /// From a beat up to the next run boundary.
    ByteRun run_from(std::uint64_t beat) const;

    ByteStreamSetup setup_;
    ByteRun run_;
    std::uint64_t beats_;
    std::uint64_t asked_ = 0;
    std::uint64_t taken_ = 0;
    std::deque<Cycles> arrivals_;     // of beats not yet taken
    std::vector<Cycles> taken_last_;  // a ring: when the last beats were taken
};

/// A run of pixels of one surface in raster order; pixel i leaves the unit at `leaves` + i *
/// `interval`.
struct PixelRun {
    std::uint32_t surface = 0;
    std::uint64_t first = 0;  ///< y * width + x
    std::uint64_t count = 0;
    Cycles leaves{};
    Cycles interval{};
    Bytes offset{};               ///< offset within each atom of the bytes that are written
    std::optional<Bytes> part{};  ///< bytes written of each atom; nothing: all of it
    bool apart = false;           ///< a separate request, whatever line it is in
    std::uint32_t together = 1;   ///< atoms that leave at once
    std::uint32_t column = 0;     ///< at which the requests of its lines start
};

/// Atoms that flow into a cube: `lanes` of its `channels` each.
struct FlowingAtoms {
    std::uint32_t channels = 0;
    std::uint32_t lanes = 1;
};

/// The parts of a run of such atoms that go to a cube's surfaces, where `run.surface` counts atoms
/// and not surfaces: whole atoms of several surfaces, or a part of each atom of one. The last one
/// fills its surface, including unused channels. `use` is called with each, or they are returned.
template <class Use>
void for_each_surface_run(const FeatureCube& cube, const FlowingAtoms& atoms, const PixelRun& run,
                          const Use& use) {
    const std::uint32_t atom = cube.channels_per_atom();
    const auto whole = static_cast<std::uint32_t>(round_up(cube.shape.channels, atom));
    const std::uint32_t first = run.surface * atoms.lanes;
    const std::uint32_t next = first + atoms.lanes;
    const std::uint32_t end = next < atoms.channels ? next : whole;
    for (std::uint32_t channel = first; channel < end;) {
        const std::uint32_t count = std::min(end - channel, atom - channel % atom);
        PixelRun part = run;
        part.surface = channel / atom;
        if (count < atom) {
            part.offset = cube.element * (channel % atom);
            part.part = cube.element * count;
        }
        use(part);
        channel += count;
    }
}
std::vector<PixelRun> surface_runs(const FeatureCube& cube, const FlowingAtoms& atoms,
                                   const PixelRun& run);

/// Fetches a cube of elements as wide as T, line by line, without time.
template <class T>
Tensor<T> fetch_cube(DmaPort& port, const FeatureCube& cube, const Purpose& purpose) {
    if (!purpose.values) {
        return {};
    }
    Tensor<T> tensor(cube.shape);
    std::vector<std::uint8_t> line(cube.line_bytes().value);
    for (std::uint32_t surface = 0; surface < cube.surfaces(); ++surface) {
        for (std::uint32_t y = 0; y < cube.shape.height; ++y) {
            port.fetch(cube.line_address(surface, y), line, purpose);
            unpack_line(cube, CubeLine{surface, y}, line, tensor);
        }
    }
    return tensor;
}

/// The same for either element width.
inline ElementTensor fetch_elements(DmaPort& port, const FeatureCube& cube,
                                    const Purpose& purpose) {
    if (cube.element == Bytes(1)) {
        return fetch_cube<std::int8_t>(port, cube, purpose);
    }
    return fetch_cube<std::int16_t>(port, cube, purpose);
}

// Values that are available once a value thread has got that far; the requests are made now.

/// The lines of a cube one after the other, surface by surface, line_bytes() of each.
LateBytes fetch_lines_late(DmaPort& port, const FeatureCube& cube, const Purpose& purpose);
/// The cube whose lines these are.
ElementTensor unpack_lines(const FeatureCube& cube, std::span<const std::uint8_t> lines);
/// Both combined; without values an empty tensor.
std::shared_ptr<const ElementTensor> fetch_elements_late(ValueThread& values, DmaPort& port,
                                                         const FeatureCube& cube,
                                                         const Purpose& purpose);

/// Writes a result to memory. The values are packed once; writes take the bytes from there.
class CubeWriter {
 public:
    /// A tensor without values (timing only) writes zeros; any other has the cube's height and
    /// width, and at least its channels. Several cubes follow each other in the tensor's height:
    /// `batch` is the number of the one to write.
    template <class T>
    CubeWriter(const FeatureCube& cube, const Tensor<T>& tensor, std::uint32_t batch = 0)
        : cube_(cube), values_(!tensor.values.empty()) {
        if (values_) {
            bytes_ = LateBytes(bytes_of_lines(cube));
            pack_lines(cube, tensor, batch, bytes_.all());
        }
    }
    /// The same for a tensor that is available once the value thread has got that far.
    CubeWriter(const FeatureCube& cube, std::shared_ptr<const ElementTensor> tensor,
               ValueThread& values, std::uint32_t batch = 0);
    /// The same for a tensor whose elements are available when they are written.
    CubeWriter(const FeatureCube& cube, std::shared_ptr<const ElementTensor> growing,
               std::uint32_t batch = 0)
        : cube_(cube),
          values_(true),
          bytes_(bytes_of_lines(cube)),
          growing_(std::move(growing)),
          batch_(batch) {}
    CubeWriter(const FeatureCube& cube, const ElementTensor& tensor, std::uint32_t batch = 0)
        : CubeWriter(std::visit([&](const auto& values) { return CubeWriter(cube, values, batch); },
                                tensor)) {}

    /// Makes each line a separate request, which matters if a beat holds more than an atom.
    void split_lines(Bytes bus) { lines_apart_ = bus > cube_.atom; }
    /// Makes the surfaces of a one-pixel cube one request, as if they were a line.
    void pack_pixel() { pixel_packed_ = cube_.shape.width == 1 && cube_.shape.height == 1; }

    /// Writes the pixels of a run, one request for lines without gaps between them; if a part of
    /// each atom is written, one for each line's pieces, or each pixel. Returns the last response.
    WriteResponse write(Activity& writer, DmaPort& port, const PixelRun& run,
                        const Purpose& purpose);
    /// Writes whole surfaces now, whose timed write() is skipped.
    void store(DmaPort& port, std::uint32_t first, std::uint32_t surfaces, const Purpose& purpose);

 private:
    static std::size_t bytes_of_lines(const FeatureCube& cube) {
        return cube.line_bytes().value * cube.lines();
    }
    /// One batch of a tensor, as consecutive lines of the cube.
    template <class T>
    static void pack_lines(const FeatureCube& cube, const Tensor<T>& tensor, std::uint32_t batch,
                           std::span<std::uint8_t> bytes) {
        FeatureCube whole = cube;  // the tensor's extent
        whole.shape = tensor.shape;
        const std::size_t length = cube.line_bytes().value;
        for_each_line(cube, [&](CubeLine line) {
            line.y += batch * cube.shape.height;
            pack_line(whole, line, tensor, bytes.first(length));
            bytes = bytes.subspan(length);
        });
    }
    std::span<std::uint8_t> line(std::uint32_t surface, std::uint32_t y) {
        const std::size_t length = cube_.line_bytes().value;
        return bytes_.all().subspan(length * (std::size_t{surface} * cube_.shape.height + y),
                                    length);
    }
    /// The bytes of a run; its times do not matter here.
    std::span<const std::uint8_t> packed(const PixelRun& run);
    /// Packs a run's pixels with the current values of their elements.
    void pack_again(const PixelRun& run);

    FeatureCube cube_;
    bool values_;
    bool pixel_packed_ = false;
    bool lines_apart_ = false;
    bool late_ = false;
    LateBytes bytes_;
    std::shared_ptr<const ElementTensor> growing_{};
    std::uint32_t batch_ = 0;
};

// Reads one run of memory after the other through its own port, into a buffer from which a unit
// takes the beats in order.

class RunReader {
 public:
    /// `client` and `unit` as DmaPort has them; `name` of the port if a client has several.
    RunReader(const std::string& client, const std::string& unit, const std::string& name)
        : port(client, unit, name) {}

    DmaPort port;

    /// Starts reading; the previous run has been taken. Requests begin in the next cycle.
    void open(const ByteStreamSetup& setup, const ByteRun& run, const Purpose& purpose);

    /// When a beat that arrives at a time is taken, not before that and not in the past.
    using Pace = std::function<Cycles(Cycles arrival)>;
    /// Takes the beats that hold the first `bytes` bytes, waiting only until all are in flight;
    /// returns the time at which the last was taken, or now if there was none.
    Cycles take(Activity& activity, Bytes bytes, const Pace& pace);
    /// The same for beats that are taken as they arrive.
    Cycles take(Activity& activity, Bytes bytes) {
        return take(activity, bytes, [](Cycles arrival) { return arrival; });
    }

 private:
    std::uint64_t buffer_ = 1;
    std::optional<ByteStream> stream_;
};

}  // namespace npuscope
