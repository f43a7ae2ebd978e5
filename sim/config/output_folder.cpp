// SPDX-License-Identifier: Apache-2.0
#include "sim/config/output_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <system_error>

#include "models/base/error.h"
#include "sim/config/file_io.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* list_name = "written_files.txt";
constexpr const char* list_head =
    "# Written by `npuscope plan`: CRC-32, size and name of each file. The next plan in this "
    "folder\n# removes listed files that it does not rewrite and that were not modified.\n";

std::string fingerprint(std::string_view text) {
    const auto* bytes = reinterpret_cast<const Bytef*>(text.data());
    return fmt::format("{:08x} {}", ::crc32_z(0, bytes, text.size()), text.size());
}

/// None of its parts leaves the folder or is hidden, whatever the list says.
bool is_plain(const fs::path& name) {
    return name.is_relative() && !name.empty() &&
           std::ranges::all_of(name, [](const fs::path& part) {
               const std::string stem = part.string();
               return !stem.empty() && stem.front() != '.' && stem.find('\0') == std::string::npos;
           });
}

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
    throw ConfigError(fmt::format("cannot write '{}': {}", path.string(), why),
                      "nothing in the folder was changed; choose another one");
}

bool is_there(const fs::path& path) {
    std::error_code none;
    return fs::exists(fs::symlink_status(path, none));
}

/// Moves of files that can be undone.
class Moves {
 public:
    ~Moves() {
        for (auto move = done_.rbegin(); move != done_.rend(); ++move) {
            const auto& [from, to] = *move;
            ::rename(to.c_str(), from.c_str());
        }
        for (auto made = made_.rbegin(); made != made_.rend(); ++made) {
            const fs::path& folder = *made;
            ::rmdir(folder.c_str());
        }
    }
    void move(const fs::path& from, const fs::path& to, const fs::path& for_path) {
        if (::rename(from.c_str(), to.c_str()) != 0) {
            refuse(for_path, std::generic_category().message(errno));
        }
        done_.emplace_back(from, to);
    }
    void make_folder(const fs::path& folder) {
        std::error_code error;
        if (fs::create_directory(folder, error)) {
            made_.push_back(folder);
        } else if (error || !fs::is_directory(folder)) {
            refuse(folder, error ? error.message() : "it is not a folder");
        }
    }
    void keep() {
        done_.clear();
        made_.clear();
    }

 private:
    std::vector<std::pair<fs::path, fs::path>> done_;
    std::vector<fs::path> made_;
};

}  // namespace

OutputFolder::OutputFolder(fs::path folder) : folder_(std::move(folder)) {
    if (!folder_.has_filename() && folder_.has_parent_path() && folder_ != folder_.root_path()) {
        folder_ = folder_.parent_path();  // without a trailing slash
    }
    std::error_code error;
    const fs::file_status status = fs::status(folder_, error);
    exists_ = fs::exists(status) || is_there(folder_);  // a dangling link exists, too
    if (exists_ && !fs::is_directory(status)) {
        refuse(folder_, "it is not a folder");
    }
    temporary_ =
        std::make_unique<TemporaryFolder>(exists_ ? folder_ : make_folder_of(folder_), folder_);
    fs::create_directory(fresh());
}

void OutputFolder::write(const fs::path& name, std::string_view text) {
    write_atomically(fresh() / name, text, folder_ / name);
    const std::string shown = ' ' + name.generic_string();
    std::erase(names_, name);
    std::erase_if(listed_, [&](const std::string& line) { return line.ends_with(shown); });
    names_.push_back(name);
    listed_.push_back(fingerprint(text) + shown);
}

void OutputFolder::commit() {
    if (exists_) {
        replace(removed_);
        temporary_.reset();
        return;
    }
    {
        const auto hold = hold_interruptions();
        if (::rename(fresh().c_str(), folder_.c_str()) != 0) {
            const bool taken = errno == ENOTEMPTY || errno == EEXIST;
            refuse(folder_, taken ? "another process has written it meanwhile"
                                  : std::generic_category().message(errno));
        }
    }
    temporary_.reset();
}

void OutputFolder::commit_in_place_of_earlier() {
    std::string list = list_head;
    for (const std::string& line : listed_) {
        list += line + '\n';
    }
    write_atomically(fresh() / list_name, list, folder_ / list_name);
    names_.insert(names_.begin(), list_name);
    if (!exists_) {
        return commit();
    }
    std::vector<fs::path> obsolete = obsolete_files();
    obsolete.insert(obsolete.end(), removed_.begin(), removed_.end());
    replace(obsolete);
    temporary_.reset();
}

namespace {

/// A line of the list: `crc size name`.
struct ListedFile {
    std::string print;  ///< CRC and size
    std::string size;
    fs::path name;
};

std::vector<ListedFile> listed_files(const fs::path& folder) {
    std::vector<ListedFile> files;
    if (!is_there(folder / list_name)) {
        return files;
    }
    std::istringstream lines(read_whole_file(folder / list_name, {}, largest_config));
    for (std::string line; std::getline(lines, line);) {
        const std::size_t crc_end = line.find(' ');
        const std::size_t size_end = line.find(' ', crc_end + 1);
        if (line.starts_with('#') || size_end == std::string::npos) {
            continue;
        }
        ListedFile file{line.substr(0, size_end), line.substr(crc_end + 1, size_end - crc_end - 1),
                        line.substr(size_end + 1)};
        if (is_plain(file.name)) {
            files.push_back(std::move(file));
        }
    }
    return files;
}

}  // namespace

std::vector<fs::path> written_files(const fs::path& folder) {
    std::vector<fs::path> names;
    for (ListedFile& file : listed_files(folder)) {
        names.push_back(std::move(file.name));
    }
    return names;
}

/// Files of the earlier list that are still as they were written, and are not among the new ones.
std::vector<fs::path> OutputFolder::obsolete_files() const {
    std::vector<fs::path> obsolete;
    for (const auto& [print, size, name] : listed_files(folder_)) {
        std::error_code none;
        const bool ours = std::ranges::find(names_, name) == names_.end() &&
                          fs::is_regular_file(fs::symlink_status(folder_ / name, none)) &&
                          std::to_string(fs::file_size(folder_ / name, none)) == size;
        if (ours && fingerprint(read_whole_file(folder_ / name)) == print) {
            obsolete.push_back(name);
        }
    }
    return obsolete;
}

void OutputFolder::replace(const std::vector<fs::path>& obsolete) {
    const fs::path old = temporary_->path() / "old";
    fs::create_directory(old);
    const auto hold = hold_interruptions();
    Moves moves;
    std::size_t kept = 0;
    const auto take_away = [&](const fs::path& name) {
        const fs::path target = folder_ / name;
        std::error_code none;
        if (is_there(target) && fs::is_directory(fs::symlink_status(target, none))) {
            refuse(target, "it is a folder");
        }
        if (is_there(target)) {
            moves.move(target, old / std::to_string(kept++), target);
        }
    };
    std::for_each(names_.rbegin(), names_.rend(), take_away);
    std::ranges::for_each(obsolete, take_away);
    for (const fs::path& name : names_) {
        if (name.has_parent_path()) {
            moves.make_folder(folder_ / name.parent_path());
        }
        moves.move(fresh() / name, folder_ / name, folder_ / name);
    }
    moves.keep();
    for (const fs::path& name : obsolete) {
        if (name.has_parent_path()) {
            ::rmdir((folder_ / name.parent_path()).c_str());  // if it is empty now
        }
    }
}

}  // namespace npuscope
