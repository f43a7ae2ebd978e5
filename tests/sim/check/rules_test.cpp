// SPDX-License-Identifier: Apache-2.0
// The catalogue is complete and current: each id that the sources give to a diagnostic is a row,
// each row is in use, and the page is what the catalogue prints.
#include "sim/check/rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "models/base/rule_ids.h"

namespace npuscope::rules_test {
namespace {

std::filesystem::path source() { return NPUSCOPE_SOURCE; }

std::string text_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// A format's `{}` is the row's `*`.
std::string row_id(const std::string& id) {
    const std::size_t braces = id.find("{}");
    return braces == std::string::npos ? id : id.substr(0, braces) + '*' + id.substr(braces + 2);
}

void add_matches(const std::string& text, const std::regex& wanted, std::set<std::string>& ids) {
    for (std::sregex_iterator match(text.begin(), text.end(), wanted), end; match != end; ++match) {
        for (std::size_t group = 1; group < match->size(); ++group) {
            if ((*match)[group].matched) {
                ids.insert(row_id((*match)[group]));
            }
        }
    }
}

/// Literals where an `id` is set, or an early argument of a function that makes a diagnostic.
std::set<std::string> ids_in_sources() {
    const std::string id = R"re("([a-z][a-z0-9]*(?:_[a-z0-9{}]+)*)")re";
    const std::regex assigned(R"re(\b(?:id|refused_value) = (?:[^;"{}]*\? )?)re" + id +
                              "(?:\\s*:\\s*" + id + ")?");
    const std::regex argument(
        R"re(\b(?:add|advise|agree|blame|broken_rule|complain|complain_at|each_whole|expect|finding|map|report|)re"
        R"re(image_finding|surface_finding|push_back|emplace_back)\(\s*\{?)re"
        R"re((?:[A-Za-z_.:? \[\]()*&>-]+,\s*){0,3}(?:[a-z_]+\s*\?\s*)?(?:fmt::format\()?)re" +
        id + R"re((?:,[^;"]*\)\s*:\s*fmt::format\()re" + id + ")?");
    std::set<std::string> ids;
    for (const char* folder : {"models", "sim"}) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(source() / folder)) {
            const std::string ending = entry.path().extension().string();
            if ((ending == ".cpp" || ending == ".h") && entry.path().filename() != "rules.cpp") {
                const std::string text = text_of(entry.path());
                add_matches(text, assigned, ids);
                add_matches(text, argument, ids);
            }
        }
    }
    return ids;
}

TEST(Rules, AreComplete) {
    for (const Rule& rule : rules()) {
        EXPECT_TRUE(rule.sentence.ends_with(".")) << rule.id;
        EXPECT_FALSE(rule.source.empty()) << rule.id;
    }
}

TEST(Rules, EveryIdOfTheListIsARow) {
    for (const char* id : rule_ids::all) {
        EXPECT_NE(find_rule(id), nullptr) << id;
    }
}

TEST(Rules, ARunTellsWhatItsMemoryHidesByARuleThatIsARow) {
    for (const Rule& rule : rules()) {
        EXPECT_TRUE(rule.told_as.empty() || find_rule(rule.told_as) != nullptr) << rule.id;
    }
    EXPECT_TRUE(find_rule("never_starts")->hangs());
    EXPECT_FALSE(find_rule("check_not_made")->hangs());
    EXPECT_TRUE(find_rule("register_value")->refuses());
    EXPECT_FALSE(find_rule("register_in_use")->refuses());
}

TEST(Rules, AnIdWithANumberHasTheRowOfItsRule) {
    ASSERT_NE(find_rule("channels_multiple_of_4"), nullptr);
    EXPECT_EQ(find_rule("channels_multiple_of_4")->id, "channels_multiple_of_*");
    EXPECT_EQ(find_rule("shift_5bit")->id, "shift_*bit");
    EXPECT_EQ(find_rule("shift_bit"), nullptr);
    EXPECT_EQ(find_rule("misaligned")->id, "misaligned");
    EXPECT_EQ(find_rule("misaligne"), nullptr);
}

TEST(Rules, EveryIdInTheSourcesIsARow) {
    for (const std::string& id : ids_in_sources()) {
        const bool other_name = id.find('_') == std::string::npos;  // of a field or a unit
        EXPECT_TRUE(other_name || std::ranges::find(rules(), id, &Rule::id) != rules().end())
            << id << " is missing in sim/check/rules.cpp";
    }
}

TEST(Rules, EveryRowIsInUse) {
    std::string sources;
    for (const char* folder : {"models", "sim"}) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(source() / folder)) {
            const std::string ending = entry.path().extension().string();
            if ((ending == ".cpp" || ending == ".h") && entry.path().filename() != "rules.cpp") {
                sources += text_of(entry.path());
            }
        }
    }
    for (const Rule& rule : rules()) {
        const std::string_view constant = rule.id.substr(0, rule.id.find('*'));
        const bool whole = constant.size() == rule.id.size();
        const std::string quoted = '"' + std::string(constant) + (whole ? "\"" : "");
        EXPECT_NE(sources.find(quoted), std::string::npos) << rule.id << " is never reported";
    }
}

TEST(Rules, ThePageIsCurrent) {
    std::istringstream page(text_of(source() / "docs/rules.md"));
    std::istringstream printed(rules_markdown());
    for (std::string wanted, found; std::getline(printed, wanted);) {
        std::getline(page, found);
        ASSERT_EQ(found, wanted) << "npuscope list rules --markdown > docs/rules.md";
    }
    std::string more;
    EXPECT_FALSE(std::getline(page, more)) << more;
}

}  // namespace
}  // namespace npuscope::rules_test
