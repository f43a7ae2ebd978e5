// SPDX-License-Identifier: Apache-2.0
#include "bench/replay_jobs.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "models/base/error.h"

namespace npuscope::bench {
namespace {

using Json = nlohmann::json;

struct FileCloser {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

struct Job {
    pid_t process = 0;
    File answers;  ///< a line for each of its rows
};

ReplayedRow replay_one(const ReferenceRow& row, const SystemOfRow& system_of) {
    try {
        return replay(row, system_of(row), {});
    } catch (const std::exception& error) {
        ReplayedRow failed;
        failed.reference = row;
        failed.failure = error.what();
        return failed;
    }
}

std::string line_of(const ReplayedRow& row) {
    Json json{{"failure", row.failure},
              {"cycles", row.cycles},
              {"beats", row.beat_errors},
              {"values", row.values_right},
              {"causes", row.causes_sum}};
    if (row.first_mac_error) {
        json["first_mac"] = *row.first_mac_error;
    }
    return json.dump(-1, ' ', true, Json::error_handler_t::replace) + '\n';
}

void read_line(const std::string& line, ReplayedRow& row) {
    const Json json = Json::parse(line);
    row.failure = json.at("failure").get<std::string>();
    row.cycles = json.at("cycles").get<std::uint64_t>();
    row.beat_errors = json.at("beats").get<std::map<std::string, std::int64_t>>();
    row.values_right = json.at("values").get<bool>();
    row.causes_sum = json.at("causes").get<bool>();
    if (json.contains("first_mac")) {
        row.first_mac_error = json.at("first_mac").get<std::int64_t>();
    }
}

[[noreturn]] void work(const std::vector<ReferenceRow>& rows, const SystemOfRow& system_of,
                       std::size_t first, std::size_t step, std::FILE* answers) {
    for (std::size_t i = first; i < rows.size(); i += step) {
        const std::string line = line_of(replay_one(rows[i], system_of));
        std::fwrite(line.data(), 1, line.size(), answers);
    }
    std::fflush(answers);
    _exit(0);  // what the parent owns is not destroyed twice
}

std::string read_answers(std::FILE* file) {
    std::rewind(file);
    std::string text;
    char part[4096];
    while (const std::size_t count = std::fread(part, 1, sizeof part, file)) {
        text.append(part, count);
    }
    return text;
}

void collect(const Job& job, std::vector<ReplayedRow>& replayed, std::size_t first,
             std::size_t step) {
    int status = 0;
    waitpid(job.process, &status, 0);
    const std::string text = read_answers(job.answers.get());
    std::size_t begin = 0;
    for (std::size_t i = first; i < replayed.size(); i += step) {
        const std::size_t end = text.find('\n', begin);
        if (end == std::string::npos) {
            replayed[i].failure = "its process ended early";
            continue;
        }
        read_line(text.substr(begin, end - begin), replayed[i]);
        begin = end + 1;
    }
}

}  // namespace

std::vector<ReplayedRow> replay_all(const std::vector<ReferenceRow>& rows,
                                    const SystemOfRow& system_of, unsigned jobs) {
    const std::size_t count =
        std::clamp<std::size_t>(jobs, 1, std::max<std::size_t>(rows.size(), 1));
    std::vector<Job> running;
    for (std::size_t i = 0; i < count; ++i) {
        File answers(std::tmpfile());
        if (!answers) {
            throw ConfigError("no temporary file can be made for the results");
        }
        std::fflush(nullptr);
        const pid_t process = fork();
        if (process < 0) {
            throw ConfigError("no further process can be started");
        }
        if (process == 0) {
            work(rows, system_of, i, count, answers.get());
        }
        running.push_back({process, std::move(answers)});
    }
    std::vector<ReplayedRow> replayed(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        replayed[i].reference = rows[i];
    }
    for (std::size_t i = 0; i < count; ++i) {
        collect(running[i], replayed, i, count);
    }
    return replayed;
}

}  // namespace npuscope::bench
