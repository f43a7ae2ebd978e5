// SPDX-License-Identifier: Apache-2.0
// The three kinds of things that go wrong: the user's input (exit 2), a machine that stopped (exit
// 3) and a bug of the simulator (exit 70, see check.h). A failed expectation is a result, not an
// error.
#pragma once

#include <stdexcept>
#include <string>

#include "models/base/diagnostic.h"

namespace npuscope {

/// The user's input is wrong: bad file, impossible combination, misaligned surface. Wraps the
/// diagnostic; `what()` reads `place: sentence (remedy)`, omitting empty parts.
class ConfigError : public std::runtime_error {
 public:
    explicit ConfigError(Diagnostic diagnostic);
    explicit ConfigError(const std::string& sentence, const std::string& remedy = {});
    ConfigError(const Place& place, const std::string& sentence, const std::string& remedy = {});

    const Diagnostic& diagnostic() const { return diagnostic_; }
    const Place& place() const { return diagnostic_.place; }
    const std::string& sentence() const { return diagnostic_.sentence; }
    const std::string& remedy() const { return diagnostic_.remedy; }

 private:
    Diagnostic diagnostic_;
};

/// The simulated machine cannot continue: deadlock or cycle limit. States which unit waits for
/// what, and since when.
class MachineStopped : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

}  // namespace npuscope
