// SPDX-License-Identifier: Apache-2.0
// The family `vector`: all that the commands need to know about it.
#pragma once

#include <memory>

#include "sim/config/typed_config.h"
#include "vector_npu.h"
#include "vector_target.h"

namespace vector_npu {

class VectorFamily : public npuscope::TypedFamily<VectorNpuConfig> {
 public:
    std::string_view name() const override { return "vector"; }
    std::unique_ptr<npuscope::Machine> build(const npuscope::AnyConfig& npu,
                                             npuscope::DiagnosticLog& log) const override {
        return std::make_unique<VectorNpu>("npu", typed(npu), log);
    }
    std::shared_ptr<const npuscope::Target> target(const npuscope::AnyConfig& npu,
                                                   const npuscope::MemoryConfig& memory,
                                                   bool /*values*/) const override {
        return std::make_shared<VectorTarget>(typed(npu), memory);
    }
};

}  // namespace vector_npu
