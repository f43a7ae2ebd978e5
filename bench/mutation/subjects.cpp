// SPDX-License-Identifier: Apache-2.0
#include "bench/mutation/subjects.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/config/preset.h"
#include "sim/program/read_program.h"

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

}  // namespace

std::vector<Subject> reference_subjects(const fs::path& source, const fs::path& data) {
    std::vector<Subject> subjects;
    for (const Folder& folder : repository) {
        add_folder(source, folder, subjects);
    }
    if (!data.empty()) {
        for (const Folder& folder : reference) {
            add_folder(data, folder, subjects);
        }
    }
    std::ranges::sort(subjects, {}, &Subject::name);
    return subjects;
}

SystemConfig system_of(const Subject& subject) {
    const fs::path configs = configs_folder();
    SystemConfig system = nvdla_system();
    nvdla_npu(system) = read_preset<NpuConfig>(find_preset(configs, "npu", subject.npu));
    system.memory = read_preset<MemoryConfig>(find_preset(configs, "memory", subject.memory));
    if (subject.element_wise) {
        nvdla_npu(system).sdp.element_wise = true;
    }
    return system;
}

Program program_of(const Subject& subject, const SystemConfig& system) {
    const FamilyRegisters registers = system.family->registers(system.npu);
    return read_program(subject.path, RegisterNames(registers.blocks));
}

}  // namespace npuscope::bench
