// SPDX-License-Identifier: Apache-2.0
// .npy files: element type, shape and order of an array, and its elements.
//
//     | "\x93NUMPY" | major | minor | header length | header, ends with \n | elements ...
//
//     header: {'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }
//
// Versions 1 to 3, little-endian elements (others are refused with the remedy), last index fastest
// (C) or first index fastest (Fortran). Written: version 1, C order, elements at a multiple of 64
// bytes. source: numpy.lib.format
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "sim/config/element_type.h"

namespace npuscope {

struct NpyHeader {
    const ElementRow* type = nullptr;
    std::vector<std::uint64_t> shape;
    bool fortran_order = false;
    std::uint64_t data_begin = 0;  ///< byte where the elements start

    std::uint64_t elements() const;
    /// The elements are in an order other than C order.
    bool is_transposed() const { return fortran_order && shape.size() > 1; }
};

bool is_npy(std::span<const std::uint8_t> file);
/// Whether the name ends in .npy, in letters of any case.
bool names_npy(const std::filesystem::path& path);
/// ConfigError names the file and what is wrong; the data must be complete.
NpyHeader read_npy_header(std::span<const std::uint8_t> file, const std::string& name);
/// `float32 (1, 3)`: what the array holds.
std::string to_string(const NpyHeader& header);
/// Everything in front of the elements; a multiple of 64 bytes.
std::string npy_header(const ElementRow& type, std::span<const std::uint64_t> shape);

/// The bytes of the elements, `file.subspan(data_begin)`, in C order.
std::vector<std::uint8_t> in_c_order(const NpyHeader& header, std::span<const std::uint8_t> data);
/// The elements as numbers, in C order. 64-bit integers are rounded to doubles.
std::vector<double> npy_numbers(const NpyHeader& header, std::span<const std::uint8_t> data);
/// Header and elements; numbers must fit the type.
std::string npy_bytes(const ElementRow& type, std::span<const std::uint64_t> shape,
                      std::span<const double> numbers);

}  // namespace npuscope
