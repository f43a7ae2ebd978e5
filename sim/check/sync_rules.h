// SPDX-License-Identifier: Apache-2.0
// What a program knows of the end of its operations: interrupts that it asked to be notified of,
// ids that they raise, status registers that it polled. Results that are compared before their end
// is known, ids that are never raised, and interrupts that are masked.
#pragma once

#include <map>
#include <optional>
#include <set>
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
    /// The interrupt line rises: any running operation may have ended, unless a fetch raises it.
    void note(const WaitForInterrupt& wait, const Place& place);
    /// Interrupts are cleared or set.
    void note(const WriteRegister& write);
    /// A register that is known to have held a value.
    void know(const std::string& register_name, std::uint32_t mask, std::uint32_t value);
    /// Operations were launched: earlier requests are matched with them now.
    void launched();
    /// Whether the id has been raised, or will be by an operation that has started.
    bool comes(const std::string& sync) const;
    /// A comparison that waits for an id, which comes(), or for none: the results of the region must
    /// be known to be there. An id that never comes is reported at the end.
    void compares(const std::string& sync, const ByteRun& region, const Place& place);
    /// Ids, and the operation whose end raises each.
    const std::map<std::string, std::size_t>& ends() const { return ends_; }
    /// At the end of the program: what never happens.
    void report_pending();

 private:
    struct Request {
        std::optional<Interrupt> interrupt;  ///< none: any
        std::string sync;
        Place place;

        bool takes(const Interrupt& raised) const { return !interrupt || *interrupt == raised; }
    };
    struct WaitingCompare {
        std::string sync;
        ByteRun region;
        Place place;
    };

    void know_interrupts(std::uint32_t bits);
    /// S_INTR_SET: each bit raises the oldest request for it, or the next one.
    void raise_interrupts(std::uint32_t bits);
    /// Whether an interrupt that the program has raised itself serves the request.
    bool take_unserved(const Request& request);
    bool bind(const Request& request);
    /// The next interrupt of any unit.
    bool bind_any(const Request& request);
    bool hidden(const Interrupt& interrupt) const;
    /// Its first block has what it needs: its end will come.
    bool has_started(std::size_t index) const;
    bool runs(std::size_t index) const;
    /// Interrupts of operations that have started, as far as they were not masked.
    void count_interrupts();
    std::size_t unmasked_of(std::size_t index) const;
    /// For a wait that nothing can end.
    void count_wait(const Place& place);
    /// Next to a wait that nothing ends: units that were programmed but not enabled.
    void report_unenabled(std::optional<Interrupt> wanted);
    /// A convolution whose data or weights raise an interrupt that the program has not seen yet:
    /// it counts as seen from now on.
    bool take_fetch(std::size_t index);
    /// Waits that began before the operation that ends them could start.
    void report_early_waits();
    bool raises(const std::string& sync) const;
    /// A finding at `place` for what writes the region and, as far as the program knows, has not
    /// ended when `end`, which may be nothing, has.
    void report_early(const ByteRun& region, std::optional<std::size_t> end, const Place& place);
    /// If no running operation can raise the line; whether it was reported.
    bool report_masked(const Place& place);

    ProgramOperations& operations_;
    DiagnosticLog& log_;
    std::vector<Request> requests_;            ///< for operations that are yet to come
    std::map<std::string, std::size_t> ends_;  ///< id to the operation whose end raises it
    std::vector<std::string> raised_;          ///< ids that mean nothing to operations
    std::vector<Interrupt> unserved_;          ///< raised by S_INTR_SET, requested by none so far
    std::vector<WaitingCompare> compares_;
    std::map<std::string, Place> early_waits_;  ///< ids that no started operation raises yet
    std::set<std::size_t> fetches_seen_;        ///< convolutions
    bool fetch_ended_wait_ = false;
    std::vector<std::size_t> rises_;  ///< for each operation: how many interrupts it may raise
    std::size_t set_ = 0;             ///< interrupts that the program raises itself
    std::size_t waits_ = 0;           ///< that were ended by one of them
    bool line_ = false;               ///< one has ended a wait and is not cleared
};

}  // namespace npuscope
