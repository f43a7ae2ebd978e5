// SPDX-License-Identifier: Apache-2.0
// The three kinds of things that go wrong: the user's input (exit 2), the machine that stopped
// (exit 3) and a bug of ours (exit 70, see check.h). A failed expectation is no error but a result.
#pragma once

#include <stdexcept>
#include <string>

namespace npuscope {

/// Where in the user's input something stands; line and column count from 1, 0 = unknown.
struct Place {
    std::string file;
    unsigned line = 0;
    unsigned column = 0;

    bool operator==(const Place&) const = default;
};

/// `nv_small.yaml:4:3`, or the file alone where no line is known.
std::string to_string(const Place& place);

/// The user's input is wrong: bad file, impossible combination, misaligned surface.
/// `what()` reads `place: sentence (remedy)`; a part that is empty is left out.
class ConfigError : public std::runtime_error {
 public:
    explicit ConfigError(const std::string& sentence, const std::string& remedy = {});
    ConfigError(const Place& place, const std::string& sentence, const std::string& remedy = {});

    const Place& place() const { return place_; }
    const std::string& sentence() const { return sentence_; }
    const std::string& remedy() const { return remedy_; }

 private:
    Place place_;
    std::string sentence_;
    std::string remedy_;
};

/// The simulated machine cannot go on: deadlock or cycle limit. Says who waits for what, since
/// when.
class MachineStopped : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

}  // namespace npuscope
