// SPDX-License-Identifier: Apache-2.0
// A generated program under construction: the preset, its random numbers, the memory map, the
// oracle's memory and the text. Surfaces are placed with gaps, and gaps and pad lanes of inputs
// hold random bytes too, so that reading them by mistake shows.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/support/generate_preset.h"
#include "tests/support/generate_registers.h"
#include "tests/support/oracle_memory.h"
#include "tests/support/program_text.h"

namespace npuscope {

/// What must be in memory after a layer.
struct ExpectedRegion {
    std::uint64_t address = 0;
    std::vector<std::uint8_t> bytes;
    std::uint32_t crc = 0;
};

/// Registers of the units that run one layer, in the order of their op-enables.
struct Layer {
    std::vector<UnitRegisters> units;
    std::vector<RegisterValue> tables;  ///< look-up tables, shared by both register groups
    bool convolution = false;
    std::string unit;    ///< whose interrupt ends the layer: SDP, PDP or CDP
    std::string silent;  ///< a unit that works before it, SDP in front of PDP
    std::uint32_t group = 0;
    std::string sentence;  ///< comment
    oracle::Surface output;
    std::uint64_t output_bytes = 0;
    oracle::Cube values;  ///< of every lane
};

struct CubeSize {
    std::uint32_t channels = 1;
    std::uint32_t height = 1;
    std::uint32_t width = 1;
};

class Scene {
 public:
    Scene(const PresetParameters& parameters, std::uint64_t seed)
        : preset(parameters), random(seed) {}

    /// A separate place, 32-byte aligned, occasionally in the secondary memory.
    std::uint64_t allocate(std::uint64_t bytes);
    /// Packed, or with gaps after lines and surfaces; one-pixel cubes are always packed.
    oracle::Surface place(const CubeSize& size);
    /// Fills with random bytes of one of several styles and writes mem_init, mem_load.
    /// Operands are always of the plain style.
    void load_random(std::uint64_t address, std::uint64_t bytes, const std::string& name,
                     bool operand = false);
    /// A surface full of random values.
    oracle::Surface load_surface(const CubeSize& size, const std::string& name);
    /// A zeroed surface with some room after it, whose CRC is checked later.
    void place_output(Layer& layer, const CubeSize& size);
    /// The register group a unit uses next; they take turns.
    std::uint32_t next_group(const std::string& unit) { return launches_[unit]++ % 2; }

    /// Writes registers; starts; waits and checks, in this order for one layer. A layer that reads
    /// the output of another is made after the other's settle().
    void program(const Layer& layer);
    void start(const Layer& layer);
    /// Turns every unit's pointer to the layer's group first.
    void point_and_start(const Layer& layer);
    /// Puts the layer's output into the oracle's memory.
    void settle(const Layer& layer);
    /// What follows for the layer's units waits for the id.
    void wait(const Layer& layer, const std::string& sync);
    /// The id that the layer's end raises.
    std::string finish(const Layer& layer);
    void run(const Layer& layer) {
        program(layer);
        start(layer);
        finish(layer);
    }

    /// Interrupts that convolutions leave unmasked: those of the layer's own end, or all.
    void unmask_all() { unmask_all_ = true; }

    const PresetParameters& preset;
    Random random;
    oracle::Memory memory;
    ProgramText text;
    std::vector<ExpectedRegion> expected;

 private:
    std::uint8_t random_byte(std::uint32_t style, std::uint8_t before);

    std::uint64_t primary_ = primary_memory_start;
    std::uint64_t secondary_ = secondary_memory_start;
    std::map<std::string, std::uint32_t> launches_;
    std::uint32_t files_ = 0;
    std::uint32_t syncs_ = 0;
    bool unmask_all_ = false;
};

}  // namespace npuscope
