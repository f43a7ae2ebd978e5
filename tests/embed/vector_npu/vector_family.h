// SPDX-License-Identifier: Apache-2.0
// The family `vector`: all that the commands need to know about it.
#pragma once

#include <array>
#include <memory>

#include "sim/config/typed_config.h"
#include "vector_npu.h"
#include "vector_target.h"

namespace vector_npu {

class VectorFamily : public npuscope::TypedFamily<VectorNpuConfig> {
 public:
    std::string_view name() const override { return "vector"; }
    npuscope::LimitRows limits() const override {
        using npuscope::Limit;
        using npuscope::Relation;
        static constexpr std::array rows{Limit{"npu.engine.lanes", 1, 1024},
                                         Limit{"npu.engine.buffer", 4, 65536},
                                         Limit{"npu.engine.launch_queue", 1, 64}};
        static constexpr std::array relations{
            Relation{{"npu.engine.buffer", "npu.mcif.bus_width", "", ""},
                     "the unit reads and writes whole beats",
                     [](const Relation::Values& v) { return v[0] % v[1] == 0; }}};
        return {rows, relations};
    }
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
