// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/sweep_database.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sqlite3.h>

#include <algorithm>

#include "models/base/error.h"

namespace npuscope {
namespace {

constexpr int patience_ms = 60'000;  ///< for another process writing the same file

std::string name_of_column(std::string_view column) {
    return std::string(column.substr(0, column.find(' ')));
}

std::string creation(const SweepTable& table) {
    std::vector<std::string> names = column_names(table);
    names.resize(table.key_columns);
    return fmt::format("CREATE TABLE {} ({}, PRIMARY KEY ({})) WITHOUT ROWID;", table.name,
                       fmt::join(table.columns, ", "), fmt::join(names, ", "));
}

std::string insertion(const SweepTable& table) {
    const std::vector<std::string> names = column_names(table);
    return fmt::format("INSERT OR IGNORE INTO {} ({}) VALUES ({}?)", table.name,
                       fmt::join(names, ", "),
                       fmt::join(std::vector<std::string>(names.size(), ""), "?, "));
}

/// A cell of a CSV file.
std::string cell(const Json& value) {
    if (value.is_null()) {
        return {};
    }
    std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (text.find_first_of(",\"\n\r") == std::string::npos) {
        return text;
    }
    std::string quoted = "\"";
    for (const char letter : text) {
        quoted += letter == '"' ? "\"\"" : std::string(1, letter);
    }
    return quoted + '"';
}

}  // namespace

std::vector<std::string> column_names(const SweepTable& table) {
    std::vector<std::string> names;
    std::ranges::transform(table.columns, std::back_inserter(names), name_of_column);
    return names;
}

const std::vector<SweepTable>& sweep_tables() {
    static const std::vector<SweepTable> tables{
        {"points",
         {"key text",
          "number integer",
          "status text",
          "cycles integer",
          "microseconds real",
          "inputs_per_second real",
          "useful_macs integer",
          "mac_utilisation real",
          "read_bytes integer",
          "write_bytes integer",
          "bound_by text",
          "picojoules real",
          "mac_square_micrometres real",
          "error text",
          "npu text",
          "program text",
          "version text",
          "experiment text",
          "config text",
          "in_space integer"}},
        {"axes", {"key text", "axis text", "value text"}, 2},
        {"layers",
         {"key text", "number integer", "name text", "kind text", "cycles integer", "share real",
          "useful_macs integer", "mac_utilisation real", "read_bytes integer",
          "write_bytes integer", "bound_by text"},
         2},
        {"units",
         {"key text", "unit text", "busy integer", "starved integer", "blocked integer"},
         2},
        {"causes", {"key text", "cause text", "cycles integer"}, 2},
        {"findings",
         {"key text", "number integer", "severity text", "id text", "message text", "place text"},
         2}};
    return tables;
}

/// A prepared statement; reset after each use.
class SweepDatabase::Statement {
 public:
    Statement(const SweepDatabase& database, const std::string& sql) : database_(database) {
        if (sqlite3_prepare_v2(database.connection_, sql.c_str(), -1, &statement_, nullptr) !=
            SQLITE_OK) {
            database.fail("refuses a query");
        }
    }
    ~Statement() { sqlite3_finalize(statement_); }
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    void bind(int index, const Json& value) {
        if (value.is_number_integer()) {
            sqlite3_bind_int64(statement_, index, value.get<std::int64_t>());
        } else if (value.is_number()) {
            sqlite3_bind_double(statement_, index, value.get<double>());
        } else if (!value.is_null()) {
            const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
            sqlite3_bind_text(statement_, index, text.data(), static_cast<int>(text.size()),
                              SQLITE_TRANSIENT);
        }
    }
    /// Returns whether there is a row.
    bool step() {
        const int code = sqlite3_step(statement_);
        if (code != SQLITE_ROW && code != SQLITE_DONE) {
            database_.fail("cannot be used");
        }
        return code == SQLITE_ROW;
    }
    void reset() {
        sqlite3_reset(statement_);
        sqlite3_clear_bindings(statement_);
    }
    SweepRow row() const {
        SweepRow row;
        for (int i = 0; i < sqlite3_column_count(statement_); ++i) {
            row[sqlite3_column_name(statement_, i)] = value(i);
        }
        return row;
    }

 private:
    Json value(int column) const {
        switch (sqlite3_column_type(statement_, column)) {
            case SQLITE_INTEGER:
                return sqlite3_column_int64(statement_, column);
            case SQLITE_FLOAT:
                return sqlite3_column_double(statement_, column);
            case SQLITE_NULL:
                return nullptr;
            default:
                break;
        }
        const auto* text = static_cast<const char*>(sqlite3_column_blob(statement_, column));
        return std::string(text == nullptr ? "" : text,
                           static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)));
    }

    const SweepDatabase& database_;
    sqlite3_stmt* statement_ = nullptr;
};

SweepDatabase::SweepDatabase(const std::filesystem::path& file) : file_(file) {
    if (sqlite3_open(file.c_str(), &connection_) != SQLITE_OK) {
        const std::string reason = sqlite3_errmsg(connection_);
        sqlite3_close(connection_);
        throw ConfigError(Place{file.string(), 0, 0}, "cannot be opened: " + reason,
                          "name a folder that can be written");
    }
    try {
        sqlite3_busy_timeout(connection_, patience_ms);
        execute("PRAGMA synchronous = NORMAL");
        const Json version = query("PRAGMA user_version").front().at("user_version");
        if (version == 0 && query("SELECT name FROM sqlite_master").empty()) {
            std::string script = "BEGIN IMMEDIATE;";
            for (const SweepTable& table : sweep_tables()) {
                script += creation(table);
            }
            script += "CREATE VIEW designs AS SELECT * FROM points WHERE in_space;";
            execute(script + fmt::format("PRAGMA user_version = {}; COMMIT;", sweep_schema));
        } else if (version != sweep_schema) {
            throw ConfigError(
                Place{file.string(), 0, 0},
                fmt::format("is a database of version {}, not {}", version.dump(), sweep_schema),
                "take another folder");
        }
        for (const SweepTable& table : sweep_tables()) {
            inserts_.emplace(table.name, std::make_unique<Statement>(*this, insertion(table)));
        }
        finished_ = std::make_unique<Statement>(
            *this, "SELECT 1 FROM points WHERE key = ? AND status <> 'crashed'");
        enter_ = std::make_unique<Statement>(
            *this, "UPDATE points SET number = ?, in_space = 1 WHERE key = ?");
    } catch (...) {
        inserts_.clear();
        finished_.reset();
        sqlite3_close(connection_);
        throw;
    }
}

SweepDatabase::~SweepDatabase() {
    inserts_.clear();
    finished_.reset();
    enter_.reset();
    sqlite3_close(connection_);
}

void SweepDatabase::fail(const std::string& what) const {
    const int code = sqlite3_errcode(connection_);
    const bool is_other_file = code == SQLITE_NOTADB || code == SQLITE_CORRUPT;
    throw ConfigError(Place{file_.string(), 0, 0},
                      fmt::format("{}: {}", what, sqlite3_errmsg(connection_)),
                      is_other_file ? "remove the file, or take another folder"
                                    : "make room, or take another folder");
}

void SweepDatabase::execute(const std::string& sql) const {
    if (sqlite3_exec(connection_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
        fail("cannot be written or read");
    }
}

bool SweepDatabase::is_finished(const std::string& key) const {
    finished_->bind(1, key);
    const bool found = finished_->step();
    finished_->reset();
    return found;
}

void SweepDatabase::begin() {
    if (!open_) {
        execute("BEGIN IMMEDIATE");
        open_ = true;
    }
}

void SweepDatabase::add(const Json& point) {
    const std::string key = point.at("points").front().at("key").get<std::string>();
    if (is_finished(key)) {
        return;
    }
    begin();
    for (const SweepTable& table : sweep_tables()) {
        execute(fmt::format("DELETE FROM {} WHERE key = '{}'", table.name, key));
        if (const auto rows = point.find(std::string(table.name)); rows != point.end()) {
            insert(table, *rows, key);
        }
    }
    enter(key, point.at("points").front().at("number"));
}

void SweepDatabase::insert(const SweepTable& table, const Json& rows, const std::string& key) {
    Statement& insertion = *inserts_.find(table.name)->second;
    const std::vector<std::string> names = column_names(table);
    for (const Json& row : rows) {
        for (std::size_t i = 0; i < names.size(); ++i) {
            const auto value = row.find(names[i]);
            insertion.bind(static_cast<int>(i) + 1, names[i] == "key"    ? Json(key)
                                                    : value == row.end() ? Json()
                                                                         : *value);
        }
        insertion.step();
        insertion.reset();
    }
}

void SweepDatabase::enter(const std::string& key, const Json& number) {
    enter_->bind(1, number);
    enter_->bind(2, key);
    enter_->step();
    enter_->reset();
}

void SweepDatabase::begin_space() {
    begin();
    execute("UPDATE points SET in_space = 0");
}

void SweepDatabase::adopt(const Json& design) {
    const Json& row = design.at("points").front();
    const std::string key = row.at("key").get<std::string>();
    if (!is_finished(key)) {
        return;
    }
    begin();
    const SweepTable& axes = *std::ranges::find(sweep_tables(), "axes", &SweepTable::name);
    execute(fmt::format("DELETE FROM axes WHERE key = '{}'", key));
    insert(axes, design.at("axes"), key);
    enter(key, row.at("number"));
}

void SweepDatabase::commit() {
    if (open_) {
        execute("COMMIT");
        open_ = false;
    }
}

void SweepDatabase::merge(const std::filesystem::path& other) {
    commit();
    const SweepDatabase part(other);
    for (const SweepRow& row : part.query("SELECT key FROM points WHERE status <> 'crashed'")) {
        Json point;
        for (const SweepTable& table : sweep_tables()) {
            for (const SweepRow& found :
                 part.query(fmt::format("SELECT * FROM {} WHERE key = ?", table.name),
                            {row.at("key").get<std::string>()})) {
                point[std::string(table.name)].push_back(found);
            }
        }
        add(point);
    }
    commit();
}

std::vector<SweepRow> SweepDatabase::query(const std::string& sql,
                                           const std::vector<std::string>& values) const {
    Statement statement(*this, sql);
    for (std::size_t i = 0; i < values.size(); ++i) {
        statement.bind(static_cast<int>(i) + 1, values[i]);
    }
    std::vector<SweepRow> rows;
    while (statement.step()) {
        rows.push_back(statement.row());
    }
    return rows;
}

std::vector<std::string> axis_names(const SweepDatabase& database) {
    std::vector<std::string> names;
    for (const SweepRow& row :
         database.query("SELECT DISTINCT axis FROM axes JOIN designs USING (key) ORDER BY axis")) {
        names.push_back(row.at("axis").get<std::string>());
    }
    return names;
}

std::map<std::string, SweepRow> axis_values(const SweepDatabase& database) {
    std::map<std::string, SweepRow> axes;
    for (const SweepRow& row :
         database.query("SELECT key, axis, value FROM axes JOIN designs USING (key)")) {
        axes[row.at("key").get<std::string>()][row.at("axis").get<std::string>()] = row.at("value");
    }
    return axes;
}

std::string sweep_csv(const SweepDatabase& database) {
    std::map<std::string, SweepRow> axes = axis_values(database);
    const std::vector<std::string> names = axis_names(database);
    static constexpr std::array columns{"status",
                                        "cycles",
                                        "microseconds",
                                        "inputs_per_second",
                                        "useful_macs",
                                        "mac_utilisation",
                                        "read_bytes",
                                        "write_bytes",
                                        "bound_by",
                                        "picojoules",
                                        "mac_square_micrometres",
                                        "npu",
                                        "program",
                                        "error"};
    std::string text = "key,number";
    for (const std::string& name : names) {
        text += ',' + cell(name);
    }
    text += fmt::format(",{}\n", fmt::join(columns, ","));
    for (const SweepRow& row : database.query("SELECT * FROM designs ORDER BY number, key")) {
        const SweepRow& own = axes[row.at("key").get<std::string>()];
        text += cell(row.at("key")) + ',' + cell(row.at("number"));
        for (const std::string& name : names) {
            const auto value = own.find(name);
            text += ',' + (value == own.end() ? "" : cell(value->second));
        }
        for (const char* column : columns) {
            text += ',' + cell(row.at(column));
        }
        text += '\n';
    }
    return text;
}

}  // namespace npuscope
