// SPDX-License-Identifier: Apache-2.0
#include "sim/program/trace_txn.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "sim/config/file_io.h"
#include "sim/config/nearest_name.h"
#include "sim/program/text_scanner.h"
#include "sim/program/txn_reader.h"

namespace npuscope {
namespace {

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

const StatementRow& find_statement(std::string_view name, const Place& place) {
    const auto row = std::ranges::find(statement_rows, name, &StatementRow::name);
    if (row != statement_rows.end()) {
        return *row;
    }
    std::vector<std::string> known;
    known.reserve(statement_rows.size());
    for (const StatementRow& candidate : statement_rows) {
        known.emplace_back(candidate.name);
    }
    throw ConfigError(place, fmt::format("unknown statement '{}'", name), name_remedy(name, known));
}

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
        const StatementRow& row = find_statement(name, reader.place());
        const Place place = reader.place();
        program.statements.push_back({place, row.take(reader)});
        reader.end_statement();
    }
    if (program.statements.empty()) {
        throw ConfigError(Place{file, 0, 0}, "the program has no statement");
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

Program read_trace_txn(const std::filesystem::path& path, const RegisterNames& names,
                       bool with_images) {
    const std::filesystem::path folder = path.parent_path();
    TxnSetting setting;
    if (with_images) {
        setting.images = [&](const std::string& file, const Place& place) {
            const std::filesystem::path image = folder / file;
            return read_memory_file(image, image.string(), place);
        };
    }
    const std::filesystem::path arguments = folder / "plusargs.txt";
    if (std::filesystem::exists(arguments)) {
        setting.read_attempts = parse_poll_retries(read_whole_file(arguments), arguments.string());
    }
    return parse_trace_txn(read_whole_file(path), path.string(), names, setting);
}

}  // namespace npuscope
