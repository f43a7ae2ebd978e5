// SPDX-License-Identifier: Apache-2.0
// Names of tensors, layers and networks as names of files. A name keeps its letters, digits, `_`, `-`,
// `.`, `+`, `=`, `@`, `,`, `:` and what is not ASCII; every other byte becomes `%` and two hexadecimal
// digits, as in a URL: `a/b` is the file `a%2Fb`. So does a `.` at the beginning. Different names are
// different files, no name leaves its folder, and `name_of_file` finds the name back.
#pragma once

#include <string>
#include <string_view>

namespace npuscope {

/// `name`, and `ending` as it is. File systems take up to 255 bytes, which their user is told.
std::string file_name(std::string_view name, std::string_view ending);
/// The name that became a file, without its ending.
std::string name_of_file(std::string_view stem);

}  // namespace npuscope
