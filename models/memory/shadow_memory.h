// SPDX-License-Identifier: Apache-2.0
// Which bytes of a memory were written, by whom, and when. It has no values.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "models/base/quantity.h"
#include "models/layout/byte_pieces.h"

namespace npuscope {

/// The bytes that one operation writes to one of its surfaces, or that one file holds.
struct ByteWriter {
    std::string operation;  ///< empty: the host
    std::string surface;    ///< of the operation, or the file that the host loads
    Cycles first;           ///< first cycle of its writes
    Cycles last;

    bool is(const std::string& other_operation, const std::string& other_surface) const {
        return operation == other_operation && surface == other_surface;
    }
};

/// `output of conv 1 (cycles 120 to 950)`, `'input.dat', loaded by the host`.
std::string writer_text(const ByteWriter& writer);

class ShadowMemory {
 public:
    /// A piece of the requested run; nullptr where it was never written.
    using Visit = std::function<void(const ByteRun& piece, const ByteWriter* writer)>;

    /// Bytes that arrive in cycle `at`, over `client` of the NPU.
    void write(const ByteRun& run, unsigned client, const std::string& operation,
               const std::string& surface, Cycles at);
    /// Bytes that the host writes, from a file if it has a name.
    void load(const ByteRun& run, const std::string& file);
    std::optional<Address> first_unwritten(const ByteRun& run) const {
        return writers_at_.first_without(run);
    }
    /// Lowest address first.
    void visit(const ByteRun& run, const Visit& visit) const;

 private:
    std::vector<ByteWriter> writers_;
    std::unordered_map<unsigned, std::size_t> current_;  ///< number of the writer of each client
    BytePieces<std::size_t> writers_at_;
};

}  // namespace npuscope
