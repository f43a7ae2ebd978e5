// SPDX-License-Identifier: Apache-2.0
// Register programs that the C library plays on a device of the caller.
#include <gmock/gmock-matchers.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/sim/embed/c_device.h"
#include "tests/support/temp_folder.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;
using test::Made;
using testing::ElementsAre;
using testing::HasSubstr;

/// A device of the library, driven by the library's player.
struct Played {
    static Played& of(void* user) { return *static_cast<Played*>(user); }
    npuscope_driven calls() {
        return {[](void* user, std::uint32_t address, std::uint32_t value) -> int {
                    return npuscope_write_register(of(user).made.device, address, value);
                },
                [](void* user, std::uint32_t address, std::uint32_t* value) -> int {
                    ++of(user).reads;
                    return npuscope_read_register(of(user).made.device, address, value);
                },
                [](void* user, std::uint64_t address, const void* data, std::size_t size) -> int {
                    return npuscope_write_memory(of(user).made.device, address, data, size);
                },
                [](void* user, std::uint64_t address, std::uint8_t value, std::size_t size) -> int {
                    return npuscope_fill_memory(of(user).made.device, address, value, size);
                },
                [](void* user, std::uint64_t address, void* data, std::size_t size) -> int {
                    return npuscope_read_memory(of(user).made.device, address, data, size);
                },
                [](void* user) -> int {
                    if (of(user).throws) {
                        throw std::runtime_error("of the caller");
                    }
                    return npuscope_run_until_interrupt(of(user).made.device, 10'000'000, nullptr);
                },
                [](void* user, int holds, const char* text) {
                    ++of(user).checks;
                    if (holds == 0) {
                        of(user).failed.emplace_back(text);
                    }
                },
                this};
    }
    npuscope_status play(const std::string& program) {
        const npuscope_driven driven = calls();
        return npuscope_play(program.c_str(), "nv_small", &driven);
    }
    /// Plays these statements, as `program.cfg`.
    npuscope_status play_text(const std::string& text) {
        const TempFolder folder;
        std::ofstream(folder / "program.cfg") << text;
        return play((folder / "program.cfg").string());
    }

    Made made;
    int reads = 0;
    int checks = 0;
    std::vector<std::string> failed;
    bool throws = false;
};

const std::string unmasks = "reg_write(NVDLA_GLB.S_INTR_MASK_0, 0);\n";
const std::string raises = "reg_write(NVDLA_GLB.S_INTR_SET_0, 0x1);\n";

TEST(PlayApi, makesTheChecksOfAProgram) {
    Played right;
    const std::string three = NPUSCOPE_SOURCE "/configs/experiment/three_layers";
    EXPECT_EQ(right.play(three), NPUSCOPE_OK) << npuscope_error();
    EXPECT_EQ(right.checks, 3);
    EXPECT_TRUE(right.failed.empty());

    Played wrong;
    EXPECT_EQ(wrong.play_text("mem_init(pri_mem, 0x80000000, 32, ADDR);\nsync_notify(h, a);\n"
                              "check_crc(a, pri_mem, 0x80000000, 32, 0x1);\n"
                              "check_crc(b, pri_mem, 0x80000000, 32, 0x91267e8a);\n"
                              "reg_read(NVDLA_GLB.S_INTR_MASK_0, variable);\n"),
              NPUSCOPE_OK)
        << npuscope_error();
    EXPECT_EQ(wrong.checks, 2);
    EXPECT_THAT(wrong.failed,
                ElementsAre(HasSubstr("program.cfg:3:1: crc32 at 0x80000000, 32 bytes: expected "
                                      "0x00000001, found 0x91267e8a"),
                            HasSubstr("program.cfg:4:1: crc32 at 0x80000000, 32 bytes: not made")));
}

TEST(PlayApi, letsAnInterruptRaiseOneIdAndKeepsItUntilItIsAwaited) {
    Played twice;
    EXPECT_EQ(twice.play_text(unmasks + raises +
                              "intr_notify(SDP_0, a);\nintr_notify(SDP_0, b);\n"
                              "sync_wait(h, a);\nsync_wait(h, b);\n"),
              NPUSCOPE_CALLBACK_FAILED);
    EXPECT_STREQ(npuscope_error(), "await_interrupt returned 3");

    Played any;
    EXPECT_EQ(
        any.play_text(unmasks + raises + "intr_notify(a);\nintr_notify(b);\nsync_wait(h, a);\n" +
                      raises + "sync_wait(h, b);\n"),
        NPUSCOPE_OK)
        << npuscope_error();

    Played masked;  // one that was hidden when another rose
    EXPECT_EQ(masked.play_text("reg_write(NVDLA_GLB.S_INTR_MASK_0, 0x2);\n"
                               "reg_write(NVDLA_GLB.S_INTR_SET_0, 0x3);\n"
                               "intr_notify(SDP_0, a);\nintr_notify(SDP_1, b);\n"
                               "sync_wait(h, a);\n" +
                               unmasks + "sync_wait(h, b);\n"),
              NPUSCOPE_OK)
        << npuscope_error();

    Played later;  // both rise, one is awaited first
    EXPECT_EQ(later.play_text(unmasks + "reg_write(NVDLA_GLB.S_INTR_SET_0, 0x3);\n"
                                        "intr_notify(SDP_0, a);\nsync_wait(h, a);\n"
                                        "intr_notify(SDP_1, b);\nsync_wait(h, b);\n"),
              NPUSCOPE_OK)
        << npuscope_error();
}

TEST(PlayApi, stopsWhereNothingCanHappen) {
    Played waits;
    EXPECT_EQ(waits.play_text("sync_wait(h, a);\n"), NPUSCOPE_STOPPED);
    EXPECT_THAT(npuscope_error(),
                HasSubstr("program.cfg:1:1: 'a' is awaited, but nothing raises it"));
    Played polls;
    EXPECT_EQ(polls.play_text("poll_reg_equal(NVDLA_GLB.S_INTR_MASK_0, 0x3, 0x1);\n"),
              NPUSCOPE_STOPPED);
    EXPECT_THAT(npuscope_error(), HasSubstr("never read as 0x3"));
    EXPECT_EQ(polls.reads, 100'000);
}

TEST(PlayApi, reportsWhatTheCallerDoesWrong) {
    Played played;
    EXPECT_EQ(played.play_text("reg_write(NVDLA_GLB.NOPE_0, 1);\n"), NPUSCOPE_WRONG_INPUT);
    EXPECT_THAT(npuscope_error(), HasSubstr("program.cfg:1:11: unknown register"));
    EXPECT_EQ(played.play_text("run_node(\"a\", \"Add\", 1, 0);\n"), NPUSCOPE_WRONG_INPUT);
    EXPECT_THAT(npuscope_error(), HasSubstr("program.cfg:1:1: run_node is no access of a driver"));
    EXPECT_EQ(played.play("/nowhere.cfg"), NPUSCOPE_WRONG_INPUT);
    EXPECT_EQ(played.play_text("mem_init(pri_mem, 0x0, 32, ADDR);\n"), NPUSCOPE_CALLBACK_FAILED);
    EXPECT_STREQ(npuscope_error(), "write_memory returned 2");
    played.throws = true;
    EXPECT_EQ(played.play_text(unmasks + raises + "intr_notify(a);\n"), NPUSCOPE_CALLBACK_FAILED);
    EXPECT_STREQ(npuscope_error(), "await_interrupt threw an exception");

    npuscope_driven driven = played.calls();
    EXPECT_EQ(npuscope_play(nullptr, "nv_small", &driven), NPUSCOPE_BAD_ARGUMENT);
    EXPECT_EQ(npuscope_play("x.cfg", nullptr, &driven), NPUSCOPE_BAD_ARGUMENT);
    EXPECT_EQ(npuscope_play("x.cfg", "nv_small", nullptr), NPUSCOPE_BAD_ARGUMENT);
    EXPECT_EQ(npuscope_play("x.cfg", "nv_smal", &driven), NPUSCOPE_WRONG_INPUT);
    const std::string jobs = NPUSCOPE_SOURCE "/configs/experiment/three_layers";
    EXPECT_EQ(npuscope_play(jobs.c_str(), "tinpu_f28p55", &driven), NPUSCOPE_WRONG_INPUT);
    EXPECT_THAT(npuscope_error(), HasSubstr("no public registers"));
    driven.fill_memory = nullptr;
    EXPECT_EQ(npuscope_play("x.cfg", "nv_small", &driven), NPUSCOPE_BAD_ARGUMENT);
    EXPECT_STREQ(npuscope_error(), "driven->fill_memory is null");
}

}  // namespace
}  // namespace npuscope
