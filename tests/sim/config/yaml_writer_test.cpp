// SPDX-License-Identifier: Apache-2.0
#include "sim/config/yaml_writer.h"

#include <gtest/gtest.h>

#include <random>

#include "sim/config/json_writer.h"
#include "sim/config/yaml_reader.h"
#include "tests/sim/config/sample_config.h"

namespace npuscope {
namespace {

using sample::Config;

TEST(YamlWriter, WritesEveryFieldWithItsUnit) {
    EXPECT_EQ(write_yaml(Config{}),
              "title: plain\n"
              "clock: 1 GHz\n"
              "unit:\n"
              "  banks: 16\n"
              "  ways: 4\n"
              "  enabled: true\n"
              "  policy: round_robin\n"
              "  latency: null\n"
              "regions:\n"
              "  - name: dram\n"
              "    base: 0x80000000\n"
              "    size: 1 MiB\n"
              "weights: [1, 2]\n"
              "spare: null\n");
}

TEST(YamlWriter, QuotesStringsThatYamlWouldReadAsSomethingElse) {
    EXPECT_EQ(yaml_quoted("nv_small"), "nv_small");
    EXPECT_EQ(yaml_quoted("null"), "\"null\"");
    ConfigNode null_text;
    null_text.kind = ConfigNode::Kind::Scalar;
    null_text.text = "Null";
    EXPECT_EQ(flow_yaml(null_text), "\"Null\"");
    EXPECT_EQ(yaml_quoted("true"), "\"true\"");
    EXPECT_EQ(yaml_quoted(""), "\"\"");
    EXPECT_EQ(yaml_quoted("a: b"), "\"a: b\"");
    EXPECT_EQ(yaml_quoted("12"), "\"12\"");
    EXPECT_EQ(yaml_quoted("say \"x\"\n"), "\"say \\\"x\\\"\\n\"");
}

class RandomConfig {
 public:
    explicit RandomConfig(unsigned seed) : random_(seed) {}

    Config make() {
        Config config;
        config.title = text();
        config.clock = Hertz(number());
        config.unit = unit();
        config.regions.clear();
        for (std::uint64_t i = number() % 4; i > 0; --i) {
            config.regions.push_back({text(), Address(number()), Bytes(number())});
        }
        config.weights.resize(number() % 3, static_cast<std::uint16_t>(number()));
        if (number() % 2 == 0) {
            config.spare = unit();
        }
        return config;
    }

 private:
    std::uint64_t number() { return random_() >> (random_() % 64); }
    std::string text() {
        static constexpr std::string_view letters = "aZ0 :#-\"'\\\n\t{}[],&*!|>%@~\x01\x7f";
        std::string made;
        for (std::uint64_t i = number() % 12; i > 0; --i) {
            made += letters[random_() % letters.size()];
        }
        return made;
    }
    sample::Unit unit() {
        sample::Unit made;
        made.banks = static_cast<std::uint32_t>(random_());
        made.ways = static_cast<std::uint8_t>(random_());
        made.enabled = random_() % 2 == 0;
        made.policy = random_() % 2 == 0 ? sample::Policy::RoundRobin : sample::Policy::OldestFirst;
        if (random_() % 2 == 0) {
            made.latency = Cycles(number());
        }
        return made;
    }

    std::mt19937_64 random_;
};

TEST(YamlWriter, ReadingWhatIsWrittenGivesTheSameStruct) {
    RandomConfig random(7);
    for (int i = 0; i < 500; ++i) {
        const Config config = random.make();
        const std::string text = write_yaml(config);
        ASSERT_EQ(read_yaml<Config>(text, "round.yaml"), config) << text;
    }
}

TEST(JsonWriter, WritesNumbersInBaseUnitsAndAddressesInHexadecimal) {
    EXPECT_EQ(to_json(Config{}).dump(),
              R"({"title":"plain","clock":1000000000,"unit":{"banks":16,"ways":4,"enabled":true,)"
              R"("policy":"round_robin","latency":null},"regions":[{"name":"dram",)"
              R"("base":"0x80000000","size":1048576}],"weights":[1,2],"spare":null})");
}

}  // namespace
}  // namespace npuscope
