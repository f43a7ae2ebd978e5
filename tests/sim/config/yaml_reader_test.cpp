// SPDX-License-Identifier: Apache-2.0
#include "sim/config/yaml_reader.h"

#include <gtest/gtest.h>

#include "tests/sim/config/sample_config.h"
#include "tests/support/growth.h"

namespace npuscope::yaml_reader_test {
namespace {

using sample::Config;
using sample::message_of;

Config read(const std::string& text) { return read_yaml<Config>(text, "nv.yaml"); }

std::string complaint(const std::string& text) {
    return message_of([&] { read(text); });
}

TEST(YamlReader, ReadsAFieldOfEveryKind) {
    const Config config = read(
        "title: wide\n"
        "clock: 800 MHz\n"
        "unit: {banks: 32, ways: 8, enabled: false, policy: oldest_first, latency: 50 cycles}\n"
        "regions:\n"
        "  - {name: sram, base: 0x1000, size: 128 KiB}\n"
        "  - name: dram\n"
        "weights: [3, 4, 5]\n");
    EXPECT_EQ(config.title, "wide");
    EXPECT_EQ(config.clock, Hertz(800'000'000));
    EXPECT_EQ(config.unit, (sample::Unit{32, 8, false, sample::Policy::OldestFirst, Cycles(50)}));
    ASSERT_EQ(config.regions.size(), 2U);
    EXPECT_EQ(config.regions[0], (sample::Region{"sram", Address(0x1000), Bytes(131072)}));
    EXPECT_EQ(config.regions[1], (sample::Region{"dram", Address(0), Bytes(4096)}));
    EXPECT_EQ(config.weights, (std::vector<std::uint16_t>{3, 4, 5}));
    EXPECT_FALSE(config.spare);
}

TEST(YamlReader, WhatTheTextLeavesOutKeepsItsDefault) {
    EXPECT_EQ(read("title: plain\n"), Config{});
    EXPECT_EQ(read("{}\n"), Config{});
}

TEST(YamlReader, UnknownFieldNamesPlaceDottedPathAndNearestName) {
    EXPECT_EQ(complaint("title: x\nunit:\n  bansk: 3\n"),
              "nv.yaml:3:3: unknown field 'unit.bansk' (did you mean 'banks'?)");
    EXPECT_EQ(complaint("regions:\n  - name: a\n    bytes_of_it: 3\n"),
              "nv.yaml:3:5: unknown field 'regions[0].bytes_of_it' (known: name, base, size)");
}

TEST(YamlReader, RepeatedKeyIsRefused) {
    EXPECT_EQ(complaint("title: x\nclock: 1 GHz\ntitle: y\n"),
              "nv.yaml:3:1: field 'title' is given twice (first given at line 1)");
}

TEST(YamlReader, MissingRequiredFieldIsNamedAtItsMapping) {
    EXPECT_EQ(complaint("regions:\n  - base: 0x10\n"),
              "nv.yaml:2:5: field 'regions[0].name' is missing (name: name of the region)");
}

TEST(YamlReader, AMisspeltFieldIsNotSaidToBeMissing) {
    EXPECT_EQ(complaint("regions:\n  - nam: dram\n"),
              "nv.yaml:2:5: unknown field 'regions[0].nam' (did you mean 'name'?)");
}

TEST(YamlReader, WrongValuesAreRefusedAtTheirPlace) {
    EXPECT_EQ(complaint("unit: {banks: 010}\n"),
              "nv.yaml:1:15: field 'unit.banks': '010' looks octal "
              "(write a plain decimal or 0x hexadecimal integer)");
    EXPECT_EQ(complaint("unit: {ways: 300}\n"),
              "nv.yaml:1:14: field 'unit.ways': 300 is out of range (at most 255)");
    EXPECT_EQ(complaint("unit: {enabled: yes}\n"),
              "nv.yaml:1:17: field 'unit.enabled': 'yes' is not a boolean (write true or false)");
    EXPECT_EQ(complaint("unit: {policy: round_robbin}\n"),
              "nv.yaml:1:16: field 'unit.policy': unknown name 'round_robbin' "
              "(did you mean 'round_robin'? one of round_robin, oldest_first)");
    EXPECT_EQ(complaint("unit: 3\n"),
              "nv.yaml:1:7: field 'unit' must be a mapping, found a single value (write its "
              "fields: {NAME: VALUE})");
    EXPECT_EQ(complaint("weights: 3\n"),
              "nv.yaml:1:10: field 'weights' must be a list, found a single value (write a list: "
              "[VALUE, VALUE])");
    EXPECT_EQ(complaint("title: [a]\n"),
              "nv.yaml:1:8: field 'title' must be a single value, found a list (write one value, "
              "without [ ] or { })");
    EXPECT_EQ(complaint("title:\nclock: 1 GHz\n"),
              "nv.yaml:1:1: field 'title' must be a single value, found nothing (write one value, "
              "without [ ] or { }, or leave it out)");
    EXPECT_TRUE(complaint("unit:\n  banks:\nclock: 1 GHz\n")
                    .starts_with("nv.yaml:2:3: field 'unit.banks' must be a single value"));
    EXPECT_TRUE(complaint("unit: {banks: null}\n")
                    .starts_with("nv.yaml:1:8: field 'unit.banks' must be a single value"));
}

TEST(YamlReader, BrokenSyntaxIsNamed) {
    EXPECT_EQ(complaint("weights: [1, 2\n"),
              "nv.yaml:2:1: not YAML: a list that begins with '[' is not closed (add the ']')");
    EXPECT_EQ(complaint("unit: {banks: 3\n"),
              "nv.yaml:2:1: not YAML: a mapping that begins with '{' is not closed (add the '}')");
    EXPECT_EQ(complaint("title: a: b\n"),
              "nv.yaml:1:9: not YAML: illegal map value (indent with spaces, not tabs, and quote "
              "values that contain ': ' or ' #')");
}

TEST(YamlReader, ANameWithAnIndexIsQuotedInsideBraces) {
    EXPECT_EQ(complaint("- {field: memory.regions[0].bandwidth, values: [1]}\n"),
              "nv.yaml:1:25: not YAML: a mapping that begins with '{' is not closed, or has a '[' "
              "in a name that is not quoted (add the '}', or write "
              "\"memory.regions[0].bandwidth\")");
    EXPECT_EQ(complaint("a: \"x[0]\"\nunit: {banks: 3\n"),
              "nv.yaml:3:1: not YAML: a mapping that begins with '{' is not closed (add the '}')");
}

TEST(YamlReader, WhatIsNotUtf8IsRefusedAtItsPlace) {
    EXPECT_EQ(complaint("title: \xc3\xa4\nunit: {banks: \xff\xfe}\n"),
              "nv.yaml:2:15: byte 0xff is not UTF-8 text (save the text as UTF-8)");
    for (const char* text : {"title: \xc3", "title: \xc0\xaf", "title: \xed\xa0\x80",
                             "title: \xf4\x90\x80\x80", "title: \x80"}) {
        EXPECT_TRUE(complaint(text).starts_with("nv.yaml:1:8: byte 0x")) << text;
    }
    EXPECT_EQ(complaint(std::string("title: a\0\nclock: 1 GHz\n", 23)),
              "nv.yaml:1:9: a NUL byte is not text (remove the byte)");
    EXPECT_EQ(read("\xef\xbb\xbftitle: \xe2\x82\xac \xf0\x9f\x98\x80\n").title,
              "\xe2\x82\xac \xf0\x9f\x98\x80");
}

TEST(YamlReader, NullTakesTheValueFromAnOptional) {
    EXPECT_FALSE(read("unit: {latency: null}").unit.latency);
    EXPECT_TRUE(read("spare: {banks: 2}").spare);
}

TEST(YamlReader, WhatYamlWouldSilentlyDoIsRefused) {
    EXPECT_EQ(complaint(""),
              "nv.yaml:1:1: the file must be a mapping, found nothing (write each of its fields on "
              "a line: NAME: VALUE)");
    EXPECT_EQ(complaint("- a\n"),
              "nv.yaml:1:1: the file must be a mapping, found a list (write each of its fields on "
              "a line: NAME: VALUE)");
    EXPECT_EQ(complaint("unit: &u {banks: 3}\nspare: *u\n"),
              "nv.yaml:1:7: anchors are not supported (write the value out)");
    EXPECT_EQ(complaint("unit:\n  <<: {banks: 3}\n"),
              "nv.yaml:2:3: merge keys are not supported (write the fields out)");
    EXPECT_EQ(complaint("title: !!str a\n"),
              "nv.yaml:1:8: tags are not supported (write the value alone)");
    EXPECT_EQ(
        complaint("title: a\n---\ntitle: b\n"),
        "nv.yaml: more than one YAML document in a file (remove the second one and the '---')");
}

TEST(YamlReader, BrokenYamlIsNamedWithItsPlace) {
    EXPECT_TRUE(complaint("unit: {banks: 3\n").starts_with("nv.yaml:2:1: "));
    EXPECT_TRUE(complaint("title: a\n\tclock: 3\n").starts_with("nv.yaml:2:"));
    EXPECT_EQ(complaint(std::string(5000, '[')),
              "nv.yaml:1:1: nested more than 499 deep (is it the right file?)");
}

TEST(YamlReader, ManyKeysTakeTimeInProportion) {
    const auto parse = [](std::size_t count) {
        std::string text;
        for (std::size_t i = 0; i < count; ++i) {
            text += "key" + std::to_string(i) + ": 1\n";
        }
        return parse_yaml(text, "many.yaml");
    };
    EXPECT_EQ(parse(1000).keys.size(), 1000U);
    EXPECT_LT(test::growth(8000, parse), test::between_linear_and_quadratic);
}

TEST(YamlReader, AKeyThatIsThereTwiceIsFoundAmongMany) {
    EXPECT_THROW(parse_yaml("a: 1\nb: {a: 1}\na: 2\n", "twice.yaml"), ConfigError);
    EXPECT_NO_THROW(parse_yaml("a: 1\nb: [{a: 1}, {a: 2}]\n", "once.yaml"));
}

}  // namespace
}  // namespace npuscope::yaml_reader_test
