// SPDX-License-Identifier: Apache-2.0
#include "sim/check/image_description.h"

#include <memory>
#include <utility>

#include "sim/config/file_io.h"
#include "sim/config/file_name.h"
#include "sim/config/limits.h"
#include "sim/config/yaml_reader.h"

namespace npuscope {
namespace {

ImageFormat format_of(const ImageFile& file) {
    struct Row {
        std::string_view ending;
        ImageFormat format;
    };
    static constexpr std::array rows{
        Row{".hex", ImageFormat::Ihex},      Row{".ihex", ImageFormat::Ihex},
        Row{".ihx", ImageFormat::Ihex},      Row{".mem", ImageFormat::Readmemh},
        Row{".vmem", ImageFormat::Readmemh}, Row{".dat", ImageFormat::Dat},
        Row{".elf", ImageFormat::Elf},       Row{".npy", ImageFormat::Npy}};
    const std::string ending = lower_ending(file.file);
    for (const Row& row : rows) {
        if (row.ending == ending) {
            return row.format;
        }
    }
    return ImageFormat::Raw;
}

}  // namespace

ImageDescription parse_image(const std::string& text, const std::string& name) {
    const ConfigNode root = parse_yaml(text, name);
    auto image = read_limited<ImageDescription>(root, "image");
    image.file = name;
    if (image.surfaces.empty() && image.images.empty() && image.results.empty()) {
        throw ConfigError(root.place, "the description has no surfaces",
                          "give `surfaces`, or `images` and `results` as `plan` writes them");
    }
    const auto place = [&](const char* list, auto& entries) {
        const ConfigNode* node = root.find(list);
        for (std::size_t i = 0; node != nullptr && i < entries.size(); ++i) {
            entries[i].place = node->items[i].place;
        }
    };
    place("memory", image.memory);
    place("surfaces", image.surfaces);
    place("images", image.images);
    place("results", image.results);
    for (ImageSurface& surface : image.images) {
        surface.role = surface.role.value_or(ImageRole::Input);
    }
    for (ImageSurface& surface : image.results) {
        surface.role = surface.role.value_or(ImageRole::Output);
    }
    image.surfaces.insert(image.surfaces.end(), image.images.begin(), image.images.end());
    image.surfaces.insert(image.surfaces.end(), image.results.begin(), image.results.end());
    for (const ImageSurface& surface : image.surfaces) {
        if (!surface.file.empty()) {
            ImageFile file;
            file.file = surface.file;
            file.address = surface.address;
            file.place = surface.place;
            image.memory.push_back(std::move(file));
        }
    }
    return image;
}

MemoryImage image_of(const ImageFile& file, const std::string& content) {
    switch (file.format.value_or(format_of(file))) {
        case ImageFormat::Dat:
            return parse_memory_text(content, file.file);
        case ImageFormat::Ihex:
            return parse_intel_hex(content, file.file);
        case ImageFormat::Readmemh:
            return parse_readmemh(content, file.file,
                                  {file.word, file.byte_order == ByteOrder::Big});
        case ImageFormat::Elf:
            return parse_elf(content, file.file);
        case ImageFormat::Npy:
            return parse_array(content, file.file);
        case ImageFormat::Raw:
            break;
    }
    return raw_image(content);
}

LoadImageFile files_beside(const std::filesystem::path& description) {
    const std::filesystem::path folder = description.parent_path();
    return [folder, budget = std::make_shared<ImageBudget>()](const ImageFile& file) {
        const std::filesystem::path path = folder / file.file;
        const bool raw = file.format.value_or(format_of(file)) == ImageFormat::Raw;
        MemoryImage image = raw ? raw_image(read_whole_bytes(path, file.place))
                                : image_of(file, read_whole_file(path, file.place));
        budget->take(image, file.place);
        return image;
    };
}

}  // namespace npuscope
