// SPDX-License-Identifier: Apache-2.0
#include "sim/loadable/loadable.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/refusal.h"
#include "tests/support/sample_loadable.h"
#include "tests/support/temp_folder.h"

namespace npuscope::loadable_test {
namespace {

std::string refusal(const Loadable& loadable) {
    return refusal_of([&] { parse_loadable(loadable_bytes(loadable), "x.fbuf"); });
}

TEST(Loadable, WhatIsWrittenIsReadAgain) {
    const Loadable written = test::sdp_chain();
    const std::string bytes = loadable_bytes(written);
    EXPECT_EQ(bytes.substr(4, 4), "NVDA");
    const Loadable read = parse_loadable(bytes, "x.fbuf");
    EXPECT_EQ(loadable_bytes(read), bytes);
    EXPECT_EQ(read.tasks.front().addresses, written.tasks.front().addresses);
    EXPECT_EQ(read.tensors.front().name, "in");
    EXPECT_EQ(read.blobs.front().version, dla_current_version);
    EXPECT_EQ(read.submits, written.submits);
}

TEST(Loadable, IsRefusedWhereBytesAreMissing) {
    const std::string bytes = loadable_bytes(test::sdp_chain());
    for (const std::size_t size : {std::size_t{0}, std::size_t{7}, bytes.size() / 2}) {
        EXPECT_NE(refusal_of([&] { parse_loadable(bytes.substr(0, size), "x.fbuf"); }), "accepted");
    }
}

TEST(Loadable, EntriesThatReferToNothingAreRefusedWithTheirPlace) {
    Loadable loadable = test::sdp_chain();
    loadable.addresses[2].memory = 99;
    EXPECT_EQ(refusal(loadable), "address_list[2]: memory 99 does not exist: the last one is 6");
    loadable = test::sdp_chain();
    loadable.memories[1].contents[0].blob = "nothing";
    EXPECT_EQ(refusal(loadable), "memory_list[1]: its content, blob 'nothing', does not exist");
    loadable = test::sdp_chain();
    loadable.memories[1].contents[0].offset = 1;
    EXPECT_EQ(refusal(loadable),
              "memory_list[1]: blob 'operations' of 232 bytes at offset 1 does not fit its 232 "
              "bytes");
    loadable = test::sdp_chain();
    loadable.tasks[0].addresses[3] = 7;
    EXPECT_EQ(refusal(loadable), "task_list[0]: address 7 does not exist: the last one is 6");
    loadable = test::sdp_chain();
    loadable.submits[0] = {1};
    EXPECT_EQ(refusal(loadable), "submit_list[0]: task 1 does not exist: the last one is 0");
    loadable = test::sdp_chain();
    loadable.memories[6].flags = LoadableMemory::input;
    EXPECT_EQ(refusal(loadable), "memory_list[6]: a second input has bind id 0");
    loadable = test::sdp_chain();
    loadable.version.minor = 8;
    EXPECT_EQ(refusal(loadable), "version: the loadable has version 0.8.0");
    loadable = test::sdp_chain();
    loadable.submits.clear();
    EXPECT_EQ(refusal(loadable),
              "submits: 0, tasks: 1, memories: 7; a loadable needs at least one of each");
}

TEST(Loadable, IsKnownByItsName) {
    EXPECT_TRUE(is_loadable_file("a/b.fbuf"));
    EXPECT_TRUE(is_loadable_file("NN_L0_0_fbuf"));
    EXPECT_TRUE(is_loadable_file("fast-math.nvdla"));
    EXPECT_FALSE(is_loadable_file("b.onnx"));
    const TempFolder folder;
    std::filesystem::create_directory(folder / "NN_L0_0_fbuf");
    EXPECT_FALSE(is_loadable_file((folder / "NN_L0_0_fbuf").string()));
}

}  // namespace
}  // namespace npuscope::loadable_test
