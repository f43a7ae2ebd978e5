// SPDX-License-Identifier: Apache-2.0
#include "models/memory/dram_address.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "models/base/error.h"
#include "tests/models/memory/dram_samples.h"

namespace npuscope {
namespace {

DramConfig with_mapping(const std::string& mapping) {
    DramConfig config = sample_dram();
    config.mapping = mapping;
    return config;
}

std::string refusal_of(const DramConfig& config) {
    try {
        const DramAddressMap map(config);
    } catch (const ConfigError& error) {
        return error.sentence();
    }
    return "accepted";
}

TEST(DramAddressMap, reads_fields_from_high_to_low_above_the_bytes_of_a_burst) {
    const DramAddressMap map(with_mapping("row rank bank column bank_group channel"));
    EXPECT_EQ(map.burst_bytes(), Bytes(64));
    EXPECT_EQ(map.decode(Bytes(63)), (DramLocation{}));
    EXPECT_EQ(map.decode(Bytes(64)), (DramLocation{.channel = 1}));
    EXPECT_EQ(map.decode(Bytes(128)), (DramLocation{.bank_group = 1}));
    EXPECT_EQ(map.decode(Bytes(256)), (DramLocation{.column = 8}));
    EXPECT_EQ(map.decode(Bytes(256 * 8)), (DramLocation{.bank = 1}));
    EXPECT_EQ(map.decode(Bytes(256 * 8 * 4)), (DramLocation{.rank = 1}));
    EXPECT_EQ(map.decode(Bytes(256 * 8 * 4 * 2)), (DramLocation{.row = 1}));
}

TEST(DramAddressMap, takes_a_field_in_pieces) {
    const DramAddressMap map(with_mapping("row rank bank column bank_group channel column:1"));
    EXPECT_EQ(map.decode(Bytes(64)), (DramLocation{.column = 8}));
    EXPECT_EQ(map.decode(Bytes(128)), (DramLocation{.channel = 1}));
    EXPECT_EQ(map.decode(Bytes(512)), (DramLocation{.column = 16}));
}

TEST(DramAddressMap, is_injective_and_comes_back_for_every_burst_of_every_mapping) {
    const char* const mappings[] = {"row rank bank column bank_group channel",
                                    "channel rank bank_group bank row column",
                                    "bank row column channel bank_group rank",
                                    "row:2 rank bank:1 row column channel bank bank_group column:2",
                                    "column row bank bank_group rank channel"};
    for (const char* mapping : mappings) {
        const DramAddressMap map(with_mapping(mapping));
        std::set<std::tuple<unsigned, unsigned, unsigned, unsigned, unsigned, unsigned>> seen;
        for (Bytes at(0); at < map.capacity(); at += map.burst_bytes()) {
            const DramLocation found = map.decode(at);
            EXPECT_EQ(map.encode(found), at) << mapping;
            EXPECT_LT(found.row, 16U);
            EXPECT_LT(found.column, 64U);
            seen.insert(
                {found.channel, found.rank, found.bank_group, found.bank, found.row, found.column});
        }
        EXPECT_EQ(seen.size(), map.capacity() / map.burst_bytes()) << mapping;
    }
}

TEST(DramAddressMap, lets_the_first_field_end_anywhere) {
    DramConfig config = with_mapping("row rank bank column bank_group channel");
    config.organisation.rows = 12;
    const DramAddressMap map(config);
    EXPECT_EQ(map.capacity(), Bytes(12ULL * 512 * 4 * 2 * 2 * 2));
    EXPECT_EQ(map.decode(map.capacity() - Bytes(1)).row, 11U);
    EXPECT_EQ(map.encode(map.decode(map.capacity() - Bytes(64))), map.capacity() - Bytes(64));
    config.mapping = "rank row bank column bank_group channel";
    EXPECT_EQ(refusal_of(config), "`row` has 12 values, not a power of two, and must stand first");
    config.mapping = "row rank row:3 bank column bank_group channel";
    EXPECT_EQ(refusal_of(config),
              "the first field of the mapping would not have an integer number of values");
}

TEST(DramAddressMap, refuses_what_is_no_bijection) {
    EXPECT_EQ(refusal_of(with_mapping("row rank bank column bank_group")),
              "the mapping gives 0 bits to `channel`, which has 1");
    EXPECT_EQ(refusal_of(with_mapping("row row rank bank column bank_group channel")),
              "the mapping names `row` twice");
    EXPECT_EQ(refusal_of(with_mapping("row:9 rank bank column bank_group channel")),
              "the mapping gives 9 bits to `row`, which has 4");
    EXPECT_EQ(refusal_of(with_mapping("row rank bank coloumn bank_group channel")),
              "`coloumn` is not a field of a DRAM address");
    EXPECT_EQ(refusal_of(with_mapping("row rank bank column:x bank_group channel")),
              "`column:x` needs a number of bits from 1 to 32");
    EXPECT_EQ(refusal_of(with_mapping("")), "the mapping is empty");
}

TEST(DramAddressMap, refuses_an_empty_mapping_of_a_dram_of_one_burst) {
    DramConfig config = with_mapping(" ");
    DramOrganisation& of = config.organisation;
    of.channels = of.ranks = of.bank_groups = of.banks = of.rows = 1;
    of.columns = of.burst_length;
    EXPECT_EQ(refusal_of(config), "the mapping is empty");
    config.mapping = "row";
    EXPECT_EQ(refusal_of(config), "accepted");
}

TEST(DramAddressMap, refuses_an_organisation_without_whole_bursts) {
    DramConfig config = sample_dram();
    config.organisation.columns = 60;
    EXPECT_NE(refusal_of(config), "accepted");
    config = sample_dram();
    config.organisation.burst_length = 0;
    EXPECT_NE(refusal_of(config), "accepted");
    config = sample_dram();
    config.organisation.banks = 0;
    EXPECT_NE(refusal_of(config), "accepted");
}

TEST(DramAddressMap, refuses_a_region_larger_than_the_dram) {
    const DramAddressMap map(sample_dram());
    EXPECT_NO_THROW(map.expect_room("dram", map.capacity()));
    EXPECT_THROW(map.expect_room("dram", map.capacity() + Bytes(1)), ConfigError);
}

}  // namespace
}  // namespace npuscope
