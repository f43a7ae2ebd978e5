// SPDX-License-Identifier: Apache-2.0
#include "models/conv/image_walk.h"

namespace npuscope {

std::vector<std::uint32_t> ImageWalk::reaches(std::uint32_t length) const {
    const std::uint32_t last = bytes_of(blocks() - 1);
    const std::uint32_t counted = miscounts && last == 1 ? blocks() - 1 : blocks();
    std::vector<std::uint32_t> result{bytes_of(0) - 1};
    for (std::uint32_t block = 0; block + 1 < blocks(); ++block) {
        const std::uint32_t passed = miscounts && length == 1 ? shortest * block : block;
        const bool next_is_last = passed + 2 >= counted;
        result.push_back(result.back() + (next_is_last ? last : width));
    }
    return result;
}

std::optional<std::uint32_t> met_byte(const ImageWalk& walk, std::uint32_t block,
                                      std::uint32_t reach, std::uint32_t output,
                                      std::uint32_t lane) {
    const std::uint32_t entry = reach / walk.width * walk.width;
    if (output == 0) {  // a stripe begins with the first byte of an entry
        return entry + lane;
    }
    const std::uint32_t end = reach + output * walk.step;
    if (walk.step > walk.width) {  // each output reads its own entries
        return end + 1 - walk.bytes_of(block) + lane;
    }
    // each takes what is left of the entry before, and one more where its end lies after it
    const std::uint32_t byte = entry + output * walk.step + lane;
    return byte / walk.width <= end / walk.width ? std::optional(byte) : std::nullopt;
}

std::optional<std::uint32_t> first_wrong_block(const ImageWalk& walk, std::uint32_t length) {
    const std::vector<std::uint32_t> reaches = walk.reaches(length);
    for (std::uint32_t block = 0; block < walk.blocks(); ++block) {
        for (std::uint32_t output = 0; output < length; ++output) {
            for (std::uint32_t lane = 0; lane < walk.bytes_of(block); ++lane) {
                const std::uint32_t right = output * walk.step + block * walk.width + lane;
                if (met_byte(walk, block, reaches[block], output, lane) != right) {
                    return block;
                }
            }
        }
    }
    return std::nullopt;
}

std::optional<Miscount> find_miscount(const ImageWalk& walk, const ImageRow& row) {
    if (!walk.miscounts) {
        return std::nullopt;
    }
    // stripes are alike but for the last one
    const std::uint32_t last = (row.outputs - 1) / row.stripe * row.stripe;
    for (const std::uint32_t column : {std::uint32_t{0}, last}) {
        if (const auto block = first_wrong_block(walk, row.length_at(column))) {
            return Miscount{*block, column};
        }
    }
    return std::nullopt;
}

std::uint32_t columns_to_add(ImageWalk walk, const ImageRow& row, std::uint32_t channels) {
    std::uint32_t columns = 0;
    while (find_miscount(walk, row)) {  // ends at a multiple of the width
        walk.row_bytes += channels;
        ++columns;
    }
    return columns;
}

}  // namespace npuscope
