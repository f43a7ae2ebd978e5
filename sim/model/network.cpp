// SPDX-License-Identifier: Apache-2.0
#include "sim/model/network.h"

#include "sim/config/whole_file.h"
#include "sim/config/yaml_reader.h"

namespace npuscope {

Network parse_network(const std::string& text, const std::string& file) {
    Network network = read_yaml<Network>(text, file);
    network.file = file;
    return network;
}

bool is_network_file(const std::filesystem::path& path) {
    return path.extension() == ".yaml" || path.extension() == ".yml";
}

Network read_network(const std::filesystem::path& path) {
    return parse_network(read_whole_file(path), path.string());
}

}  // namespace npuscope
