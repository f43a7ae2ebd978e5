// SPDX-License-Identifier: Apache-2.0
#include "sim/run/repeated_statements.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace npuscope {
namespace {

using Compared = RepeatedStatements::Compared;

/// Two regions, which adjoin at 0x1000'0000.
RepeatedStatements repeats_of(const std::vector<Statement>& program) {
    return {program,
            {Bytes(256),
             [](Address address) { return std::uint64_t{address.value < 0x1000'0000 ? 0U : 1U}; },
             [](std::string_view block) { return block == "NVDLA_CDMA"; },
             [](InterruptSource source) { return source == InterruptSource::Sdp; }}};
}

/// A layer as a planner writes it: a size, an address, an interrupt and a wait for it.
void add_layer(std::vector<Statement>& program, std::uint32_t size, std::uint32_t address,
               unsigned group = 0) {
    const std::string sync = "id_" + std::to_string(program.size());
    const auto add = [&](Action action) { program.push_back({{}, std::move(action)}); };
    add(WriteRegister{"NVDLA_CDMA.S_POINTER_0", 0xfc, group});
    add(WriteRegister{"NVDLA_CDMA.D_DATAIN_SIZE_0_0", 0x100, size});
    add(WriteRegister{"NVDLA_CDMA.D_DAIN_ADDR_LOW_0_0", 0x104, address});
    add(NotifyOnInterrupt{"SDP_" + std::to_string(group), sync});
    add(SyncWait{"SDP", sync});
}

/// The stretch found by a host that waits at the end of the first two layers.
std::optional<RepeatedStatements::Stretch> found(const std::vector<Statement>& program,
                                                 Compared compared = Compared::Same) {
    RepeatedStatements repeated = repeats_of(program);
    repeated.note({4, 0, 1});
    repeated.note({9, 1, 1});
    return repeated.repeated(
        [&](std::size_t moment) { return moment == 0 ? compared : Compared::Different; });
}

TEST(RepeatedStatements, follow_as_often_as_layers_are_alike) {
    std::vector<Statement> program;
    for (const std::uint32_t address : {0U, 0x100U, 0x500U, 0x1100U}) {
        add_layer(program, 7, address);
    }
    add_layer(program, 8, 0);
    const auto stretch = found(program);
    ASSERT_TRUE(stretch.has_value());
    EXPECT_EQ(stretch->begin.statement, 4U);
    EXPECT_EQ(stretch->length, 5U);
    EXPECT_EQ(stretch->times, 2U);
    EXPECT_FALSE(found(program, Compared::Different).has_value());
}

TEST(RepeatedStatements, follow_an_even_number_of_times_where_groups_change) {
    std::vector<Statement> program;
    for (unsigned layer = 0; layer < 6; ++layer) {
        add_layer(program, 7, 0, layer % 2);
    }
    const auto stretch = found(program, Compared::GroupsChanged);
    ASSERT_TRUE(stretch.has_value());
    EXPECT_EQ(stretch->length, 5U);
    EXPECT_EQ(stretch->times, 4U);
    EXPECT_FALSE(found(program, Compared::Same).has_value());
}

/// As numbers, a wait one statement after its interrupt and a layer of some operations are close.
TEST(RepeatedStatements, differ_by_their_kind_whatever_they_say) {
    for (std::size_t operations = 0; operations < 64; ++operations) {
        std::vector<Statement> program;
        for (std::uint32_t layer = 0; layer < 3; ++layer) {
            add_layer(program, 7, 0x100 * layer);
        }
        program.back().action = BeginLayer{"next", "conv", 0, operations};
        EXPECT_FALSE(found(program).has_value()) << operations;
    }
}

TEST(RepeatedStatements, differ_by_a_size_the_lie_of_an_address_or_its_region) {
    for (const auto& [size, address] :
         {std::pair{8U, 0x200U}, std::pair{7U, 0x210U}, std::pair{7U, 0x1000'0000U}}) {
        std::vector<Statement> program;
        add_layer(program, 7, 0);
        add_layer(program, 7, 0x100);
        add_layer(program, size, address);
        EXPECT_FALSE(found(program).has_value()) << size << " at " << address;
    }
}

TEST(RepeatedStatements, are_none_with_addresses_beyond_32_bits_or_reads_of_registers) {
    for (const Action& action :
         {Action(WriteRegister{"NVDLA_CDMA.D_DAIN_ADDR_HIGH_0_0", 0x108, 1}),
          Action(ReadRegister{"NVDLA_CDMA.D_PERF_DAT_READ_STALL_0", 0x10c})}) {
        std::vector<Statement> program;
        for (int layer = 0; layer < 3; ++layer) {
            add_layer(program, 7, 0);
            program[program.size() - 5].action = action;  // in place of the pointer
        }
        EXPECT_FALSE(found(program).has_value());
    }
}

TEST(RepeatedStatements, raise_the_ids_of_what_is_left_out) {
    std::vector<Statement> program;
    for (int layer = 0; layer < 4; ++layer) {
        add_layer(program, 7, 0);
    }
    SyncBoard board;
    const auto sync = [&](std::size_t layer) {
        return std::get<SyncWait>(program[5 * layer + 4].action).sync;
    };
    board.raise(sync(0), Cycles(200));
    board.expect({Interrupt{InterruptSource::Sdp, 0}, sync(1), {}});
    RepeatedStatements repeated = repeats_of(program);
    repeated.note({4, 0, 1});
    repeated.note({9, 1, 1});
    const auto stretch = repeated.repeated([](std::size_t) { return Compared::Same; });
    ASSERT_TRUE(stretch.has_value());
    repeated.replay_interrupts(*stretch, Cycles(150), board);
    EXPECT_EQ(board.raised_at(sync(1)), Cycles(350));
    EXPECT_EQ(board.raised_at(sync(2)), Cycles(500));
    EXPECT_FALSE(board.raised(sync(3)));
    ASSERT_EQ(board.awaited().size(), 1U);
    EXPECT_EQ(board.awaited().front().sync, sync(3));
}

}  // namespace
}  // namespace npuscope
