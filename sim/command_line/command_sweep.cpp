// SPDX-License-Identifier: Apache-2.0
// `npuscope sweep`: many designs, one database.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <sstream>

#include "models/base/error.h"
#include "sim/command_line/choice.h"
#include "sim/command_line/command.h"
#include "sim/command_line/given_options.h"
#include "sim/command_line/output_paths.h"
#include "sim/command_line/read_files.h"
#include "sim/command_line/sweep_point.h"
#include "sim/config/file_io.h"
#include "sim/config/preset.h"
#include "sim/config/printable.h"
#include "sim/config/yaml_writer.h"
#include "sim/sweep/launcher.h"
#include "sim/sweep/sweep_database.h"
#include "sim/sweep/sweep_report.h"
#include "sim/sweep/worker_pool.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_jobs = 1024;
constexpr std::size_t usual_tasks = 4;
constexpr int launches = 3;  ///< of tasks that left designs out

struct SweepArguments {
    std::string sweep;
    std::string out;
    std::string csv;
    std::size_t jobs = 0;
    std::string launcher = "local";
    std::string hosts;
    std::optional<std::size_t> tasks{};
    std::string script;
    std::vector<std::string> options;
    std::string task;
    NpuFamilies families{};
};

/// A sweep's folder and what is in it.
struct SweepFolder {
    fs::path path;

    fs::path space() const { return path / space_file; }
    fs::path database() const { return path / database_file; }
};

/// Where a sweep is kept, and its space, with places in the file that was named.
struct OpenSweep {
    SweepFolder folder;
    Space space;
    std::string kept{};  ///< the space's text for the folder; empty: the folder has it
};

/// Whether a text is read as `space`, but with this `folder`.
bool is_kept(const std::string& text, ConfigNode space, const std::string& folder) {
    const auto given = std::ranges::find(space.keys, "folder", &ConfigNode::Key::name);
    const auto index = given - space.keys.begin();
    if (given == space.keys.end()) {
        space.keys.push_back({"folder", {}});
        space.items.emplace_back();
    }
    ConfigNode& kept = space.items[static_cast<std::size_t>(index)];
    kept.kind = ConfigNode::Kind::Scalar;
    kept.text = folder;
    try {
        return flow_yaml(parse_yaml(text, space_file)) == flow_yaml(space);
    } catch (const ConfigError&) {
        return false;
    }
}

/// The space's text for the sweep's folder: the same lines, but paths of the base are relative to
/// the same folder as before. ConfigError if it would be read as another space.
std::string kept_text(const Space& space, const fs::path& file) {
    const std::string text = read_whole_file(file, {}, largest_config);
    const ConfigNode root = parse_yaml(text, file.string());
    std::vector<std::string> lines;
    std::istringstream rest(text);
    for (std::string line; std::getline(rest, line);) {
        lines.push_back(line);
    }
    if (lines[root.place.line - 1].substr(root.place.column - 1).starts_with('{')) {
        throw ConfigError(root.place, "a space is not written inside { }",
                          "write each of its keys on a line of its own");
    }
    const std::string folder = space.folder().lexically_normal().string();
    const ConfigNode* given = root.find("folder");
    if (given != nullptr) {
        lines[given->place.line - 1].replace(given->place.column - 1, std::string::npos,
                                             quoted(folder));
    } else {
        lines.push_back("folder: " + quoted(folder));
    }
    std::string kept = fmt::format("{}\n", fmt::join(lines, "\n"));
    if (!is_kept(kept, root, folder)) {
        throw ConfigError(given == nullptr ? root.place : given->place,
                          "the sweep's folder needs a copy of the space, which could not be read",
                          "write `folder` on one line, without `...` at the end of the file or a "
                          "byte order mark at its beginning");
    }
    return kept;
}

/// Reads all and reports mistakes; writes nothing.
OpenSweep open_sweep(const SweepArguments& arguments) {
    std::error_code none;
    if (fs::is_directory(arguments.sweep, none)) {
        SweepFolder folder{fs::absolute(arguments.sweep).lexically_normal()};
        if (!file_exists(folder.space())) {
            throw ConfigError(fmt::format("'{}' is not the folder of a sweep: it has no space.yaml",
                                          arguments.sweep),
                              "npuscope sweep SPACE.yaml --out DIR");
        }
        if (!arguments.out.empty()) {
            throw ConfigError("a sweep that is resumed keeps its folder", "leave out --out");
        }
        Space space = read_space(folder.space(), (fs::path(arguments.sweep) / space_file).string());
        if (arguments.task.empty()) {
            check_space(space, arguments.families);
        }
        return {std::move(folder), std::move(space)};
    }
    const fs::path file = find_program(arguments.sweep, {}, sweep_rows).path;
    if (!is_space_file(file)) {
        throw ConfigError(fmt::format("'{}' is not a design space: it has no axes", file.string()),
                          "see `npuscope list sweeps` and `npuscope list fields sweep.`");
    }
    if (arguments.out.empty()) {
        throw ConfigError("a sweep needs a folder for its results", "--out DIR");
    }
    Space space = read_space(fs::absolute(file), file.string());
    check_space(space, arguments.families);
    std::string kept = kept_text(space, file);
    return {SweepFolder{fs::absolute(arguments.out).lexically_normal()}, std::move(space),
            std::move(kept)};
}

/// `2/8`: the third of eight.
void take_task(const std::string& text, SweepOptions& options) {
    const std::size_t slash = text.find('/');
    const auto number = [&](std::string_view part, std::size_t& value) {
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
        return error == std::errc() && end == part.data() + part.size();
    };
    const bool good = slash != std::string::npos &&
                      number(std::string_view(text).substr(0, slash), options.task) &&
                      number(std::string_view(text).substr(slash + 1), options.tasks) &&
                      options.task < options.tasks && options.tasks <= most_jobs;
    if (!good) {
        throw ConfigError(fmt::format("'{}' is not of the form I/N", text),
                          "--task 0/4 is the first of four");
    }
}

SweepOptions options_of(const SweepArguments& arguments) {
    SweepOptions options;
    options.jobs = std::min(worker_count(arguments.jobs), most_jobs);
    if (!arguments.task.empty()) {
        take_task(arguments.task, options);
    }
    return options;
}

/// Shows a line in place of the previous one, on a terminal.
class StatusLine {
 public:
    explicit StatusLine(std::ostream& out) : out_(out), shown_(isatty(STDERR_FILENO) != 0) {}
    ~StatusLine() { clear(); }
    StatusLine(const StatusLine&) = delete;
    StatusLine& operator=(const StatusLine&) = delete;

    std::function<void(const std::string&)> writer() {
        if (!shown_) {
            return {};
        }
        return [this](const std::string& line) { out_ << "\r\x1b[K" << line << std::flush; };
    }
    void clear() {
        if (shown_) {
            out_ << "\r\x1b[K" << std::flush;
        }
    }

 private:
    std::ostream& out_;
    bool shown_;
};

LaunchPlan launch_plan(const SweepArguments& arguments, const SweepFolder& folder,
                       const SweepOptions& options) {
    return {fs::read_symlink("/proc/self/exe"),
            folder.path,
            arguments.tasks.value_or(usual_tasks),
            options.jobs,
            arguments.hosts,
            arguments.options};
}

/// Copies the points of all tasks to the sweep's database.
void gather(const SweepFolder& folder, SweepDatabase& database) {
    std::error_code none;
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(task_folder(folder.path), none)) {
        if (entry.path().extension() == ".sqlite") {
            files.push_back(entry.path());
        }
    }
    std::ranges::sort(files);
    for (const fs::path& file : files) {
        database.merge(file);
    }
}

/// One task of a launcher: has its own database, and skips what the sweep's already has.
ExitCode run_task(const SweepArguments& arguments, const SweepFolder& folder, const Space& space,
                  SweepOptions options) {
    fs::create_directories(task_folder(folder.path));
    SweepDatabase own(task_database(folder.path, options.task, options.tasks));
    std::unique_ptr<SweepDatabase> all;
    if (file_exists(folder.database())) {
        all = std::make_unique<SweepDatabase>(folder.database());
        options.is_elsewhere = [&](const std::string& key) { return all->is_finished(key); };
    }
    run_sweep(space, own, sweep_work(space, arguments.families), options);
    return ExitCode::Good;
}

/// Designs that no task has finished yet.
std::uint64_t missing(const Space& space, const SweepDatabase& database, const SweepWork& work) {
    std::uint64_t left_out = 0;
    std::set<std::string> keys;
    for (const Design& design : space.designs(left_out)) {
        const Json point = work.prepare(design);
        const std::string key = point.at("points").front().at("key");
        if (!database.is_finished(key)) {
            keys.insert(key);
        }
    }
    return keys.size();
}

/// The number of designs that tasks have run.
std::uint64_t launch(const SweepArguments& arguments, const SweepFolder& folder, const Space& space,
                     SweepDatabase& database, const SweepWork& work) {
    if (space.search().kind == SearchKind::Adaptive) {
        throw ConfigError("an adaptive search chooses each design from earlier results",
                          "run it on one machine: --launcher local");
    }
    const auto launcher = enum_from_name<Launcher>(arguments.launcher);
    const LaunchPlan plan = launch_plan(arguments, folder, options_of(arguments));
    const std::uint64_t all = missing(space, database, work);
    std::uint64_t left = all;
    std::uint64_t before = 0;
    for (int i = 0; i < launches && left > 0 && left != before; ++i) {
        before = left;
        launch_tasks(*launcher, plan);
        gather(folder, database);
        left = missing(space, database, work);
    }
    if (left > 0) {
        throw ConfigError(fmt::format("{} still missing after all tasks have ended",
                                      counted(left, "design") + (left == 1 ? " is" : " are")),
                          fmt::format("see the tasks' output in {}, and start the sweep again",
                                      task_folder(folder.path).string()));
    }
    fs::remove_all(task_folder(folder.path));
    return all;
}

/// Those of launchers that this sweep does not use.
void require_use_of_options(const SweepArguments& arguments, Launcher launcher) {
    const bool slurm = launcher == Launcher::Slurm || !arguments.script.empty();
    GivenOptions unused;
    unused.add(!arguments.hosts.empty() && launcher != Launcher::Ssh, "--hosts");
    unused.add(arguments.tasks.has_value() && launcher == Launcher::Local && !slurm, "--tasks");
    unused.add(!arguments.options.empty() && !slurm, "--sbatch");
    if (!unused.none()) {
        throw ConfigError(
            fmt::format("{}: no effect with --launcher {}", unused.names(), arguments.launcher),
            "leave it out, or choose the launcher that uses it");
    }
}

ExitCode sweep(const SweepArguments& arguments, const Console& console) {
    const auto launcher = enum_from_name<Launcher>(arguments.launcher);
    if (!launcher) {
        throw ConfigError(fmt::format("unknown launcher '{}'", arguments.launcher),
                          "local, ssh or slurm");
    }
    require_use_of_options(arguments, *launcher);
    const fs::path own = arguments.out.empty() ? arguments.sweep : arguments.out;
    std::vector<OutputPath> outputs{{"--out", arguments.out, OutputKind::Folder},
                                    {"--csv", arguments.csv, OutputKind::Text},
                                    {"--export", arguments.script},
                                    {"the sweep", (own / database_file).string()}};
    std::error_code none;
    if (!fs::equivalent(own / space_file, arguments.sweep, none)) {
        outputs.push_back({"the sweep", (own / space_file).string()});
    }
    SweepOptions options = options_of(arguments);
    const auto [folder, space, kept] = open_sweep(arguments);
    std::vector<std::string> inputs = files_of_space(space);
    inputs.push_back(arguments.sweep);
    require_separate(outputs, inputs);
    if (!kept.empty()) {
        write_atomically(folder.space(), kept);
    }
    if (!arguments.task.empty()) {
        return run_task(arguments, folder, space, std::move(options));
    }
    if (!arguments.script.empty()) {
        write_atomically(arguments.script, slurm_script(launch_plan(arguments, folder, options)));
        fs::create_directories(task_folder(folder.path));
        console.out << fmt::format(
            "{}: submit it with sbatch; when its tasks have ended, "
            "`npuscope sweep {}` gathers their results\n",
            arguments.script, folder.path.string());
        return ExitCode::Good;
    }
    SweepDatabase database(folder.database());
    const SweepWork work = sweep_work(space, arguments.families);
    gather(folder, database);
    const std::uint64_t by_tasks =
        *launcher == Launcher::Local ? 0 : launch(arguments, folder, space, database, work);
    StatusLine line(console.err);
    options.progress = line.writer();
    SweepCount count = run_sweep(space, database, work, options);
    count.ran += by_tasks;  // it has found all of them in the database
    count.found -= by_tasks;
    line.clear();
    if (!arguments.csv.empty()) {
        write_output(arguments.csv, sweep_csv(database), console);
    }
    const bool aside = arguments.csv == "-";
    (aside ? console.err : console.out)
        << printable(sweep_report(space, database, count, folder.path.filename().string(),
                                  aside ? console.err_width : console.out_width));
    const auto wrong =
        database.query("SELECT 1 FROM designs WHERE status IN ('crashed', 'bug', 'fail') LIMIT 1");
    const auto right = database.query(fmt::format("SELECT 1 FROM {} LIMIT 1", rated_designs));
    return wrong.empty() && !right.empty() ? ExitCode::Good : ExitCode::ExpectationFailed;
}

void add_options_of_sweep(CLI::App& app, SweepArguments& arguments) {
    app.add_option("SWEEP", arguments.sweep,
                   "design space (.yaml, `npuscope list fields sweep.`), the name of a bundled one "
                   "(`npuscope list sweeps`), or the folder of a sweep to resume")
        ->required();
    app.add_option("--out", arguments.out,
                   "folder for space.yaml and results.sqlite; if it already has results, only "
                   "missing designs run")
        ->option_text("DIR");
    app.add_option("--jobs", arguments.jobs,
                   "workers on this machine, or per task; default: one per core")
        ->transform(whole_number(1, most_jobs));
    app.add_option("--csv", arguments.csv,
                   "CSV file with one line per design: axes and results; - is standard output")
        ->option_text("FILE");
    app.add_option("--launcher", arguments.launcher,
                   "where designs run: local, ssh (GNU parallel) or slurm (an array job)")
        ->capture_default_str()
        ->type_name("LAUNCHER");
    app.add_option("--tasks", arguments.tasks,
                   "number of tasks for ssh or slurm; a lost task is restarted")
        ->transform(whole_number(1, most_jobs))
        ->default_str(std::to_string(usual_tasks));
    app.add_option("--hosts", arguments.hosts,
                   "ssh machines, in the format of GNU parallel's --sshlogin; : is this machine")
        ->option_text("HOSTS");
    app.add_option(
           "--sbatch", arguments.options,
           "extra #SBATCH line of the job script, e.g. --sbatch=--partition=short; may be repeated")
        ->allow_extra_args(false)
        ->option_text("OPTION");
    app.add_option("--export", arguments.script,
                   "write the script of the array job to a file instead, to submit it elsewhere")
        ->option_text("FILE");
    app.add_option("--task", arguments.task,
                   "used by launchers: run one task; 0/4 is the first of four")
        ->option_text("I/N");
}

}  // namespace

Command sweep_command() {
    return {"sweep",
            "simulates many designs of a design space and stores their results in a database",
            "npuscope sweep buffer_sizes --out sizes --csv sizes.csv",
            [](CLI::App& app, NpuFamilies families) {
                const auto arguments = std::make_shared<SweepArguments>();
                arguments->families = families;
                add_options_of_sweep(app, *arguments);
                return [arguments](const Console& console) { return sweep(*arguments, console); };
            }};
}

}  // namespace npuscope
