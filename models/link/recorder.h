// SPDX-License-Identifier: Apache-2.0
// Who wants to know what the machine did when: a timeline. Activities tell it of their work and
// waits, stores of their contents. Without a recorder nothing is told and nothing is spent.
#pragma once

#include <cstdint>
#include <string>

#include "models/base/quantity.h"

namespace npuscope {

enum class WaitKind { Idle, Starved, Blocked };

class Recorder {
 public:
    virtual ~Recorder() = default;

    struct Span {
        Cycles begin;
        Cycles end;
    };
    virtual void worked(const std::string& activity, Span span) = 0;
    /// `what` is the event, package or credit that was missing.
    virtual void waited(const std::string& activity, WaitKind kind, const std::string& what,
                        Span span) = 0;
    /// A count changes by `change` at `time`, which may lie ahead.
    virtual void counted(const std::string& counter, Cycles time, std::int64_t change) = 0;
    /// A count starts anew from `value` at `time`.
    virtual void restarted(const std::string& counter, Cycles time, std::int64_t value) = 0;
};

}  // namespace npuscope
