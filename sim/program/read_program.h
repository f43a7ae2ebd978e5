// SPDX-License-Identifier: Apache-2.0
// A program from whatever the user named: picks the reader by the kind of file.
#pragma once

#include <filesystem>

#include "sim/program/program.h"
#include "sim/program/register_names.h"

namespace npuscope {

/// Without images a program is good for its time alone: files that it loads or compares with may
/// be missing, and are empty.
enum class Images { Read, LeaveOut };

/// A .cfg or .txn trace, or a folder with an input.txn or exactly one .cfg.
Program read_program(const std::filesystem::path& path, const RegisterNames& names,
                     Images images = Images::Read);

}  // namespace npuscope
