// SPDX-License-Identifier: Apache-2.0
#include "models/tinpu/tinpu_registers.h"

#include <array>

namespace npuscope {
namespace {

constexpr auto ro = RegisterAccess::ReadOnly;
constexpr auto rw = RegisterAccess::ReadWrite;

constexpr std::array identity{RegisterField{"VALUE", 0, 32, ro, tinpu_identity}};
constexpr std::array status{RegisterField{"BUSY", 0, 1, ro, 0},
                            RegisterField{"UNDER_WAY", 8, 8, ro, 0}};
constexpr std::array address{RegisterField{"ADDRESS", 0, 32, rw, 0}};
constexpr std::array start{RegisterField{"EN", 0, 1, rw, 0}};
constexpr std::array interrupts{RegisterField{"DONE", 0, 1, rw, 0},
                                RegisterField{"REFUSED", 1, 1, rw, 0}};
constexpr std::array layers{RegisterField{"COUNT", 0, 32, ro, 0}};

constexpr std::array rows{RegisterRow{"IDENTITY", 0x00, identity},
                          RegisterRow{"STATUS", 0x04, status},
                          RegisterRow{"DESCRIPTOR_LOW", 0x08, address},
                          RegisterRow{"DESCRIPTOR_HIGH", 0x0c, address},
                          RegisterRow{"START", 0x10, start},
                          RegisterRow{"INTERRUPT_STATUS", 0x14, interrupts},
                          RegisterRow{"INTERRUPT_MASK", 0x18, interrupts},
                          RegisterRow{"LAYERS_DONE", 0x1c, layers}};
constexpr RegisterBlock block{"TINPU", 0, rows};

}  // namespace

const RegisterBlock& tinpu_registers() { return block; }

}  // namespace npuscope
