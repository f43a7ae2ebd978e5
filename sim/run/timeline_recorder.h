// SPDX-License-Identifier: Apache-2.0
// Listens to the machine and keeps a timeline. Consecutive spans of the same kind without a gap
// become one if they are short compared with the run, so that its size is bounded.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/link/activity.h"
#include "sim/run/timeline.h"

namespace npuscope {

class TimelineRecorder : public Recorder {
 public:
    /// Above this many spans of one lane, neighbours are joined.
    explicit TimelineRecorder(std::size_t most_spans = 20'000) : most_spans_(most_spans) {}

    void worked(const std::string& activity, Span span) override;
    void waited(const std::string& activity, WaitKind kind, std::string_view what,
                Span span) override;
    void counted(const std::string& counter, Cycles time, std::int64_t change) override;
    void restarted(const std::string& counter, Cycles time, std::int64_t value) override;

    /// Everything that was recorded; the recorder is empty afterwards.
    Timeline take();

 private:
    struct Change {
        Cycles time;
        std::int64_t amount;
        bool restart;  ///< `amount` is the new value
    };
    void add(const std::string& activity, TimelineSpan span);
    /// Joins neighbours until the lane has half of its maximum length.
    void coarsen(std::vector<TimelineSpan>& lane) const;

    std::size_t most_spans_;
    Timeline timeline_;
    std::map<std::string, std::vector<Change>> changes_;
};

}  // namespace npuscope
