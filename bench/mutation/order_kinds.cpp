// SPDX-License-Identifier: Apache-2.0
// Statements that are missing, at the wrong place, or for the wrong group; look-up tables that are
// loaded wrongly.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench/mutation/mutant.h"

namespace npuscope::bench {
namespace {

bool is_compare(const Action& action) {
    return std::holds_alternative<CheckCrc>(action) || std::holds_alternative<CheckImage>(action) ||
           std::holds_alternative<ReadMemory>(action);
}

bool is_enable(const Write& write) { return write.place.row->name == "D_OP_ENABLE"; }

bool is_lut(const Write& write) { return write.place.row->name.starts_with("S_LUT_ACCESS"); }

Mistakes missing_write(const MutationSite& site) {
    Mistakes mistakes;
    for (const Write& write : site.writes) {
        const std::string_view row = write.place.row->name;
        if (is_enable(write) || !(row.starts_with("D_") || row.starts_with("CFG_"))) {
            continue;
        }
        Mistake mistake = without(site, write.statement, write.name() + " is not written");
        mistake.registers = {write.name()};
        mistakes.push_back(std::move(mistake));
    }
    return mistakes;
}

/// The statement `from` moves to right after `after`.
Mistake moved(const MutationSite& site, std::size_t from, std::size_t after, std::string what) {
    Mistake mistake;
    mistake.what = std::move(what);
    mistake.places = {site.at(from).place};
    mistake.make = [from, after](Program& program) {
        Statement statement = program.statements[from];
        program.statements.insert(
            program.statements.begin() + static_cast<std::ptrdiff_t>(after) + 1, statement);
        program.statements.erase(program.statements.begin() +
                                 static_cast<std::ptrdiff_t>(from < after ? from : from + 1));
    };
    return mistake;
}

Mistakes write_after_enable(const MutationSite& site) {
    Mistakes mistakes;
    for (const Write& write : site.writes) {
        if (is_enable(write) || !write.place.row->name.starts_with("D_")) {
            continue;
        }
        for (const Write& enable : site.writes) {
            if (is_enable(enable) && enable.place.block == write.place.block &&
                enable.operation == write.operation) {
                Mistake mistake = moved(site, write.statement, enable.statement,
                                        write.name() + " is written after the enable");
                mistake.registers = {write.name()};
                mistakes.push_back(std::move(mistake));
            }
        }
    }
    return mistakes;
}

Mistakes missing_enable(const MutationSite& site) {
    Mistakes mistakes;
    for (const Write& write : site.writes) {
        if (is_enable(write)) {
            Mistake mistake = without(site, write.statement, write.name() + " is not written");
            mistake.registers = {write.name()};
            mistakes.push_back(std::move(mistake));
        }
    }
    return mistakes;
}

Mistakes enables_swapped(const MutationSite& site) {
    Mistakes mistakes;
    for (std::size_t i = 0; i + 1 < site.writes.size(); ++i) {
        const Write& one = site.writes[i];
        const Write& other = site.writes[i + 1];
        if (is_enable(one) && is_enable(other) && one.place.block != other.place.block) {
            Mistake mistake = moved(site, one.statement, other.statement,
                                    fmt::format("{} after {}", one.name(), other.name()));
            mistake.registers = {one.name(), other.name()};
            mistakes.push_back(std::move(mistake));
        }
    }
    return mistakes;
}

Mistakes missing_flush_poll(const MutationSite& site) {
    Mistakes mistakes;
    for (std::size_t i = 0; i < site.program.statements.size(); ++i) {
        const Action& action = site.at(i).action;
        const auto* poll = std::get_if<PollRegister>(&action);
        const auto* read = std::get_if<ReadRegister>(&action);
        const std::string name = poll != nullptr ? poll->name : read != nullptr ? read->name : "";
        if (name.find("CBUF_FLUSH") != name.npos) {
            Mistake mistake = without(site, i, name + " is not polled");
            mistake.registers = {name};
            mistakes.push_back(std::move(mistake));
        }
    }
    return mistakes;
}

/// The unit's registers that an interrupt is about.
std::vector<std::string> registers_of(const std::string& interrupt) {
    const std::string unit = interrupt.substr(0, interrupt.find('_'));
    return {"NVDLA_" + unit + ".D_OP_ENABLE_0"};
}

Mistakes missing_interrupt(const MutationSite& site) {
    Mistakes mistakes;
    for (std::size_t i = 0; i < site.program.statements.size(); ++i) {
        const Action& action = site.at(i).action;
        if (const auto* notify = std::get_if<NotifyOnInterrupt>(&action)) {
            Mistake mistake = without(site, i, notify->unit + " is not awaited");
            mistake.registers = registers_of(notify->unit);
            for (std::size_t j = 0; j < site.program.statements.size(); ++j) {
                const auto* crc = std::get_if<CheckCrc>(&site.at(j).action);
                const auto* image = std::get_if<CheckImage>(&site.at(j).action);
                const auto* wait = std::get_if<SyncWait>(&site.at(j).action);
                if ((crc != nullptr && crc->sync == notify->sync) ||
                    (image != nullptr && image->sync == notify->sync) ||
                    (wait != nullptr && wait->sync == notify->sync)) {
                    mistake.places.push_back(site.at(j).place);
                }
            }
            mistakes.push_back(std::move(mistake));
        } else if (std::holds_alternative<WaitForInterrupt>(action)) {
            Mistake mistake = without(site, i, "the interrupt line is not awaited");
            // what comes next relies on it
            for (std::size_t j = i + 1; j < site.program.statements.size(); ++j) {
                mistake.places.push_back(site.at(j).place);
                const auto* read = std::get_if<ReadRegister>(&site.at(j).action);
                if (read != nullptr) {
                    mistake.registers.push_back(read->name);
                }
                if (is_compare(site.at(j).action)) {
                    break;
                }
            }
            mistakes.push_back(std::move(mistake));
        }
    }
    return mistakes;
}

Mistakes wrong_interrupt(const MutationSite& site) {
    Mistakes mistakes;
    for (std::size_t i = 0; i < site.program.statements.size(); ++i) {
        const auto* notify = std::get_if<NotifyOnInterrupt>(&site.at(i).action);
        if (notify == nullptr || notify->unit.empty()) {
            continue;
        }
        std::string other_group = notify->unit;
        other_group.back() = other_group.back() == '0' ? '1' : '0';
        for (const std::string& unit :
             {other_group, std::string(notify->unit.starts_with("SDP") ? "PDP_0" : "SDP_0")}) {
            Mistake mistake;
            mistake.what = fmt::format("{} awaited instead of {}", unit, notify->unit);
            mistake.places = {site.at(i).place};
            mistake.make = [i, unit](Program& program) {
                std::get<NotifyOnInterrupt>(program.statements[i].action).unit = unit;
            };
            mistakes.push_back(std::move(mistake));
        }
    }
    return mistakes;
}

/// A comparison before what it waits for.
Mistakes early_compare(const MutationSite& site) {
    Mistakes mistakes;
    for (std::size_t i = 0; i < site.program.statements.size(); ++i) {
        if (!is_compare(site.at(i).action)) {
            continue;
        }
        for (std::size_t j = i; j-- > 0;) {
            const Action& action = site.at(j).action;
            const auto* crc = std::get_if<CheckCrc>(&site.at(i).action);
            if (std::holds_alternative<WaitForInterrupt>(action) && j > 0 && crc == nullptr) {
                Mistake mistake = moved(site, i, j - 1, "compared before the interrupt");
                mistakes.push_back(std::move(mistake));
                break;
            }
        }
        const auto now = [&](auto member) {
            Mistake mistake;
            mistake.what = "compared without its id";
            mistake.places = {site.at(i).place};
            mistake.make = member;
            mistakes.push_back(std::move(mistake));
        };
        if (const auto* crc = std::get_if<CheckCrc>(&site.at(i).action);
            crc != nullptr && !crc->sync.empty()) {
            now([i](Program& program) {
                std::get<CheckCrc>(program.statements[i].action).sync = "another";
            });
        } else if (const auto* image = std::get_if<CheckImage>(&site.at(i).action);
                   image != nullptr && !image->sync.empty()) {
            now([i](Program& program) {
                std::get<CheckImage>(program.statements[i].action).sync = "another";
            });
        }
    }
    return mistakes;
}

Mistakes interrupt_masked(const MutationSite& site) {
    Mistakes mistakes;
    for (const Write& write : site.writes) {
        if (write.is("NVDLA_GLB", "S_INTR_MASK")) {
            mistakes.push_back(with_value(write, 0x3f03ff));
        }
    }
    return mistakes;
}

Mistakes wrong_group(const MutationSite& site) {
    Mistakes mistakes;
    for (const Write& write : site.writes) {
        if (write.place.row->name == "S_POINTER") {
            Mistake mistake = with_value(write, write.value ^ 1U);
            mistake.registers.push_back(spelled(write.place.block->name, "D_OP_ENABLE"));
            mistakes.push_back(std::move(mistake));
        }
    }
    return mistakes;
}

Mistakes missing_pointer(const MutationSite& site) {
    Mistakes mistakes;
    for (const Write& write : site.writes) {
        if (write.place.row->name == "S_POINTER") {
            Mistake mistake = without(site, write.statement, write.name() + " is not written");
            mistake.registers = {write.name(), spelled(write.place.block->name, "D_OP_ENABLE")};
            mistakes.push_back(std::move(mistake));
        }
    }
    return mistakes;
}

Mistakes missing_sync(const MutationSite& site) {
    Mistakes mistakes;
    for (std::size_t i = 0; i < site.program.statements.size(); ++i) {
        if (const auto* wait = std::get_if<SyncWait>(&site.at(i).action)) {
            mistakes.push_back(without(site, i, wait->sync + " is not awaited"));
            mistakes.back().places.clear();
            for (std::size_t j = i + 1; j < site.program.statements.size(); ++j) {
                mistakes.back().places.push_back(site.at(j).place);
            }
        }
    }
    return mistakes;
}

// --- look-up tables
// -------------------------------------------------------------------------------

Mistakes lut_order(const MutationSite& site) {
    Mistakes mistakes;
    for (const Write& write : site.writes) {
        if (!is_lut(write)) {
            continue;
        }
        const std::string block(write.place.block->name);
        const std::vector<std::string> registers{spelled(block, "S_LUT_ACCESS_CFG"),
                                                 spelled(block, "S_LUT_ACCESS_DATA")};
        if (write.place.row->name == "S_LUT_ACCESS_CFG") {
            mistakes.push_back(without(site, write.statement, "a table is not selected"));
            mistakes.back().registers = registers;
            for (const std::uint32_t bit : {0x10000U, 0x20000U, 1U}) {
                mistakes.push_back(with_value(write, write.value ^ bit));
                mistakes.back().registers = registers;
            }
        }
    }
    // an entry too few, at three places of the table
    std::vector<std::size_t> data;
    for (const Write& write : site.writes) {
        if (write.place.row->name == "S_LUT_ACCESS_DATA") {
            data.push_back(write.statement);
        }
    }
    for (const std::size_t at : {std::size_t{0}, data.size() / 2, data.size() - 1}) {
        if (at < data.size()) {
            mistakes.push_back(without(site, data[at], "an entry is left out"));
            mistakes.back().registers = {"NVDLA_SDP.S_LUT_ACCESS_DATA_0",
                                         "NVDLA_CDP.S_LUT_ACCESS_DATA_0"};
        }
    }
    return mistakes;
}

Mistakes lut_contents(const MutationSite& site) {
    Mistakes mistakes;
    for (const Write& write : site.writes) {
        const std::string_view row = write.place.row->name;
        if (row == "S_LUT_ACCESS_DATA" || row.starts_with("S_LUT_L")) {
            mistakes.push_back(with_value(write, write.value ^ 1U));
        }
    }
    return mistakes;
}

}  // namespace

std::span<const MistakeKind> order_kinds() {
    static constexpr std::array kinds{
        MistakeKind{"missing_write", "a register is not written", false, missing_write},
        MistakeKind{"write_after_enable", "a register is written too late", false,
                    write_after_enable},
        MistakeKind{"missing_enable", "a block is not enabled", false, missing_enable},
        MistakeKind{"enables_swapped", "blocks are enabled in another order", false,
                    enables_swapped},
        MistakeKind{"missing_flush_poll", "the buffer's flush is not awaited", false,
                    missing_flush_poll},
        MistakeKind{"missing_interrupt", "an interrupt is not awaited", false, missing_interrupt},
        MistakeKind{"wrong_interrupt", "another interrupt is awaited", false, wrong_interrupt},
        MistakeKind{"early_compare", "a result is compared too early", false, early_compare},
        MistakeKind{"missing_sync", "an id is not awaited", false, missing_sync},
        MistakeKind{"interrupt_masked", "all interrupts are masked", false, interrupt_masked},
        MistakeKind{"wrong_group", "the other register group is selected", false, wrong_group},
        MistakeKind{"missing_pointer", "no register group is selected", false, missing_pointer},
        MistakeKind{"lut_order", "a look-up table is loaded in another order", false, lut_order},
        MistakeKind{"lut_contents", "an entry or bound of a table is wrong", true, lut_contents},
    };
    return kinds;
}

}  // namespace npuscope::bench
