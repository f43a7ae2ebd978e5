// SPDX-License-Identifier: Apache-2.0
#include "tests/support/program_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace npuscope {

namespace {

std::string_view memory_name(std::uint64_t address) {
    return address >= primary_memory_start ? "pri_mem" : "sec_mem";
}

std::uint64_t whole(std::uint64_t bytes) { return (bytes + 31) / 32 * 32; }

}  // namespace

void ProgramText::comment(std::string_view text) { text_ += fmt::format("// {}\n", text); }

void ProgramText::clear(std::uint64_t address, std::uint64_t bytes) {
    text_ += fmt::format("mem_init({}, {:#x}, {:#x}, ALL_ZERO);\n", memory_name(address), address,
                         whole(bytes));
}

void ProgramText::load(std::uint64_t address, const std::vector<std::uint8_t>& bytes,
                       const std::string& file, Random& random) {
    clear(address, bytes.size());
    text_ += fmt::format("mem_load({}, {:#x}, \"{}\");\n", memory_name(address), address, file);
    files_[file] = image_text(bytes, random);
}

void ProgramText::write(const RegisterValue& value) {
    text_ += fmt::format("reg_write({}, {:#x});\n", value.name, value.value);
}

void ProgramText::poll(const std::string& name, std::uint32_t value) {
    text_ += fmt::format("poll_reg_equal({},{:#x});\n", name, value);
}

void ProgramText::notify(const std::string& interrupt, const std::string& sync) {
    text_ += fmt::format("intr_notify({}, {});\n", interrupt, sync);
}

void ProgramText::wait(const std::string& unit, const std::string& sync) {
    text_ += fmt::format("sync_wait({}, {});\n", unit, sync);
}

void ProgramText::check_crc(const std::string& sync, std::uint64_t address, std::uint64_t bytes,
                            std::uint32_t crc) {
    const std::string_view memory = address >= primary_memory_start ? "1" : "sec_mem";
    text_ +=
        fmt::format("check_crc({}, {}, {:#x}, {:#x}, {:#x});\n", sync, memory, address, bytes, crc);
}

void ProgramText::check_nothing(const std::string& sync) {
    text_ += fmt::format("check_nothing({});\n", sync);
}

std::string image_text(const std::vector<std::uint8_t>& bytes, Random& random) {
    const std::size_t packet = random.one_of<std::size_t>({4, 32});
    const bool outer = random.chance(50);
    const bool upper = random.chance(20);
    std::string text = outer ? "{\n" : "";
    for (std::size_t offset = 0; offset < bytes.size(); offset += packet) {
        const std::size_t size = std::min(packet, bytes.size() - offset);
        text += fmt::format("{{offset:{:#x}, size:{}, payload:", offset, size);
        for (std::size_t i = 0; i < size; ++i) {
            const std::uint8_t byte = bytes[offset + i];
            text += upper ? fmt::format("0x{:02X} ", byte) : fmt::format("0x{:02x} ", byte);
        }
        text.pop_back();
        text += "} ,\n";
    }
    return outer ? text + "}\n" : text;
}

}  // namespace npuscope
