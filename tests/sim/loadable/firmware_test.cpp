// SPDX-License-Identifier: Apache-2.0
#include "sim/loadable/firmware.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/check/check_report.h"
#include "sim/command_line/command.h"
#include "sim/command_line/loadable_files.h"
#include "sim/loadable/descriptor_bytes.h"
#include "sim/loadable/loadable_program.h"
#include "sim/loadable/tensor_bytes.h"
#include "sim/run/session.h"
#include "tests/support/families.h"
#include "tests/support/refusal.h"
#include "tests/support/sample_loadable.h"

namespace npuscope::firmware_test {
namespace {

SystemConfig small_system() {
    SystemArguments arguments;
    arguments.families = test::families();
    return read_system(arguments);
}

/// What the program does, in words: waits, op-enables and their groups.
std::vector<std::string> events_of(const Program& program) {
    std::vector<std::string> events;
    std::string group;
    for (const Statement& statement : program.statements) {
        if (const auto* write = std::get_if<WriteRegister>(&statement.action)) {
            if (write->name == "NVDLA_SDP.S_POINTER_0") {
                group = std::to_string(write->value);
            } else if (write->name == "NVDLA_SDP.D_DATA_CUBE_WIDTH_0") {
                events.push_back("program " + group);
            } else if (write->name == "NVDLA_SDP.D_OP_ENABLE_0") {
                events.push_back("enable " + group);
            }
        } else if (const auto* wait = std::get_if<SyncWait>(&statement.action)) {
            events.push_back("wait " + wait->sync);
        }
    }
    return events;
}

TEST(Firmware, ProgramsTheNextOperationWhileTheFirstRuns) {
    const auto made = loadable_program(test::sdp_chain(3), "x.fbuf", small_system(), {});
    EXPECT_EQ(
        events_of(made.program),
        (std::vector<std::string>{"program 0", "enable 0", "program 1", "wait sdp_0", "enable 1",
                                  "program 0", "wait sdp_1", "enable 0", "wait sdp_2"}));
}

TEST(Firmware, ALoadableComputesWhatItsDescriptorsSay) {
    const SystemConfig system = small_system();
    const Loadable loadable = test::sdp_chain(3);
    const BoundTensor input = bound_tensors(loadable, true, Bytes(8)).front();
    GraphValue value{tensor_type(input.tensor), {}};
    for (int i = 0; i < 256; ++i) {
        value.numbers.push_back(i - 128);
    }
    const auto made =
        loadable_program(loadable, "x.fbuf", system, {{0, tensor_bytes(input, value)}});
    RunOptions options;
    const BoundTensor& output = made.outputs.front();
    options.keep.push_back({{output.address, Bytes(output.tensor.size)}});
    const Result result = run_program(made.program, system, options);
    EXPECT_TRUE(result.findings.empty());
    EXPECT_GT(result.cycles, Cycles(0));
    ASSERT_EQ(result.layers.size(), 3U);
    EXPECT_EQ(result.layers[1].name, "sdp_1");
    const GraphValue out = tensor_value(output, result.kept.at(0));
    for (std::size_t i = 0; i < out.numbers.size(); ++i) {
        const double x = std::max(value.numbers[i] + 1, 0.0);
        EXPECT_EQ(out.numbers[i], std::min(std::min(x + 1, 127.0) + 1, 127.0)) << i;
    }
}

TEST(Firmware, AStaticCheckFindsNothingInAGoodOne) {
    const SystemConfig system = small_system();
    const auto made = loadable_program(test::sdp_chain(3), "x.fbuf", system, {});
    const std::vector<ProgramOutput> outputs = program_outputs(made);
    const CheckReport report =
        check_program(made.program, {nvdla_npu(system), system.memory, false, outputs});
    EXPECT_TRUE(report.findings.empty());
    EXPECT_EQ(report.operations, 3U);
}

TEST(Firmware, OutputsThatNoOperationWritesAreFound) {
    const SystemConfig system = small_system();
    Loadable loadable = test::sdp_chain();
    loadable.tasks[0].addresses[6] = 5;  // the last result overwrites the first one
    const auto made = loadable_program(loadable, "x.fbuf", system, {});
    const std::vector<ProgramOutput> outputs = program_outputs(made);
    const CheckReport report =
        check_program(made.program, {nvdla_npu(system), system.memory, false, outputs});
    const auto found = std::ranges::find(report.findings, "partly_written", &Diagnostic::id);
    ASSERT_NE(found, report.findings.end());
    EXPECT_EQ(found->sentence,
              fmt::format(
                  "256 of the 256 bytes of output 'out' are written by no operation, the first at "
                  "{}",
                  to_hex(made.outputs.front().address)));
}

/// The chain with one struct of a list changed.
template <class Struct, class Change>
std::string refusal(const char* blob, std::size_t index, std::size_t size, const Change& change) {
    Loadable loadable = test::sdp_chain();
    auto& data = std::ranges::find(loadable.blobs, blob, &LoadableBlob::name)->data;
    const auto at = data.begin() + static_cast<std::ptrdiff_t>(index * size);
    auto value = read_descriptor<Struct>(std::span(at, size), dla_current_version);
    change(value);
    std::ranges::copy(descriptor_bytes(value, size), at);
    return refusal_of([&] { loadable_program(loadable, "x.fbuf", small_system(), {}); });
}

TEST(Firmware, DependenciesThatNeverComeAreRefused) {
    const auto change = [](std::size_t index, const auto& how) {
        return refusal<DlaCommonOperation>("dep_graph", index, dla_common_bytes, how);
    };
    EXPECT_EQ(change(1, [](auto& common) { common.dependencies = 2; }),
              "task 0, operation 1 (sdp): it waits for 1 more of its 2 dependencies, and no "
              "running operation will complete one");
    EXPECT_EQ(change(1, [](auto& common) { common.dependencies = 0; }),
              "task 0, operation 1 (sdp): operation 0 signals it more often than its dependency "
              "count of 0 allows");
    EXPECT_EQ(change(0, [](auto& common) { common.consumers[2].index = 9; }),
              "task 0, operation 0 (sdp): it refers to operation 9, but the task has 2 operations");
    EXPECT_EQ(
        change(1, [](auto& common) { common.unit = DlaUnit::Pdp; }),
        "task 0, operation 0 (sdp): operation 1, which it refers to, belongs to pdp, not to sdp");
    EXPECT_EQ(change(0,
                     [](auto& common) {
                         common.consumers[3] = {9, {}, 0};
                     }),
              "task 0, operation 0 (sdp): it refers to operation 9, but the task has 2 operations");
    EXPECT_EQ(change(0, [](auto& common) { common.consumers[2].event = DlaEvent{6}; }),
              "task 0, operation 0 (sdp): operation 1 waits for its event 6, which is none of 1 to "
              "5");
    EXPECT_EQ(change(0, [](auto& common) { common.consumers[2].index = -1; }),
              "task 0, operation 1 (sdp): it waits for 1 more of its 1 dependencies, and no "
              "running operation will complete one");
}

TEST(Firmware, WhatTheFirmwareRefusesIsRefused) {
    const auto sdp = [](const auto& how) {
        return refusal<DlaSdp>("operations", 0, dla_operation_bytes, how);
    };
    EXPECT_EQ(sdp([](auto& one) { one.source_precision = static_cast<DlaPrecision>(7); }),
              "task 0, operation 0 (sdp): src_precision is 7: int8 is 0, int16 1, fp16 2");
    const auto surfaces = [](const auto& how) {
        return refusal<DlaSdpSurfaces>("surfaces", 0, dla_surfaces_bytes, how);
    };
    EXPECT_EQ(surfaces([](auto& one) { one.source.address = 40; }),
              "task 0, operation 0 (sdp): address 40 of its source is not among the 7 of the task");
    EXPECT_EQ(surfaces([](auto& one) { one.destination.surface_stride = 0x10000; }),
              "task 0, operation 0 (sdp): its destination would need bytes 0 to 65664 of memory 5, "
              "which has 4096");
    EXPECT_EQ(
        surfaces([](auto& one) { one.destination.type = DlaMemory::Sram; }),
        "task 0, operation 0 (sdp): the destination has the type of SRAM (1), but its address "
        "5 is in main memory (0)");
    const auto network = [](const auto& how) {
        return refusal<DlaNetwork>("network", 0, dla_network_bytes, how);
    };
    EXPECT_EQ(network([](auto& one) { one.operations = 3; }),
              "task 0: its dependency graph has 72 bytes, not 108");
    EXPECT_EQ(network([](auto& one) { one.dynamic_roi = 1; }),
              "task 0: its regions of interest are given at run time, which is not supported");
}

TEST(Firmware, BoundTensorsWhoseElementsDoNotFitAreRefused) {
    const auto tensor = [](const auto& how) {
        Loadable loadable = test::sdp_chain();
        how(loadable.tensors.back());
        return refusal_of([&] { loadable_program(loadable, "x.fbuf", small_system(), {}); });
    };
    EXPECT_EQ(tensor([](LoadableTensor& one) { one.c = 17; }),
              "the elements of tensor 'out' end at byte 377 of its 256");
    EXPECT_EQ(tensor([](LoadableTensor& one) { one.size = 255; }),
              "the elements of tensor 'out' end at byte 256 of its 255");
    EXPECT_EQ(tensor([](LoadableTensor& one) { one.type = LoadableType::Unknown; }), "accepted");
}

}  // namespace
}  // namespace npuscope::firmware_test
