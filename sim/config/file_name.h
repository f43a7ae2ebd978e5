// SPDX-License-Identifier: Apache-2.0
// Names of tensors, layers and networks as file names. A name keeps its letters, digits, `_`, `-`,
// `.`, `+`, `=`, `@`, `,`, `:` and non-ASCII characters; every other byte becomes `%` and two
// hexadecimal digits, as in a URL: `a/b` is the file `a%2Fb`. So does a leading `.`. Different
// names are different files, no name leaves its folder, and `name_of_file` recovers the name.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace npuscope {

/// `name`, and `ending` unchanged. File systems allow up to 255 bytes; longer names are an error.
std::string file_name(std::string_view name, std::string_view ending);
/// The name that became a file, without its ending.
std::string name_of_file(std::string_view stem);
/// The ending of a file's name in small letters, with its dot: `.png` of `a.PNG`.
std::string lower_ending(const std::filesystem::path& path);

}  // namespace npuscope
