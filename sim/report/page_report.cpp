// SPDX-License-Identifier: Apache-2.0
// One HTML file that shows a run, two runs or a sweep, including its data, styles and charts: it
// needs no network and no other file. Its source is in sim/report/page.
#include <string_view>

#include "models/base/error.h"
#include "sim/report/reports.h"

// The files of the page, as they are.
#define NPUSCOPE_EMBED(name, file)                      \
    asm(".pushsection .rodata\n"                        \
        ".global npuscope_" name "\nnpuscope_" name     \
        ":\n"                                           \
        ".incbin \"" file                               \
        "\"\n"                                          \
        ".global npuscope_" name "_end\nnpuscope_" name \
        "_end:\n.byte 0\n"                              \
        ".popsection\n")

NPUSCOPE_EMBED("page_html", NPUSCOPE_PAGE_FOLDER "/page.html");
NPUSCOPE_EMBED("page_style", NPUSCOPE_PAGE_FOLDER "/page.css");
NPUSCOPE_EMBED("page_script", NPUSCOPE_PAGE_FOLDER "/page.js");
NPUSCOPE_EMBED("page_charts", NPUSCOPE_CHARTS);

extern "C" {
extern const char npuscope_page_html[];
extern const char npuscope_page_html_end[];
extern const char npuscope_page_style[];
extern const char npuscope_page_style_end[];
extern const char npuscope_page_script[];
extern const char npuscope_page_script_end[];
extern const char npuscope_page_charts[];
extern const char npuscope_page_charts_end[];
}

namespace npuscope {
namespace {

/// JSON in which no HTML parser finds a tag.
std::string safe(const Json& data) {
    std::string text;
    for (const char letter : data.dump(-1, ' ', true, Json::error_handler_t::replace)) {
        letter == '<' ? void(text += "\\u003c") : text.push_back(letter);
    }
    return text;
}

std::string page_of(const Json& data) {
    const std::string_view charts(npuscope_page_charts, npuscope_page_charts_end);
    if (charts.empty()) {
        throw ConfigError("this build of npuscope has no charts",
                          "build it where npm can fetch the package echarts");
    }
    const std::string_view page(npuscope_page_html, npuscope_page_html_end);
    const std::string text = safe(data);
    const std::pair<std::string_view, std::string_view> parts[] = {
        {"@STYLE@", {npuscope_page_style, npuscope_page_style_end}},
        {"@DATA@", text},
        {"@CHARTS@", charts},
        {"@SCRIPT@", {npuscope_page_script, npuscope_page_script_end}}};
    std::string made;
    std::size_t at = 0;
    for (const auto& [mark, part] : parts) {
        const std::size_t place = page.find(mark, at);
        made += page.substr(at, place - at);
        made += part;
        at = place + mark.size();
    }
    return made + std::string(page.substr(at));
}

}  // namespace

std::string run_page(const Json& result, const Json& timeline) {
    return page_of({{"kind", "run"},
                    {"run", result},
                    {"timeline", timeline.is_null() ? Json() : timeline.at("traceEvents")}});
}

std::string pair_page(const Json& one, const Json& other) {
    return page_of({{"kind", "pair"}, {"a", one}, {"b", other}});
}

std::string sweep_page(const Json& sweep) { return page_of({{"kind", "sweep"}, {"sweep", sweep}}); }

}  // namespace npuscope
