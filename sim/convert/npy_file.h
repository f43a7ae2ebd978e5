// SPDX-License-Identifier: Apache-2.0
// The head of a .npy file: element type, shape and order of an array of numpy.
//
//     | "\x93NUMPY" | major | minor | header length | header, ends with \n | elements ...
//
//     header: {'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }
//
// Versions 1 to 3, little-endian elements. source: numpy.lib.format
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace npuscope {

struct StoredType {
    std::string_view name;   ///< int8, uint8, ..., as on the command line
    std::string_view descr;  ///< of numpy
    std::uint32_t bytes;
    char kind;  ///< 'i', 'u' or 'f'
};

std::span<const StoredType> stored_types();
/// ConfigError that names the nearest known type.
const StoredType& find_stored_type(std::string_view name);

struct NpyHeader {
    const StoredType* type = nullptr;
    std::vector<std::uint64_t> shape;
    bool fortran_order = false;
    std::uint64_t data_begin = 0;  ///< byte where the elements start

    std::uint64_t elements() const;
};

bool is_npy(std::span<const std::uint8_t> file);
/// ConfigError that names the file and what is wrong; the data must be there in full.
NpyHeader read_npy_header(std::span<const std::uint8_t> file, const std::string& name);
/// Everything in front of the elements; a multiple of 64 bytes.
std::string npy_header(const StoredType& type, std::span<const std::uint64_t> shape);

}  // namespace npuscope
