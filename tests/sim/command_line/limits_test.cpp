// SPDX-License-Identifier: Apache-2.0
#include "sim/config/limits.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/config/file_io.h"
#include "sim/config/preset.h"
#include "tests/sim/command_line/typed.h"
#include "tests/support/temp_folder.h"

namespace npuscope::limits_test {
namespace {

using sample::Answer;
using sample::typed;

const std::string lenet = std::string(NPUSCOPE_SOURCE) + "/configs/workload/lenet.yaml";
const std::string ds_cnn = std::string(NPUSCOPE_SOURCE) + "/configs/workload/ds_cnn.yaml";

Answer timed(const std::string& npu, const std::vector<std::string>& changes) {
    std::vector<std::string> arguments{"run", lenet, "--npu", npu, "--values", "off"};
    for (const std::string& change : changes) {
        arguments.insert(arguments.end(), {"--set", change});
    }
    return typed(arguments);
}

/// What a refusal proposes, `npu.cbuf.banks=32`.
std::string proposal(const std::string& message) {
    const std::size_t npu = message.find("npu.", message.find("nearest legal"));
    return message.substr(npu, message.find_first_of(" )\n", npu) - npu);
}

TEST(Limits, EveryPresetKeepsThem) {
    for (const std::string& preset : list_presets(configs_folder(), "npu")) {
        if (preset != "tinpu_f28p55") {  // does not support such a network
            const Answer answer = timed(preset, {});
            EXPECT_EQ(answer.code, ExitCode::Good) << preset << answer.err;
        }
    }
}

TEST(Limits, AFieldOutsideItsRangeIsRefusedWithTheNearestValueThatRuns) {
    for (const char* field :
         {"npu.datapath.atomic_c", "npu.datapath.memory_atom", "npu.mcif.bus_width",
          "npu.cbuf.banks", "npu.cbuf.bank_width", "npu.cbuf.bank_depth", "npu.sdp.beat_group",
          "npu.cdma.request_atoms", "npu.csc.stripe_groups", "npu.pdp.throughput",
          "npu.pdp.line_buffer_bank_atoms", "npu.sdp.bs_throughput", "npu.sdp.operand_fifo",
          "npu.sdp.output_throughput", "npu.cacc.buffered_groups"}) {
        const Answer refused = timed("nv_small", {std::string(field) + "=0"});
        EXPECT_EQ(refused.code, ExitCode::WrongInput) << field;
        EXPECT_NE(refused.err.find(field), std::string::npos) << refused.err;
        EXPECT_NE(refused.err.find(limit_text(nvdla_system().family, field, "integer")),
                  std::string::npos)
            << refused.err;
        EXPECT_NE(timed("nv_small", {proposal(refused.err)}).code, ExitCode::Bug) << refused.err;
    }
}

/// What follows from widths is computed before they are compared with their limits.
TEST(Limits, WidthsOfZeroAreRefusedByEveryGeneration) {
    for (const char* preset : {"nv_small", "nv_small_256", "nv_large", "nv_full"}) {
        const Answer refused =
            timed(preset, {"npu.mcif.bus_width=0 B", "npu.datapath.memory_atom=0 B"});
        EXPECT_EQ(refused.code, ExitCode::WrongInput) << preset;
        EXPECT_EQ(timed(preset, {"npu.mcif.bus_width=0 B"}).code, ExitCode::WrongInput) << preset;
    }
}

TEST(Limits, AMemoryIsRefusedAtTheLineOfItsFile) {
    const TempFolder folder;
    const std::string file = (folder / "m.yaml").string();
    const auto refusal = [&](const std::string& text) {
        std::ofstream(file) << text;
        const Answer answer = typed({"run", lenet, "--values", "off", "--memory", file});
        EXPECT_EQ(answer.code, ExitCode::WrongInput) << text;
        return answer.err;
    };
    EXPECT_EQ(refusal("regions: []\n"), "npuscope: " + file +
                                            ":1:10: the memory has no region (add one to "
                                            "memory.regions)\n");
    const std::string region = "regions:\n  - {name: d, base: 0x80000000, size: 1 GiB, ";
    EXPECT_TRUE(refusal(region + "bandwidth: 0 GB/s}\n")
                    .starts_with("npuscope: " + file +
                                 ":2:57: 'memory.regions[0].bandwidth' is 0, but must be "));
    const auto dram = [&](const std::string& field) {
        const std::string told = refusal(region + "dram: {" + field + "}}\n");
        const std::string begin = "npuscope: " + file + ":2:52: memory.regions[0].dram: ";
        EXPECT_TRUE(told.starts_with(begin)) << told;
        return told.substr(std::min(begin.size(), told.size()));
    };
    EXPECT_TRUE(
        dram("organisation: {channels: 3}")
            .starts_with("`channel` has 3 values, not a power of two, and must stand first"));
    EXPECT_TRUE(dram("queue: 0").starts_with("a DRAM's queue has 0 bursts"));
    EXPECT_TRUE(dram("timing: {t_refi: 10}").starts_with("a DRAM whose refresh takes as long"));
    EXPECT_TRUE(dram("organisation: {rows: 16}").starts_with("region `d` has 1073741824 bytes"));
    const Answer changed = typed({"run", lenet, "--values", "off", "--memory", "ddr4_2400", "--set",
                                  "memory.regions[0].dram.queue=0"});
    EXPECT_TRUE(changed.err.starts_with("npuscope: --set memory.regions[0].dram.queue=0: "))
        << changed.err;
}

TEST(Limits, RegionsOfMemoryContradictNeitherEachOtherNorThemselves) {
    const TempFolder folder;
    const std::string file = (folder / "m.yaml").string();
    const std::vector<std::pair<std::string, std::string>> rows{
        {"[{name: a, size: 1 GiB}, {name: b, base: 0x90000000, size: 1 GiB}]",
         "m.yaml:2:51: regions 'a' and 'b' overlap at 0x90000000 (move one of them"},
        {"[{name: a, size: 1 GiB}, {name: a, base: 0x10000000, size: 1 GiB}]",
         "m.yaml:2:42: two regions are called 'a' (give each region a `name` of its own)"}};
    for (const auto& [regions, message] : rows) {
        write_atomically(file, "read_latency: 50\nregions: " + regions + "\n");
        const Answer refused = typed({"run", lenet, "--memory", file});
        EXPECT_EQ(refused.code, ExitCode::WrongInput) << regions;
        EXPECT_NE(refused.err.find(message), std::string::npos) << refused.err;
    }
}

TEST(Limits, AMemoryHasAThousandRegionsAtMost) {
    const TempFolder folder;
    const std::string file = (folder / "m.yaml").string();
    std::string text = "regions:\n";
    for (unsigned i = 0; i < 1025; ++i) {
        text += "  - {name: r" + std::to_string(i) + ", base: " + std::to_string(i * 4096) +
                ", size: 4096}\n";
    }
    write_atomically(file, text);
    const Answer refused = typed({"run", lenet, "--memory", file});
    EXPECT_EQ(refused.code, ExitCode::WrongInput);
    EXPECT_NE(refused.err.find("'memory.regions' has 1025 entries, more than 1024"),
              std::string::npos)
        << refused.err;
}

TEST(Limits, LatenciesAndClocksHaveRangesToo) {
    for (const auto& [field, range] : {std::pair{"npu.cdma.data_request", "0 to 1000000"},
                                       {"npu.clock", "1 to 1000000000000"}}) {
        const std::string value = std::string(field) == "npu.clock" ? "0" : "1000001";
        const Answer refused = timed("nv_small", {std::string(field) + "=" + value});
        EXPECT_EQ(refused.code, ExitCode::WrongInput) << field;
        EXPECT_NE(refused.err.find(range), std::string::npos) << refused.err;
        EXPECT_EQ(timed("nv_small", {proposal(refused.err)}).code, ExitCode::Good) << refused.err;
    }
}

TEST(Limits, AnNpuHasAName) {
    const Answer refused = timed("nv_small", {"npu.name=\"\""});
    EXPECT_EQ(refused.code, ExitCode::WrongInput) << refused.out;
    EXPECT_NE(refused.err.find("'npu.name' is empty"), std::string::npos) << refused.err;
}

TEST(Limits, ABrokenRelationNamesBothFieldsAndALegalNeighbour) {
    const Answer refused = timed("nv_small", {"npu.cbuf.banks=64"});
    EXPECT_EQ(refused.code, ExitCode::WrongInput);
    EXPECT_NE(refused.err.find("npu.csb.wide_fields"), std::string::npos) << refused.err;
    EXPECT_EQ(timed("nv_small", {"npu.cbuf.banks=64", proposal(refused.err)}).code, ExitCode::Good)
        << refused.err;
    EXPECT_EQ(timed("nv_small", {"npu.cbuf.banks=64", "npu.csb.wide_fields=true"}).code,
              ExitCode::Good);
}

TEST(Limits, APartOfATimeIsNotLongerThanAllOfIt) {
    const auto refused = [](const std::string& preset, const std::vector<std::string>& changes) {
        const Answer answer = timed(preset, changes);
        EXPECT_EQ(answer.code, ExitCode::WrongInput) << changes.front();
        return answer.err;
    };
    const std::vector<std::pair<std::string, std::string>> rows{
        {"npu.cdma.split_change=1000", "npu.cdma.split_change=28)"},
        {"npu.cdma.weight_request=5", "npu.cdma.split_change=5 or npu.cdma.weight_request=6)"},
        {"npu.cdma.image_request=0", "npu.cdma.split_change=0 or npu.cdma.image_request=6)"}};
    for (const auto& [change, nearest] : rows) {
        const std::string told = refused("nv_large", {change});
        EXPECT_NE(told.find(nearest), std::string::npos) << told;
        EXPECT_EQ(timed("nv_large", {change, proposal(told)}).code, ExitCode::Good) << told;
    }
    EXPECT_EQ(timed("nv_large", {"npu.cdma.split_change=28"}).code, ExitCode::Good);
    // Winograd mode and compressed weights request earlier
    EXPECT_NE(refused("nv_full", {"npu.cdma.data_request=7"}).find("npu.cdma.data_request=8"),
              std::string::npos);
    EXPECT_NE(refused("nv_full", {"npu.cdma.weight_request=8"}).find("npu.cdma.weight_request=9"),
              std::string::npos);
}

TEST(Limits, TheEngineOfTheTinpuHasThem) {
    for (const char* change : {"npu.engine.read_buffer=18446744073709551615",
                               "npu.engine.weight_buffers=0", "npu.engine.alignment=3"}) {
        const Answer refused =
            typed({"run", std::string(NPUSCOPE_SOURCE) + "/configs/workload/ti_cls_1k.yaml",
                   "--npu", "tinpu_f28p55", "--set", change});
        EXPECT_EQ(refused.code, ExitCode::WrongInput) << change;
        EXPECT_NE(refused.err.find("nearest legal value"), std::string::npos) << refused.err;
    }
}

TEST(Limits, EveryEntryOfAListKeepsThem) {
    const Answer refused =
        typed({"run", std::string(NPUSCOPE_SOURCE) + "/configs/workload/ti_cls_1k.yaml", "--npu",
               "tinpu_f28p55", "--set", "npu.restrictions.weights[2].bits=256"});
    EXPECT_EQ(refused.code, ExitCode::WrongInput);
    EXPECT_NE(refused.err.find("'npu.restrictions.weights[2].bits' is 256, but must be 2 to 8"),
              std::string::npos)
        << refused.err;
}

TEST(Limits, ARefusalNamesTheChangeThatCausesIt) {
    const auto refusal = [](const std::string& change) {
        const Answer answer = timed("nv_small", {change});
        EXPECT_EQ(answer.code, ExitCode::WrongInput) << change;
        return answer.err;
    };
    const auto names = [&](const std::string& change, const std::string& part) {
        const std::string told = refusal(change);
        EXPECT_TRUE(told.starts_with("npuscope: --set " + change + ": ")) << told;
        EXPECT_NE(told.find(part), std::string::npos) << told;
    };
    names("memory.beat_interval=0", "nearest legal value: memory.beat_interval=1)");
    names("memory.regions[0].beat_interval=0", "must be 1 to 1000000");
    names("npu.cdma.image_requests=1", "nearest legal value: npu.cdma.image_requests=2)");
    // the other region is in the preset's file
    names("memory.regions[0].base=0", "regions 'dram' and 'sram' overlap at 0x50000000");
    names("memory.regions[0].base=18446744073709551615",
          "goes beyond the last address of 64 bits (nearest legal value: "
          "memory.regions[0].base=0xfffffff000000000)");
    // what only the planner knows
    EXPECT_NE(refusal("npu.sdp.bs=false").find("npu.sdp.bs=true"), std::string::npos);
    EXPECT_NE(refusal("memory.regions[0].surfaces=1").find("raise memory.regions[0].surfaces"),
              std::string::npos);
    EXPECT_EQ(timed("nv_small", {"npu.cdma.image_requests=2"}).code, ExitCode::Good);
}

TEST(Limits, AnEngineWithoutWidthsForWeightsIsRefused) {
    const Answer refused =
        typed({"run", std::string(NPUSCOPE_SOURCE) + "/configs/workload/ti_cls_1k.yaml", "--npu",
               "tinpu_f28p55", "--set", "npu.restrictions.weights=[]"});
    EXPECT_EQ(refused.code, ExitCode::WrongInput);
    EXPECT_TRUE(refused.err.starts_with(
        "npuscope: --set npu.restrictions.weights=[]: 'npu.restrictions.weights' is empty"))
        << refused.err;
}

TEST(Limits, ALayerThatDoesNotFitTheBufferNamesADepthThatRuns) {
    const std::vector<std::string> small{"npu.cbuf.banks=2", "npu.cbuf.bank_depth=8"};
    const Answer refused = timed("nv_small", small);
    EXPECT_EQ(refused.code, ExitCode::WrongInput);
    EXPECT_NE(refused.err.find("npu.cbuf.bank_depth="), std::string::npos) << refused.err;
    EXPECT_EQ(timed("nv_small", {small.front(), proposal(refused.err)}).code, ExitCode::Good)
        << refused.err;
}

TEST(Limits, TheDepthThatIsNamedIsTheLeastThatRuns) {
    const auto runs = [](int depth) {
        return timed("nv_large", {"npu.cbuf.bank_depth=" + std::to_string(depth)});
    };
    int least = 2;
    while (runs(least).code != ExitCode::Good) {
        ++least;
    }
    EXPECT_EQ(runs(least + 1).code, ExitCode::Good);
    for (const int depth : {1, least - 1}) {
        const std::string told = runs(depth).err;
        EXPECT_EQ(proposal(told), "npu.cbuf.bank_depth=" + std::to_string(least)) << told;
    }
}

/// The bytes of the result of DS-CNN, which has every kind of layer of the planner.
std::string result_of(const std::vector<std::string>& settings) {
    const TempFolder folder;
    std::vector<std::string> words{"run",      ds_cnn,      "--npu",
                                   "nv_small", "--outputs", (folder / "out").string()};
    for (const std::string& setting : settings) {
        words.insert(words.end(), {"--set", setting});
    }
    EXPECT_EQ(typed(words).code, ExitCode::Good) << settings.front();
    return read_whole_file(folder / "out" / "fc.npy");
}

TEST(Limits, ArraysThatDoNotFitTheMemoryAtomComputeTheSame) {
    const std::string expected = result_of({"npu.datapath.atomic_k=8"});
    EXPECT_FALSE(expected.empty());
    // a group of many atoms leaves the accumulator after the last byte of its result is written
    EXPECT_EQ(result_of({"npu.datapath.atomic_c=32", "npu.datapath.atomic_k=64",
                         "npu.cbuf.bank_width=8", "npu.cbuf.banks=2", "npu.mcif.bus_width=64"}),
              expected);
    // nv_full's memory map with entries of less than the 128 bytes of its surfaces
    EXPECT_EQ(result_of({"npu.csb.address_map=nv_full", "npu.cbuf.bank_width=4"}), expected);
    for (const char* array : {"4 4 8 4 4", "8 4 64 64 8", "64 16 8 8 8", "16 64 16 8 64",
                              "128 64 8 4 4", "32 8 32 128 16", "4 32 64 16 8"}) {
        std::istringstream numbers(array);
        std::vector<std::string> settings;
        for (const char* field :
             {"npu.datapath.atomic_c", "npu.datapath.atomic_k", "npu.datapath.memory_atom",
              "npu.cbuf.bank_width", "npu.mcif.bus_width"}) {
            std::string number;
            numbers >> number;
            settings.push_back(std::string(field) + '=' + number);
        }
        EXPECT_EQ(result_of(settings), expected) << array;
    }
}

}  // namespace
}  // namespace npuscope::limits_test
