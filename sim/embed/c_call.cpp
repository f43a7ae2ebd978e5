// SPDX-License-Identifier: Apache-2.0
#include "sim/embed/c_call.h"

#include <fmt/format.h>

#include <new>

#include "models/base/error.h"

namespace npuscope {

std::string& last_error() {
    thread_local std::string text;
    return text;
}

npuscope_status refuse(npuscope_status status, std::string text) {
    last_error() = std::move(text);
    return status;
}

npuscope_status null_argument(const char* name) {
    return refuse(NPUSCOPE_BAD_ARGUMENT, fmt::format("{} is null", name));
}

npuscope_status refuse_current() {
    try {
        throw;
    } catch (const CallRefusal& refusal) {
        return refuse(refusal.status, refusal.text);
    } catch (const ConfigError& error) {
        return refuse(NPUSCOPE_WRONG_INPUT, error.what());
    } catch (const MachineStopped& stop) {
        return refuse(NPUSCOPE_STOPPED, stop.what());
    } catch (const std::bad_alloc&) {
        return refuse(NPUSCOPE_WRONG_INPUT,
                      "this needs more memory than is available: use smaller tensors or surfaces");
    } catch (const std::exception& defect) {
        return refuse(NPUSCOPE_DEFECT, defect.what());
    } catch (...) {
        return refuse(NPUSCOPE_DEFECT, "an exception of unknown type");
    }
}

}  // namespace npuscope
