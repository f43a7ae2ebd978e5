// SPDX-License-Identifier: Apache-2.0
// Reads the pieces of a trace's calls, `name(argument, argument);`, each with the error that its
// absence deserves. Which call takes which arguments is not known here but in trace_cfg.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/program/program.h"
#include "sim/program/register_names.h"
#include "sim/program/text_scanner.h"

namespace npuscope {

struct MemoryRange {
    MemoryPort memory = MemoryPort::Primary;
    Address address;
    Bytes bytes;
};

struct NamedRegister {
    std::string name;
    std::uint32_t address = 0;
};

class CallReader {
 public:
    CallReader(std::string_view text, const std::string& file, const RegisterNames& names)
        : scanner_(text, file), names_(names) {}

    /// The name of the next call and its `(`; nothing at the end of the file. Its place is
    /// `place()`.
    std::optional<std::string> begin_call();
    void end_call();
    const Place& place() const { return place_; }

    /// `,` before a further argument.
    void next();
    /// Takes a `,` if a further argument follows.
    bool more();

    std::string take_name(std::string_view what);
    std::string take_quoted(std::string_view what);
    std::uint64_t take_number(std::string_view what);
    std::uint32_t take_word32(std::string_view what);
    MemoryPort take_memory();
    /// A memory, an address and a number of bytes, all inside the 64-bit space.
    MemoryRange take_range();
    FillPattern take_pattern();
    NamedRegister take_register();

 private:
    void expect(char character);

    TextScanner scanner_;
    const RegisterNames& names_;
    Place place_;
};

}  // namespace npuscope
