// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace npuscope {

/// Tells the allocator to keep what is freed instead of handing it back to the system: programs run
/// one after the other need the same tensors again, and fresh pages cost more than their contents.
/// For a process of one's own; call it first in main. Does nothing where the allocator cannot.
void keep_freed_memory();

}  // namespace npuscope
