// SPDX-License-Identifier: Apache-2.0
// Whole surfaces through a memory port: functional fetch of a feature cube, and the writing of a
// result cube piece by piece in time, each piece carrying its real bytes.
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

// One run of memory, read from its beginning to its end. What was asked for and not taken yet
// has its place in a buffer of so many beats; a place is asked for again in the cycle after its
// beat was taken. It is cut into pieces of limited length, each a transaction of its own.
// Times only, no SystemC.

struct ByteStreamSetup {
    Cycles first;               ///< no beat stands at the arbiter before
    Bytes beat{4};              ///< of the bus
    std::uint64_t buffer = 16;  ///< beats that may wait to be taken
    std::uint64_t run = 64;     ///< beats of one transaction at most
};

class ByteStream : public ReadStream {
 public:
    /// The run has bytes.
    ByteStream(const ByteStreamSetup& setup, const ByteRun& run);

    std::uint64_t beats() const override { return beats_; }
    std::optional<ReadBurst> next_burst() override;
    void arrived(std::span<const Cycles> times) override {
        arrivals_.insert(arrivals_.end(), times.begin(), times.end());
    }

    /// Beats that hold the first `bytes` bytes.
    std::uint64_t beats_until(Bytes bytes) const;
    /// When beat `number` arrived; it has been issued and not been taken.
    Cycles arrival(std::uint64_t number) const { return arrivals_[number - taken_]; }
    std::uint64_t taken() const { return taken_; }
    /// The next beat is taken at `time`, not before the one in front of it.
    void take(Cycles time);

 private:
    /// When a beat may be asked for; nothing when that is not known yet.
    std::optional<Cycles> place_for(std::uint64_t beat) const;
    /// From a beat on to the next border of a run.
    ByteRun run_from(std::uint64_t beat) const;

    ByteStreamSetup setup_;
    ByteRun run_;
    std::uint64_t beats_;
    std::uint64_t asked_ = 0;
    std::uint64_t taken_ = 0;
    std::deque<Cycles> arrivals_;     // of beats that were not taken
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
    Bytes offset{};               ///< of what is written of each atom, in the atom
    std::optional<Bytes> part{};  ///< bytes that are written of each atom; nothing: all of it
    bool apart = false;           ///< a request of its own, in whatever line it lies
    std::uint32_t together = 1;   ///< atoms that leave at once
    std::uint32_t column = 0;     ///< at which the requests of its lines begin
};

/// Atoms of what flows into a cube: `lanes` of its `channels` each.
struct FlowingAtoms {
    std::uint32_t channels = 0;
    std::uint32_t lanes = 1;
};

/// What a cube's surfaces take of a run of such atoms, so that `run.surface` counts atoms and not
/// surfaces: whole atoms of several surfaces, or a part of each atom of one. The last one fills its
/// surface, unused channels too. `use` is called with each; or they are the answer.
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

/// The same for a cube of either width.
inline ElementTensor fetch_elements(DmaPort& port, const FeatureCube& cube,
                                    const Purpose& purpose) {
    if (cube.element == Bytes(1)) {
        return fetch_cube<std::int8_t>(port, cube, purpose);
    }
    return fetch_cube<std::int16_t>(port, cube, purpose);
}

// Values that are there when a value thread has come so far; the requests are made now.

/// The lines of a cube after each other, surface by surface, line_bytes() of each.
LateBytes fetch_lines_late(DmaPort& port, const FeatureCube& cube, const Purpose& purpose);
/// The cube whose lines these are.
ElementTensor unpack_lines(const FeatureCube& cube, std::span<const std::uint8_t> lines);
/// Both; without values an empty tensor.
std::shared_ptr<const ElementTensor> fetch_elements_late(ValueThread& values, DmaPort& port,
                                                         const FeatureCube& cube,
                                                         const Purpose& purpose);

/// A result on its way to memory. The values are packed once; writes take the bytes from there.
class CubeWriter {
 public:
    /// A tensor without values (time alone) writes zeros; any other has the cube's height and
    /// width, and at least its channels. Several cubes lie one after the other in the tensor's
    /// height: `batch` is the number of the one that is written.
    template <class T>
    CubeWriter(const FeatureCube& cube, const Tensor<T>& tensor, std::uint32_t batch = 0)
        : cube_(cube), values_(!tensor.values.empty()) {
        if (values_) {
            bytes_ = LateBytes(bytes_of_lines(cube));
            pack_lines(cube, tensor, batch, bytes_.all());
        }
    }
    /// The same of a tensor that is there when the value thread has come so far.
    CubeWriter(const FeatureCube& cube, std::shared_ptr<const ElementTensor> tensor,
               ValueThread& values, std::uint32_t batch = 0);
    /// The same of a tensor whose elements are there when they are written.
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

    /// Each line is a request of its own, which matters where a beat holds more than an atom.
    void split_lines(Bytes bus) { lines_apart_ = bus > cube_.atom; }
    /// The surfaces of a cube of one pixel leave as one request, as if they were a line.
    void pack_pixel() { pixel_packed_ = cube_.shape.width == 1 && cube_.shape.height == 1; }

    /// Writes the pixels of a run, one request for lines without a gap between them; where a part of
    /// each atom is written, one for each line's pieces, or each pixel. Returns the last response.
    WriteResponse write(Activity& writer, DmaPort& port, const PixelRun& run,
                        const Purpose& purpose);
    /// Writes whole surfaces now, of which write() leaves nothing to memory: their time is left out.
    void store(DmaPort& port, std::uint32_t first, std::uint32_t surfaces, const Purpose& purpose);

 private:
    static std::size_t bytes_of_lines(const FeatureCube& cube) {
        return cube.line_bytes().value * cube.lines();
    }
    /// One batch of a tensor, as the cube's lines after each other.
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
    /// The pixels of a run, as their elements are now.
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

// Reads one run of memory after the other through a port of its own, into a buffer from which
// a unit takes the beats in order.

class RunReader {
 public:
    /// `client` and `unit` as DmaPort has them; `name` of the port where a client has several.
    RunReader(const std::string& client, const std::string& unit, const std::string& name)
        : port(client, unit, name) {}

    DmaPort port;

    /// Begins to read; the run before has been taken whole. Requests begin in the next cycle.
    void open(const ByteStreamSetup& setup, const ByteRun& run, const Purpose& purpose);

    /// When a beat that arrives at a time is taken, not before that and not in the past.
    using Pace = std::function<Cycles(Cycles arrival)>;
    /// Takes the beats that hold the first `bytes` bytes, waiting only until all are on their way;
    /// the time at which the last of them was taken, now where there was none.
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
