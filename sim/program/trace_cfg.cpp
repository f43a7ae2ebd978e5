// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "sim/config/nearest_name.h"
#include "sim/program/plan_comments.h"
#include "sim/program/read_program.h"
#include "sim/program/text_scanner.h"

namespace npuscope {
namespace {

struct PatternRow {
    std::string_view name;
    FillPattern fill;
};

// source: nv_small test bench, patterns of mem_init that produce the same bytes in every run
constexpr std::array pattern_rows{
    PatternRow{"ALL_ZERO", FillPattern::AllZero}, PatternRow{"ONES", FillPattern::Ones},
    PatternRow{"AFIVE", FillPattern::AFive}, PatternRow{"FIVEA", FillPattern::FiveA},
    PatternRow{"ADDR", FillPattern::LowAddress}};

struct MemoryRange {
    MemoryPort memory = MemoryPort::Primary;
    Address address;
    Bytes bytes;
};

struct NamedRegister {
    std::string name;
    std::uint32_t address = 0;
};

constexpr Cycles longest_run(1'000'000'000'000);
constexpr Bytes largest_fill(1ULL << 30U);  ///< with other bytes than zeros

/// Reads the parts of a call, `name(argument, argument);`, each with the error to report if it is
/// missing.
class CallReader {
 public:
    CallReader(std::string_view text, const std::string& file, const RegisterNames& names)
        : scanner_(text, file), names_(names) {}

    /// The name of the next call and its `(`; nothing at the end of the file. Its place is
    /// `place()`. Comments before it go to `program`.
    std::optional<std::string> begin_call(Program& program) {
        while (true) {
            scanner_.skip_white();
            if (scanner_.peek() != '#' && !scanner_.rest().starts_with("//")) {
                break;
            }
            take_comment(scanner_.rest().substr(0, scanner_.rest().find('\n')), program);
            scanner_.skip_line();
        }
        scanner_.skip_space();
        if (scanner_.at_end()) {
            return std::nullopt;
        }
        place_ = scanner_.place();
        std::string name = take_name("a call such as reg_write(...);");
        expect('(');
        return name;
    }
    void end_call() {
        expect(')');
        expect(';');
    }
    const Place& place() const { return place_; }

    /// `,` before another argument.
    void next() { expect(','); }
    /// Reads a `,` if another argument follows.
    bool more() {
        scanner_.skip_blanks();
        return scanner_.take(',');
    }

    std::string take_name(std::string_view what) {
        scanner_.skip_blanks();
        const std::string_view word = scanner_.take_word();
        if (word.empty()) {
            scanner_.fail_expected(what);
        }
        return std::string(word);
    }
    std::string take_quoted(std::string_view what, bool may_be_empty = false) {
        scanner_.skip_blanks();
        const std::string_view rest = scanner_.rest();
        const std::size_t end = rest.find_first_of("\"\n", 1);
        if (scanner_.peek() != '"' || end == std::string_view::npos || rest[end] != '"' ||
            (end == 1 && !may_be_empty)) {
            scanner_.fail_expected(fmt::format("{} in double quotes", what));
        }
        scanner_.advance(end + 1);
        return std::string(rest.substr(1, end - 1));
    }
    std::uint64_t take_number(std::string_view what) {
        scanner_.skip_blanks();
        return scanner_.take_number(what);
    }
    std::uint32_t take_word32(std::string_view what) {
        scanner_.skip_blanks();
        const char* start = scanner_.position();
        const std::uint64_t value = scanner_.take_number(what);
        if (value > std::numeric_limits<std::uint32_t>::max()) {
            const std::string_view name = what.substr(what.find(' ') + 1);  // without its article
            throw ConfigError(scanner_.place_of(start),
                              fmt::format("{} {} does not fit into 32 bits", name, to_hex(value)));
        }
        return static_cast<std::uint32_t>(value);
    }
    MemoryPort take_memory() {
        scanner_.skip_blanks();
        const char* start = scanner_.position();
        const std::string name = take_name("a memory, pri_mem or sec_mem");
        if (name == "pri_mem" || name == "1") {  // source: check_crc of the nv_small traces
            return MemoryPort::Primary;
        }
        if (name == "sec_mem" || name == "0") {
            return MemoryPort::Secondary;
        }
        throw ConfigError(scanner_.place_of(start), fmt::format("unknown memory '{}'", name),
                          "use pri_mem (or 1) or sec_mem (or 0)");
    }
    /// An address and a number of bytes, all inside the 64-bit space.
    ByteRun take_bytes() {
        ByteRun run;
        run.address = Address(take_number("an address"));
        next();
        scanner_.skip_blanks();
        const char* start = scanner_.position();
        run.bytes = Bytes(take_number("a number of bytes"));
        if (run.bytes.value == 0) {
            throw ConfigError(scanner_.place_of(start), "the range is empty",
                              "give its size in bytes");
        }
        if (run.bytes.value > std::numeric_limits<std::uint64_t>::max() - run.address.value) {
            throw ConfigError(scanner_.place_of(start),
                              "the region ends beyond the 64-bit address space");
        }
        return run;
    }
    /// A memory and bytes of it.
    MemoryRange take_range() {
        const MemoryPort memory = take_memory();
        next();
        const ByteRun run = take_bytes();
        return {memory, run.address, run.bytes};
    }
    /// Whether the word that follows is the first or the second of two.
    bool take_either(std::string_view first, std::string_view second) {
        scanner_.skip_blanks();
        const char* start = scanner_.position();
        const std::string word = take_name(fmt::format("'{}' or '{}'", first, second));
        if (word != first && word != second) {
            throw ConfigError(scanner_.place_of(start),
                              fmt::format("'{}' is neither '{}' nor '{}'", word, first, second));
        }
        return word == first;
    }
    FillPattern take_pattern() {
        scanner_.skip_blanks();
        const char* start = scanner_.position();
        const std::string name = take_name("a pattern, e.g. ALL_ZERO");
        return find_named(pattern_rows, name, "pattern", scanner_.place_of(start)).fill;
    }
    NamedRegister take_register() {
        scanner_.skip_blanks();
        const char* start = scanner_.position();
        std::string name = take_name("a register, e.g. NVDLA_CDMA.D_BANK_0");
        const std::optional<std::uint32_t> address = names_.address(name);
        if (!address) {
            throw ConfigError(scanner_.place_of(start), fmt::format("unknown register '{}'", name),
                              names_.remedy(name));
        }
        return {names_.name(*address).value_or(name), *address};
    }

 private:
    /// A comment that names a layer or a surface, as a plan writes them; all others are ignored.
    void take_comment(std::string_view comment, Program& program) const {
        if (const auto layer = read_layer_comment(comment)) {
            program.statements.push_back({scanner_.place(), *layer});
        } else if (auto surface = read_surface_comment(comment)) {
            surface->place = scanner_.place();
            program.surfaces.push_back(std::move(*surface));
        }
    }

    void expect(char character) {
        scanner_.skip_blanks();
        if (!scanner_.take(character)) {
            scanner_.fail_expected(fmt::format("'{}'", character));
        }
    }

    TextScanner scanner_;
    const RegisterNames& names_;
    Place place_;
};

Action take_mem_init(CallReader& call, const ImageSource& /*images*/) {
    const MemoryRange range = call.take_range();
    call.next();
    const FillPattern pattern = call.take_pattern();
    if (pattern != FillPattern::AllZero && range.bytes > largest_fill) {
        throw ConfigError(
            call.place(),
            fmt::format("mem_init fills {} bytes with a pattern, but at most {} are possible",
                        range.bytes.value, largest_fill.value),
            "fill only what the program reads, or with ALL_ZERO, which takes no "
            "memory");
    }
    return InitMemory{range.memory, range.address, range.bytes, pattern};
}

Action take_mem_load(CallReader& call, const ImageSource& images) {
    LoadMemory load;
    load.memory = call.take_memory();
    call.next();
    load.address = Address(call.take_number("an address"));
    call.next();
    load.file = call.take_quoted("the name of a memory image");
    load.image = images(load.file, call.place());
    if (load.image.end() > std::numeric_limits<std::uint64_t>::max() - load.address.value) {
        throw ConfigError(call.place(),
                          fmt::format("'{}' loaded at {} ends beyond the 64-bit address space",
                                      load.file, to_hex(load.address)));
    }
    return load;
}

Action take_reg_write(CallReader& call, const ImageSource& /*images*/) {
    NamedRegister target = call.take_register();
    call.next();
    return WriteRegister{std::move(target.name), target.address, call.take_word32("a value")};
}

/// The value that is read goes to a variable of the player; nothing is compared.
Action take_reg_read(CallReader& call, const ImageSource& /*images*/) {
    NamedRegister target = call.take_register();
    call.next();
    call.take_name("the name of a variable");
    return ReadRegister{std::move(target.name), target.address, 0, 0};
}

Action take_reg_read_check(CallReader& call, const ImageSource& /*images*/) {
    NamedRegister target = call.take_register();
    call.next();
    return ReadRegister{std::move(target.name), target.address, 0xffffffff,
                        call.take_word32("a value")};
}

Action take_poll(CallReader& call, const ImageSource& /*images*/) {
    NamedRegister target = call.take_register();
    call.next();
    PollRegister poll{std::move(target.name), target.address, 0xffffffff,
                      call.take_word32("a value")};
    if (call.more()) {
        poll.mask = call.take_word32("a mask");
    }
    return poll;
}

Action take_intr_notify(CallReader& call, const ImageSource& /*images*/) {
    std::string first = call.take_name("an interrupt, e.g. SDP_0");
    if (!call.more()) {
        return NotifyOnInterrupt{{}, std::move(first)};
    }
    return NotifyOnInterrupt{std::move(first), call.take_name("a sync id")};
}

template <class Sync>
Action take_sync(CallReader& call, const ImageSource& /*images*/) {
    std::string unit = call.take_name("a unit, e.g. NVDLA_CSC");
    call.next();
    return Sync{std::move(unit), call.take_name("a sync id")};
}

Action take_check_crc(CallReader& call, const ImageSource& /*images*/) {
    std::string sync = call.take_name("a sync id");
    call.next();
    const MemoryRange range = call.take_range();
    call.next();
    return CheckCrc{std::move(sync), range.memory, range.address, range.bytes,
                    call.take_word32("a CRC")};
}

Action take_check_file(CallReader& call, const ImageSource& images) {
    std::string sync = call.take_name("a sync id");
    call.next();
    const MemoryRange range = call.take_range();
    call.next();
    std::string file = call.take_quoted("the name of a memory image");
    MemoryImage image = images(file, call.place());
    if (!image.runs.empty() && image.end() < range.bytes.value) {  // no image: it is left out
        throw ConfigError(call.place(),
                          fmt::format("'{}' has {} byte{}, but {} are to be compared", file,
                                      image.end(), image.end() == 1 ? "" : "s", range.bytes.value),
                          "give the whole image, or the number of bytes that it has");
    }
    return CheckImage{std::move(sync), range.memory,     range.address,
                      range.bytes,     std::move(image), std::move(file)};
}

Action take_check_nothing(CallReader& call, const ImageSource& /*images*/) {
    return CheckNothing{call.take_name("a sync id")};
}

/// `launch_job("name", "kind", word, word, ...)`.
Action take_launch_job(CallReader& call, const ImageSource& /*images*/) {
    auto job = std::make_shared<WrittenJob>();
    job->name = call.take_quoted("the name of an operation");
    call.next();
    job->kind = call.take_quoted("the kind of an operation");
    while (call.more()) {
        const std::uint32_t word = call.take_word32("a word of the descriptor");
        for (unsigned byte = 0; byte < sizeof word; ++byte) {
            job->descriptor.push_back(static_cast<std::uint8_t>(word >> (8 * byte)));
        }
    }
    return LaunchJob{.job = std::move(job)};
}

Action take_wait_for_jobs(CallReader& /*call*/, const ImageSource& /*images*/) {
    return WaitForJobs{};
}

Action take_meet_instances(CallReader& /*call*/, const ImageSource& /*images*/) {
    return MeetInstances{};
}

/// `run_node("name", "operator", cycles, macs, reads, address, bytes, .. writes, address, bytes)`.
Action take_run_node(CallReader& call, const ImageSource& /*images*/) {
    RunNode node{.name = call.take_quoted("the name of a node")};
    call.next();
    node.op = call.take_quoted("the name of an operator", true);
    call.next();
    node.cycles = Cycles(call.take_number("a number of cycles"));
    if (node.cycles > longest_run) {
        throw ConfigError(call.place(),
                          fmt::format("'{}' takes {} cycles, but a run may have at most {}",
                                      node.name, node.cycles.value, longest_run.value),
                          "correct the number of cycles");
    }
    call.next();
    node.macs = call.take_number("a number of MACs");
    while (call.more()) {
        std::vector<ByteRun>& runs = call.take_either("reads", "writes") ? node.reads : node.writes;
        call.next();
        runs.push_back(call.take_bytes());
    }
    return node;
}

struct CallRow {
    std::string_view name;
    Action (*take)(CallReader&, const ImageSource&);
};

constexpr std::array call_rows{CallRow{"mem_init", take_mem_init},
                               CallRow{"mem_load", take_mem_load},
                               CallRow{"reg_write", take_reg_write},
                               CallRow{"reg_read", take_reg_read},
                               CallRow{"reg_read_check", take_reg_read_check},
                               CallRow{"reg_read_expected", take_reg_read_check},
                               CallRow{"poll_reg_equal", take_poll},
                               CallRow{"intr_notify", take_intr_notify},
                               CallRow{"sync_notify", take_sync<SyncNotify>},
                               CallRow{"sync_wait", take_sync<SyncWait>},
                               CallRow{"check_crc", take_check_crc},
                               CallRow{"check_file", take_check_file},
                               CallRow{"check_nothing", take_check_nothing},
                               CallRow{"launch_job", take_launch_job},
                               CallRow{"wait_for_jobs", take_wait_for_jobs},
                               CallRow{"meet_instances", take_meet_instances},
                               CallRow{"run_node", take_run_node}};

}  // namespace

Program parse_trace_cfg(std::string_view text, const std::string& file, const RegisterNames& names,
                        const ImageSource& images) {
    Program program;
    program.name = std::filesystem::path(file).stem().string();
    CallReader call(text, file, names);
    while (const auto name = call.begin_call(program)) {
        const CallRow& row = find_named(call_rows, *name, "call", call.place());
        program.statements.push_back({call.place(), row.take(call, images)});
        call.end_call();
    }
    const bool nothing = std::ranges::all_of(program.statements, [](const Statement& statement) {
        return std::holds_alternative<BeginLayer>(statement.action);
    });
    if (nothing) {
        throw ConfigError(Place{file, 0, 0}, "the program has no statements",
                          "give a register program");
    }
    program.zeroed_memory = std::ranges::any_of(program.statements, [](const Statement& statement) {
        return std::holds_alternative<LaunchJob>(statement.action);
    });
    return program;
}

}  // namespace npuscope
