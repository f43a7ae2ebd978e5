// SPDX-License-Identifier: Apache-2.0
#include "sim/config/whole_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/sim/config/sample_config.h"
#include "tests/support/temp_folder.h"

namespace npuscope {
namespace {

using sample::message_of;

TEST(WholeFile, ReadsEveryByte) {
    const TempFolder folder;
    const std::filesystem::path path = folder / "bytes";
    const std::string bytes("a\0b\r\n\xff", 6);
    std::ofstream(path, std::ios::binary) << bytes;
    EXPECT_EQ(read_whole_file(path), bytes);
}

TEST(WholeFile, ReadsAPipeOrDeviceOfUnknownSize) { EXPECT_EQ(read_whole_file("/dev/null"), ""); }

TEST(WholeFile, SaysWhyItCannotAndWhoAsked) {
    EXPECT_EQ(message_of([] {
                  read_whole_file("no/such.dat", {"a.cfg", 3, 1});
              }),
              "a.cfg:3:1: cannot read 'no/such.dat': No such file or directory"
              " (put the file there, or mend its name)");
    EXPECT_EQ(message_of([] { read_whole_file("/"); }),
              "cannot read '/': it is a folder (put the file there, or mend its name)");
}

}  // namespace
}  // namespace npuscope
