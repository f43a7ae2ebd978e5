// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace npuscope {

/// Names of options that were given although they have no effect, for one message about all.
class GivenOptions {
 public:
    void add(bool given, std::string_view option) {
        if (given) {
            names_ += (names_.empty() ? "" : ", ") + std::string(option);
        }
    }
    bool none() const { return names_.empty(); }
    /// `--mean, --scale`
    const std::string& names() const { return names_; }

 private:
    std::string names_;
};

}  // namespace npuscope
