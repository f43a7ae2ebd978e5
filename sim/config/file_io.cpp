// SPDX-License-Identifier: Apache-2.0
#include "sim/config/file_io.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <functional>
#include <optional>
#include <system_error>
#include <utility>

#include "sim/config/temporary.h"

namespace npuscope {
namespace {

namespace fs = std::filesystem;

/// Closes itself.
struct Descriptor {
    int number;
    ~Descriptor() {
        if (number >= 0) {
            ::close(number);
        }
    }
};

std::string reason() { return std::generic_category().message(errno); }

[[noreturn]] void cannot_read(const fs::path& path, const Place& asked_at, const std::string& why,
                              const std::string& remedy) {
    throw ConfigError(asked_at, fmt::format("cannot read '{}': {}", path.string(), why), remedy);
}

/// For the present value of errno.
[[noreturn]] void cannot_read(const fs::path& path, const Place& asked_at) {
    const bool forbidden = errno == EACCES;
    cannot_read(path, asked_at, reason(),
                forbidden ? "correct its permissions" : "put the file there, or correct its name");
}

const char* kind_of(mode_t mode) {
    return S_ISDIR(mode)    ? "it is a folder"
           : S_ISFIFO(mode) ? "it is a pipe"
           : S_ISSOCK(mode) ? "it is a socket"
                            : "it is a device";
}

/// Opens without waiting for the writer of a pipe.
int open_regular(const fs::path& path, const Place& asked_at, Bytes most) {
    if (path.native().find('\0') != std::string::npos) {
        cannot_read(path, asked_at, "its name contains a NUL byte", "correct its name");
    }
    Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    struct stat status {};
    if (file.number < 0 || ::fstat(file.number, &status) != 0) {
        cannot_read(path, asked_at);
    }
    if (!S_ISREG(status.st_mode)) {
        cannot_read(path, asked_at, kind_of(status.st_mode),
                    S_ISDIR(status.st_mode) ? "put the file there, or correct its name"
                                            : "store its content in a regular file");
    }
    if (static_cast<std::uint64_t>(status.st_size) > most.value) {
        cannot_read(
            path, asked_at,
            fmt::format("its size of {} bytes exceeds the limit of {}", status.st_size, most.value),
            "is it the right file?");
    }
    return std::exchange(file.number, -1);
}

/// Pages of 2 MiB, if the kernel has them, for memory that has not been touched yet: without them,
/// a gigabyte of files costs a quarter of a million page faults. Small blocks come from the heap;
/// for them its remainder, as far as the allocator has reserved it in advance, is included. A
/// refusal by the kernel is not an error.
void prefer_large_pages(void* data, std::size_t bytes) {
    constexpr std::uintptr_t large = std::uintptr_t{2} << 20U;
    constexpr std::size_t small = std::size_t{32} << 10U;
    if (bytes < small) {
        return;
    }
    char* const first = static_cast<char*>(data);
    char* const heap = static_cast<char*>(::sbrk(0));
    const bool in_heap = bytes < large && std::less<>{}(first, heap);
    const std::size_t room = in_heap ? static_cast<std::size_t>(heap - first) : bytes;
    const std::size_t skipped = (large - reinterpret_cast<std::uintptr_t>(data) % large) % large;
    if (room >= skipped + large) {
        ::madvise(first + skipped, (room - skipped) / large * large, MADV_HUGEPAGE);
    }
}

/// Into a string or a vector of bytes.
template <class Content>
Content read_content(const fs::path& path, const Place& asked_at, Bytes most) {
    const Descriptor file{open_regular(path, asked_at, most)};
    struct stat status {};
    ::fstat(file.number, &status);
    Content text;
    text.reserve(static_cast<std::size_t>(status.st_size) + 1);  // plus one to detect the end
    prefer_large_pages(text.data(), text.capacity());
    text.resize(static_cast<std::size_t>(status.st_size) + 1);
    std::size_t filled = 0;
    while (true) {
        if (filled == text.size()) {
            text.resize(text.size() + 65536);  // a file that grew, or has no size, as in /proc
        }
        const ::ssize_t got = ::read(file.number, text.data() + filled, text.size() - filled);
        if (got == 0) {
            break;
        }
        if (got < 0 && errno != EINTR) {
            cannot_read(path, asked_at);
        }
        filled += static_cast<std::size_t>(std::max<::ssize_t>(got, 0));
        if (filled > most.value) {
            cannot_read(path, asked_at, fmt::format("it has more than {} bytes", most.value),
                        "is it the right file?");
        }
    }
    text.resize(filled);
    return text;
}

}  // namespace

std::string read_whole_file(const fs::path& path, const Place& asked_at, Bytes most) {
    return read_content<std::string>(path, asked_at, most);
}

std::vector<std::uint8_t> read_whole_bytes(const fs::path& path, const Place& asked_at,
                                           Bytes most) {
    return read_content<std::vector<std::uint8_t>>(path, asked_at, most);
}

bool file_exists(const fs::path& path) {
    std::error_code error;
    const bool exists = fs::exists(path, error);
    if (error) {
        cannot_read(path, {}, error.message(), "correct its name, or its permissions");
    }
    return exists;
}

namespace {

[[noreturn]] void cannot_write(const fs::path& path, const std::string& why,
                               const std::string& remedy = "choose a writable location") {
    throw ConfigError(fmt::format("cannot write '{}': {}", path.string(), why), remedy);
}

/// A device or pipe is written to, never replaced by a file.
bool is_device(const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    return !error && fs::exists(status) && !fs::is_regular_file(status) &&
           !fs::is_directory(status);
}

/// The descriptor of this process that a name such as /dev/stdout or /dev/fd/3 denotes. It may be a
/// file's, which must then be continued and not be replaced.
std::optional<int> named_descriptor(const fs::path& path) {
    const std::string& name = path.native();
    if (name == "/dev/stdout" || name == "/dev/stderr") {
        return name == "/dev/stdout" ? STDOUT_FILENO : STDERR_FILENO;
    }
    for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
        int number = 0;
        const char* const end = name.data() + name.size();
        if (name.starts_with(folder) &&
            std::from_chars(name.data() + folder.size(), end, number).ptr == end) {
            return number;
        }
    }
    return std::nullopt;
}

}  // namespace

bool is_stream(const fs::path& path) { return named_descriptor(path) || is_device(path); }

fs::path make_folder_of(const fs::path& path) {
    if (!path.has_parent_path()) {
        return ".";
    }
    const auto hold = hold_interruptions();  // an interruption has just removed it otherwise
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (error) {
        cannot_write(path, error.message());
    }
    return path.parent_path();
}

void write_to(int descriptor, std::string_view text, const fs::path& path) {
    while (!text.empty()) {
        const ::ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno != EINTR) {
            cannot_write(path, reason(),
                         errno == EFBIG ? "raise the limit of file sizes (ulimit -f)"
                                        : "choose a location with free space");
        }
        text.remove_prefix(static_cast<std::size_t>(std::max<::ssize_t>(written, 0)));
    }
}

void write_atomically(const fs::path& path, std::string_view text, const fs::path& for_path) {
    if (const auto descriptor = named_descriptor(path)) {
        return write_to(*descriptor, text, path);
    }
    if (path.native().find('\0') != std::string::npos) {
        cannot_write(path, "its name contains a NUL byte", "correct its name");
    }
    if (is_device(path)) {
        Descriptor device{::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY)};
        if (device.number < 0) {
            cannot_write(path, reason());
        }
        write_to(device.number, text, path);
        if (::close(std::exchange(device.number, -1)) != 0) {
            cannot_write(path, reason());
        }
        return;
    }
    const fs::path& named = for_path.empty() ? path : for_path;
    const fs::path target = behind_links(path);
    TemporaryFile file(make_folder_of(target), named);
    write_to(file.descriptor(), text, named);
    file.become(target);
}

}  // namespace npuscope
