// SPDX-License-Identifier: Apache-2.0
// What a run's actions cost: energy and area by a table whose every line has a source. Actions
// without a line are named and left out; control, clocks and leakage are never included.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/config/json_writer.h"
#include "sim/run/result.h"

namespace npuscope {

/// Energy of one action, or of this many bytes.
struct ActionEnergy {
    std::string part;
    std::string action;
    std::optional<Bytes> bytes{};
    std::optional<Bytes> bank{};
    std::uint64_t femtojoules = 0;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.required("part", self.part,
                       "part: mac, cbuf or cacc, as in a result's `actions`; memory (of an NVDLA's "
                       "first port), on_chip (behind its second port, or another NPU's), or "
                       "dram_REGION");
        visit.required("action", self.action, "action of the part, e.g. int8, read_bytes");
        visit.field(
            "bytes", self.bytes,
            "number of bytes that the energy is for, where the action counts bytes; default: 1");
        visit.field("bank", self.bank,
                    "size of the SRAM; a bank uses the smallest entry that holds it; default: any, "
                    "where no entry with a size does");
        visit.required("femtojoules", self.femtojoules,
                       "energy of one action, or of `bytes` bytes");
    }
};

/// Area of one of a part's cells.
struct CellArea {
    std::string part;
    std::string kind;
    std::uint64_t square_micrometres = 0;

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.required("part", self.part, "mac");
        visit.required("kind", self.kind,
                       "data type that the cell computes with: int8, int16 or fp16");
        visit.required("square_micrometres", self.square_micrometres, "area of one cell");
    }
};

struct EnergyTable {
    std::string process;
    std::vector<ActionEnergy> actions{};
    std::vector<CellArea> areas{};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.required("process", self.process, "process and voltage of the table: `45 nm, 0.9 V`");
        visit.required("actions", self.actions, "energy of actions");
        visit.field("areas", self.areas, "area of cells");
    }
};

/// From YAML text; `file` is its name in messages. ConfigError for an action that no run counts, and
/// for one that two lines give.
EnergyTable read_energy_table(const std::string& text, const std::string& file);

EnergyEstimate estimate_energy(const EnergyTable& table, const Result& result);
Json energy_json(const EnergyEstimate& estimate);
/// A line of the summary; the result tells what else the NPU has.
std::string energy_line(const EnergyEstimate& estimate, const Result& result);

/// Only the counts, as Accelergy reads them: `action_counts` with a component for each part.
/// source: Accelergy, github.com/Accelergy-Project, action counts of version 0.3
std::string action_counts_yaml(const Result& result);

}  // namespace npuscope
