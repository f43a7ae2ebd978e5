// SPDX-License-Identifier: Apache-2.0
// The registers of one unit, behaving as in silicon, without time: shared registers, two shadow
// groups of the D_ registers, the producer and consumer pointers, op-enable, computed status, and
// the window to the look-up tables of SDP and CDP. Blocks without groups (GLB, MCIF, CVIF, BDMA,
// CFGROM) simply store. What a write triggers is up to the caller: BDMA's launch, GLB's interrupts.
//
// Findings: a write to a register without any writable field is a note (silicon ignores it, and
// official programs do it); a write to an unknown offset, or to a group whose operation is enabled,
// is an error and changes nothing; accessing a look-up table in use or beyond its end is a warning.
// source: nv_small RTL, register access logic of the units
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "models/base/diagnostic.h"
#include "models/base/register_map.h"

namespace npuscope {

// The look-up tables of SDP and CDP as the host loads them: a table and an entry are selected in
// S_LUT_ACCESS_CFG, then every access to S_LUT_ACCESS_DATA advances by one entry.
//
//     S_LUT_ACCESS_CFG   bits 0-9 LUT_ADDR | bit 16 LUT_TABLE_ID 0 = LE, 1 = LO |
//                        bit 17 LUT_ACCESS_TYPE 0 = read, 1 = write
//
// The two units differ at the edges: see LutPort::Style. Interpolation is arithmetic, not here.
// source: nv_small RTL of SDP and CDP register access

inline constexpr std::string_view lut_select_register = "S_LUT_ACCESS_CFG";
inline constexpr std::string_view lut_data_register = "S_LUT_ACCESS_DATA";

/// Contents of both tables; shared by the two register groups.
struct LutTables {
    std::array<std::int16_t, 65> le{};   ///< source: NVDLA LUT page, "X table entries"
    std::array<std::int16_t, 257> lo{};  ///< source: NVDLA LUT page, "Y table entries"

    bool operator==(const LutTables&) const = default;
};

/// Whether an operation with these registers, of SDP or CDP, uses the tables.
bool lut_is_used(const RegisterValues& values);

/// The window through which the host reaches the tables.
class LutPort {
 public:
    /// Sdp: the entry advances at every data access, even past the end (where writes are lost and
    /// reads return 0); the selection reads back as written. Cdp: the entry advances if the access
    /// matches the selected type, and stays at the last entry of the table; the selection reads
    /// back with the current entry.
    enum class Style { Sdp, Cdp };

    /// Result of a data write.
    enum class Written { Stored, TypeIsRead, PastEnd, LastAgain };

    explicit LutPort(Style style) : style_(style) {}

    void select(std::uint32_t value);
    std::uint32_t selection() const;
    Written write(std::uint32_t value);
    std::uint32_t read();

    const LutTables& tables() const { return tables_; }

 private:
    std::int16_t* present_entry();
    void move_on();
    std::uint32_t last_entry() const;

    Style style_;
    LutTables tables_;
    std::uint32_t selected_ = 0;  // as written
    std::uint32_t entry_ = 0;
    bool last_written_ = false;  // Cdp: the last entry of the table has its value
};

struct WriteEffect {
    enum class Kind {
        Stored,     ///< the register holds the writable bits of the value
        OpEnabled,  ///< D_OP_ENABLE of `group` went from 0 to 1
        Ignored,    ///< nothing changed, and nothing could
        Refused     ///< nothing changed, although the program intended it
    };

    Kind kind = Kind::Stored;
    const RegisterRow* row = nullptr;  ///< nullptr: no register there
    unsigned group = 0;                ///< of a D_ register
    std::uint32_t lost_bits = 0;       ///< bits of the value outside all writable fields
    std::optional<Diagnostic> finding;
};

/// The S_STATUS value of a group. source: NVDLA register specification, S_STATUS
enum class GroupStatus : std::uint32_t { Idle = 0, Running = 1, Pending = 2 };

class RegisterFile {
 public:
    /// `block` outlives the register file.
    explicit RegisterFile(const RegisterBlock& block);

    const RegisterBlock& block() const { return *block_; }
    bool has_groups() const { return has_groups_; }

    /// Called before hardware changes a register or ends an operation, so that earlier writes still
    /// in flight can be applied.
    void before_hardware_writes(std::function<void()> settle) { settle_ = std::move(settle); }
    /// Whether a write there affects more than this file: an op-enable, or a block without groups.
    bool sets_off(std::uint32_t offset) const;

    WriteEffect write(std::uint32_t offset, std::uint32_t value);
    /// The finding for a write that reaches no register file.
    static Diagnostic nothing_at(std::uint32_t address);
    /// What the host reads; nullopt if there is no register (the bus answers 0). Not const: reading
    /// look-up table data advances to the next entry.
    std::optional<std::uint32_t> read(std::uint32_t offset);

    /// The group that the host reads and writes, and the group that the unit processes next.
    unsigned producer() const { return producer_; }
    unsigned consumer() const { return consumer_; }
    bool op_enabled(unsigned group) const { return enabled_.at(group); }
    /// The operation whose turn it is has been enabled: pending or running.
    bool ready() const { return enabled_.at(consumer_); }
    GroupStatus status(unsigned group) const;

    /// Shared registers plus the D_ registers of one group; what a job is decoded from.
    const RegisterValues& values(unsigned group) const { return groups_.at(group); }
    /// nullptr for a block without tables.
    const LutTables* lut_tables() const { return lut_ ? &lut_->tables() : nullptr; }

    /// A register that only the hardware writes: counters, S_CBUF_FLUSH_STATUS. A D_ register
    /// changes in the consumer's group: set it before operation_done(), or name the group.
    void set_status(std::string_view register_name, std::uint32_t value,
                    std::optional<unsigned> group = std::nullopt);
    /// What the host reads next from a register that another unit keeps: the GLB's interrupts.
    void show(std::string_view register_name, std::uint32_t value);
    /// The consumer's operation is over: its op-enable is cleared and it is the other group's turn.
    void operation_done();

 private:
    bool grouped(const RegisterRow& row) const;
    WriteEffect store(const RegisterRow& row, std::uint32_t value);
    void put(const RegisterRow& row, unsigned group, std::uint32_t value);
    void enable(unsigned group);
    void refresh();
    std::optional<Diagnostic> write_lut_window(const RegisterRow& row, std::uint32_t value);
    std::optional<Diagnostic> lut_in_use(const RegisterRow& row) const;
    /// `message` follows the name of the register.
    Diagnostic finding(Severity severity, std::string_view kind, const RegisterRow& row,
                       const std::string& message) const;

    const RegisterBlock* block_;
    bool has_groups_;
    std::array<RegisterValues, 2> groups_;  // shared registers are in both
    std::array<bool, 2> enabled_{};
    unsigned producer_ = 0;
    unsigned consumer_ = 0;
    std::optional<LutPort> lut_;
    std::function<void()> settle_ = [] {};
};

}  // namespace npuscope
