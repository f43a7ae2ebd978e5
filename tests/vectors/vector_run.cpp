// SPDX-License-Identifier: Apache-2.0
#include "tests/vectors/vector_run.h"

#include <fmt/format.h>

#include <fstream>
#include <ostream>

#include "tests/vectors/vector_case.h"

namespace npuscope::vectors {

namespace {

using Check = void (*)(const VectorCase&);

void run(const VectorCase& test, Check check, Tally& tally, std::ostream& out) {
    try {
        check(test);
        ++tally.passed;
    } catch (const std::exception& error) {
        ++tally.failed;
        out << fmt::format("{}: case {}: {}\n", test.folder.string(), test.id(), error.what());
    }
}

/// A manifest is a list of NVDLA's or ncnn's cases, or Kneron's lists by name.
Check check_of(const std::string& list, const Json& fields) {
    if (list.empty()) {
        return fields.contains("req_elempack") ? check_ncnn : check_nvdla;
    }
    return list == "v2" ? check_kneron : list == "v1" ? check_kneron_raw : check_kneron_ties;
}

}  // namespace

void check_folder(const std::filesystem::path& folder, Tally& tally, std::ostream& out) {
    const Json manifest = Json::parse(read_bytes(folder / "manifest.json"));
    const auto run_list = [&](const std::string& list, const Json& cases) {
        for (const Json& fields : cases) {
            run({folder, fields}, check_of(list, fields), tally, out);
        }
    };
    if (manifest.is_array()) {
        run_list("", manifest);
        return;
    }
    for (const auto& [list, cases] : manifest.items()) {
        run_list(list, cases);
    }
}

}  // namespace npuscope::vectors
