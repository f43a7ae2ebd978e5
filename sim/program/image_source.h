// SPDX-License-Identifier: Apache-2.0
// Where the readers of programs get the memory images from that statements name.
#pragma once

#include <functional>
#include <string>

#include "models/base/error.h"
#include "sim/program/memory_image.h"

namespace npuscope {

/// Gives the image that a statement at `place` names.
using ImageSource = std::function<MemoryImage(const std::string& file, const Place& place)>;

}  // namespace npuscope
