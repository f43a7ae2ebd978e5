// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "sim/config/nearest_name.h"
#include "sim/program/read_program.h"
#include "sim/program/text_scanner.h"

namespace npuscope {
namespace {

constexpr std::uint64_t register_space = 0xffff0000;  // source: nv_full traces
constexpr std::uint64_t register_words = 0x10000;

/// The part below `bytes`.
MemoryImage first_bytes(MemoryImage image, Bytes bytes) {
    for (MemoryImage::Run& run : image.runs) {
        const std::uint64_t room = run.offset < bytes.value ? bytes.value - run.offset : 0;
        run.size = std::min(run.size, room);
    }
    std::erase_if(image.runs, [](const MemoryImage::Run& run) { return run.size == 0; });
    return image;
}

struct TxnRegister {
    std::string name;
    std::uint32_t address = 0;
};

/// Words of one statement. Messages point to the wrong word.
class TxnReader {
 public:
    TxnReader(std::string_view text, const std::string& file, const RegisterNames& names,
              const TxnSetting& setting)
        : scanner_(text, file), names_(names), setting_(setting) {}

    /// The name of the next statement; empty at the end of the text. Its place is `place()`.
    std::string_view begin_statement() {
        scanner_.skip_space();
        place_ = scanner_.place();
        if (scanner_.at_end()) {
            return {};
        }
        const std::string_view name = scanner_.take_word();
        if (name.empty()) {
            scanner_.fail_expected("a statement, e.g. write_reg");
        }
        return name;
    }
    void end_statement() {
        if (more()) {
            scanner_.fail_expected("the end of the line");
        }
        scanner_.skip_line();
    }
    const Place& place() const { return place_; }

    bool more() {
        scanner_.skip_blanks();
        return !scanner_.at_end() && scanner_.peek() != '\n' && scanner_.peek() != '#';
    }
    std::uint64_t take_number(std::string_view what) {
        scanner_.skip_blanks();
        return scanner_.take_number(what);
    }
    std::uint32_t take_word(std::string_view what) {
        scanner_.skip_blanks();
        const Place at = scanner_.place();
        const std::uint64_t value = scanner_.take_number(what);
        if (value > std::numeric_limits<std::uint32_t>::max()) {
            throw ConfigError(at, fmt::format("{:#x} does not fit 32 bits ({})", value, what));
        }
        return static_cast<std::uint32_t>(value);
    }
    TxnRegister take_register() {
        scanner_.skip_blanks();
        const Place at = scanner_.place();
        const std::uint64_t word = scanner_.take_number("the word address of a register");
        const bool inside = word >= register_space && word - register_space < register_words;
        const auto address = static_cast<std::uint32_t>(inside ? (word - register_space) * 4 : 0);
        std::optional<std::string> name = inside ? names_.name(address) : std::nullopt;
        if (!name) {
            throw ConfigError(at, fmt::format("no register at {:#x}", word),
                              inside ? fmt::format("that is byte address {:#x}; `npuscope list "
                                                   "registers --map nv_full` prints the map",
                                                   address)
                                     : "registers are at 0xffff0000 + byte address / 4");
        }
        return {std::move(*name), address};
    }
    Comparison take_comparison() {
        scanner_.skip_blanks();
        if (scanner_.take("<=")) {
            return Comparison::AtMost;
        }
        if (scanner_.take(">=")) {
            return Comparison::AtLeast;
        }
        scanner_.take("==");
        return Comparison::Equal;
    }
    unsigned take_attempts() {
        if (!more()) {
            return setting_.read_attempts;
        }
        return std::max(1U, take_word("how often the register is read"));
    }
    /// An address and a number of bytes from there, inside the 64-bit space.
    std::pair<Address, Bytes> take_range() {
        const Address address(take_number("an address"));
        scanner_.skip_blanks();
        const Place at = scanner_.place();
        const Bytes bytes(scanner_.take_number("a number of bytes"));
        if (bytes.value == 0) {
            throw ConfigError(at, "the range is empty", "give its size in bytes");
        }
        if (bytes.value - 1 > std::numeric_limits<std::uint64_t>::max() - address.value) {
            throw ConfigError(at,
                              fmt::format("{:#x} bytes at {} end beyond the 64-bit address space",
                                          bytes.value, to_hex(address)));
        }
        return {address, bytes};
    }
    /// A file name, and the first `bytes` bytes of its image.
    std::pair<std::string, MemoryImage> take_image(Bytes bytes) {
        scanner_.skip_blanks();
        const Place at = scanner_.place();
        const std::string_view rest = scanner_.rest();
        const std::size_t length = std::min(rest.find_first_of(" \t\r\n#"), rest.size());
        if (length == 0) {
            scanner_.fail_expected("the name of a file");
        }
        std::string file(rest.substr(0, length));
        scanner_.advance(length);
        if (!setting_.images) {
            return {file, {}};
        }
        MemoryImage image = setting_.images(file, at);
        if (image.end() < bytes.value) {
            throw ConfigError(at,
                              fmt::format("'{}' has {:#x} bytes, but the statement needs {:#x}",
                                          file, image.end(), bytes.value),
                              "is the file cut short? Correct it, or the statement's size");
        }
        return {std::move(file), first_bytes(std::move(image), bytes)};
    }

 private:
    TextScanner scanner_;
    const RegisterNames& names_;
    const TxnSetting& setting_;
    Place place_;
};

Action take_load(TxnReader& reader) {
    const auto [address, bytes] = reader.take_range();
    auto [file, image] = reader.take_image(bytes);
    return LoadMemory{MemoryPort::Primary, address, std::move(image), std::move(file)};
}

Action take_dump(TxnReader& reader) {
    const auto [address, bytes] = reader.take_range();
    auto [file, image] = reader.take_image(bytes);
    return CheckImage{{}, MemoryPort::Primary, address, bytes, std::move(image), std::move(file)};
}

Action take_write_register(TxnReader& reader) {
    TxnRegister target = reader.take_register();
    return WriteRegister{std::move(target.name), target.address, reader.take_word("a value")};
}

Action take_read_register(TxnReader& reader) {
    TxnRegister target = reader.take_register();
    ReadRegister read{std::move(target.name), target.address};
    read.mask = reader.take_word("a mask");
    read.comparison = reader.take_comparison();
    read.expected = reader.take_word("the expected value");
    read.attempts = reader.take_attempts();
    return read;
}

Action take_wait(TxnReader& /*reader*/) { return WaitForInterrupt{}; }

Action take_write_memory(TxnReader& reader) {
    LoadMemory load{MemoryPort::Primary, Address(reader.take_number("an address")), {}, {}};
    const std::uint32_t value = reader.take_word("a value");
    for (unsigned byte = 0; byte < sizeof value; ++byte) {
        load.image.bytes.push_back(static_cast<std::uint8_t>(value >> (8 * byte)));
    }
    load.image.runs.push_back({0, 0, sizeof value});
    return load;
}

Action take_read_memory(TxnReader& reader) {
    ReadMemory read{MemoryPort::Primary, Address(reader.take_number("an address"))};
    read.mask = reader.take_word("a mask");
    read.expected = reader.take_word("the expected value");
    return read;
}

struct StatementRow {
    std::string_view name;
    Action (*take)(TxnReader&);
};

constexpr std::array statement_rows{StatementRow{"load_mem", take_load},
                                    StatementRow{"dump_mem", take_dump},
                                    StatementRow{"write_reg", take_write_register},
                                    StatementRow{"read_reg", take_read_register},
                                    StatementRow{"wait", take_wait},
                                    StatementRow{"write_mem", take_write_memory},
                                    StatementRow{"read_mem", take_read_memory}};

}  // namespace

Program parse_trace_txn(std::string_view text, const std::string& file, const RegisterNames& names,
                        const TxnSetting& setting) {
    Program program;
    const std::filesystem::path path(file);
    const bool in_a_folder = path.filename() == "input.txn" && path.has_parent_path();
    program.name = (in_a_folder ? path.parent_path().filename() : path.stem()).string();
    program.zeroed_memory = true;
    TxnReader reader(text, file, names, setting);
    for (std::string_view name = reader.begin_statement(); !name.empty();
         name = reader.begin_statement()) {
        const StatementRow& row = find_named(statement_rows, name, "statement", reader.place());
        const Place place = reader.place();
        program.statements.push_back({place, row.take(reader)});
        reader.end_statement();
    }
    if (program.statements.empty()) {
        throw ConfigError(Place{file, 0, 0}, "the program has no statements",
                          "give a register program");
    }
    return program;
}

unsigned parse_poll_retries(std::string_view text, const std::string& file) {
    constexpr std::string_view key = "+read_reg_poll_retries=";
    const std::size_t found = text.find(key);
    if (found == std::string_view::npos) {
        return kTxnReadAttempts;
    }
    TextScanner scanner(text, file);
    scanner.advance(found + key.size());
    const std::uint64_t retries = scanner.take_number("how often a register is read");
    return static_cast<unsigned>(
        std::clamp<std::uint64_t>(retries, 1, std::numeric_limits<unsigned>::max()));
}

}  // namespace npuscope
