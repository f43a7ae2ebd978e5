// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <vector>

#include "include/npuscope/npuscope.h"
#include "models/layout/relayout.h"
#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/convert/surface_spec.h"
#include "sim/embed/c_call.h"
#include "sim/embed/caller_memory.h"
#include "sim/embed/calling_process.h"
#include "sim/embed/embedded_system.h"
#include "sim/embed/standalone_device.h"
#include "sim/report/reports.h"

// Required by SystemC's library.
extern "C" int sc_main(int /*argc*/, char* /*argv*/[]) { return 0; }

using namespace npuscope;  // NOLINT(google-build-using-namespace): the interface has C's own

struct npuscope_device {
    SystemConfig system;
    std::unique_ptr<CallerMemory> memory;      ///< the caller's, or
    std::unique_ptr<TimedCallerMemory> timed;  ///< the caller's with timing, or the device's own
    std::unique_ptr<StandaloneDevice> device;

    void make() {
        device.reset();
        if (timed) {
            device = std::make_unique<StandaloneDevice>(system, *timed);
            timed->serve(*device);
        } else {
            device = std::make_unique<StandaloneDevice>(system, memory.get());
        }
    }
    void tell_failed_call_backs() const {
        if (timed) {
            timed->tell();
        } else if (memory) {
            memory->tell();
        }
    }
};

namespace {

/// Allows one call at a time, and holds the existing devices.
struct Shared {
    std::recursive_mutex calls;
    std::set<const npuscope_device*> devices;
};

Shared& shared() {
    static Shared one;
    return one;
}

/// Whether this thread is in a call.
thread_local bool in_call = false;

/// One call at a time, which runs devices: not within a call-back of another one, and in a method
/// if an SC_THREAD calls.
template <class Work>
npuscope_status call(const Work& work) {
    std::unique_lock lock(shared().calls);
    if (in_call || StandaloneDevice::is_running()) {
        return refuse(NPUSCOPE_BAD_ARGUMENT,
                      "called from a call-back of a memory, which must not call functions of "
                      "npuscope.h: call it when the function that runs now has returned");
    }
    switch (calling_process()) {
        case CallingProcess::ClockedThread:
            return refuse(NPUSCOPE_BAD_ARGUMENT,
                          "called from an SC_CTHREAD: call it from an SC_THREAD, an SC_METHOD or "
                          "sc_main");
        case CallingProcess::KilledThread:
            return refuse(NPUSCOPE_BAD_ARGUMENT,
                          "called from an SC_THREAD that is being killed or reset: call it from "
                          "another process or sc_main");
        case CallingProcess::Thread: {
            lock.unlock();
            npuscope_status status = NPUSCOPE_DEFECT;
            run_in_method([&] { status = call(work); });
            return status;
        }
        case CallingProcess::None:
            break;
    }
    in_call = true;
    const npuscope_status status = guarded(work);
    in_call = false;
    return status;
}

/// The same for a device, which must exist. A failed call-back within it is reported.
template <class Work>
npuscope_status call(npuscope_device* device, const Work& work) {
    return call([&] {
        if (!shared().devices.contains(device)) {
            return refuse(NPUSCOPE_BAD_ARGUMENT,
                          device == nullptr
                              ? "the device is null"
                              : "the device does not exist: it was destroyed, or never created");
        }
        const npuscope_status status = work(*device->device);
        device->tell_failed_call_backs();
        return status;
    });
}

using Changes = std::vector<std::string>;

/// A device whose system and memory `prepare` sets.
template <class Prepare>
npuscope_status create(const char* npu, const char* const* changes, size_t count,
                       npuscope_device** device, const Prepare& prepare) {
    return call([&] {
        if (npu == nullptr || device == nullptr || (changes == nullptr && count > 0)) {
            return null_argument(npu == nullptr ? "npu" : device == nullptr ? "device" : "changes");
        }
        if (changes != nullptr && std::any_of(changes, changes + count, [](const char* change) {
                return change == nullptr;
            })) {
            return null_argument("an element of changes");
        }
        *device = nullptr;
        auto made = std::make_unique<npuscope_device>();
        if (const npuscope_status status = prepare(*made, Changes(changes, changes + count));
            status != NPUSCOPE_OK) {
            return status;
        }
        made->make();
        shared().devices.insert(made.get());
        *device = made.release();
        return NPUSCOPE_OK;
    });
}

void require_own_memory(const npuscope_device& device) {
    if (device.timed) {
        throw CallRefusal(NPUSCOPE_BAD_ARGUMENT,
                          "the memory belongs to the caller: access it directly");
    }
}

SurfaceSpec surface(const char* layout, const char* type, const std::uint32_t shape[4]) {
    return parse_surface_spec(
        fmt::format("0x0:{}x{}x{}x{}:{}:{}", shape[0], shape[1], shape[2], shape[3], type, layout));
}

std::string limit_text(std::uint64_t cycles, std::uint64_t most) {
    return fmt::format(
        "{} cycles{}", cycles,
        cycles < most ? ", where the clock ends: npuscope_reset() sets it back" : "");
}

char* copy_of(const std::string& text) {
    auto* copy = static_cast<char*>(std::malloc(text.size() + 1));  // NOLINT: C frees it
    if (copy == nullptr) {
        throw std::bad_alloc();
    }
    std::memcpy(copy, text.c_str(), text.size() + 1);
    return copy;
}

}  // namespace

extern "C" {

const char* npuscope_version(void) { return NPUSCOPE_VERSION; }

unsigned npuscope_api_version(void) { return NPUSCOPE_API_MAJOR * 1000 + NPUSCOPE_API_MINOR; }

const char* npuscope_error(void) { return last_error().c_str(); }

npuscope_status npuscope_create(const char* npu, const char* const* changes, size_t count,
                                const npuscope_memory* memory, npuscope_device** device) {
    return create(npu, changes, count, device, [&](npuscope_device& made, const Changes& texts) {
        made.system = read_embedded_system(npu, texts);
        if (memory != nullptr) {
            if (memory->read == nullptr || memory->write == nullptr) {
                return null_argument(memory->read == nullptr ? "memory->read" : "memory->write");
            }
            made.memory = std::make_unique<CallerMemory>(*memory);
        }
        return NPUSCOPE_OK;
    });
}

npuscope_status npuscope_create_timed(const char* npu, const char* const* changes, size_t count,
                                      const npuscope_timed_memory* memory,
                                      npuscope_device** device) {
    return create(npu, changes, count, device, [&](npuscope_device& made, Changes texts) {
        if (memory == nullptr || memory->begin == nullptr) {
            return null_argument(memory == nullptr ? "memory" : "memory->begin");
        }
        texts.insert(texts.begin(), "npu.mcif.transactions=values");
        made.system = read_embedded_system(npu, texts);
        if (!nvdla_npu(made.system).mcif.awaits_answers()) {
            return refuse(NPUSCOPE_WRONG_INPUT,
                          "timed memory does not support whole runs: set npu.mcif.transactions to "
                          "bursts or values");
        }
        made.timed = std::make_unique<TimedCallerMemory>(*memory);
        return NPUSCOPE_OK;
    });
}

npuscope_status npuscope_answer(npuscope_device* device, uint64_t id, int error) {
    return call(device, [&](StandaloneDevice& /*npu*/) {
        if (!device->timed) {
            return refuse(
                NPUSCOPE_BAD_ARGUMENT,
                "the device's memory has no timing of its own: see npuscope_create_timed");
        }
        if (error < 0 || error > 2) {
            return refuse(NPUSCOPE_BAD_ARGUMENT,
                          fmt::format("error is {}: use 0 for a good answer, 1 for an error "
                                      "response, 2 if nothing is at the address",
                                      error));
        }
        device->timed->answer(id, error == 0   ? tlm::TLM_OK_RESPONSE
                                  : error == 2 ? tlm::TLM_ADDRESS_ERROR_RESPONSE
                                               : tlm::TLM_GENERIC_ERROR_RESPONSE);
        return NPUSCOPE_OK;
    });
}

npuscope_status npuscope_destroy(npuscope_device* device) {
    return call([&] {
        if (device != nullptr && shared().devices.erase(device) == 0) {
            return refuse(NPUSCOPE_BAD_ARGUMENT,
                          "the device does not exist: it was destroyed, or never created");
        }
        delete device;
        return NPUSCOPE_OK;
    });
}

npuscope_status npuscope_reset(npuscope_device* device) {
    return call(device, [&](StandaloneDevice& /*before*/) {
        device->make();
        return NPUSCOPE_OK;
    });
}

npuscope_status npuscope_write_register(npuscope_device* device, uint32_t address, uint32_t value) {
    return call(device, [&](StandaloneDevice& npu) {
        npu.write_register(address, value);
        return NPUSCOPE_OK;
    });
}

npuscope_status npuscope_read_register(npuscope_device* device, uint32_t address, uint32_t* value) {
    return call(device, [&](StandaloneDevice& npu) {
        if (value == nullptr) {
            return null_argument("value");
        }
        *value = npu.read_register(address);
        return NPUSCOPE_OK;
    });
}

npuscope_status npuscope_write_memory(npuscope_device* device, uint64_t address, const void* data,
                                      size_t size) {
    return call(device, [&](StandaloneDevice& npu) {
        if (data == nullptr && size > 0) {
            return null_argument("data");
        }
        require_own_memory(*device);
        npu.write_memory(Address(address), {static_cast<const std::uint8_t*>(data), size});
        return NPUSCOPE_OK;
    });
}

npuscope_status npuscope_read_memory(npuscope_device* device, uint64_t address, void* data,
                                     size_t size) {
    return call(device, [&](StandaloneDevice& npu) {
        if (data == nullptr && size > 0) {
            return null_argument("data");
        }
        require_own_memory(*device);
        npu.read_memory(Address(address), {static_cast<std::uint8_t*>(data), size});
        return NPUSCOPE_OK;
    });
}

npuscope_status npuscope_fill_memory(npuscope_device* device, uint64_t address, uint8_t value,
                                     size_t size) {
    return call(device, [&](StandaloneDevice& npu) {
        require_own_memory(*device);
        npu.fill_memory({Address(address), Bytes(size)}, value);
        return NPUSCOPE_OK;
    });
}

npuscope_status npuscope_advance(npuscope_device* device, uint64_t cycles) {
    return call(device, [&](StandaloneDevice& npu) {
        if (const Cycles left = npu.cycles_left(); Cycles(cycles) > left) {
            return refuse(
                NPUSCOPE_BAD_ARGUMENT,
                fmt::format("cycles is {}, but the clock has only {} left: npuscope_reset() sets "
                            "it back",
                            cycles, left.value));
        }
        npu.advance(Cycles(cycles));
        return NPUSCOPE_OK;
    });
}

npuscope_status npuscope_run_until_interrupt(npuscope_device* device, uint64_t most,
                                             uint64_t* passed) {
    return call(device, [&](StandaloneDevice& npu) {
        const Cycles before = npu.now();
        const DeviceStop stop = npu.run_until_interrupt(Cycles(most));
        const std::uint64_t cycles = (npu.now() - before).value;
        if (passed != nullptr) {
            *passed = cycles;
        }
        switch (stop) {
            case DeviceStop::Interrupt:
                return NPUSCOPE_OK;
            case DeviceStop::Idle:
                if (device->timed && device->timed->waits()) {
                    return refuse(NPUSCOPE_STOPPED,
                                  "all remaining work waits for npuscope_answer()");
                }
                return refuse(NPUSCOPE_STOPPED,
                              "no event is pending, and no unmasked interrupt is raised (was "
                              "everything enabled that the operation needs?)");
            case DeviceStop::Limit:
                break;
        }
        return refuse(NPUSCOPE_LIMIT,
                      fmt::format("no interrupt within {}", limit_text(cycles, most)));
    });
}

npuscope_status npuscope_run_until_idle(npuscope_device* device, uint64_t most, uint64_t* passed) {
    return call(device, [&](StandaloneDevice& npu) {
        const Cycles before = npu.now();
        const DeviceStop stop = npu.run_until_idle(Cycles(most));
        const std::uint64_t cycles = (npu.now() - before).value;
        if (passed != nullptr) {
            *passed = cycles;
        }
        return stop == DeviceStop::Idle
                   ? NPUSCOPE_OK
                   : refuse(NPUSCOPE_LIMIT,
                            fmt::format("still busy after {}", limit_text(cycles, most)));
    });
}

npuscope_status npuscope_interrupt(npuscope_device* device, int* line) {
    return call(device, [&](StandaloneDevice& npu) {
        if (line == nullptr) {
            return null_argument("line");
        }
        *line = npu.interrupt() ? 1 : 0;
        return NPUSCOPE_OK;
    });
}

npuscope_status npuscope_cycle(npuscope_device* device, uint64_t* cycle) {
    return call(device, [&](StandaloneDevice& npu) {
        if (cycle == nullptr) {
            return null_argument("cycle");
        }
        *cycle = npu.now().value;
        return NPUSCOPE_OK;
    });
}

npuscope_status npuscope_result(npuscope_device* device, char** json) {
    return call(device, [&](StandaloneDevice& npu) {
        if (json == nullptr) {
            return null_argument("json");
        }
        Result result = npu.result();
        result.version = NPUSCOPE_VERSION;
        *json = copy_of(json_report(result));
        return NPUSCOPE_OK;
    });
}

void npuscope_free(void* text) { std::free(text); }  // NOLINT: C's own

npuscope_status npuscope_pack(const char* layout, const char* type, const uint32_t shape[4],
                              const void* array, void* memory, size_t* size) {
    return guarded([&] {
        if (layout == nullptr || type == nullptr || shape == nullptr || size == nullptr) {
            return null_argument("layout, type, shape or size");
        }
        const SurfaceSpec spec = surface(layout, type, shape);
        if (memory == nullptr) {
            *size = spec.layout.bytes;
            return NPUSCOPE_OK;
        }
        if (array == nullptr) {
            return null_argument("array");
        }
        if (*size < spec.layout.bytes) {
            return refuse(
                NPUSCOPE_BAD_ARGUMENT,
                fmt::format("memory has {} bytes, but {} are needed", *size, spec.layout.bytes));
        }
        const Layout plain = plain_layout(spec.layout.shape, spec.layout.element);
        std::vector<std::uint8_t> packed(spec.layout.bytes);
        relayout(plain, {static_cast<const std::uint8_t*>(array), plain.bytes}, spec.layout,
                 packed);
        std::ranges::copy(packed, static_cast<std::uint8_t*>(memory));
        *size = packed.size();
        return NPUSCOPE_OK;
    });
}

npuscope_status npuscope_unpack(const char* layout, const char* type, const uint32_t shape[4],
                                const void* memory, size_t size, void* array) {
    return guarded([&] {
        if (layout == nullptr || type == nullptr || shape == nullptr || memory == nullptr ||
            array == nullptr) {
            return null_argument("layout, type, shape, memory or array");
        }
        const SurfaceSpec spec = surface(layout, type, shape);
        if (size < spec.layout.bytes) {
            return refuse(
                NPUSCOPE_BAD_ARGUMENT,
                fmt::format("memory has {} bytes, but {} are needed", size, spec.layout.bytes));
        }
        const std::vector<std::uint8_t> elements =
            spec.elements({static_cast<const std::uint8_t*>(memory), spec.layout.bytes});
        std::ranges::copy(elements, static_cast<std::uint8_t*>(array));
        return NPUSCOPE_OK;
    });
}

}  // extern "C"
