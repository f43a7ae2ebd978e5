// SPDX-License-Identifier: Apache-2.0
#include "bench/mutation/subjects.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "sim/check/job_proof.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/compile/partition.h"
#include "sim/compile/tinpu/tinpu_target.h"
#include "sim/config/file_io.h"
#include "sim/config/preset.h"
#include "sim/model/network.h"
#include "sim/model/onnx_reader.h"
#include "sim/model/prepare_graph.h"
#include "sim/program/read_program.h"
#include "tests/support/families.h"

namespace npuscope::bench {
namespace {

namespace fs = std::filesystem;

/// A folder of programs and the machine that they are for.
struct Folder {
    const char* path;
    const char* npu;
    const char* memory = "dram_50";
    bool meets_faults = false;
};

constexpr std::array repository{
    Folder{"tests/golden/rtl", "nv_small"},
    Folder{"tests/golden/rtl_reuse", "nv_small"},
    Folder{"tests/golden/rtl_image_blocks", "nv_small", "dram_50", true},
    Folder{"tests/golden/nv_full", "nv_full"},
};

constexpr std::array reference{
    Folder{"nvdla/nv_small_traces", "nv_small"},
    Folder{"nvdla/nv_full_traces", "nv_full"},
    Folder{"nv_full/vectors", "nv_full"},
    Folder{"rtl/vectors", "nv_small"},
    Folder{"rtl/presets/nv_full/programs", "nv_full"},
    Folder{"rtl/presets/nv_large/programs", "nv_large"},
    Folder{"rtl/presets/nv_large_big/programs", "nv_large"},
    Folder{"rtl/presets/nv_large_two_ports/programs", "nv_large", "dram_50_sram_4m"},
    Folder{"rtl/presets/nv_medium_1024_full/programs", "nv_medium_1024_full"},
    Folder{"rtl/presets/nv_medium_512/programs", "nv_medium_512"},
    Folder{"rtl/presets/nv_small_256/programs", "nv_small_256"},
    Folder{"rtl/presets/nv_small_256_full/programs", "nv_small_256_full"},
    Folder{"rtl/presets/nv_small_nobias/programs", "nv_small"},
    Folder{"rtl/presets/nv_small_planned/programs", "nv_small"},
    Folder{"rtl/presets/networks/programs/nv_small", "nv_small"},
    Folder{"rtl/presets/networks/programs/nv_small_256", "nv_small_256"},
    Folder{"rtl/presets/networks/programs/nv_medium_512", "nv_medium_512"},
    Folder{"rtl/presets/networks/programs/nv_medium_1024_full", "nv_medium_1024_full"},
    Folder{"rtl/presets/networks/programs/nv_large", "nv_large"},
};

bool holds_program(const fs::path& folder) {
    return std::ranges::any_of(fs::directory_iterator(folder), [](const fs::directory_entry& file) {
        return file.path().extension() == ".cfg" || file.path().filename() == "input.txn";
    });
}

/// The weights of this one are not published.
bool lacks_files(const std::string& name) { return name.starts_with("cc_alexnet"); }

void add_folder(const fs::path& root, const Folder& folder, std::vector<Subject>& subjects) {
    const fs::path programs = root / folder.path;
    if (!fs::exists(programs)) {
        return;
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(programs)) {
        const std::string name = entry.path().filename().string();
        if (!entry.is_directory() || !holds_program(entry.path()) || lacks_files(name)) {
            continue;
        }
        const bool element_wise =
            std::string_view(folder.npu) == "nv_small" && name.find("_ew_") != std::string::npos;
        subjects.push_back({std::string(folder.path) + "/" + name, entry.path(), folder.npu,
                            folder.memory, element_wise, folder.meets_faults});
    }
}

// --- networks on an NPU that has no registers

constexpr const char* layer_npu = "tinpu_f28p55";

/// Layers of every kind, each small enough to be run in many forms.
constexpr std::array tables{"ds_cnn", "lenet", "ti_cls_1k", "ti_cls_4k", "ti_cls_6k", "ti_cls_13k"};

void add_tables(const fs::path& source, std::vector<Subject>& subjects) {
    for (const char* table : tables) {
        const std::string file = fmt::format("configs/workload/{}.yaml", table);
        subjects.push_back({file, source / file, layer_npu, ""});
    }
}

/// A model in each folder.
void add_models(const fs::path& root, const char* path, std::vector<Subject>& subjects) {
    if (!fs::exists(root / path)) {
        return;
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(root / path)) {
        const fs::path model = entry.path() / "model.onnx";
        if (fs::exists(model)) {
            subjects.push_back({fmt::format("{}/{}", path, entry.path().filename().string()), model,
                                layer_npu, ""});
        }
    }
}

/// As in a plan's file: what the host provides is random, and statements have places.
Program planned_jobs(const Subject& subject, const SystemConfig& system) {
    Graph graph;
    if (subject.path.extension() == ".yaml") {
        graph = network_graph(read_network(subject.path.string()));
    } else {
        graph = read_onnx(subject.path.string(), {});
        prepare_graph(graph);
    }
    graph = finish_graph(std::move(graph), ScaleForm::Folded);
    const auto target = system.family->target(system.npu, system.memory, false);
    Program program = target->plan(graph)->program(system.host, nullptr).program;
    std::erase_if(program.statements, [](const Statement& statement) {
        const auto* node = std::get_if<RunNode>(&statement.action);
        return node != nullptr && node->op.empty();  // a view, which no file has
    });
    unsigned line = 0;
    for (Statement& statement : program.statements) {
        statement.place = {"program.cfg", ++line, 1};
        if (auto* launch = std::get_if<LaunchJob>(&statement.action)) {
            *launch = LaunchJob{.job = launch->job, .macs = launch->macs};
        } else if (auto* load = std::get_if<LoadMemory>(&statement.action)) {
            load->file = fmt::format("constants_{}.dat", line);
        } else if (auto* node = std::get_if<RunNode>(&statement.action)) {
            node->work = {};
        }
    }
    return with_host_maps(std::move(program), {});
}

}  // namespace

std::vector<Subject> reference_subjects(const fs::path& source, const fs::path& data) {
    std::vector<Subject> subjects;
    for (const Folder& folder : repository) {
        add_folder(source, folder, subjects);
    }
    add_tables(source, subjects);
    if (!data.empty()) {
        for (const Folder& folder : reference) {
            add_folder(data, folder, subjects);
        }
        add_models(data, "onnx/good", subjects);
        add_models(data, "onnx/net", subjects);
    }
    std::ranges::sort(subjects, {}, &Subject::name);
    return subjects;
}

SystemConfig system_of(const Subject& subject) {
    const fs::path configs = configs_folder();
    if (subject.npu == layer_npu) {
        return test::preset_system(configs, subject.npu);
    }
    SystemConfig system = nvdla_system();
    nvdla_npu(system) = read_preset<NpuConfig>(find_preset(configs, "npu", subject.npu));
    system.memory = read_preset<MemoryConfig>(find_preset(configs, "memory", subject.memory));
    if (subject.element_wise) {
        nvdla_npu(system).sdp.element_wise = true;
    }
    return system;
}

Program program_of(const Subject& subject, const SystemConfig& system) {
    if (subject.npu == layer_npu) {
        return planned_jobs(subject, system);
    }
    const FamilyRegisters registers = system.family->registers(system.npu);
    return read_program(subject.path, RegisterNames(registers.blocks));
}

}  // namespace npuscope::bench
