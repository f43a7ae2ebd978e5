// SPDX-License-Identifier: Apache-2.0
#include "models/mcif/mcif_timing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <random>
#include <vector>

#include "models/mcif/write_front.h"

namespace npuscope {
namespace {

/// The pace that all clients' beats share: one every two cycles.
struct Pace {
    Cycles free;

    Cycles pass(Cycles asked) {
        free = std::max(free, asked) + Cycles(2);
        return free;
    }
};

/// A client with bursts that are known from the start, or as soon as `known`.
struct Source : ChannelSource {
    explicit Source(std::deque<ChannelBurst> all) : bursts(std::move(all)) {}
    std::deque<ChannelBurst> bursts;
    Pace* pace = nullptr;  ///< of timed bursts
    bool known = true;
    std::vector<Cycles> times;

    std::uint64_t beats() const {
        std::uint64_t sum = 0;
        for (const ChannelBurst& burst : bursts) {
            sum += burst.beats;
        }
        return sum;
    }
    std::optional<ChannelBurst> next_burst() override {
        if (!known || bursts.empty()) {
            return std::nullopt;
        }
        const ChannelBurst burst = bursts.front();
        bursts.pop_front();
        return burst;
    }
    void arrived(std::span<const Cycles> arrivals) override {
        times.insert(times.end(), arrivals.begin(), arrivals.end());
    }
    void beats_ready(std::span<Cycles> asked) override {
        for (Cycles& time : asked) {
            time = pace->pass(time);
        }
    }
    Cycles ready_after(std::uint64_t /*count*/) const override { return Cycles(0); }
};

struct Scene {
    explicit Scene(std::uint32_t outstanding = 256) : channel(outstanding, Cycles(3)) {}
    ReadChannel channel;

    std::vector<unsigned> clients;

    void open(Source& source) {
        clients.push_back(channel.add_client());
        channel.open(clients.back(), source, source.beats());
    }
};

std::vector<Cycles> cycles(std::initializer_list<std::uint64_t> values) {
    std::vector<Cycles> result;
    for (const std::uint64_t value : values) {
        result.emplace_back(value);
    }
    return result;
}

TEST(ReadChannel, issues_a_beat_a_cycle_and_brings_it_after_the_latency) {
    Scene scene;
    Source source({{Cycles(100), 3, Cycles(50), Cycles(1)}});
    scene.open(source);
    scene.channel.advance(Cycles(1000));
    EXPECT_EQ(source.times, cycles({151, 152, 153}));
    EXPECT_TRUE(scene.channel.finished(0));
}

TEST(ReadChannel, issues_nothing_behind_the_time_it_is_asked_for) {
    Scene scene;
    Source source({{Cycles(100), 3, Cycles(50), Cycles(1)}});
    scene.open(source);
    scene.channel.advance(Cycles(99));
    EXPECT_EQ(scene.channel.issued(0), 0U);
    scene.channel.advance(Cycles(101));
    EXPECT_EQ(scene.channel.issued(0), 2U);
}

TEST(ReadChannel, brings_beats_no_faster_than_the_memory) {
    Scene scene;
    Source source({{Cycles(10), 4, Cycles(0), Cycles(4)}});
    scene.open(source);
    scene.channel.advance(Cycles(1000));
    EXPECT_EQ(source.times, cycles({11, 15, 19, 23}));
}

TEST(ReadChannel, gives_turns_in_the_order_of_the_clients_behind_the_last_one) {
    Scene scene;
    Source first({{Cycles(10), 2}});
    Source second({{Cycles(10), 2}});
    Source third({{Cycles(11), 2}});
    for (Source* source : {&first, &second, &third}) {
        scene.open(*source);
    }
    scene.channel.advance(Cycles(1000));
    EXPECT_EQ(first.times, cycles({11, 14}));
    EXPECT_EQ(second.times, cycles({12, 15}));
    EXPECT_EQ(third.times, cycles({13, 16}));
}

TEST(ReadChannel, brings_the_beats_of_a_turn_one_after_the_other_with_commands_of_their_own) {
    ReadChannel channel(256, Cycles(3), {.beats = 4, .split = true});
    Source first(
        {{Cycles(100), 4, Cycles(50), Cycles(1)}, {Cycles(100), 4, Cycles(50), Cycles(1)}});
    Source second({{Cycles(100), 2, Cycles(50), Cycles(1)}});
    channel.open(channel.add_client(), first, first.beats());
    channel.open(channel.add_client(), second, second.beats());
    channel.advance(Cycles(1000));
    EXPECT_EQ(first.times, cycles({151, 152, 153, 154, 157, 158, 159, 160}));
    EXPECT_EQ(second.times, cycles({155, 156}));
}

/// Arrivals of turns that memory times, in a ring of `places` slots. `apart`: the channel hands
/// over each beat by itself, as it does for a client that may hold beats back.
std::vector<Cycles> timed_turns(std::uint32_t places, bool split, bool apart) {
    ReadChannel channel(places, Cycles(3), {.beats = 4, .split = split});
    Pace pace;
    std::deque<ChannelBurst> bursts;
    for (std::uint64_t i = 0; i < 60; ++i) {
        bursts.push_back({Cycles(i * (i % 7)), 1 + i % 4, Cycles(0), Cycles(1), true, apart});
    }
    Source source(bursts);
    source.pace = &pace;
    channel.open(channel.add_client(), source, source.beats());
    channel.advance(Cycles(5000));
    return source.times;
}

TEST(ReadChannel, times_the_beats_of_a_turn_together_as_it_does_each_by_itself) {
    for (const std::uint32_t places : {4U, 9U, 64U}) {
        for (const bool split : {false, true}) {
            const std::vector<Cycles> together = timed_turns(places, split, false);
            EXPECT_EQ(together.size(), 150U);
            EXPECT_EQ(together, timed_turns(places, split, true)) << places << ' ' << split;
        }
    }
}

/// Takes a beat every third cycle.
struct SlowSource : Source {
    using Source::Source;
    Cycles free;
    void hold_back(std::span<Cycles> arrivals, Cycles /*interval*/) override {
        for (Cycles& time : arrivals) {
            time = std::max(time, free);
            free = time + Cycles(3);
        }
    }
};

TEST(ReadChannel, brings_nothing_past_a_beat_that_its_client_holds_back) {
    Scene scene;
    SlowSource slow({{.ready = Cycles(100), .beats = 4, .request = true}});
    Source other({{.ready = Cycles(100), .beats = 2}});
    scene.open(slow);
    scene.open(other);
    scene.channel.advance(Cycles(1000));
    EXPECT_EQ(slow.times, cycles({101, 104, 107, 110}));
    EXPECT_EQ(other.times, cycles({102, 105}));
}

TEST(ReadChannel, lets_a_request_that_comes_amid_the_one_before_wait_in_its_stages) {
    const auto arrivals = [](std::uint64_t second_ready) {
        ReadChannel channel(256, Cycles(3), {.stages = true});
        Source source({{.ready = Cycles(100), .beats = 3, .request = true, .stages = 3},
                       {.ready = Cycles(second_ready), .beats = 1, .request = true, .stages = 3}});
        channel.open(channel.add_client(), source, source.beats());
        channel.advance(Cycles(1000));
        return source.times;
    };
    EXPECT_EQ(arrivals(101), cycles({101, 102, 103, 104}));  // in the spare register in time
    EXPECT_EQ(arrivals(102), cycles({101, 102, 103, 105}));
    EXPECT_EQ(arrivals(104), cycles({101, 102, 103, 105}));
}

TEST(RequestStages, lose_nothing_between_requests_of_one_command) {
    RequestStages stages;
    for (std::uint64_t i = 0; i < 10; ++i) {
        EXPECT_EQ(stages.enter({.ready = Cycles(100), .stages = 3}), Cycles(100 + i));
        stages.issued(Cycles(100 + i));
    }
}

TEST(RequestStages, hide_their_loss_in_the_arbiter_when_another_client_has_turns_too) {
    RequestStages stages;
    EXPECT_EQ(stages.enter({.ready = Cycles(100), .stages = 3}), Cycles(100));
    for (const std::uint64_t turn : {100U, 102U, 104U}) {
        stages.issued(Cycles(turn));
    }
    EXPECT_EQ(stages.enter({.ready = Cycles(102), .stages = 3}), Cycles(105));
}

TEST(ReadChannel, takes_the_next_command_when_a_beat_in_flight_has_arrived) {
    Scene scene(2);
    Source source({{Cycles(10), 3, Cycles(50), Cycles(1)}});
    scene.open(source);
    // the first beat arrives in 61, three cycles later its slot is free
    scene.channel.advance(Cycles(63));
    EXPECT_EQ(scene.channel.issued(0), 2U);
    scene.channel.advance(Cycles(64));
    EXPECT_EQ(scene.channel.issued(0), 3U);
    EXPECT_EQ(source.times, cycles({61, 62, 115}));
}

TEST(ReadChannel, knows_no_time_for_a_stream_that_waits_for_room) {
    Scene scene;
    Source source({{Cycles(40), 3}});
    const std::uint64_t beats = source.beats();
    source.known = false;
    scene.channel.open(scene.channel.add_client(), source, beats);
    scene.channel.advance(Cycles(20));
    EXPECT_FALSE(scene.channel.issued_after(0, 3));
    source.known = true;
    scene.channel.advance(Cycles(30));
    EXPECT_EQ(scene.channel.issued_after(0, 3), Cycles(42));
}

/// The same rules, beat by beat and cycle by cycle.
std::vector<std::vector<Cycles>> reference(std::vector<Source> sources, std::size_t outstanding) {
    std::vector<std::vector<Cycles>> times(sources.size());
    std::vector<Cycles> arrivals;
    Pace pace;
    std::size_t last = sources.size() - 1;
    std::uint64_t remaining = 0;
    for (const Source& source : sources) {
        remaining += source.beats();
    }
    for (Cycles now(0); remaining > arrivals.size(); now += Cycles(1)) {
        const std::size_t issued = arrivals.size();
        if (issued >= outstanding && now < arrivals[issued - outstanding] + Cycles(3)) {
            continue;
        }
        for (std::size_t turn = 1; turn <= sources.size(); ++turn) {
            const std::size_t client = (last + turn) % sources.size();
            std::deque<ChannelBurst>& bursts = sources[client].bursts;
            if (bursts.empty() || bursts.front().ready > now) {
                continue;
            }
            const Cycles before = arrivals.empty() ? Cycles(0) : arrivals.back();
            const ChannelBurst& burst = bursts.front();
            const Cycles ready = burst.timed ? pace.pass(now) : now + burst.latency;
            arrivals.push_back(std::max(ready + Cycles(1), before + burst.interval));
            times[client].push_back(arrivals.back());
            if (--bursts.front().beats == 0) {
                bursts.pop_front();
            }
            last = client;
            break;
        }
    }
    return times;
}

Source random_source(std::mt19937& random, Cycles latency, Cycles interval, bool timed) {
    std::deque<ChannelBurst> bursts;
    Cycles ready(random() % 60);
    for (std::size_t count = 1 + random() % 12; count > 0; --count) {
        bursts.push_back({ready, 1 + random() % 30, latency, interval, timed});
        ready += Cycles(random() % 50);
    }
    return Source(std::move(bursts));
}

TEST(ReadChannel, agrees_with_the_rules_played_cycle_by_cycle) {
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
        const auto outstanding = static_cast<std::uint32_t>(1 + random() % 40);
        const Cycles latency(random() % 30);
        const Cycles interval(1 + random() % 3);
        std::vector<Source> sources;
        for (std::size_t client = 1 + random() % 4; client > 0; --client) {
            sources.push_back(random_source(random, latency, interval, round % 3 == 0));
        }
        const auto expected = reference(sources, outstanding);
        Scene scene(outstanding);
        Pace pace;
        for (Source& source : sources) {
            source.pace = &pace;
            scene.open(source);
        }
        Cycles now(0);
        while (!std::ranges::all_of(
            scene.clients, [&](unsigned client) { return scene.channel.finished(client); })) {
            scene.channel.advance(now);
            now += Cycles(1 + random() % 90);
        }
        for (std::size_t client = 0; client < sources.size(); ++client) {
            EXPECT_EQ(sources[client].times, expected[client]) << "round " << round;
        }
    }
}

TEST(ReadChannel, promises_no_time_that_it_does_not_reach) {
    std::mt19937 random(11);
    for (int round = 0; round < 200; ++round) {
        Scene scene(static_cast<std::uint32_t>(1 + random() % 20));
        Source mine = random_source(random, Cycles(20), Cycles(2), false);
        Source other = random_source(random, Cycles(20), Cycles(2), false);
        const std::uint64_t beats = mine.beats();
        scene.open(mine);
        scene.open(other);
        Cycles now(0);
        scene.channel.advance(now);
        while (scene.channel.issued(0) < beats) {
            const std::optional<Cycles> bound = scene.channel.issued_after(0, beats);
            ASSERT_TRUE(bound);
            ASSERT_GT(*bound, now);
            scene.channel.advance(*bound - Cycles(1));
            ASSERT_LT(scene.channel.issued(0), beats);
            now = *bound;
            scene.channel.advance(now);
        }
    }
}

/// When the client's next write is taken.
Cycles taken(WriteChannel& channel, unsigned client, const WriteChannel::Burst& burst) {
    channel.open(client, burst);
    const Cycles end = channel.taken_after(client, burst.beats);
    channel.advance(end - Cycles(1));
    EXPECT_FALSE(channel.taken(client, burst.beats));
    channel.advance(end);
    EXPECT_EQ(channel.taken(client, burst.beats), end);
    return end;
}

TEST(WriteChannel, takes_beats_as_they_come_when_the_memory_is_faster) {
    WriteChannel channel;
    EXPECT_EQ(taken(channel, 0, {Cycles(100), Cycles(9), 3, Cycles(4)}), Cycles(118));
    EXPECT_EQ(taken(channel, 0, {Cycles(119), Cycles(9), 1, Cycles(4)}), Cycles(122));
}

TEST(WriteChannel, takes_a_beat_an_interval_when_the_memory_is_slower) {
    WriteChannel channel;
    EXPECT_EQ(taken(channel, 0, {Cycles(100), Cycles(2), 3, Cycles(4)}), Cycles(108));
    EXPECT_EQ(taken(channel, 0, {Cycles(0), Cycles(0), 2, Cycles(4)}), Cycles(116));
}

TEST(WriteChannel, takes_a_burst_together_when_its_last_beat_is_there) {
    WriteChannel channel;
    EXPECT_EQ(taken(channel, 0, {Cycles(100), Cycles(9), 6, Cycles(1), 4}), Cycles(148));
}

TEST(WriteChannel, passes_beats_of_others_between_those_that_are_far_apart) {
    WriteChannel channel;
    channel.open(0, {Cycles(100), Cycles(8), 3, Cycles(1)});  // at 100, 108, 116
    channel.open(1, {Cycles(101), Cycles(2), 4, Cycles(1)});  // at 101, 103, 105, 107
    channel.advance(Cycles(107));
    EXPECT_EQ(channel.taken(1, 4), Cycles(107));
    EXPECT_FALSE(channel.taken(0, 2));
    channel.advance(Cycles(116));
    EXPECT_EQ(channel.taken(0, 3), Cycles(116));
}

TEST(WriteChannel, gives_turns_to_those_whose_beats_are_there) {
    WriteChannel channel;
    channel.open(2, {Cycles(100), Cycles(1), 3, Cycles(1)});
    channel.open(1, {Cycles(100), Cycles(1), 3, Cycles(1)});
    channel.advance(Cycles(200));
    EXPECT_EQ(channel.taken(1, 3), Cycles(104));  // 100, 102, 104
    EXPECT_EQ(channel.taken(2, 3), Cycles(105));
}

TEST(WriteChannel, gives_no_turn_amid_a_burst) {
    WriteChannel channel;
    channel.open(0, {Cycles(100), Cycles(1), 4, Cycles(1), 4});  // all there at 103
    channel.open(1, {Cycles(103), Cycles(1), 2, Cycles(1)});
    channel.advance(Cycles(200));
    EXPECT_EQ(channel.taken(0, 4), Cycles(107));  // from 104 on
    EXPECT_EQ(channel.taken(1, 2), Cycles(108));  // after 103
}

TEST(WriteChannel, takes_the_same_whether_it_is_asked_often_or_once) {
    std::mt19937 random(7);
    const auto below = [&](unsigned limit) { return random() % limit; };
    for (int scene = 0; scene < 300; ++scene) {
        WriteChannel once;
        WriteChannel often;
        std::array<WriteChannel::Burst, 3> bursts;
        for (unsigned client = 0; client < bursts.size(); ++client) {
            const std::uint64_t beats = below(12) + 1;
            bursts[client] = {Cycles(100 + below(20)), Cycles(below(9)), beats,
                              Cycles(1 + below(3)), 1 + below(static_cast<unsigned>(beats))};
            once.open(client, bursts[client]);
            often.open(client, bursts[client]);
        }
        once.advance(Cycles(1000));
        for (std::uint64_t time = 90; time < 400; ++time) {
            often.advance(Cycles(time));
        }
        for (unsigned client = 0; client < bursts.size(); ++client) {
            const std::uint64_t beats = bursts[client].beats;
            EXPECT_EQ(once.taken(client, beats), often.taken(client, beats));
        }
    }
}

/// Requests, each as its bursts' beats, and when the last beat of each burst passes.
struct FrontRow {
    std::vector<std::vector<unsigned>> requests;
    std::vector<unsigned> passes;
    bool shifted = false;
};

/// All beats are there at once; the first burst passes as late as the row says.
std::vector<unsigned> last_beats(const FrontRow& row) {
    WriteFront front;
    std::vector<unsigned> last;
    const Cycles first(row.passes.front() - row.requests.front().front() + 1);
    for (const std::vector<unsigned>& request : row.requests) {
        for (std::size_t burst = 0; burst < request.size(); ++burst) {
            Cycles passed;
            for (unsigned beat = 0; beat < request[burst]; ++beat) {
                passed = front.pass(first, {.begins_request = burst == 0 && beat == 0,
                                            .begins_burst = burst > 0 && beat == 0,
                                            .shifted = row.shifted && request[burst] == 4});
            }
            last.push_back(static_cast<unsigned>(passed.value));
        }
    }
    return last;
}

// source: nv_full RTL, simulated: copies of lines, and lines of a contraction; a burst's first beat
// leaves at the time in the row
TEST(WriteFront, a_command_takes_a_cycle_before_its_beats_and_a_request_one_more) {
    const FrontRow copies{{{4}, {3, 1}, {2, 2}, {1, 3}}, {91, 96, 99, 102, 105, 108, 112}};
    EXPECT_EQ(last_beats(copies), copies.passes);
}

TEST(WriteFront, a_burst_ends_no_earlier_than_the_one_before_has_left) {
    const FrontRow lines{{{4, 1}, {3, 2}, {2, 3}, {1, 4}, {4, 1}, {3}},
                         {105, 109, 113, 116, 120, 124, 127, 132, 138, 142, 146}};
    EXPECT_EQ(last_beats(lines), lines.passes);
}

// source: nv_full RTL, simulated: planes of two beats of a split, whose data waits in the client
TEST(WriteFront, three_items_wait_between_the_client_and_the_interface) {
    WriteFront front;
    std::vector<unsigned> left;
    for (unsigned request = 0; request < 6; ++request) {
        for (unsigned beat = 0; beat < 2; ++beat) {
            front.pass(Cycles(269), {.begins_request = beat == 0});
            left.push_back(static_cast<unsigned>(front.left().value));
        }
    }
    EXPECT_EQ(left,
              (std::vector<unsigned>{269, 270, 272, 273, 275, 276, 279, 280, 283, 284, 287, 288}));
}

TEST(WriteFront, whole_bursts_that_begin_in_the_middle_of_a_beat_take_a_cycle_more) {
    const FrontRow line{{{2, 4, 4, 4, 4}}, {142, 148, 154, 160, 166}, true};
    EXPECT_EQ(last_beats(line), line.passes);
}

}  // namespace
}  // namespace npuscope
