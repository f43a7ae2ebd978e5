// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/operand_reader.h"

#include <algorithm>
#include <vector>

namespace npuscope {
namespace {

/// Atoms that a read DMA keeps in flight or in its FIFO. source: nv_small RTL, latency FIFO of SDP
/// RDMA
constexpr std::uint64_t fifo_atoms = 256;

}  // namespace

OperandReader::OperandReader(const std::string& client)
    : port(client, "sdp"),
      jobs_(client + ".launches"),
      ready_(client + ".operands"),
      room_(client + ".fifo", fifo_atoms) {}

SdpStageOperands OperandReader::launch(Activity& activity, const SdpOperandFetch& fetch,
                                       const Purpose& purpose) {
    const OperandSurface& surface = fetch.surface;
    std::vector<std::uint8_t> bytes(surface.extent().value);
    for (const ByteRun& run : surface.runs()) {
        const std::size_t offset = (run.address - surface.base).value;
        port.fetch(run.address, std::span(bytes).subspan(offset, run.bytes.value), purpose);
    }
    SdpStageOperands operands;
    if (fetch.alu) {
        operands.alu = unpack_operand(surface, 0, bytes);
    }
    if (fetch.mul) {
        operands.mul = unpack_operand(surface, fetch.alu ? 1 : 0, bytes);
    }
    ready_.reset(0);
    room_.reset(fifo_atoms);
    spread_ = surface.spread;
    surfaces_taken_ = 0;
    jobs_.give(activity, {fetch, purpose});
    return operands;
}

void OperandReader::take(Activity& activity, std::uint64_t atoms, std::uint32_t surface) {
    if (!spread_) {
        return;
    }
    std::uint64_t needed = atoms;
    if (*spread_ == OperandSpread::PerChannel) {
        needed = surface < surfaces_taken_ ? 0 : surface + 1 - surfaces_taken_;
        surfaces_taken_ += static_cast<std::uint32_t>(needed);
    }
    while (needed > 0) {
        const std::uint64_t part = std::min(needed, fifo_atoms);
        ready_.take(activity, part, WaitKind::Starved);
        room_.add(part);
        needed -= part;
    }
}

void OperandReader::read_surface(Activity& activity) {
    const Read read = jobs_.take(activity, WaitKind::Idle);
    for (const ByteRun& run : read.fetch.surface.runs()) {
        read_in_time(activity, read, run);
    }
}

void OperandReader::read_in_time(Activity& activity, const Read& read, const ByteRun& run) {
    const std::uint64_t atom = read.fetch.surface.atom().value;
    std::uint64_t done = 0;
    while (done < run.bytes.value) {
        const std::uint64_t atoms =
            std::min<std::uint64_t>((run.bytes.value - done) / atom, fifo_atoms / 4);
        room_.take(activity, atoms, WaitKind::Blocked);
        const Cycles arrival =
            port.read(activity, run.address + Bytes(done), Bytes(atoms * atom), read.purpose);
        ready_.add_at(arrival, atoms);
        done += atoms * atom;
    }
}

}  // namespace npuscope
