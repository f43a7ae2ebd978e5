// SPDX-License-Identifier: Apache-2.0
#include "models/link/entry_store.h"

#include <gtest/gtest.h>

#include "tests/support/simulate.h"

namespace npuscope {
namespace {

TEST(ReleaseLedger, says_when_so_many_entries_have_been_released) {
    ReleaseLedger ledger;
    ledger.release(Cycles(10), 4);
    ledger.release(Cycles(8), 4);  // cannot overtake
    ledger.release(Cycles(30), 2);
    EXPECT_EQ(ledger.reached(0)->time, Cycles(0));
    EXPECT_EQ(ledger.reached(4)->time, Cycles(10));
    EXPECT_EQ(ledger.reached(5)->time, Cycles(10));
    EXPECT_EQ(ledger.reached(9)->time, Cycles(30));
    EXPECT_EQ(ledger.reached(9)->total, 10U);
    EXPECT_FALSE(ledger.reached(11));
}

TEST(ReleaseLedger, moves_what_was_released_behind_what_is_left_out) {
    ReleaseLedger ledger;
    ledger.release(Cycles(10), 4);
    ledger.leave_out(100);
    ledger.release(Cycles(30), 2);
    EXPECT_EQ(ledger.total(), 106U);
    EXPECT_EQ(ledger.reached(101)->time, Cycles(10));
    EXPECT_EQ(ledger.reached(104)->total, 104U);
    EXPECT_EQ(ledger.reached(105)->time, Cycles(30));
    EXPECT_EQ(ledger.reached(7)->total, 100U);
    EXPECT_FALSE(ledger.reached(107));
}

TEST(EntryStore, holds_as_much_as_before_where_groups_on_their_way_are_left_out) {
    Scene scene;
    EntryStore store("weights");
    store.allocate(16);
    EXPECT_EQ(store.promise(40), 0U);
    scene.thread("reader", [&](Activity& reader) {
        store.fill_at(Cycles(0), 8);
        store.fill_at(Cycles(0), 8);
        EXPECT_EQ(store.take_filled(reader, 8), Cycles(0));
        store.leave_out(24, false);  // that would have been filled later
        store.release_at(Cycles(5), 8);
        EXPECT_EQ(store.take_filled(reader, 8), Cycles(0));
        store.release_at(Cycles(9), 8);
        store.wait_empty(reader);
        EXPECT_EQ(now(), Cycles(9));
    });
    scene.run();
}

TEST(EntryStore, loses_what_is_left_out_after_it_was_filled) {
    Scene scene;
    EntryStore store("weights");
    store.allocate(16);
    EXPECT_EQ(store.promise(16), 0U);
    scene.thread("reader", [&](Activity& reader) {
        store.fill_at(Cycles(0), 16);
        store.leave_out(8, true);
        EXPECT_EQ(store.take_filled(reader, 8), Cycles(0));
        store.release_at(Cycles(3), 8);
        store.wait_empty(reader);
        EXPECT_EQ(now(), Cycles(3));
        EXPECT_EQ(store.releases().total(), 16U);
    });
    scene.run();
}

TEST(EntryStore, tells_its_reader_since_when_entries_are_filled) {
    Scene scene;
    EntryStore store("weights");
    store.allocate(16);
    scene.thread("reader", [&](Activity& reader) {
        EXPECT_EQ(store.take_filled(reader, 8), Cycles(40));
        EXPECT_EQ(now(), Cycles(40));
        reader.spend(Cycles(100));
        EXPECT_EQ(store.take_filled(reader, 8), Cycles(50));
        EXPECT_EQ(now(), Cycles(140));
    });
    scene.thread("filler", [&](Activity& /*filler*/) {
        EXPECT_EQ(store.promise(16), 0U);
        store.fill_at(Cycles(40), 8);
        store.fill_at(Cycles(50), 8);
        EXPECT_EQ(store.promise(1), 16U);
    });
    scene.run();
}

TEST(EntryStore, is_empty_when_all_that_was_promised_has_been_released) {
    Scene scene;
    EntryStore store("data");
    store.allocate(16);
    store.promise(8);
    scene.thread("filler", [&](Activity& filler) {
        store.wait_empty(filler);
        EXPECT_EQ(now(), Cycles(77));
    });
    scene.thread("reader", [&](Activity& reader) {
        reader.spend(Cycles(5));
        store.release_at(Cycles(60), 7);
        reader.spend(Cycles(5));
        store.release_at(Cycles(77), 1);
    });
    scene.run();
}

}  // namespace
}  // namespace npuscope
