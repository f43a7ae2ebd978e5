// SPDX-License-Identifier: Apache-2.0
#include "sim/compile/nvdla/row_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace npuscope {
namespace {

void keep_rows(FeatureCube& cube, std::uint32_t begin, std::uint32_t rows) {
    cube.base = cube.line_address(0, begin);
    cube.shape.height = rows;
}

}  // namespace

RowPiece RowWindows::piece(std::uint32_t out_begin, std::uint32_t out_rows) const {
    const std::uint32_t top = out_begin * stride;
    const std::uint32_t end = (out_begin + out_rows - 1) * stride + span;
    RowPiece piece{.out_begin = out_begin, .out_rows = out_rows};
    piece.pad_top = pad_top - std::min(top, pad_top);
    piece.in_begin = top - std::min(top, pad_top);
    const std::uint32_t in_end = std::min(in_rows, end - std::min(end, pad_top));
    piece.in_rows = in_end - std::min(in_end, piece.in_begin);
    return piece;
}

void keep_rows(SdpJob& job, std::uint32_t begin, std::uint32_t rows) {
    job.shape.height = rows;
    for (std::optional<FeatureCube>* cube : {&job.source, &job.destination}) {
        if (*cube) {
            keep_rows(**cube, begin, rows);
        }
    }
    for (std::optional<SdpOperandFetch>& operand : job.operands) {
        if (operand && operand->surface.spread == OperandSpread::PerElement) {
            operand->surface.base = operand->surface.base + operand->surface.line_stride * begin;
        }
        if (operand) {
            operand->surface.shape.height = rows;
        }
    }
}

void keep_rows(CdpJob& job, std::uint32_t begin, std::uint32_t rows) {
    job.shape.height = rows;
    keep_rows(job.source, begin, rows);
    keep_rows(job.destination, begin, rows);
}

void keep_rows(PdpJob& job, std::uint32_t begin, std::uint32_t rows) {
    PdpPooling& pooling = job.pooling;
    const RowPiece piece = RowWindows{.in_rows = job.input.height,
                                      .span = pooling.kernel_height,
                                      .stride = pooling.stride_y,
                                      .pad_top = pooling.pad_top}
                               .piece(begin, rows);
    pooling.pad_top = piece.pad_top;
    job.input.height = piece.in_rows;
    if (job.source) {
        keep_rows(*job.source, piece.in_begin, piece.in_rows);
    }
    job.output.height = pooling.output.height = rows;
    keep_rows(job.destination, begin, rows);
}

std::string rows_text(std::uint32_t begin, std::uint32_t rows) {
    return fmt::format(" rows {}..{}", begin, begin + rows - 1);
}

}  // namespace npuscope
