// SPDX-License-Identifier: Apache-2.0
#include "sim/convert/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "models/base/error.h"
#include "sim/config/file_io.h"

namespace npuscope {

namespace {

namespace fs = std::filesystem;

std::string reason() { return std::generic_category().message(errno); }

/// Closes the descriptor when destroyed.
struct Descriptor {
    int number;
    ~Descriptor() {
        if (number >= 0) {
            ::close(number);
        }
    }
};

/// For the present value of errno, after a file could not be mapped.
std::string memory_remedy(const char* otherwise) {
    return errno == ENOMEM ? "free some memory, or raise its limit (ulimit -v)" : otherwise;
}

[[noreturn]] void cannot_read(const fs::path& path, const std::string& why,
                              const std::string& remedy) {
    throw ConfigError(fmt::format("cannot read '{}': {}", path.string(), why), remedy);
}
[[noreturn]] void cannot_write(const fs::path& path, const std::string& why,
                               const std::string& remedy) {
    throw ConfigError(fmt::format("cannot write '{}': {}", path.string(), why), remedy);
}

}  // namespace

MappedInput::MappedInput(const fs::path& path) {
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    struct stat status {};
    if (file.number < 0 || ::fstat(file.number, &status) != 0) {
        cannot_read(path, reason(),
                    errno == EACCES ? "correct its permissions"
                                    : "put the file there, or correct its name");
    }
    if (!S_ISREG(status.st_mode)) {
        cannot_read(path, "it is not a regular file", "store its content in a regular file");
    }
    size_ = static_cast<std::size_t>(status.st_size);
    if (size_ == 0) {
        return;
    }
    void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.number, 0);
    if (mapped == MAP_FAILED) {
        cannot_read(path, reason(), memory_remedy("copy it to another file system"));
    }
    data_ = static_cast<const std::uint8_t*>(mapped);
}

MappedInput::~MappedInput() {
    if (data_ != nullptr) {
        ::munmap(const_cast<std::uint8_t*>(data_), size_);
    }
}

void MappedInput::release() const {
    if (data_ != nullptr) {
        ::madvise(const_cast<std::uint8_t*>(data_), size_, MADV_DONTNEED);
    }
}

MappedOutput::MappedOutput(const fs::path& path, std::uint64_t size)
    : path_(behind_links(path)), size_(static_cast<std::size_t>(size)) {
    const fs::path folder = make_folder_of(path_);
    std::error_code error;
    if (fs::exists(path, error) && !fs::is_regular_file(path, error)) {
        cannot_write(path, "it is not a regular file", "give another name");
    }
    file_ = std::make_unique<TemporaryFile>(folder, path);
    // Blocks are reserved, so that a full disk is an error here and not a signal while writing.
    const int full =
        size_ == 0 ? 0 : ::posix_fallocate(file_->descriptor(), 0, static_cast<off_t>(size_));
    if (full != 0) {
        const std::string why = std::generic_category().message(full);
        cannot_write(path, fmt::format("{} bytes do not fit: {}", size_, why),
                     full == EFBIG ? "raise the limit of file sizes (ulimit -f)"
                                   : "choose a location with free space");
    }
    if (size_ == 0) {
        return;
    }
    void* mapped =
        ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file_->descriptor(), 0);
    if (mapped == MAP_FAILED) {
        cannot_write(path, reason(), memory_remedy("choose another location"));
    }
    data_ = static_cast<std::uint8_t*>(mapped);
}

MappedOutput::~MappedOutput() {
    if (data_ != nullptr) {
        ::munmap(data_, size_);
    }
}

void MappedOutput::release() const {
    if (data_ != nullptr) {
        ::madvise(data_, size_, MADV_DONTNEED);
    }
}

void MappedOutput::commit() { file_->become(path_); }

std::uint64_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::uint64_t total = 0, resident = 0;
    file >> total >> resident;
    return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace npuscope
