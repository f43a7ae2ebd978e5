// SPDX-License-Identifier: Apache-2.0
// When the data of a Winograd convolution is requested, and when its patches are in the convolution
// buffer. Requests go through four lines of eight columns at a time; padding has requests too,
// which memory never sees. A patch of four lines and four columns is read out of the shared buffer
// as soon as its last line is there.
// source: NV_NVDLA_CDMA_wg.v of nvdlav1
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "models/conv/cdma_timing.h"
#include "models/conv/conv_job.h"

namespace npuscope {

struct WinogradFetch {
    FeatureCube cube;
    WinogradInput input;
    std::uint32_t pad_left = 0;           ///< columns
    std::uint32_t pad_right = 0;          ///< columns
    std::uint64_t entries_per_strip = 1;  ///< of four lines of the extended cube
    Bytes beat{8};
    Cycles start{};
    FetchRoom room{};
};

class WinogradStream : public DataStream {
 public:
    WinogradStream(const CdmaConfig& config, const WinogradFetch& fetch);

    std::uint64_t beats() const override { return beats_; }
    std::optional<ReadBurst> next_burst() override;
    void arrived(std::span<const Cycles> times) override;

 private:
    /// A run of at most eight columns.
    struct Block {
        bool padding = false;
        std::uint32_t first = 0;  ///< column of the cube
        std::uint32_t columns = 0;
    };
    /// The request that is made or answered next; loop indices from the innermost outwards.
    struct Place {
        std::uint32_t line = 0;   ///< of the four
        std::size_t block = 0;    ///< of the columns
        std::uint32_t phase = 0;  ///< of the vertical stride
        std::uint32_t surface = 0;
        std::uint32_t strip = 0;
        std::uint64_t count = 0;  ///< requests before it
    };
    void cut(bool padding, std::uint32_t columns);
    bool over(const Place& place) const { return place.strip == strips_; }
    void step(Place& place) const;
    const Block& block(const Place& place) const { return blocks_[place.block]; }
    /// Line of the cube, counted from the first line of the padding.
    std::uint32_t padded_line(const Place& place) const;
    bool is_padding(const Place& place) const;
    ByteRun run(const Place& place) const;
    std::uint64_t beats_of(const ByteRun& run) const;
    /// The next request finds room in the buffer; false as long as that is not known.
    bool begin_request();
    void finish_request();
    void ask_for_padding();
    void take_padding();
    /// Atoms of the request that is answered go into the shared buffer.
    void take_atoms(Cycles time, std::uint32_t atoms);
    void finish_answer();
    Cycles unblocked(Cycles time) const;
    void read_patches(std::uint32_t patches, Cycles from);

    const CdmaConfig config_;
    const WinogradFetch fetch_;
    const std::uint32_t strips_;
    const std::uint64_t atoms_in_beat_;
    std::vector<Block> blocks_;
    std::uint64_t beats_ = 0;
    Place asked_;
    bool slot_known_ = false;
    Cycles slot_;  // of the request that is made next
    Place answered_;
    std::deque<Cycles> padding_asked_;  // unanswered requests for padding
    std::uint64_t come_ = 0;            // atoms of the answered request that arrived with beats
    std::uint32_t handed_on_ = 0;       // those of them that left the interface
    ResponsePipe pipe_;
    Cycles taken_;              // last cycle in which atoms entered the shared buffer
    std::uint32_t column_ = 0;  // up to which the strip's four lines are complete
    struct Patch {
        Cycles counted;
        Cycles read;  ///< no longer counted
    };
    std::deque<Patch> patches_;  // the last ones
    Cycles read_;                // end of the last patch's reads
};

}  // namespace npuscope
