// SPDX-License-Identifier: Apache-2.0
#include "sim/program/trace_cfg.h"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "sim/config/file_io.h"
#include "sim/config/nearest_name.h"
#include "sim/program/call_reader.h"

namespace npuscope {
namespace {

Action take_mem_init(CallReader& call, const ImageSource& /*images*/) {
    const MemoryRange range = call.take_range();
    call.next();
    return InitMemory{range.memory, range.address, range.bytes, call.take_pattern()};
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
                          fmt::format("'{}' loaded at {} ends beyond the 64-bit space", load.file,
                                      to_hex(load.address)));
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
    return PollRegister{std::move(target.name), target.address, 0xffffffff,
                        call.take_word32("a value")};
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
    return CheckImage{std::move(sync), range.memory,     range.address,
                      range.bytes,     std::move(image), std::move(file)};
}

Action take_check_nothing(CallReader& call, const ImageSource& /*images*/) {
    return CheckNothing{call.take_name("a sync id")};
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
                               CallRow{"check_nothing", take_check_nothing}};

const CallRow& find_call(const std::string& name, const Place& place) {
    std::vector<std::string> known;
    for (const CallRow& row : call_rows) {
        if (row.name == name) {
            return row;
        }
        known.emplace_back(row.name);
    }
    throw ConfigError(place, fmt::format("unknown call '{}'", name), name_remedy(name, known));
}

}  // namespace

Program parse_trace_cfg(std::string_view text, const std::string& file, const RegisterNames& names,
                        const ImageSource& images) {
    Program program;
    program.name = std::filesystem::path(file).stem().string();
    CallReader call(text, file, names);
    while (const auto name = call.begin_call()) {
        const CallRow& row = find_call(*name, call.place());
        program.statements.push_back({call.place(), row.take(call, images)});
        call.end_call();
    }
    if (program.statements.empty()) {
        throw ConfigError(Place{file, 0, 0}, "the program has no statement");
    }
    return program;
}

Program read_trace_cfg(const std::filesystem::path& path, const RegisterNames& names) {
    const std::filesystem::path folder = path.parent_path();
    return parse_trace_cfg(read_whole_file(path), path.string(), names,
                           [&](const std::string& file, const Place& place) {
                               const std::filesystem::path image = folder / file;
                               return read_memory_file(image, image.string(), place);
                           });
}

}  // namespace npuscope
