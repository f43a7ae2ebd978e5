// SPDX-License-Identifier: Apache-2.0
// Reads a feature cube line by line in time, ahead of whoever uses it: a read DMA with its latency
// FIFO. The values were fetched at launch; what comes out is the runs of atoms with the times they
// are there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/data/feature_cube.h"
#include "models/link/atom_run.h"
#include "models/link/channel.h"
#include "models/link/dma_port.h"

namespace npuscope {

/// Neighbouring columns of a cube.
struct ColumnRange {
    std::uint32_t begin = 0;
    std::uint32_t width = 0;
};

/// One cube to be read: part by part, surface by surface, line by line.
struct CubeRead {
    FeatureCube cube;
    std::vector<ColumnRange> parts;  ///< they may overlap
    Purpose purpose;
    std::shared_ptr<const Tensor<std::int8_t>> values;
};

class CubeReader {
 public:
    /// `ahead`: lines that may wait for their user.
    CubeReader(const std::string& client, const std::string& unit, std::size_t ahead = 4)
        : port(client, unit), jobs(client + ".launches", 2), lines(client + ".lines", ahead) {}

    DmaPort port;
    Channel<CubeRead> jobs;
    Channel<AtomRun<std::int8_t>> lines;

    /// Body of the reader's thread: one cube.
    void read_cube(Activity& activity);

 private:
    void read_line(Activity& activity, const CubeRead& read, const AtomRun<std::int8_t>& run);
};

}  // namespace npuscope
