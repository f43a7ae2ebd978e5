// SPDX-License-Identifier: Apache-2.0
// Devices of the C library in tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <variant>

#include "include/npuscope/npuscope.h"
#include "tests/sim/embed/platform.h"
#include "tests/support/c_door.h"

namespace npuscope::test {

inline constexpr std::uint32_t intr_mask = 0x1004;    // NVDLA_GLB.S_INTR_MASK_0, nv_small's map
inline constexpr std::uint32_t intr_status = 0x100c;  // NVDLA_GLB.S_INTR_STATUS_0

/// A device that ends with its scope.
struct Made {
    explicit Made(const char* npu = "nv_small", const npuscope_memory* memory = nullptr) {
        EXPECT_EQ(npuscope_create(npu, nullptr, 0, memory, &device), NPUSCOPE_OK)
            << npuscope_error();
    }
    Made(const Made&) = delete;
    Made& operator=(const Made&) = delete;
    ~Made() { EXPECT_EQ(npuscope_destroy(device), NPUSCOPE_OK); }
    npuscope_device* device = nullptr;
};

/// All register writes of a golden program, at once.
inline void write_registers(npuscope_device* device, const std::string& name) {
    CDoor door(device);
    for (const Statement& statement : golden(name).statements) {
        if (const auto* write = std::get_if<WriteRegister>(&statement.action)) {
            door.write(write->address, write->value);
        }
    }
}

}  // namespace npuscope::test
