// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "models/base/error.h"
#include "sim/config/file_io.h"
#include "sim/config/file_name.h"
#include "sim/config/text_table.h"
#include "sim/convert/conversion.h"
#include "sim/convert/mapped_file.h"

namespace npuscope {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t resident_limit = std::uint64_t{512} << 20;

/// Whether arrays hold a layout's bytes, not its elements: planes of high/low values, elements whose
/// high byte is first, and words of several components.
bool is_bytes(const Layout& layout) {
    const bool words = std::ranges::any_of(
        layout.parts, [](const LayoutPart& part) { return part.field.width != 0; });
    return words || layout.code == ElementCode::HighLow ||
           layout.code == ElementCode::SwappedEven || layout.bytes % layout.element != 0;
}

/// Axes of a layout without blocks or gaps, slowest first; empty for any other.
std::vector<std::size_t> plain_order(const Layout& layout) {
    std::vector<std::size_t> order;
    if (layout.parts.size() != 1 || !layout.is_dense() || is_bytes(layout)) {
        return order;
    }
    for (const LayoutStep& step : layout.parts.front().steps) {
        if (step.divide != 1 || step.modulo != 0 || step.pitch < 0) {
            return {};
        }
        order.push_back(step.axis);
    }
    return order;
}

std::vector<std::uint64_t> without_any_ones(std::vector<std::uint64_t> extents) {
    std::erase(extents, 1U);
    return extents;
}

/// The array's shape in the layout's order, as far as arrays can express it.
std::vector<std::uint64_t> array_shape(const Layout& layout, std::uint32_t element) {
    std::vector<std::uint64_t> extents;
    for (const std::size_t axis : plain_order(layout)) {
        extents.push_back(layout.shape.axes[axis].extent);
    }
    if (extents.empty()) {
        extents.push_back(layout.bytes / element);
    }
    return extents;
}

const ElementRow& array_type(const Layout& layout, const ElementRow& type) {
    return is_bytes(layout) ? element_row(ElementType::Uint8) : type;
}

/// Whether a .npy array in that layout has the tensor's shape.
bool arrays_carry_shape(const LayoutSpec& from) {
    return from.row != nullptr && (from.row->name == "nchw" || from.row->name == "kcrs");
}

void take_from_header(FileConversion& job, const NpyHeader& header, const std::string& name) {
    ConversionRequest& request = job.request;
    if (request.shape.axes.empty()) {
        if (!arrays_carry_shape(request.from)) {
            throw ConfigError(Place{name, 0, 0}, "--shape is missing",
                              "only row-major .npy arrays carry their shape");
        }
        const std::string axes =
            job.axes.empty() ? request.axes_for(header.shape.size()) : job.axes;
        request.shape = parse_shape(fmt::format("{}", fmt::join(header.shape, "x")), axes);
    }
    if (job.type.empty() && !request.quantise) {
        job.type = header.type->name;
    }
}

/// Possible remedy if a file has another type than the layout expects.
std::string type_remedy(const NpyHeader& header, const ConversionPlan& conversion,
                        const ElementRow& needed) {
    if (header.type->name == "float32" && !conversion.quantise) {
        return "--quantise scale=1,radix=5 turns float32 into fixed point";
    }
    if (conversion.quantise) {
        return "--quantise needs float32 input; omit it for fixed-point input";
    }
    return &needed == conversion.source_type
               ? fmt::format("give --type {}, or leave it out", header.type->name)
               : fmt::format("save its bytes as {}", needed.name);
}

void require_header(const NpyHeader& header, const ConversionPlan& conversion,
                    const LayoutSpec& from, const std::string& name) {
    const ElementRow& type = array_type(conversion.source, *conversion.source_type);
    if (header.type != &type) {
        throw ConfigError(fmt::format("'{}' holds {}, but layout {} needs {} here", name,
                                      header.type->name, conversion.source.name, type.name),
                          type_remedy(header, conversion, type));
    }
    const std::vector<std::uint64_t> wanted = array_shape(conversion.source, type.bytes);
    if (!plain_order(conversion.source).empty() &&
        without_any_ones(header.shape) != without_any_ones(wanted)) {
        throw ConfigError(
            fmt::format("'{}' has shape ({}), but {} of {} has shape ({})", name,
                        fmt::join(header.shape, ", "), conversion.source.name,
                        to_string(conversion.source.shape), fmt::join(wanted, ", ")),
            arrays_carry_shape(from) ? "leave out --shape" : "correct --shape or --from");
    }
}

void require_size(const Layout& layout, std::uint64_t size, const std::string& name) {
    if (size < layout.used || size > layout.bytes) {
        throw ConfigError(
            fmt::format("'{}' has {} of data, but {} ({}) of {} with elements of {} takes {}", name,
                        counted(size, "byte"), layout.name, layout.sentence,
                        to_string(layout.shape), counted(layout.element, "byte"),
                        with_separators(layout.bytes)),
            "give all bytes of the tensor, or correct --shape, --type or --from");
    }
}

/// The plan; errors about a .npy file's type suggest what may be meant.
ConversionPlan plan_for(const ConversionRequest& request, const std::optional<NpyHeader>& header) {
    try {
        return plan_conversion(request);
    } catch (const ConfigError& error) {
        const bool meant = header && header->type->name == "float32" && !request.quantise &&
                           !request.dequantise && request.to.row != nullptr &&
                           (request.to.row->element == 1 || request.to.row->element == 2);
        if (!meant) {
            throw;
        }
        throw ConfigError(error.sentence(),
                          fmt::format("the file holds float32: --type {} with --quantise "
                                      "scale=1,radix=5 turns it into fixed point",
                                      request.to.row->element == 1 ? "int8" : "int16"));
    }
}

/// A file and what becomes of it, before any value has been read.
struct PlannedFile {
    PlannedFile(const FileConversion& given, const fs::path& path);

    std::span<const std::uint8_t> data() const {
        return input.bytes().subspan(header ? header->data_begin : 0);
    }

    MappedInput input;
    FileConversion job;
    std::optional<NpyHeader> header{};
    std::optional<ConversionPlan> to_kernels{};  ///< row-major, for their transform
    ConversionPlan conversion{};
};

/// A file whose name says that it is an array or several, but which is none.
void refuse_other_array(std::span<const std::uint8_t> bytes, const fs::path& path) {
    const std::string_view zip = "PK\x03\x04";
    const bool archive =
        bytes.size() >= zip.size() && std::ranges::equal(bytes.first(zip.size()), zip);
    if (archive && (names_npy(path) || lower_ending(path) == ".npz")) {
        throw ConfigError(fmt::format("'{}' is an archive of arrays (.npz)", path.string()),
                          "save one of them: numpy.save(file, numpy.load(archive)['name'])");
    }
    if (names_npy(path)) {
        throw ConfigError(fmt::format("'{}' {}", path.string(),
                                      bytes.empty() ? "is empty" : "is not a .npy file"),
                          "write it with numpy.save; raw bytes need another ending");
    }
}

PlannedFile::PlannedFile(const FileConversion& given, const fs::path& path)
    : input(path), job(given) {
    const std::string name = path.string();
    if (!job.wmb.empty() || !job.wgs.empty()) {
        require_compressible(job);
    }
    if (!is_npy(input.bytes())) {
        refuse_other_array(input.bytes(), path);
    } else {
        header = read_npy_header(input.bytes(), name);
        take_from_header(job, *header, name);
    }
    if (job.request.shape.axes.empty()) {
        throw ConfigError(Place{name, 0, 0}, "--shape is missing", "raw files do not carry it");
    }
    if (job.type.empty() && !job.request.quantise) {
        throw ConfigError(Place{name, 0, 0}, "--type is missing", "raw files do not carry it");
    }
    job.request.type = &find_element(job.type.empty() ? "int8" : job.type);
    ConversionRequest request = job.request;
    const bool transforms = takes_winograd(request);
    if (transforms) {
        request.to = parse_layout_spec("kcrs");
    }
    conversion = plan_for(request, header);
    if (header) {
        require_header(*header, conversion, request.from, name);
    }
    if (header && header->is_transposed() && data().size() > largest_file.value) {
        throw ConfigError(fmt::format("'{}' is in Fortran order and has more than {} bytes", name,
                                      largest_file.value),
                          "save it in C order: numpy.ascontiguousarray");
    }
    require_size(conversion.source, data().size(), name);
    if (transforms) {
        const ElementRow& type = *conversion.target_type;
        to_kernels = std::move(conversion);
        conversion = plan_winograd(job.request, type);
    }
}

/// Reports progress and releases pages before there are too many.
class Watch {
 public:
    Watch(const FileConversion& job, const MappedInput& input, const MappedOutput& output)
        : job_(job), input_(input), output_(output) {}

    void moved(std::uint64_t bytes) {
        done_ += bytes;
        if (resident_bytes() > resident_limit) {
            input_.release();
            output_.release();
        }
        const std::uint64_t all = input_.bytes().size();
        if (job_.progress && all > 0) {
            job_.progress(std::min(1.0, static_cast<double>(done_) / static_cast<double>(all)));
        }
    }

 private:
    const FileConversion& job_;
    const MappedInput& input_;
    const MappedOutput& output_;
    std::uint64_t done_ = 0;
};

}  // namespace

ConversionPlan plan_file(const FileConversion& job, const fs::path& input) {
    return std::move(PlannedFile(job, input).conversion);
}

ConvertedFile convert_file(const FileConversion& given, const fs::path& input_path,
                           const fs::path& output_path) {
    PlannedFile planned(given, input_path);
    const FileConversion& job = planned.job;
    const ConversionPlan& conversion = planned.conversion;
    const std::string name = input_path.string();
    std::span<const std::uint8_t> from = planned.data();
    std::vector<std::uint8_t> ordered;
    if (planned.header && planned.header->is_transposed()) {
        ordered = in_c_order(*planned.header, from);
        from = ordered;
    }
    if (planned.to_kernels) {
        std::vector<std::uint8_t> kernels(planned.to_kernels->target.bytes);
        convert(*planned.to_kernels, from, kernels, {});
        ordered = winograd_kernels(job.request.shape, *conversion.source_type, kernels).values;
        from = ordered;
    }
    if (!job.wmb.empty() || !job.wgs.empty()) {
        std::vector<std::uint8_t> stored(conversion.target.bytes);
        convert(conversion, from, stored, {});
        const std::uint64_t bytes = write_compressed(job, conversion, stored, output_path);
        return {conversion, bytes};
    }

    std::string head;
    if (names_npy(output_path)) {
        const ElementRow& stored = array_type(conversion.target, *conversion.target_type);
        head = npy_header(stored, array_shape(conversion.target, stored.bytes));
    }
    MappedOutput output(output_path, head.size() + conversion.target.bytes);
    std::ranges::copy(head, output.bytes().begin());
    Watch watch(job, planned.input, output);
    try {
        convert(conversion, from, output.bytes().subspan(head.size()),
                [&watch](std::uint64_t bytes) { watch.moved(bytes); });
    } catch (const ConfigError& error) {
        throw ConfigError(fmt::format("'{}': {}", name, error.sentence()), error.remedy());
    }
    output.commit();
    return {conversion, head.size() + conversion.target.bytes};
}

}  // namespace npuscope
