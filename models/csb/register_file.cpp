// SPDX-License-Identifier: Apache-2.0
#include "models/csb/register_file.h"

#include <fmt/format.h>

#include <cctype>
#include <utility>

#include "models/base/check.h"
#include "models/base/rule_ids.h"

namespace npuscope {
namespace {

constexpr std::uint32_t entry_mask = 0x3ff;        // source: NVDLA register specification, LUT_ADDR
constexpr std::uint32_t table_is_lo = 1U << 16;    // source: LUT_TABLE_ID
constexpr std::uint32_t type_is_write = 1U << 17;  // source: LUT_ACCESS_TYPE

}  // namespace

bool lut_is_used(const RegisterValues& values) {
    if (find_register(values.block(), "D_DP_EW_CFG") != nullptr) {
        return values.field("D_DP_EW_CFG", "EW_BYPASS") == 0 &&
               values.field("D_DP_EW_CFG", "EW_LUT_BYPASS") == 0;
    }
    return values.field("D_FUNC_BYPASS", "MUL_BYPASS") == 0;
}

void LutPort::select(std::uint32_t value) {
    selected_ = value & (entry_mask | table_is_lo | type_is_write);
    entry_ = value & entry_mask;
    last_written_ = false;
}

std::uint32_t LutPort::selection() const {
    return style_ == Style::Sdp ? selected_ : (selected_ & ~entry_mask) | entry_;
}

std::uint32_t LutPort::last_entry() const {
    const std::size_t size = (selected_ & table_is_lo) != 0 ? tables_.lo.size() : tables_.le.size();
    return static_cast<std::uint32_t>(size - 1);
}

std::int16_t* LutPort::present_entry() {
    if (entry_ > last_entry()) {
        return nullptr;
    }
    return (selected_ & table_is_lo) != 0 ? &tables_.lo[entry_] : &tables_.le[entry_];
}

void LutPort::move_on() {
    if (style_ == Style::Sdp || entry_ != last_entry()) {
        entry_ = (entry_ + 1) & entry_mask;
    }
}

LutPort::Written LutPort::write(std::uint32_t value) {
    const bool is_write = (selected_ & type_is_write) != 0;
    std::int16_t* entry = present_entry();
    if (is_write && entry != nullptr) {
        *entry = static_cast<std::int16_t>(value & 0xffffU);
    }
    const bool at_last = entry_ == last_entry();
    if (is_write || style_ == Style::Sdp) {
        move_on();
    }
    if (!is_write) {
        return Written::TypeIsRead;
    }
    if (entry == nullptr) {
        return Written::PastEnd;
    }
    const bool again = style_ == Style::Cdp && at_last && last_written_;
    last_written_ = at_last;
    return again ? Written::LastAgain : Written::Stored;
}

std::uint32_t LutPort::read() {
    const bool is_write = (selected_ & type_is_write) != 0;
    const std::int16_t* entry = present_entry();
    std::int16_t value = entry == nullptr ? std::int16_t{0} : *entry;
    if (entry == nullptr && style_ == Style::Cdp) {  // its decoder falls back to the first entry
        value = (selected_ & table_is_lo) != 0 ? tables_.lo[0] : tables_.le[0];
    }
    if (!is_write || style_ == Style::Sdp) {
        move_on();
    }
    return static_cast<std::uint16_t>(value);
}

namespace {

constexpr std::string_view pointer_register = "S_POINTER";
constexpr std::string_view status_register = "S_STATUS";
constexpr std::string_view enable_register = "D_OP_ENABLE";
constexpr std::uint32_t producer_bit = 1;       // source: register specification, PRODUCER
constexpr std::uint32_t enable_bit = 1;         // source: register specification, OP_EN
constexpr unsigned consumer_lsb = 16;           // source: register specification, CONSUMER
constexpr unsigned status_of_group_1_lsb = 16;  // source: register specification, STATUS_1

/// `NVDLA_SDP_RDMA` is the unit `sdp_rdma` in every result.
std::string unit_name(const RegisterBlock& block) {
    constexpr std::string_view prefix = "NVDLA_";
    std::string name;
    for (const char letter :
         block.name.substr(block.name.starts_with(prefix) ? prefix.size() : 0)) {
        name += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
    return name;
}

/// How a program avoids a violation of the rule.
std::string remedy_of(std::string_view id) {
    if (id == "register_in_use") {
        return "wait for the operation's interrupt first, or program the other register "
               "group (S_POINTER)";
    }
    if (id == "lut_in_use") {
        return "wait for the operation's interrupt before loading the tables";
    }
    return id == "register_unknown" ? "`npuscope list registers` prints the map"
                                    : "remove the write";
}

/// Of an address or a stride without the bits below its field, as the BDMA and RUBIK have them.
std::uint32_t multiple_of(const RegisterRow& row) {
    return row.fields.size() == 1 ? 1U << row.fields.front().lsb : 1U;
}

/// `finding` names the register so far.
void set_misaligned(Diagnostic& finding, std::uint32_t multiple, std::uint32_t value) {
    const std::uint64_t below = value / multiple * multiple;
    finding.sentence +=
        fmt::format(" = {:#x}: it holds multiples of {} bytes, and the unit uses {:#x}", value,
                    multiple, below);
    finding.remedy =
        fmt::format("the nearest legal values are {:#x} and {:#x}", below, below + multiple);
    finding.value = fmt::format("{:#x}", value);
    finding.nearest = fmt::format("{:#x}", below);
}

std::optional<LutPort> lut_port_of(const RegisterBlock& block) {
    if (find_register(block, lut_select_register) == nullptr) {
        return std::nullopt;
    }
    return LutPort(block.name == "NVDLA_CDP" ? LutPort::Style::Cdp : LutPort::Style::Sdp);
}

}  // namespace

RegisterFile::RegisterFile(const RegisterBlock& block)
    : block_(&block),
      has_groups_(find_register(block, enable_register) != nullptr),
      groups_{RegisterValues(block), RegisterValues(block)},
      lut_(lut_port_of(block)) {}

bool RegisterFile::grouped(const RegisterRow& row) const {
    return has_groups_ && row.name.starts_with("D_");
}

Diagnostic RegisterFile::finding(Severity severity, std::string_view kind, const RegisterRow& row,
                                 const std::string& message) const {
    const std::string name = spelled(block_->name, row.name);
    return {.severity = severity,
            .id = std::string(kind),
            .sentence = name + message,
            .remedy = remedy_of(kind),
            .unit = unit_name(*block_),
            .register_name = name};
}

bool RegisterFile::sets_off(std::uint32_t offset) const {
    const RegisterRow* row = find_register(*block_, offset);
    return !has_groups_ || (row != nullptr && row->name == enable_register);
}

Diagnostic RegisterFile::nothing_at(std::uint32_t address) {
    return {.id = "register_unknown",
            .sentence = "no register at " + to_hex(address),
            .remedy = "`npuscope list registers` prints the map"};
}

WriteEffect RegisterFile::write(std::uint32_t offset, std::uint32_t value) {
    const RegisterRow* row = find_register(*block_, offset);
    WriteEffect effect;
    effect.row = row;
    effect.group = producer_;
    if (row == nullptr) {
        effect.kind = WriteEffect::Kind::Refused;
        effect.finding = {.severity = Severity::Error,
                          .id = "register_unknown",
                          .sentence = std::string(block_->name) + " has no register at offset " +
                                      to_hex(offset) + "; " + to_hex(value) + " was written there",
                          .remedy = remedy_of("register_unknown"),
                          .unit = unit_name(*block_)};
    } else if (write_mask(*row) == 0) {
        effect.kind = WriteEffect::Kind::Ignored;
        effect.lost_bits = value;
        effect.finding = finding(Severity::Note, "register_read_only", *row,
                                 " is read-only; the write is ignored");
    } else if (grouped(*row) && enabled_[producer_]) {
        effect.kind = WriteEffect::Kind::Refused;
        effect.finding = finding(Severity::Error, "register_in_use", *row,
                                 " was written while the operation of register group " +
                                     std::to_string(producer_) + " is enabled; the write is lost");
        effect.finding->once_a_unit = true;
    } else {
        effect = store(*row, value);
    }
    return effect;
}

WriteEffect RegisterFile::store(const RegisterRow& row, std::uint32_t value) {
    const std::uint32_t mask = write_mask(row);
    WriteEffect effect;
    effect.row = &row;
    effect.group = producer_;
    effect.lost_bits = value & ~mask;
    if (has_groups_ && row.name == pointer_register) {
        producer_ = value & producer_bit;
        refresh();
    } else if (has_groups_ && row.name == enable_register) {
        if ((value & enable_bit) != 0) {
            enable(producer_);
            effect.kind = WriteEffect::Kind::OpEnabled;
        }
    } else if (lut_ && (row.name == lut_select_register || row.name == lut_data_register)) {
        effect.finding = write_lut_window(row, value);
    } else {
        const std::uint32_t kept = groups_[producer_].raw(row.name) & ~mask;
        put(row, producer_, kept | (value & mask));
        if (const std::uint32_t multiple = multiple_of(row);
            (effect.lost_bits & (multiple - 1U)) != 0) {
            effect.finding = finding(Severity::Error, rule_ids::misaligned, row, "");
            set_misaligned(*effect.finding, multiple, value);
        }
    }
    if (!effect.finding) {
        effect.finding = lut_in_use(row);
    }
    return effect;
}

void RegisterFile::put(const RegisterRow& row, unsigned group, std::uint32_t value) {
    if (grouped(row)) {
        groups_.at(group).set(row.offset, value);
        return;
    }
    for (RegisterValues& values : groups_) {
        values.set(row.offset, value);
    }
}

/// A rising op-enable clears the results of the group's previous operation.
void RegisterFile::enable(unsigned group) {
    for (const RegisterRow& row : block_->rows) {
        if (grouped(row) && write_mask(row) == 0) {
            put(row, group, reset_value(row));
        }
    }
    enabled_[group] = true;
    refresh();
}

/// Pointers, status and op-enables are in the values as the host reads them.
void RegisterFile::refresh() {
    const auto status_bits = [this](unsigned group) {
        return static_cast<std::uint32_t>(status(group));
    };
    for (const RegisterRow& row : block_->rows) {
        if (row.name == pointer_register) {
            put(row, 0, producer_ | (consumer_ << consumer_lsb));
        } else if (row.name == status_register) {
            put(row, 0, status_bits(0) | (status_bits(1) << status_of_group_1_lsb));
        } else if (row.name == enable_register) {
            put(row, 0, enabled_[0] ? enable_bit : 0);
            put(row, 1, enabled_[1] ? enable_bit : 0);
        }
    }
}

/// Selection and data of the look-up tables are accessed through their window.
std::optional<Diagnostic> RegisterFile::write_lut_window(const RegisterRow& row,
                                                         std::uint32_t value) {
    put(row, 0, value & write_mask(row));
    if (row.name == lut_select_register) {
        lut_->select(value);
        return std::nullopt;
    }
    switch (lut_->write(value)) {
        case LutPort::Written::TypeIsRead:
            return finding(
                Severity::Warning, "lut_not_writable", row,
                " was written while the table is selected for reading; the value is lost");
        case LutPort::Written::PastEnd:
            return finding(Severity::Warning, "lut_past_end", row,
                           " was written past the end of the table; the value is lost");
        case LutPort::Written::LastAgain:
            return finding(
                Severity::Warning, "lut_past_end", row,
                " was written past the end of the table; the value replaces the last entry");
        case LutPort::Written::Stored:
            break;
    }
    return std::nullopt;
}

/// The tables exist once: loading them for the next layer disturbs one that still uses them.
std::optional<Diagnostic> RegisterFile::lut_in_use(const RegisterRow& row) const {
    if (!lut_ || !row.name.starts_with("S_LUT_") || !ready() || !lut_is_used(groups_[consumer_])) {
        return std::nullopt;
    }
    return finding(Severity::Warning, "lut_in_use", row,
                   " was written while the operation of register group " +
                       std::to_string(consumer_) + " looks values up");
}

std::optional<std::uint32_t> RegisterFile::read(std::uint32_t offset) {
    const RegisterRow* row = find_register(*block_, offset);
    if (row == nullptr) {
        return std::nullopt;
    }
    if (lut_ && row->name == lut_select_register) {
        return lut_->selection();
    }
    if (lut_ && row->name == lut_data_register) {
        return lut_->read();
    }
    return groups_[producer_].raw(row->name);
}

GroupStatus RegisterFile::status(unsigned group) const {
    if (!enabled_.at(group)) {
        return GroupStatus::Idle;
    }
    return group == consumer_ ? GroupStatus::Running : GroupStatus::Pending;
}

void RegisterFile::set_status(std::string_view register_name, std::uint32_t value,
                              std::optional<unsigned> group) {
    settle_();
    const RegisterRow* row = find_register(*block_, register_name);
    NPU_CHECK(row != nullptr, "no register " + std::string(register_name));
    NPU_CHECK(write_mask(*row) == 0, std::string(register_name) + " belongs to the host");
    NPU_CHECK(!has_groups_ || row->name != status_register, "S_STATUS follows the op-enables");
    put(*row, group.value_or(consumer_), value);
}

void RegisterFile::show(std::string_view register_name, std::uint32_t value) {
    const RegisterRow* row = find_register(*block_, register_name);
    NPU_CHECK(row != nullptr, "no register " + std::string(register_name));
    put(*row, 0, value);
}

void RegisterFile::operation_done() {
    settle_();
    NPU_CHECK(has_groups_, std::string(block_->name) + " has no operations");
    NPU_CHECK(enabled_[consumer_],
              std::string(block_->name) + " finished an operation that was not enabled");
    enabled_[consumer_] = false;
    consumer_ = 1 - consumer_;
    refresh();
}

}  // namespace npuscope
