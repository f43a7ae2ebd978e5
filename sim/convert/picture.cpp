// SPDX-License-Identifier: Apache-2.0
#include "sim/convert/picture.h"

#include <fmt/format.h>
#include <png.h>
#include <turbojpeg.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string_view>

#include "models/base/error.h"
#include "sim/config/file_io.h"
#include "sim/config/file_name.h"

namespace npuscope {
namespace {

constexpr std::size_t most_pixels = std::size_t{1} << 26U;

[[noreturn]] void refuse_picture(const std::string& file, const std::string& sentence,
                                 const std::string& remedy = "re-save the picture") {
    throw ConfigError(Place{file, 0, 0}, sentence, remedy);
}

/// A picture of this size, without pixels yet.
Picture sized_picture(std::size_t width, std::size_t height, std::size_t channels,
                      const std::string& file) {
    if (width == 0 || height == 0 || width > most_pixels || height > most_pixels / width) {
        refuse_picture(file,
                       fmt::format("a picture of {} x {} pixels is not possible", width, height),
                       fmt::format("pictures have 1 to {} pixels", most_pixels));
    }
    return {width, height, channels, std::vector<std::uint8_t>(width * height * channels)};
}

bool begins_with(std::span<const std::uint8_t> bytes, std::string_view head) {
    return bytes.size() >= head.size() &&
           std::ranges::equal(head, bytes.first(head.size()), {},
                              [](char letter) { return static_cast<std::uint8_t>(letter); });
}

class PngImage {
 public:
    PngImage() { image_.version = PNG_IMAGE_VERSION; }
    ~PngImage() { png_image_free(&image_); }
    PngImage(const PngImage&) = delete;
    PngImage& operator=(const PngImage&) = delete;
    png_image& get() { return image_; }

 private:
    png_image image_{};
};

/// The file without the chunks by which the library would convert its samples to sRGB.
/// source: PNG specification, "Chunk layout", "Colour space information"
std::vector<std::uint8_t> without_colour_space(std::span<const std::uint8_t> bytes) {
    constexpr std::array<std::string_view, 5> left_out{"gAMA", "cHRM", "sRGB", "iCCP", "cICP"};
    constexpr std::size_t signature = 8;
    constexpr std::size_t frame = 12;  // length, type and checksum of a chunk
    std::size_t at = std::min(signature, bytes.size());
    std::vector<std::uint8_t> kept(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
    while (at < bytes.size()) {
        const std::span<const std::uint8_t> rest = bytes.subspan(at);
        std::size_t size = rest.size();
        if (size >= frame) {
            const std::size_t data = std::size_t{rest[0]} << 24U | std::size_t{rest[1]} << 16U |
                                     std::size_t{rest[2]} << 8U | rest[3];
            size = std::min(size, frame + data);
        }
        const auto chunk = rest.first(size);
        const bool leave_out = size >= frame && std::ranges::any_of(left_out, [&](auto name) {
                                   return begins_with(chunk.subspan(4), name);
                               });
        if (!leave_out) {
            kept.insert(kept.end(), chunk.begin(), chunk.end());
        }
        at += size;
    }
    return kept;
}

Picture parse_png(std::span<const std::uint8_t> whole, const std::string& file) {
    const std::vector<std::uint8_t> bytes = without_colour_space(whole);
    PngImage owner;
    png_image& image = owner.get();
    if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0) {
        refuse_picture(file, fmt::format("this is not a PNG picture: {}", image.message));
    }
    if ((image.format & PNG_FORMAT_FLAG_ALPHA) != 0) {
        refuse_picture(file, "the picture has an alpha channel, which is not supported",
                       "write it without an alpha channel");
    }
    if ((image.format & PNG_FORMAT_FLAG_LINEAR) != 0) {
        refuse_picture(file, "the picture has 16 bits per channel",
                       "write it with 8 bits per channel");
    }
    const bool colour = (image.format & PNG_FORMAT_FLAG_COLOR) != 0;
    Picture picture = sized_picture(image.width, image.height, colour ? 3 : 1, file);
    image.format = colour ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
    if (png_image_finish_read(&image, nullptr, picture.pixels.data(), 0, nullptr) == 0) {
        refuse_picture(file, fmt::format("the PNG picture is damaged: {}", image.message));
    }
    return picture;
}

struct CloseJpeg {
    void operator()(void* handle) const { tjDestroy(handle); }
};

Picture parse_jpeg(std::span<const std::uint8_t> bytes, const std::string& file) {
    const std::unique_ptr<void, CloseJpeg> handle(tjInitDecompress());
    const auto reason = [&] { return std::string(tjGetErrorStr2(handle.get())); };
    int width = 0;
    int height = 0;
    int sampling = 0;
    int space = 0;
    const auto size = static_cast<unsigned long>(bytes.size());  // NOLINT: the library's own type
    if (tjDecompressHeader3(handle.get(), bytes.data(), size, &width, &height, &sampling, &space) !=
        0) {
        refuse_picture(file, fmt::format("this is not a JPEG picture: {}", reason()));
    }
    if (width < 1 || height < 1) {
        refuse_picture(file, "this is not a JPEG picture: its header is incomplete");
    }
    if (space == TJCS_CMYK || space == TJCS_YCCK) {
        refuse_picture(file, "the picture is CMYK", "write it as RGB or grey");
    }
    const bool grey = space == TJCS_GRAY;
    Picture picture = sized_picture(static_cast<std::size_t>(width),
                                    static_cast<std::size_t>(height), grey ? 1 : 3, file);
    // A warning means missing data, which would be grey.
    constexpr int flags = TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS | TJFLAG_STOPONWARNING;
    if (tjDecompress2(handle.get(), bytes.data(), size, picture.pixels.data(), width, 0, height,
                      grey ? TJPF_GRAY : TJPF_RGB, flags) != 0) {
        refuse_picture(file, fmt::format("the JPEG picture is damaged: {}", reason()));
    }
    return picture;
}

/// The numbers in the header of a PGM or PPM, separated by whitespace and comments.
class NetpbmHead {
 public:
    explicit NetpbmHead(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

    /// Nothing if no digits follow.
    std::optional<std::size_t> number() {
        skip_blanks();
        std::size_t value = 0;
        const std::size_t begin = at_;
        for (; at_ < bytes_.size() && bytes_[at_] >= '0' && bytes_[at_] <= '9'; ++at_) {
            value = std::min(value * 10 + (bytes_[at_] - '0'), most_pixels + 1);
        }
        return at_ == begin ? std::nullopt : std::optional(value);
    }
    /// The pixels, after exactly one whitespace character.
    std::optional<std::span<const std::uint8_t>> rest() const {
        return at_ < bytes_.size() && is_blank(bytes_[at_]) ? std::optional(bytes_.subspan(at_ + 1))
                                                            : std::nullopt;
    }

 private:
    static bool is_blank(std::uint8_t letter) {
        return letter == ' ' || (letter >= '\t' && letter <= '\r');
    }
    void skip_blanks() {
        for (bool comment = false; at_ < bytes_.size(); ++at_) {
            const std::uint8_t letter = bytes_[at_];
            comment = comment ? letter != '\n' : letter == '#';
            if (!comment && !is_blank(letter)) {
                return;
            }
        }
    }

    std::span<const std::uint8_t> bytes_;
    std::size_t at_ = 2;  // after P5 or P6
};

Picture parse_netpbm(std::span<const std::uint8_t> bytes, std::size_t channels,
                     const std::string& file) {
    NetpbmHead head(bytes);
    const auto width = head.number();
    const auto height = head.number();
    const auto most = head.number();
    const auto pixels = head.rest();
    if (!width || !height || !most || !pixels) {
        refuse_picture(file, "the picture's header is incomplete");
    }
    if (*most != 255) {
        refuse_picture(file, fmt::format("the maximum pixel value (maxval) is {}", *most),
                       "save the picture with a maxval of 255");
    }
    Picture picture = sized_picture(*width, *height, channels, file);
    if (pixels->size() != picture.pixels.size()) {
        refuse_picture(file, fmt::format("the picture has {} bytes of pixels where {} x {} need {}",
                                         pixels->size(), *width, *height, picture.pixels.size()));
    }
    std::ranges::copy(*pixels, picture.pixels.begin());
    return picture;
}

}  // namespace

bool is_picture_file(const std::filesystem::path& path) {
    constexpr std::array<std::string_view, 5> endings{".png", ".jpg", ".jpeg", ".pgm", ".ppm"};
    return std::ranges::find(endings, lower_ending(path)) != endings.end();
}

Picture parse_picture(std::span<const std::uint8_t> bytes, const std::string& file) {
    using namespace std::string_view_literals;
    if (begins_with(bytes, "\x89PNG"sv)) {
        return parse_png(bytes, file);
    }
    if (begins_with(bytes, "\xff\xd8"sv)) {
        return parse_jpeg(bytes, file);
    }
    if (begins_with(bytes, "P5"sv) || begins_with(bytes, "P6"sv)) {
        return parse_netpbm(bytes, bytes[1] == '5' ? 1 : 3, file);
    }
    refuse_picture(file, "this is not a picture of a known format",
                   "write it as PNG, JPEG, or binary PGM or PPM");
}

Picture read_picture(const std::filesystem::path& path) {
    const std::string bytes = read_whole_file(path);
    return parse_picture({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
                         path.string());
}

}  // namespace npuscope
