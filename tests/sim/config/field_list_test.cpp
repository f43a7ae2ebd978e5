// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sim/config/yaml_writer.h"
#include "tests/sim/config/sample_config.h"

namespace npuscope {
namespace {

TEST(FieldList, ListsEveryFieldWithTypeDefaultAndSentence) {
    std::vector<std::string> lines;
    for (const FieldRow& row : list_fields<sample::Config>()) {
        lines.push_back(row.name + " | " + row.type + " | " + row.default_text + " | " +
                        row.sentence);
    }
    const std::vector<std::string> expected{
        "title | text | plain | what a report calls it",
        "clock | hertz | 1 GHz | frequency",
        "unit.banks | integer | 16 | banks of the buffer",
        "unit.ways | integer | 4 | ways of a bank",
        "unit.enabled | true or false | true | the unit exists",
        "unit.policy | one of round_robin, oldest_first | round_robin | who goes first",
        "unit.latency | optional cycles | null | cycles of a read",
        "regions | list of fields | 1 entry | address ranges",
        "regions[].name | text | required | name of the region",
        "regions[].base | address | 0x80000000 | first byte",
        "regions[].size | bytes | 1 MiB | bytes of the region",
        "weights | list of integer | [1, 2] | shares of the arbiter",
        "spare.banks | integer | 16 | banks of the buffer",
        "spare.ways | integer | 4 | ways of a bank",
        "spare.enabled | true or false | true | the unit exists",
        "spare.policy | one of round_robin, oldest_first | round_robin | who goes first",
        "spare.latency | optional cycles | null | cycles of a read"};
    EXPECT_EQ(lines, expected);
}

}  // namespace
}  // namespace npuscope
