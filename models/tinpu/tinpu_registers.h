// SPDX-License-Identifier: Apache-2.0
// Registers through which a host starts a TINPU's layers. This programming interface is our own,
// for test benches: the vendor's is not public.
//
//     DESCRIPTOR_LOW, _HIGH   byte address of a layer's descriptor (tinpu_descriptor.h)
//     START                   writing 1 launches the layer that the descriptor names
//     STATUS                  layers under way, and whether any
//     INTERRUPT_STATUS        DONE: a layer has ended; REFUSED: a descriptor was not valid.
//                             Writing ones clears.
//     INTERRUPT_MASK          ones hide
//     LAYERS_DONE             layers that ended since reset
#pragma once

#include "models/base/register_map.h"

namespace npuscope {

inline constexpr std::uint32_t tinpu_identity = 0x544e5055;  ///< "TNPU"

const RegisterBlock& tinpu_registers();

}  // namespace npuscope
