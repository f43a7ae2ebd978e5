// SPDX-License-Identifier: Apache-2.0
#include "bench/mutation/campaign.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <sstream>

#include "models/base/error.h"
#include "sim/config/file_io.h"

namespace npuscope::bench {
namespace {

constexpr unsigned seconds_a_mistake = 60;

struct Chosen {
    const MistakeKind* kind = nullptr;
    Mistake mistake;
};

/// The same for one seed, program and kind, whatever else is tried.
std::vector<Mistake> choose(Mistakes mistakes, const Campaign& campaign, const Subject& subject,
                            const MistakeKind& kind) {
    std::seed_seq seeds{campaign.seed, std::uint64_t{std::hash<std::string>{}(subject.name)},
                        std::uint64_t{std::hash<std::string_view>{}(kind.name)}};
    std::mt19937_64 random(seeds);
    const double share = std::uniform_real_distribution<>(0, 1)(random);
    const auto whole = static_cast<std::size_t>(campaign.mistakes_per_kind);
    const double rest = campaign.mistakes_per_kind - static_cast<double>(whole);
    const std::size_t wanted = std::min(mistakes.size(), whole + (share < rest ? 1 : 0));
    std::ranges::shuffle(mistakes, random);
    mistakes.resize(wanted);
    return mistakes;
}

std::vector<Chosen> chosen_for(const Campaign& campaign, const Subject& subject,
                               const MutationSite& site) {
    std::vector<Chosen> chosen;
    for (const MistakeKind& kind : mistake_kinds()) {
        const bool asked = campaign.kinds.empty() ||
                           std::ranges::find(campaign.kinds, kind.name) != campaign.kinds.end();
        if (!asked) {
            continue;
        }
        for (Mistake& mistake : choose(kind.list(site), campaign, subject, kind)) {
            chosen.push_back({&kind, std::move(mistake)});
        }
    }
    return chosen;
}

// --- a line of a worker process: tab-separated fields
// -----------------------------------------

std::string cleaned(std::string text) {
    std::ranges::replace(text, '\t', ' ');
    std::ranges::replace(text, '\n', ' ');
    return text;
}

std::string line_of(const TrialRow& row) {
    return fmt::format("row\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", row.program, row.kind,
                       cleaned(row.what), row.content ? 1 : 0, effect_name(row.effect),
                       row.answer.found ? 1 : 0, row.answer.named ? 1 : 0, row.answer.causes,
                       row.answer.id, cleaned(row.answer.first));
}

std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields;
    std::istringstream text(line);
    for (std::string field; std::getline(text, field, '\t');) {
        fields.push_back(field);
    }
    fields.resize(11);
    return fields;
}

TrialRow row_of(const std::vector<std::string>& fields) {
    return {fields[1],
            fields[2],
            fields[3],
            fields[4] == "1",
            effect_from_name(fields[5]),
            {fields[6] == "1", fields[7] == "1", std::strtoul(fields[8].c_str(), nullptr, 10),
             fields[9], fields[10]}};
}

/// Where a process starts: mistake `mistake` of subject `subject`.
struct Start {
    std::size_t subject = 0;
    std::size_t mistake = 0;
};

class Worker {
 public:
    Worker(const Campaign& campaign, std::FILE* out) : campaign_(campaign), out_(out) {}

    void run(Start start, std::size_t step) {
        for (std::size_t i = start.subject; i < campaign_.subjects.size(); i += step) {
            try_subject(i, start.mistake);
            start.mistake = 0;
        }
    }

 private:
    void try_subject(std::size_t index, std::size_t first) {
        const Subject& subject = campaign_.subjects[index];
        Trial trial(subject);
        if (first == 0) {
            tell_false_alarms(subject, trial.good_report());
        }
        if (subject.meets_faults || trial.is_refused()) {
            return;  // no outcome to compare with
        }
        const std::vector<Chosen> chosen = chosen_for(campaign_, subject, trial.site());
        for (std::size_t i = first; i < chosen.size(); ++i) {
            TrialRow row{subject.name,           std::string(chosen[i].kind->name),
                         chosen[i].mistake.what, chosen[i].kind->content,
                         Effect::Lost,           {}};
            row.answer = trial.answer_to(chosen[i].mistake);
            tell(fmt::format("try\t{}\t{}\n", index, i) + line_of(row));
            const auto known = campaign_.known.find(effect_key(row));
            if (known != campaign_.known.end()) {
                row.effect = known->second;
            } else {
                alarm(seconds_a_mistake);
                row.effect = trial.effect_of(chosen[i].mistake);
                alarm(0);
            }
            tell("done\t" + std::string(effect_name(row.effect)) + "\n");
        }
    }
    void tell_false_alarms(const Subject& subject, const CheckReport& report) {
        for (const Diagnostic& finding : report.findings) {
            const bool grave = finding.severity == Severity::Error ||
                               (finding.severity == Severity::Warning && !subject.meets_faults);
            if (grave) {
                tell(fmt::format("alarm\t{}: {} {}: {}\n", subject.name, finding.id,
                                 finding.register_name, cleaned(finding.sentence)));
            }
        }
    }
    void tell(const std::string& text) {
        std::fwrite(text.data(), 1, text.size(), out_);
        std::fflush(out_);
    }

    const Campaign& campaign_;
    std::FILE* out_;
};

struct FileCloser {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

struct Process {
    pid_t id = 0;
    std::unique_ptr<std::FILE, FileCloser> answers;
};

Process start_process(const Campaign& campaign, Start start, std::size_t step) {
    Process process{0, std::unique_ptr<std::FILE, FileCloser>(std::tmpfile())};
    if (!process.answers) {
        throw ConfigError("no temporary file can be made for the results");
    }
    std::fflush(nullptr);
    process.id = fork();
    if (process.id < 0) {
        throw ConfigError("no further process can be started");
    }
    if (process.id == 0) {
        Worker(campaign, process.answers.get()).run(start, step);
        _exit(0);  // what the parent owns is not destroyed twice
    }
    return process;
}

std::vector<std::string> lines_of(std::FILE* file) {
    std::rewind(file);
    std::string text;
    char part[65536];
    while (const std::size_t count = std::fread(part, 1, sizeof part, file)) {
        text.append(part, count);
    }
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    return lines;
}

/// Adds what a process reported; returns the mistake that it was at when it ended.
Start collect(const Process& process, CampaignResult& result) {
    Start last;
    for (const std::string& line : lines_of(process.answers.get())) {
        const std::vector<std::string> fields = fields_of(line);
        if (fields[0] == "try") {
            last = {std::stoul(fields[1]), std::stoul(fields[2])};
        } else if (fields[0] == "row") {
            result.rows.push_back(row_of(fields));
        } else if (fields[0] == "done") {
            result.rows.back().effect = effect_from_name(fields[1]);
        } else if (fields[0] == "alarm") {
            result.false_alarms.push_back(fields[1]);
        }
    }
    return last;
}

}  // namespace

std::string effect_key(const TrialRow& row) {
    return row.program + "\t" + row.kind + "\t" + cleaned(row.what);
}

CampaignResult run_campaign(const Campaign& campaign) {
    const std::size_t step = std::clamp<std::size_t>(campaign.jobs, 1, 2);
    std::vector<Process> processes;
    for (std::size_t i = 0; i < step; ++i) {
        processes.push_back(start_process(campaign, {i, 0}, step));
    }
    CampaignResult result;
    for (Process& process : processes) {
        for (;;) {
            int status = 0;
            waitpid(process.id, &status, 0);
            const std::size_t before = result.rows.size();
            const Start last = collect(process, result);
            if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
                break;
            }
            if (result.rows.size() == before) {
                throw ConfigError("a process ended before its first mistake");
            }
            process = start_process(campaign, {last.subject, last.mistake + 1}, step);
        }
    }
    std::ranges::stable_sort(result.rows, {}, &TrialRow::program);
    std::ranges::sort(result.false_alarms);
    return result;
}

KnownEffects read_effects(const std::filesystem::path& file) {
    KnownEffects effects;
    if (!std::filesystem::exists(file)) {
        return effects;
    }
    std::istringstream text(read_whole_file(file));
    for (std::string line; std::getline(text, line);) {
        const std::size_t tab = line.rfind('\t');
        effects[line.substr(0, tab)] = effect_from_name(line.substr(tab + 1));
    }
    return effects;
}

void write_effects(const std::filesystem::path& file, const KnownEffects& effects) {
    std::string text;
    for (const auto& [key, effect] : effects) {
        text += fmt::format("{}\t{}\n", key, effect_name(effect));
    }
    write_atomically(file, text);
}

}  // namespace npuscope::bench
