// SPDX-License-Identifier: Apache-2.0
// A folder of results that belong together: all of them appear, or none. They are written to a
// temporary folder, and get their names when the last one is complete: a new folder in one step,
// files of an existing folder one after the other, with interruptions held and every step undone if
// one fails. The file that was written last is removed first and added last, so that a folder that
// has it is complete even if the computer stops in between.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/temporary.h"

namespace npuscope {

class OutputFolder {
 public:
    /// ConfigError if `folder` is something else, or cannot be created or written.
    explicit OutputFolder(std::filesystem::path folder);

    /// `name` may be in a subfolder. A name that was already written is replaced.
    void write(const std::filesystem::path& name, std::string_view text);
    /// A file of an earlier call goes when the others appear.
    void remove(const std::filesystem::path& name) { removed_.push_back(name); }
    /// Everything gets its final name. Other files of the folder stay as they are.
    void commit();
    /// As commit(), and files that an earlier call wrote are removed unless they are written again
    /// or were changed since: `written_files.txt` lists what was written.
    void commit_in_place_of_earlier();

 private:
    std::filesystem::path fresh() const { return temporary_->path() / "new"; }
    void replace(const std::vector<std::filesystem::path>& obsolete);
    std::vector<std::filesystem::path> obsolete_files() const;

    std::filesystem::path folder_;
    bool exists_ = false;
    std::unique_ptr<TemporaryFolder> temporary_;
    std::vector<std::filesystem::path> names_;  ///< in the order of writing
    std::vector<std::string> listed_;           ///< lines of the list
    std::vector<std::filesystem::path> removed_;
};

/// The files that `written_files.txt` of a folder lists; none if it has no such list.
std::vector<std::filesystem::path> written_files(const std::filesystem::path& folder);

}  // namespace npuscope
