// SPDX-License-Identifier: Apache-2.0
#include "models/sdp/sdp_timing.h"

#include <gtest/gtest.h>

namespace npuscope {
namespace {

Cycles total(const PerStage<Cycles>& delays) {
    return delays[bs_stage] + delays[bn_stage] + delays[ew_stage];
}

TEST(ElementWiseOperands, come_with_those_of_the_multiplier_where_it_has_some) {
    EXPECT_EQ(element_wise_operand_delay(true, true), element_wise_operand_delay(true, false));
    EXPECT_EQ(element_wise_operand_delay(false, false), Cycles(0));
    EXPECT_GT(element_wise_operand_delay(false, true), element_wise_operand_delay(true, true));
}

TEST(SdpStageDelays, grow_with_the_operators_of_an_active_stage) {
    const SdpConfig config;
    SdpStages stages;
    EXPECT_EQ(total(sdp_stage_delays(config, stages)), Cycles(0));
    stages.bs.bypass = false;
    EXPECT_EQ(sdp_stage_delays(config, stages)[bs_stage], Cycles(4));
    stages.bs.mul.bypass = false;
    EXPECT_EQ(sdp_stage_delays(config, stages)[bs_stage], Cycles(5));
    stages.bs.alu.bypass = false;
    EXPECT_EQ(sdp_stage_delays(config, stages)[bs_stage], Cycles(7));
    stages.bn = stages.bs;
    stages.bn.mul.bypass = true;
    EXPECT_EQ(total(sdp_stage_delays(config, stages)), Cycles(7 + 6));
}

TEST(SdpStageDelays, of_the_element_wise_stage_have_its_tables) {
    const SdpConfig config;
    SdpStages stages;
    stages.ew.bypass = false;
    EXPECT_EQ(sdp_stage_delays(config, stages)[ew_stage], Cycles(2));
    stages.ew.alu.bypass = false;
    stages.ew.mul.bypass = false;
    EXPECT_EQ(sdp_stage_delays(config, stages)[ew_stage], Cycles(6));
    stages.ew.lut_bypass = false;
    EXPECT_EQ(sdp_stage_delays(config, stages)[ew_stage], Cycles(16));
}

TEST(SdpAtomCycles, follow_the_narrowest_active_stage) {
    SdpConfig config;
    config.output_throughput = 4;
    config.bs_throughput = 2;
    SdpStages stages;
    EXPECT_EQ(sdp_atom_cycles(config, stages, 8), Cycles(2));
    stages.bs.bypass = false;
    EXPECT_EQ(sdp_atom_cycles(config, stages, 8), Cycles(4));
    EXPECT_EQ(sdp_atom_cycles(config, stages, 9), Cycles(5));
}

TEST(SdpPace, of_atoms_from_the_accumulator_has_a_bubble_that_a_narrower_stage_hides) {
    SdpConfig config;
    config.output_throughput = 2;
    config.bs_throughput = 2;
    SdpStages stages;
    stages.bs.bypass = false;
    EXPECT_EQ(sdp_pace(config, stages, 8, false), Cycles(4));
    EXPECT_EQ(sdp_pace(config, stages, 8, true), Cycles(5));
    stages.ew.bypass = false;
    EXPECT_EQ(sdp_pace(config, stages, 8, false), Cycles(8));
    EXPECT_EQ(sdp_pace(config, stages, 8, true), Cycles(8));
}

TEST(AtomDrain, takes_an_atom_when_it_is_there_or_when_the_one_before_is_through) {
    AtomDrain drain;
    drain.begin(Cycles(9), std::nullopt);
    EXPECT_EQ(drain.take(Cycles(100)), Cycles(100));
    EXPECT_EQ(drain.take(Cycles(108)), Cycles(109));
    EXPECT_EQ(drain.take(Cycles(118)), Cycles(118));
    EXPECT_EQ(drain.take(Cycles(128)), Cycles(128));
}

/// Atoms of two beats, four slots, and a pooling that takes a beat every three cycles.
AtomDrain feeding_a_pooling() {
    AtomDrain drain;
    drain.begin(Cycles(2),
                PoolingLimit{.beats = 2, .interval = Cycles(3), .latency = Cycles(4), .places = 4});
    return drain;
}

TEST(AtomDrain, takes_no_more_beats_than_there_are_places_in_front_of_the_pooling) {
    AtomDrain drain = feeding_a_pooling();
    EXPECT_EQ(drain.take(Cycles(100)), Cycles(100));  // its beats leave at 104 and 107
    EXPECT_EQ(drain.take(Cycles(100)), Cycles(102));  // 110 and 113
    // both of its beats need the slots of the first atom's, which are free at 104 and 107
    EXPECT_EQ(drain.take(Cycles(100)), Cycles(106));
    EXPECT_EQ(drain.take(Cycles(100)), Cycles(112));
}

TEST(AtomDrain, has_all_places_again_after_a_pause) {
    AtomDrain drain = feeding_a_pooling();
    drain.take(Cycles(100));
    drain.take(Cycles(100));
    EXPECT_EQ(drain.take(Cycles(200)), Cycles(200));
    EXPECT_EQ(drain.take(Cycles(200)), Cycles(202));
}

TEST(AtomDrain, tells_how_late_the_last_beat_passes_a_stage) {
    AtomDrain drain = feeding_a_pooling();
    EXPECT_EQ(drain.delay_at(1), Cycles(0));
    drain.take(Cycles(100));
    drain.take(Cycles(100));
    // it came in 103; the beat three slots ahead leaves in 107
    EXPECT_EQ(drain.delay_at(1), Cycles(0));
    EXPECT_EQ(drain.delay_at(2), Cycles(2));
}

TEST(AtomDrain, takes_a_run_as_it_takes_its_atoms) {
    for (std::uint64_t first : {50U, 104U, 110U, 200U}) {
        AtomDrain one;
        AtomDrain run;
        for (AtomDrain* drain : {&one, &run}) {
            drain->begin(Cycles(9), std::nullopt);
            drain->take(Cycles(96));
        }
        const Cycles begin = run.take_run(Cycles(first), 16);
        for (std::uint64_t i = 0; i < 16; ++i) {
            EXPECT_EQ(one.take(Cycles(first + i)), begin + Cycles(9 * i));
        }
        EXPECT_EQ(one.free(), run.free());
    }
}

TEST(OperandPairs, hold_as_many_atoms_as_the_multipliers_places) {
    // int8: two parts an atom, 11 cycles for four atoms; 16 bits: one, 10 for five
    EXPECT_EQ(operand_pairs(2).atoms, 4U);
    EXPECT_EQ(operand_pairs(2).turn, Cycles(11));
    EXPECT_EQ(operand_pairs(1).atoms, 5U);
    EXPECT_EQ(operand_pairs(1).turn, Cycles(10));
}

// source: nv_large RTL, simulated: lines of five atoms whose operands all have arrived
TEST(OperandPairs, come_in_packs_that_end_with_a_line) {
    EXPECT_EQ(packed_operand_pairs(4, 5).atoms, 0U);  // the stage is slower
    const OperandPairs pairs = packed_operand_pairs(2, 5);
    std::vector<Cycles> taken;
    Cycles free;
    for (std::uint64_t atom = 0; atom < 11; ++atom) {
        taken.push_back(std::max(free, pairs.place(atom, taken)));
        free = taken.back() + Cycles(2);
    }
    const std::vector<unsigned> expected{0, 2, 4, 6, 8, 12, 14, 16, 18, 20, 24};
    for (std::size_t atom = 0; atom < taken.size(); ++atom) {
        EXPECT_EQ(taken[atom], Cycles(expected[atom])) << atom;
    }
}

// source: nv_full RTL, simulated: int8 with two operands of 16 bits, seven halves every ten cycles
TEST(OperandPairs, of_two_beats_get_their_places_half_by_half) {
    HalfPairs pairs;
    Cycles free;
    std::vector<Cycles> taken;
    for (int atom = 0; atom < 22; ++atom) {
        taken.push_back(pairs.place(free));
        pairs.taken(taken.back());
        free = taken.back() + Cycles(2);
    }
    EXPECT_EQ(taken[14] - taken[7], Cycles(20));
    EXPECT_EQ(taken[21] - taken[14], Cycles(20));
    EXPECT_EQ(taken[2], Cycles(4));
    EXPECT_EQ(taken[3], Cycles(9));  // its second half comes ten cycles after the first one of all
}

/// Times of atoms that the input provides every five cycles, one of them a bubble, while operands
/// of the first ones come in cycle 100.
std::vector<Cycles> after_waiting(std::uint64_t lost) {
    AtomDrain drain;
    drain.begin(Cycles(5), std::nullopt);
    drain.close_up(Cycles(1), lost);
    std::vector<Cycles> taken;
    for (std::uint64_t atom = 0; atom < 5; ++atom) {
        taken.push_back(drain.take(Cycles(5 * atom), Cycles(100), taken));
    }
    return taken;
}

TEST(AtomDrain, closes_up_as_many_bubbles_as_the_stages_before_the_operands_hold) {
    EXPECT_EQ(after_waiting(0),
              (std::vector{Cycles(100), Cycles(105), Cycles(110), Cycles(115), Cycles(120)}));
    EXPECT_EQ(after_waiting(1),
              (std::vector{Cycles(100), Cycles(104), Cycles(109), Cycles(114), Cycles(119)}));
    EXPECT_EQ(after_waiting(2),
              (std::vector{Cycles(100), Cycles(104), Cycles(108), Cycles(113), Cycles(118)}));
    EXPECT_EQ(bubbles_lost(Cycles(0), 4), 0U);  // the first stage takes what enters
    EXPECT_EQ(bubbles_lost(Cycles(6), 4), 2U);
    EXPECT_EQ(bubbles_lost(Cycles(6), 8), 1U);
}

TEST(AtomDrain, keeps_the_bubbles_of_atoms_that_wait_for_nothing) {
    AtomDrain drain;
    drain.begin(Cycles(5), std::nullopt);
    drain.close_up(Cycles(1), 2);
    std::vector<Cycles> taken;
    for (std::uint64_t atom = 0; atom < 3; ++atom) {
        taken.push_back(drain.take(Cycles(7), Cycles(0), taken));
        EXPECT_FALSE(drain.closing_up());
    }
    EXPECT_EQ(taken, (std::vector{Cycles(7), Cycles(12), Cycles(17)}));
}

// source: nv_full RTL, simulated: products and sums of two maps of 11 and 83 channels, and vector
// operands
TEST(MultiplierLead, AnOperandOfTheMultiplierAloneMayComeLater) {
    EXPECT_EQ(multiplier_lead(false, true), Cycles(2));
    EXPECT_EQ(multiplier_lead(false, false), Cycles(1));
    EXPECT_EQ(multiplier_lead(true, false), Cycles(3));
    EXPECT_EQ(multiplier_lead(true, true), Cycles(0));
}

TEST(AtomsAhead, EnterAsFarAsBeatsFindRoomBeforeANarrowerStage) {
    struct Case {
        std::uint32_t throughput;  // elements a cycle where atoms enter
        std::uint64_t elements;    // of an atom
        std::uint64_t atom;        // cycles in the narrowest stage
        std::uint64_t of_stage;
        std::uint64_t of_credits;
    };
    // nv_small_256_full and nv_medium_1024_full with a table, and one whose stages are as wide as
    // the entry
    for (const Case& one : {Case{2, 8, 8, 7, 25}, Case{8, 32, 16, 23, 77}, Case{2, 8, 4, 0, 0}}) {
        SdpConfig config;
        config.output_throughput = one.throughput;
        const AtomsAhead ahead = atoms_ahead(config, one.elements, Cycles(one.atom));
        EXPECT_EQ(ahead.of_stage, Cycles(one.of_stage));
        EXPECT_EQ(ahead.of_credits, Cycles(one.of_credits));
    }
}

}  // namespace
}  // namespace npuscope
