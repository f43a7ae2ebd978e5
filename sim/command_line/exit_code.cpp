// SPDX-License-Identifier: Apache-2.0
#include "sim/command_line/exit_code.h"

#include <exception>
#include <ostream>

#include "models/base/check.h"
#include "models/base/error.h"

namespace npuscope {

ExitCode guard(const std::function<ExitCode()>& work, std::ostream& errors) {
    try {
        return work();
    } catch (const ConfigError& error) {
        errors << "npuscope: " << error.what() << '\n';
        return ExitCode::WrongInput;
    } catch (const MachineStopped& error) {
        errors << "npuscope: the machine stopped: " << error.what() << '\n';
        return ExitCode::MachineStopped;
    } catch (const InternalError& error) {
        errors << "npuscope: a bug of npuscope, please report it: " << error.what() << '\n';
    } catch (const std::exception& error) {
        errors << "npuscope: unexpected, please report it: " << error.what() << '\n';
    }
    return ExitCode::Bug;
}

}  // namespace npuscope
