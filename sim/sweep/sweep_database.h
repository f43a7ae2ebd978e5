// SPDX-License-Identifier: Apache-2.0
// Results of a sweep, as an SQLite database. A point is a design that was run; its key covers
// everything that its result depends on, so that the same design is never run twice. Tables and
// columns are those of `sweep_tables`; docs/exploration.md describes them. A database may hold points
// of earlier spaces; the view `designs` has those of the present one.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/json_writer.h"

struct sqlite3;

namespace npuscope {

/// Version of the tables; a database of another version is rejected.
inline constexpr int sweep_schema = 2;

/// What the objectives rate: designs of the present space that ran, and of which nothing is wrong.
inline constexpr const char* rated_designs = "designs WHERE status IN ('pass', 'unchecked')";

struct SweepTable {
    std::string_view name;
    std::vector<std::string_view> columns;  ///< `cycles integer`; the first ones are its key
    std::size_t key_columns = 1;
};

/// Without their types.
std::vector<std::string> column_names(const SweepTable& table);

/// points, axes, layers, units, causes, findings.
const std::vector<SweepTable>& sweep_tables();

/// A row of a query: strings, numbers and null as in JSON, by column.
using SweepRow = std::map<std::string, Json>;

class SweepDatabase {
 public:
    /// Opens the database, or creates it if it does not exist. ConfigError if the file is something
    /// else, of another version, or cannot be written.
    explicit SweepDatabase(const std::filesystem::path& file);
    ~SweepDatabase();
    SweepDatabase(const SweepDatabase&) = delete;
    SweepDatabase& operator=(const SweepDatabase&) = delete;

    /// Whether the point of this key was run to completion; not if its process crashed.
    bool is_finished(const std::string& key) const;
    /// Rows by table: `{"points": [{"key": .., "cycles": ..}], "layers": [..]}`, for one point. A
    /// point that was finished before stays unchanged.
    void add(const Json& point);
    /// From here on no point belongs to the present space, until it is added or adopted.
    void begin_space();
    /// Rows that are known before a design runs: its point, if finished, belongs to the present
    /// space, with this number and these axes.
    void adopt(const Json& design);
    /// Makes added points durable.
    void commit();
    /// Adds all finished points of another database.
    void merge(const std::filesystem::path& other);

    std::vector<SweepRow> query(const std::string& sql,
                                const std::vector<std::string>& values = {}) const;

 private:
    class Statement;
    void execute(const std::string& sql) const;
    [[noreturn]] void fail(const std::string& what) const;
    void begin();
    void insert(const SweepTable& table, const Json& rows, const std::string& key);
    void enter(const std::string& key, const Json& number);

    std::filesystem::path file_;
    sqlite3* connection_ = nullptr;
    std::map<std::string, std::unique_ptr<Statement>, std::less<>> inserts_;
    std::unique_ptr<Statement> finished_;
    std::unique_ptr<Statement> enter_;
    bool open_ = false;  ///< a transaction is open
};

/// Names of the axes of the present space's designs, sorted.
std::vector<std::string> axis_names(const SweepDatabase& database);
/// The values of these designs, by key and axis.
std::map<std::string, SweepRow> axis_values(const SweepDatabase& database);

/// One line per design of the present space, in its order: axes, numbers of the result, the error.
std::string sweep_csv(const SweepDatabase& database);

}  // namespace npuscope
