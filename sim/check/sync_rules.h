// SPDX-License-Identifier: Apache-2.0
// What the program knows of the end of its operations: interrupts that it asked to be told of, ids
// that they raise, status registers that it polled.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/check/program_operations.h"
#include "sim/program/program.h"

namespace npuscope {

class SyncRules {
 public:
    SyncRules(ProgramOperations& operations, DiagnosticLog& log)
        : operations_(operations), log_(log) {}

    void note(const NotifyOnInterrupt& notify, const Place& place);
    void note(const SyncNotify& notify) { raised_.push_back(notify.sync); }
    void note(const SyncWait& wait, const Place& place);
    /// The interrupt line rose: any operation under way may have ended.
    void note(const WaitForInterrupt& wait, const Place& place);
    /// A register that is known to have held a value.
    void know(const std::string& register_name, std::uint32_t mask, std::uint32_t value);
    /// Operations were launched: requests that came before them find them now.
    void launched();
    void report_pending();

 private:
    struct Request {
        std::optional<Interrupt> interrupt;  ///< none: any
        std::string sync;
        Place place;
    };

    bool bind(const Request& request);
    void add(const char* id, const std::string& message, const Place& place,
             const std::string& remedy);

    ProgramOperations& operations_;
    DiagnosticLog& log_;
    std::vector<Request> requests_;            ///< for operations that are yet to come
    std::map<std::string, std::size_t> ends_;  ///< id to the operation whose end raises it
    std::vector<std::string> raised_;          ///< ids that mean nothing to operations
    std::optional<Place> awaited_too_early_;
};

}  // namespace npuscope
