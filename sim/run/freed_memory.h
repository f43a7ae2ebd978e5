// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace npuscope {

/// Tells the allocator to keep freed memory instead of returning it to the system: programs run one
/// after the other need the same tensors again, and fresh pages cost more than their contents. For
/// standalone processes; call it first in main. Does nothing if the allocator does not support it.
void keep_freed_memory();

}  // namespace npuscope
