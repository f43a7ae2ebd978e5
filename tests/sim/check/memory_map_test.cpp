// SPDX-License-Identifier: Apache-2.0
// Files, results and what was never loaded, with gaps, overlaps and the operations that need them.
#include "sim/check/memory_map.h"

#include <gmock/gmock-matchers.h>
#include <gtest/gtest.h>

namespace npuscope {
namespace {

using ::testing::HasSubstr;

LoadMemory file(const char* name, std::uint64_t address, std::size_t bytes) {
    LoadMemory load;
    load.file = name;
    load.address = Address(address);
    load.image = raw_image(std::vector<std::uint8_t>(bytes, 1));
    return load;
}

/// `count` lines of 32 bytes.
SurfaceUse lines(const char* name, std::uint64_t address, std::uint32_t count, bool writes) {
    SurfaceUse use = surface_at(name, "NVDLA_SDP", writes ? "DST" : "SRC");
    use.writes = writes;
    FeatureCube cube = packed_cube(Address(address), {8, count, 4}, Bytes(8));
    cube.surface_stride = Bytes(1024);
    return cube_use(use, cube);
}

CheckedOperation operation(const char* name, std::vector<SurfaceUse> uses) {
    CheckedOperation one;
    one.name = name;
    one.uses = std::move(uses);
    return one;
}

TEST(MemoryMap, DrawsFilesResultsAndGapsOverTheirOperations) {
    MemoryMap map;
    map.load(file("in.dat", 0x80000000, 128));
    map.add(operation(
        "sdp 0", {lines("source", 0x80000000, 4, false), lines("result", 0x80001000, 4, true)}));
    map.add(operation(
        "sdp 1", {lines("source", 0x80001000, 4, false), lines("result", 0x80000000, 4, true)}));
    map.compare({Address(0x80000000), Bytes(128)});
    EXPECT_EQ(memory_map_text(map),
              "memory map\n"
              "  address     bytes  what               operations 0 to 1\n"
              "  0x80000000    128  in.dat             r\n"
              "  0x80000000    128  result of sdp 1     b\n"
              "              3,968  gap\n"
              "  0x80001000    128  result of sdp 0    wr\n"
              "  w written, r read, b both, - kept for a later operation\n");
}

TEST(MemoryMap, PartsOfOneResultAreOneEntry) {
    MemoryMap map;
    map.add(operation("sdp 0", {lines("result", 0x80001000, 4, true)}));
    map.add(operation("sdp 1", {lines("result", 0x80001080, 4, true)}));
    map.add(operation("sdp 2", {lines("result", 0x80002000, 4, true)}));
    const std::vector<MappedBytes> entries = map.entries();
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(entries[0].run, (ByteRun{Address(0x80001000), Bytes(256)}));
    EXPECT_EQ(entries[0].end(), 1U);
}

TEST(MemoryMap, TellsWhatIsNeededAtOneTimeAndWhatWasNeverLoaded) {
    MemoryMap map;
    map.load(file("in.dat", 0x80000000, 256));
    map.add(operation("sdp 0", {lines("result", 0x80000080, 4, true)}));
    map.add(operation("sdp 1", {lines("source", 0x80000080, 4, false)}));
    map.add(operation("sdp 2", {lines("source", 0x80000000, 2, false)}));
    map.add(operation("sdp 3", {lines("source", 0x80009000, 4, false)}));
    const std::string text = memory_map_text(map);
    EXPECT_THAT(text, HasSubstr("in.dat                         overlaps  --r\n"));
    EXPECT_THAT(text, HasSubstr("result of sdp 0                overlaps  wr\n"));
    EXPECT_THAT(text, HasSubstr("never loaded: source of sdp 3               r\n"));
}

TEST(MemoryMap, NamedResultsAreWhatWasWrittenSinceTheLast) {
    MemoryMap map;
    map.expect_names();
    map.add(operation("sdp 0", {lines("result", 0x80001000, 4, true)}));
    map.add(operation("sdp 1", {lines("result", 0x80001100, 4, true)}));
    map.name_result("conv1");
    map.add(operation(
        "sdp 2", {lines("source", 0x80001000, 4, false), lines("result", 0x80001180, 4, true)}));
    map.name_result("conv2");
    map.add(operation("sdp 3", {lines("source", 0x80001100, 4, false)}));
    const std::vector<MappedBytes> entries = map.entries();
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(entries[0].name, "conv1");
    EXPECT_EQ(entries[0].run, (ByteRun{Address(0x80001000), Bytes(0x180)}));
    EXPECT_EQ(entries[0].end(), 3U);
    EXPECT_EQ(entries[1].name, "conv2");
    EXPECT_FALSE(entries[0].overlaps);
}

TEST(MemoryMap, AFileWithoutBytesIsAsLargeAsWhatIsRead) {
    MemoryMap map;
    LoadMemory weights;
    weights.file = "weights.dat";
    weights.address = Address(0x80000000);
    map.load(weights);
    map.add(operation("sdp 0", {lines("source", 0x80000000, 4, false)}));
    map.add(operation("sdp 1", {lines("source", 0x80000080, 4, false)}));
    const std::vector<MappedBytes> entries = map.entries();
    ASSERT_EQ(entries.size(), 1U);
    EXPECT_EQ(entries[0].run, (ByteRun{Address(0x80000000), Bytes(256)}));
    EXPECT_EQ(entries[0].end(), 1U);
}

TEST(MemoryMap, OfAnImageHasNoOperations) {
    MemoryMap map;
    map.add_surface("weights", {Address(0x80000100), Bytes(64)});
    map.add_surface("input", {Address(0x80000000), Bytes(64)});
    EXPECT_EQ(memory_map_text(map),
              "memory map\n"
              "  address     bytes  what\n"
              "  0x80000000     64  input\n"
              "                192  gap\n"
              "  0x80000100     64  weights\n");
    EXPECT_EQ(memory_map_text(MemoryMap()), "");
}

}  // namespace
}  // namespace npuscope
