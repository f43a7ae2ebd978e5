// SPDX-License-Identifier: Apache-2.0
// Writes a register program in NVIDIA's trace format, one statement per line, and its memory
// images:
//     mem_load(pri_mem, 0x80000000, "in.dat");     {offset:0x0, size:4, payload:0x01 0x02 ..} ,
// source: nv_small trace tests, files .cfg and .dat
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/generate_random.h"

namespace npuscope {

struct RegisterValue {
    std::string name;  ///< NVDLA_SDP.D_DATA_CUBE_WIDTH_0
    std::uint32_t value = 0;
};

class ProgramText {
 public:
    void comment(std::string_view text);
    /// Zeroes a region; addresses under 0x80000000 are in the secondary memory.
    void clear(std::uint64_t address, std::uint64_t bytes);
    /// Zeroes a region of whole 32 bytes and loads an image of a random but valid form.
    void load(std::uint64_t address, const std::vector<std::uint8_t>& bytes,
              const std::string& file, Random& random);
    void write(const RegisterValue& value);
    void write(const std::string& name, std::uint32_t value) { write({name, value}); }
    void poll(const std::string& name, std::uint32_t value);
    void notify(const std::string& interrupt, const std::string& sync);
    /// What follows for this unit waits for the id.
    void wait(const std::string& unit, const std::string& sync);
    void check_crc(const std::string& sync, std::uint64_t address, std::uint64_t bytes,
                   std::uint32_t crc);
    void check_nothing(const std::string& sync);

    const std::string& text() const { return text_; }
    const std::map<std::string, std::string>& files() const { return files_; }

 private:
    std::string text_;
    std::map<std::string, std::string> files_;
};

/// An image as trace text: packets of 4 or 32 bytes, with or without outer braces.
std::string image_text(const std::vector<std::uint8_t>& bytes, Random& random);

/// Where the secondary memory begins and ends for these programs; the primary is above.
inline constexpr std::uint64_t secondary_memory_start = 0x50000000;  // source: NVIDIA's test bench
inline constexpr std::uint64_t primary_memory_start = 0x80000000;

}  // namespace npuscope
