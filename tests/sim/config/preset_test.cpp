// SPDX-License-Identifier: Apache-2.0
#include "sim/config/preset.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/sim/config/sample_config.h"
#include "tests/support/temp_folder.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;
using sample::message_of;

class Preset : public testing::Test {
 protected:
    void SetUp() override {
        write("share/npuscope/configs/npu/nv_small.yaml", "title: small\n");
        write("share/npuscope/configs/npu/nv_large.yaml", "titel: large\n");
        write("build/configs/npu/other.yaml", "title: other\n");
    }

    void write(const fs::path& name, const std::string& text) {
        fs::create_directories((root_ / name).parent_path());
        std::ofstream(root_ / name) << text;
    }
    fs::path configs() const { return root_ / "share/npuscope/configs"; }

    const TempFolder root_;
};

TEST_F(Preset, FolderIsFoundFromTheInstallPrefixAndTheBuildTree) {
    EXPECT_EQ(find_configs_folder(nullptr, root_ / "bin/npuscope"), configs());
    EXPECT_EQ(find_configs_folder("", root_ / "build/sim/npuscope"), root_ / "build/configs");
}

TEST_F(Preset, EnvironmentGoesFirstAndMustBeAFolderOfPresets) {
    const std::string other = (root_ / "build/configs").string();
    EXPECT_EQ(find_configs_folder(other.c_str(), root_ / "bin/npuscope"), other);
    EXPECT_NE(message_of([&] { find_configs_folder("/nowhere", root_ / "bin/npuscope"); }), "");
}

TEST_F(Preset, IsReadByNameOrByFile) {
    EXPECT_EQ(read_preset<sample::Config>(find_preset(configs(), "npu", "nv_small")).title,
              "small");
    const std::string file = (root_ / "build/configs/npu/other.yaml").string();
    EXPECT_EQ(read_preset<sample::Config>(find_preset(configs(), "npu", file)).title, "other");
    EXPECT_EQ(find_preset(configs(), "npu", file).name, "other");
}

TEST_F(Preset, UnknownNameListsThePresetsAndTheNearest) {
    EXPECT_EQ(message_of([&] { find_preset(configs(), "npu", "nv_smal"); }),
              "unknown npu preset 'nv_smal' (did you mean 'nv_small'? known: nv_large, nv_small)");
    EXPECT_EQ(message_of([&] { find_preset(configs(), "npu", "tpu9000"); }),
              "unknown npu preset 'tpu9000' (known: nv_large, nv_small)");
    EXPECT_EQ(message_of([&] { find_preset(configs(), "npu", "."); }),
              "unknown npu preset '.' (a preset's file ends in .yaml; known: nv_large, nv_small)");
}

TEST_F(Preset, MessagesNameThePresetWithoutTheFolderAroundIt) {
    EXPECT_EQ(
        message_of([&] { read_preset<sample::Config>(find_preset(configs(), "npu", "nv_large")); }),
        "configs/npu/nv_large.yaml:1:1: unknown field 'titel' (did you mean 'title'?)");
}

TEST_F(Preset, MissingFileIsNamedAsTheUserWroteIt) {
    EXPECT_EQ(message_of([&] {
                  read_preset<sample::Config>(find_preset(configs(), "npu", "my/npu.yaml"));
              }),
              "my/npu.yaml: there is no such file "
              "(name a preset (`npuscope list presets`) or a YAML file)");
}

}  // namespace
}  // namespace npuscope
