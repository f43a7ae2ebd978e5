// SPDX-License-Identifier: Apache-2.0
// An NVDLA loadable: the compiler's output for the driver. Lists of memories, addresses in them,
// tasks and the order in which they are submitted; blobs with weights and descriptors; and the
// tensors that a user binds. The file is a flatbuffer (loadable.fbs). descriptors.h defines the
// contents of descriptor blobs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace npuscope {

/// Version of the loadable, or of the interface that a blob of descriptors is for.
struct LoadableVersion {
    std::uint8_t major = 0;
    std::uint8_t minor = 0;
    std::uint8_t sub_minor = 0;

    auto operator<=>(const LoadableVersion&) const = default;
};

/// The version of the loadable's own tables. source: NVDLA sw, loadable.fbs
inline constexpr LoadableVersion loadable_tables_version{0, 7, 0};

/// Who executes a task or reads a blob. source: NVDLA sw, loadable.fbs, Interface
enum class LoadableInterface : std::uint32_t { None = 0, Dla = 1, Emulator = 2 };

struct LoadableTask {
    LoadableInterface interface = LoadableInterface::Dla;
    std::int16_t instance = -1;            ///< -1: any
    std::vector<std::uint16_t> addresses;  ///< of the address list, as descriptors count them
    std::vector<std::uint16_t> pre_actions;
    std::vector<std::uint16_t> post_actions;
};

/// Initial contents of a memory.
struct LoadableContent {
    std::string blob;
    std::uint64_t offset = 0;
};

struct LoadableMemory {
    // source: NVDLA sw, loadable.fbs, MemoryFlags
    static constexpr std::uint16_t alloc = 1;
    static constexpr std::uint16_t set = 2;
    static constexpr std::uint16_t input = 4;
    static constexpr std::uint16_t output = 8;

    bool in_sram = false;
    std::uint16_t flags = alloc;
    std::uint64_t size = 0;
    std::uint32_t alignment = 0;
    std::vector<LoadableContent> contents;
    std::uint16_t bind_id = 0;
    std::uint16_t tensor = 0;  ///< index of the tensor descriptor, where it is bound

    bool is_set() const { return (flags & set) != 0; }
    bool is_input() const { return (flags & input) != 0; }
    bool is_output() const { return (flags & output) != 0; }
};

struct LoadableAddress {
    std::uint16_t memory = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;  ///< 0: unknown
};

enum class LoadableEventOp : std::uint8_t { Wait = 0, Signal = 1 };

struct LoadableEvent {
    std::uint8_t type = 0;
    std::uint16_t target = 0;
    std::uint32_t value = 0;
    LoadableEventOp op = LoadableEventOp::Wait;
};

struct LoadableBlob {
    std::string name;
    LoadableInterface interface = LoadableInterface::None;
    std::uint32_t sub_interface = 0;
    LoadableVersion version;
    std::vector<std::uint8_t> data;
};

/// Element types of tensors. source: NVDLA sw, loadable.fbs, DataType
enum class LoadableType : std::uint8_t { Unknown = 0, Float = 1, Half = 2, Int16 = 3, Int8 = 4 };

/// Pixel format numbers of feature data. source: NVDLA sw, loadable.fbs, PixelFormat
inline constexpr std::uint8_t loadable_feature = 36;
inline constexpr std::uint8_t loadable_feature_x8 = 37;

struct LoadableTensor {
    std::string name;
    std::uint16_t memory = 0;
    std::uint64_t size = 0;
    std::uint64_t offset = 0;
    std::uint8_t data_format = 0;
    LoadableType type = LoadableType::Unknown;
    std::uint8_t category = 0;
    std::uint8_t pixel_format = 0;
    std::uint8_t pixel_mapping = 0;
    std::int32_t n = 1;
    std::int32_t c = 1;
    std::int32_t h = 1;
    std::int32_t w = 1;
    std::array<std::uint32_t, 8> strides{};  ///< bytes: element, line, surface
};

struct LoadableReloc {
    std::uint16_t address = 0;
    std::uint16_t written = 0;
    std::uint64_t offset = 0;
    std::uint32_t interface = 0;
    std::uint32_t sub_interface = 0;
    std::uint8_t type = 0;
};

struct Loadable {
    LoadableVersion version = loadable_tables_version;
    std::vector<LoadableTask> tasks;
    std::vector<LoadableMemory> memories;
    std::vector<LoadableAddress> addresses;
    std::vector<LoadableEvent> events;
    std::vector<LoadableBlob> blobs;
    std::vector<LoadableTensor> tensors;
    std::vector<LoadableReloc> relocs;
    std::vector<std::vector<std::uint16_t>> submits;  ///< tasks of each

    /// Null where none has that name.
    const LoadableBlob* blob(std::string_view name) const;
};

/// Whether a file is named as loadables are, `.fbuf`, `.nvdla` or `.._fbuf`; a folder is none.
bool is_loadable_file(const std::string& path);

/// The flatbuffer is verified before anything is read from it; then every index that refers to
/// another entry. ConfigError names the list and the entry; messages name it `file`.
Loadable parse_loadable(std::string_view bytes, const std::string& file);
Loadable read_loadable(const std::string& path);

/// The contents of its file.
std::string loadable_bytes(const Loadable& loadable);

}  // namespace npuscope
