// SPDX-License-Identifier: Apache-2.0
// Register programs played on a device of the caller. No device of npuscope is locked meanwhile: the
// caller's functions may call those of the interface.
#include <fmt/format.h>

#include "models/base/error.h"
#include "sim/config/npu_family.h"
#include "sim/embed/c_call.h"
#include "sim/embed/embedded_system.h"
#include "sim/program/read_program.h"
#include "sim/run/program_player.h"

namespace npuscope {
namespace {

/// `program.cfg:8:1: crc32 at 0x80000000, 32 bytes: expected 0x91267e8a, found 0x758d6336`.
std::string check_text(const CheckResult& check) {
    const std::string text = fmt::format("{}: {}{}{} at {}, {} bytes: ", to_string(check.place),
                                         enum_name(check.kind), check.subject.empty() ? "" : " ",
                                         check.subject, to_hex(check.address), check.bytes.value);
    return text + (check.reached
                       ? fmt::format("expected {}, found {}", check.expected, check.actual)
                       : "not made, as nothing raises the id that it waits for");
}

class CallerDevice : public DrivenDevice {
 public:
    explicit CallerDevice(const npuscope_driven& calls) : calls_(calls) {}

    void write(std::uint32_t address, std::uint32_t value) override {
        call("write_register", calls_.write_register, address, value);
    }
    std::uint32_t read(std::uint32_t address) override {
        std::uint32_t value = 0;
        call("read_register", calls_.read_register, address, &value);
        return value;
    }
    void write_memory(Address address, std::span<const std::uint8_t> bytes) override {
        call("write_memory", calls_.write_memory, address.value, bytes.data(), bytes.size());
    }
    void fill_memory(Address address, std::uint64_t size, std::uint8_t value) override {
        call("fill_memory", calls_.fill_memory, address.value, value, size);
    }
    void read_memory(Address address, std::span<std::uint8_t> bytes) override {
        call("read_memory", calls_.read_memory, address.value, bytes.data(), bytes.size());
    }
    void await_interrupt() override { call("await_interrupt", calls_.await_interrupt); }
    void take(const CheckResult& check) {
        if (calls_.check != nullptr) {
            const std::string text = check_text(check);
            guard("check", [&] { calls_.check(calls_.user, check.pass ? 1 : 0, text.c_str()); });
        }
    }

 private:
    template <class Function, class... Arguments>
    void call(const char* name, Function function, Arguments... arguments) {
        int code = 0;
        guard(name, [&] { code = function(calls_.user, arguments...); });
        if (code != 0) {
            throw CallRefusal(NPUSCOPE_CALLBACK_FAILED, fmt::format("{} returned {}", name, code));
        }
    }

    template <class Work>
    static void guard(const char* name, const Work& work) {
        try {
            work();
        } catch (...) {
            throw CallRefusal(NPUSCOPE_CALLBACK_FAILED, fmt::format("{} threw an exception", name));
        }
    }

    const npuscope_driven& calls_;
};

/// The first function that is missing, or nothing.
const char* missing_in(const npuscope_driven& driven) {
    return driven.write_register == nullptr    ? "driven->write_register"
           : driven.read_register == nullptr   ? "driven->read_register"
           : driven.write_memory == nullptr    ? "driven->write_memory"
           : driven.fill_memory == nullptr     ? "driven->fill_memory"
           : driven.read_memory == nullptr     ? "driven->read_memory"
           : driven.await_interrupt == nullptr ? "driven->await_interrupt"
                                               : nullptr;
}

}  // namespace
}  // namespace npuscope

using namespace npuscope;  // NOLINT(google-build-using-namespace): the interface has C's own

extern "C" npuscope_status npuscope_play(const char* program, const char* npu,
                                         const npuscope_driven* driven) {
    return guarded([&] {
        if (program == nullptr || npu == nullptr || driven == nullptr) {
            return null_argument(program == nullptr ? "program"
                                 : npu == nullptr   ? "npu"
                                                    : "driven");
        }
        if (const char* missing = missing_in(*driven)) {
            return null_argument(missing);
        }
        const SystemConfig system = read_embedded_system(npu, {});
        const FamilyRegisters registers = system.family->registers(system.npu);
        const auto blocks =
            registers.programs ? registers.blocks : std::span<const RegisterBlock>{};
        const Program read = read_program(program, RegisterNames(blocks));
        CallerDevice device(*driven);
        ProgramPlayer player(read, blocks, device);
        player.on_check = [&device](const CheckResult& check) { device.take(check); };
        player.play();
        return NPUSCOPE_OK;
    });
}
