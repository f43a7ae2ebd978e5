// SPDX-License-Identifier: Apache-2.0
#include "sim/check/image_description.h"

#include "sim/config/file_io.h"
#include "sim/config/yaml_reader.h"
#include "sim/program/memory_image.h"

namespace npuscope {
namespace {

ImageFormat format_of(const ImageFile& file) {
    const std::string ending = std::filesystem::path(file.file).extension().string();
    if (ending == ".hex" || ending == ".ihex" || ending == ".ihx") {
        return ImageFormat::Ihex;
    }
    if (ending == ".mem" || ending == ".vmem") {
        return ImageFormat::Readmemh;
    }
    return ending == ".dat" ? ImageFormat::Dat : ImageFormat::Raw;
}

MemoryImage whole(const std::string& bytes) {
    MemoryImage image;
    image.bytes.assign(bytes.begin(), bytes.end());
    if (!image.bytes.empty()) {
        image.runs.push_back({0, 0, image.bytes.size()});
    }
    return image;
}

}  // namespace

ImageDescription parse_image(const std::string& text, const std::string& file) {
    auto image = read_yaml<ImageDescription>(text, file);
    image.file = file;
    return image;
}

LoadImageFile files_beside(const std::filesystem::path& description) {
    const std::filesystem::path folder = description.parent_path();
    return [folder, shown = description.string()](const ImageFile& file) {
        const std::string text = read_whole_file(folder / file.file, Place{shown, 0, 0});
        switch (file.format.value_or(format_of(file))) {
            case ImageFormat::Dat:
                return parse_memory_text(text, file.file);
            case ImageFormat::Ihex:
                return parse_intel_hex(text, file.file);
            case ImageFormat::Readmemh:
                return parse_readmemh(text, file.file);
            case ImageFormat::Raw:
                break;
        }
        return whole(text);
    };
}

}  // namespace npuscope
