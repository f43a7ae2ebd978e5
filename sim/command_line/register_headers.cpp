// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/register_headers.h"

#include <fmt/format.h>

#include <cctype>
#include <functional>

namespace npuscope {
namespace {

/// Calls `constant(name, value, hexadecimal)` for every register and field, in order.
void each_constant(const FamilyRegisters& registers,
                   const std::function<void(const std::string&, std::uint32_t, bool)>& constant) {
    for (const RegisterBlock& block : registers.blocks) {
        for (const RegisterRow& row : block.rows) {
            const std::string name = fmt::format("{}_{}{}", block.name, row.name, registers.suffix);
            constant(name, block.base + row.offset, true);
            for (const RegisterField& field : row.fields) {
                const std::uint64_t ones = (std::uint64_t{1} << field.width) - 1;
                const std::string of_field = fmt::format("{}_{}", name, field.name);
                constant(of_field + "_SHIFT", field.lsb, false);
                constant(of_field + "_MASK", static_cast<std::uint32_t>(ones << field.lsb), true);
                constant(of_field + "_RESET", field.reset, true);
            }
        }
    }
}

/// `nv_small`, as part of a name.
std::string word_of(const std::string& npu) {
    std::string word;
    for (const char letter : npu) {
        word += std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
    }
    return word;
}

}  // namespace

std::string registers_c_header(const FamilyRegisters& registers, const std::string& npu) {
    const std::string guard = "NPUSCOPE_REGISTERS_" + word_of(npu) + "_H";
    std::string text = fmt::format(
        "/* Registers of {0}: npuscope list registers --npu {0} --c-header\n"
        " * Addresses are bytes from the start of the NPU's registers; a MASK is in place, a RESET "
        "is "
        "not. */\n#ifndef {1}\n#define {1}\n",
        npu, guard);
    each_constant(registers, [&](const std::string& name, std::uint32_t value, bool hexadecimal) {
        text += hexadecimal ? fmt::format("#define {} 0x{:x}u\n", name, value)
                            : fmt::format("#define {} {}u\n", name, value);
    });
    return text + "#endif\n";
}

std::string registers_sv_package(const FamilyRegisters& registers, const std::string& npu) {
    std::string text = fmt::format(
        "// Registers of {0}: npuscope list registers --npu {0} --sv-package\n"
        "// Addresses are bytes from the start of the NPU's registers; a MASK is in place, a RESET "
        "is "
        "not.\npackage {1}_registers;\n",
        npu, word_of(npu));
    each_constant(registers, [&](const std::string& name, std::uint32_t value, bool hexadecimal) {
        text += hexadecimal ? fmt::format("  localparam logic [31:0] {} = 32'h{:x};\n", name, value)
                            : fmt::format("  localparam int {} = {};\n", name, value);
    });
    return text + "endpackage\n";
}

}  // namespace npuscope
