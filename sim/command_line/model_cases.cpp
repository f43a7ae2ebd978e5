// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/model_cases.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "models/base/check.h"
#include "sim/sweep/worker_pool.h"

namespace npuscope {
namespace {

// A case that ran is text: its cycles, and for each output the name, element type, sizes and
// values, each preceded by its count. A failed case has no text at all.

template <class T>
void put(std::string& text, const T& value) {
    const char* bytes = reinterpret_cast<const char*>(&value);
    text.append(bytes, sizeof value);
}

template <class T>
void put_all(std::string& text, std::span<const T> values) {
    put(text, std::uint64_t{values.size()});
    text.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

std::string text_of(const CaseResult& result) {
    std::string text;
    put(text, result.cycles.value);
    put(text, result.simulated_cycles.value);
    for (const auto& [name, value] : result.outputs) {
        put_all<char>(text, name);
        put(text, value.type.element);
        put_all<std::int64_t>(text, value.type.sizes);
        put_all<double>(text, value.numbers);
    }
    return text;
}

template <class T>
T take(std::string_view& text) {
    NPU_CHECK(text.size() >= sizeof(T), "a worker's answer ends too early");
    T value;
    std::memcpy(&value, text.data(), sizeof value);
    text.remove_prefix(sizeof value);
    return value;
}

template <class Values>
Values take_all(std::string_view& text) {
    Values values;
    values.resize(take<std::uint64_t>(text));
    const std::size_t bytes = values.size() * sizeof(values[0]);
    NPU_CHECK(text.size() >= bytes, "a worker's answer ends too early");
    std::memcpy(values.data(), text.data(), bytes);
    text.remove_prefix(bytes);
    return values;
}

CaseResult result_of(std::string_view text) {
    CaseResult result;
    result.cycles = Cycles(take<std::uint64_t>(text));
    result.simulated_cycles = Cycles(take<std::uint64_t>(text));
    while (!text.empty()) {
        const auto name = take_all<std::string>(text);
        GraphValue output;
        output.type.element = take<ElementType>(text);
        output.type.sizes = take_all<Sizes>(text);
        output.numbers = take_all<std::vector<double>>(text);
        result.outputs[name] = std::move(output);
    }
    return result;
}

/// By case; nothing if it failed, or was skipped because another one had.
std::vector<std::optional<CaseResult>> run_beside(
    const CaseSpan& cases, std::size_t workers, const std::function<CaseResult(std::size_t)>& run) {
    WorkerPool pool(workers, [&](std::uint64_t index) {
        try {
            return text_of(run(index));
        } catch (const std::exception&) {
            return std::string();
        }
    });
    std::vector<std::optional<CaseResult>> results(cases.end - cases.begin);
    bool failed = false;
    for (std::size_t next = cases.begin; (next < cases.end && !failed) || pool.has_busy();) {
        if (next < cases.end && !failed && pool.has_idle()) {
            pool.give(next++);
        } else if (const auto answer = pool.take(-1)) {
            failed = failed || answer->text.empty();
            if (!answer->text.empty()) {
                results[answer->work - cases.begin] = result_of(answer->text);
            }
        }
    }
    return results;
}

}  // namespace

std::vector<CaseResult> run_cases(const CaseSpan& cases, std::size_t cores,
                                  const std::function<CaseResult(std::size_t)>& run) {
    const std::size_t count = cases.end - cases.begin;
    const std::size_t workers = std::min(worker_count(cores), count);
    std::vector<std::optional<CaseResult>> beside(count);
    if (workers > 1) {
        beside = run_beside(cases, workers, run);
    }
    std::vector<CaseResult> results;
    for (std::size_t i = 0; i < count; ++i) {
        // a case that failed in a worker reports the reason here
        results.push_back(beside[i] ? *std::move(beside[i]) : run(cases.begin + i));
    }
    return results;
}

}  // namespace npuscope
