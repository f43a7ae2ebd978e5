// SPDX-License-Identifier: Apache-2.0
#include "models/base/check.h"

#include <fmt/format.h>

namespace npuscope {

void fail_check(const char* condition, const std::string& sentence, const char* file, int line) {
    throw InternalError(
        fmt::format("{}:{}: internal error: {} (failed: {})", file, line, sentence, condition));
}

}  // namespace npuscope
