// SPDX-License-Identifier: Apache-2.0
// An operation cut by rows of its result: the rows of input that a piece needs, and the jobs that
// compute one piece.
#pragma once

#include <cstdint>
#include <string>

#include "models/cdp/cdp_job.h"
#include "models/layout/feature_cube.h"
#include "models/pdp/pdp_job.h"
#include "models/sdp/sdp_job.h"

namespace npuscope {

struct RowPiece {
    std::uint32_t out_begin = 0;
    std::uint32_t out_rows = 0;
    std::uint32_t in_begin = 0;
    std::uint32_t in_rows = 0;
    std::uint32_t pad_top = 0;

    bool operator==(const RowPiece&) const = default;
};

/// Windows that cover rows of an input; padding counts as rows in front of it.
struct RowWindows {
    std::uint32_t in_rows = 0;
    std::uint32_t span = 1;  ///< rows of one window, with those that dilation skips
    std::uint32_t stride = 1;
    std::uint32_t pad_top = 0;

    RowPiece piece(std::uint32_t out_begin, std::uint32_t out_rows) const;
};

/// Only these rows of what the job computes, from and to memory.
void keep_rows(SdpJob& job, std::uint32_t begin, std::uint32_t rows);
void keep_rows(CdpJob& job, std::uint32_t begin, std::uint32_t rows);
void keep_rows(PdpJob& job, std::uint32_t begin, std::uint32_t rows);

/// What follows the name of a layer or an operation: ` rows 8..15`.
std::string rows_text(std::uint32_t begin, std::uint32_t rows);

}  // namespace npuscope
