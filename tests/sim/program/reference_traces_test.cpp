// SPDX-License-Identifier: Apache-2.0
// Every published nv_small trace and every program that the RTL ran is read completely. The bytes
// of their images are compared with those that a second, simple reader finds.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>

#include "models/npu/register_blocks.h"
#include "sim/config/file_io.h"
#include "sim/program/read_program.h"
#include "tests/support/reference_data.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;
using ByteMap = std::map<std::uint64_t, unsigned>;

/// All folders of programs; empty where the reference data is not there.
std::vector<fs::path> programs() {
    std::vector<fs::path> found;
    for (const char* folder : {"nvdla/nv_small_traces", "rtl/vectors"}) {
        std::error_code error;
        for (const auto& entry :
             fs::recursive_directory_iterator(reference_data(NPUSCOPE_SOURCE) / folder, error)) {
            if (entry.path().extension() == ".cfg") {
                found.push_back(entry.path());
            }
        }
    }
    return found;
}

std::string without(std::string text, std::string_view characters) {
    for (char& c : text) {
        if (characters.find(c) != std::string_view::npos) {
            c = ' ';
        }
    }
    return text;
}

/// The slow way: words between punctuation, `offset N size N payload bytes...`.
ByteMap read_plainly(const fs::path& path) {
    std::istringstream words(without(read_whole_file(path), "{}:,"));
    ByteMap bytes;
    std::uint64_t at = 0;
    for (std::string word; words >> word;) {
        if (word == "offset") {
            words >> word;
            at = std::stoull(word, nullptr, 0);
        } else if (word == "size") {
            words >> word;
        } else if (word != "payload") {
            bytes[at++] = static_cast<unsigned>(std::stoul(word, nullptr, 16));
        }
    }
    return bytes;
}

ByteMap bytes_of(const MemoryImage& image) {
    ByteMap bytes;
    for (const MemoryImage::Run& run : image.runs) {
        for (std::uint64_t i = 0; i < run.size; ++i) {
            bytes[run.offset + i] = image.bytes[run.position + i];
        }
    }
    return bytes;
}

TEST(ReferenceTraces, EveryProgramIsReadWithItsRegistersImagesAndChecks) {
    const std::vector<fs::path> paths = programs();
    if (paths.empty()) {
        GTEST_SKIP() << "no reference data at NPUSCOPE_REFERENCE_DATA";
    }
    EXPECT_GE(paths.size(), 78U);
    const RegisterNames names = RegisterNames(nvdla_register_blocks());
    for (const fs::path& path : paths) {
        SCOPED_TRACE(path.filename().string());
        const Program program = read_program(path, names);
        std::size_t writes = 0;
        std::size_t checks = 0;
        for (const Statement& statement : program.statements) {
            writes += std::holds_alternative<WriteRegister>(statement.action) ? 1U : 0U;
            checks += std::holds_alternative<CheckCrc>(statement.action) ? 1U : 0U;
        }
        EXPECT_GT(writes, 30U);
        EXPECT_EQ(checks, 1U);
    }
}

TEST(ReferenceTraces, ImagesAgreeWithAPlainReader) {
    const std::vector<fs::path> paths = programs();
    if (paths.empty()) {
        GTEST_SKIP() << "no reference data at NPUSCOPE_REFERENCE_DATA";
    }
    constexpr std::uintmax_t largest_file = 300'000;  // the simple reader is slow
    std::size_t compared = 0;
    for (const fs::path& program : paths) {
        for (const auto& entry : fs::directory_iterator(program.parent_path())) {
            if (entry.path().extension() == ".dat" && entry.file_size() <= largest_file) {
                SCOPED_TRACE(entry.path().filename().string());
                ASSERT_EQ(bytes_of(read_memory_file(entry.path(), "image")),
                          read_plainly(entry.path()));
                ++compared;
            }
        }
    }
    EXPECT_GT(compared, 100U);
}

}  // namespace
}  // namespace npuscope
