// SPDX-License-Identifier: Apache-2.0
// Words of one statement of a .txn trace: registers, ranges of memory, images, comparisons.
// Messages stand at the word that is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "sim/program/image_source.h"
#include "sim/program/program.h"
#include "sim/program/register_names.h"
#include "sim/program/text_scanner.h"

namespace npuscope {

/// Attempts of a read_reg that names none. source: NVDLA, verification scripts of nv_full
constexpr unsigned kTxnReadAttempts = 50'000;

/// What does not stand in the text.
struct TxnSetting {
    ImageSource images{};  ///< none: images stay empty, time alone is simulated
    unsigned read_attempts = kTxnReadAttempts;  ///< of a read_reg that names none
};

struct TxnRegister {
    std::string name;
    std::uint32_t address = 0;
};

class TxnReader {
 public:
    TxnReader(std::string_view text, const std::string& file, const RegisterNames& names,
              const TxnSetting& setting)
        : scanner_(text, file), names_(names), setting_(setting) {}

    /// The name of the next statement; empty at the end of the text. Its place is `place()`.
    std::string_view begin_statement();
    void end_statement();
    const Place& place() const { return place_; }

    bool more();
    std::uint64_t take_number(std::string_view what);
    std::uint32_t take_word(std::string_view what);
    TxnRegister take_register();
    Comparison take_comparison();
    unsigned take_attempts();
    /// An address and a number of bytes from there, inside the 64-bit space.
    std::pair<Address, Bytes> take_range();
    /// A file name, and the first `bytes` bytes of its image.
    std::pair<std::string, MemoryImage> take_image(Bytes bytes);

 private:
    TextScanner scanner_;
    const RegisterNames& names_;
    const TxnSetting& setting_;
    Place place_;
};

}  // namespace npuscope
