// SPDX-License-Identifier: Apache-2.0
#include "bench/layer_of_program.h"

#include <map>
#include <string>

namespace npuscope::bench {
namespace {

/// CSC's registers as the program leaves them. Register layout: NVDLA_CSC in the register map.
class Registers {
 public:
    explicit Registers(const Program& program) {
        for (const Statement& statement : program.statements) {
            if (const auto* write = std::get_if<WriteRegister>(&statement.action)) {
                launches_ += write->name == "NVDLA_CSC.D_OP_ENABLE_0" ? 1U : 0U;
                values_[write->name] = write->value;
            }
        }
    }
    unsigned launches() const { return launches_; }
    std::uint32_t low(const std::string& name) const { return value(name) & 0xffffU; }
    std::uint32_t high(const std::string& name) const { return value(name) >> 16U; }
    std::uint32_t value(const std::string& name) const {
        const auto found = values_.find("NVDLA_CSC." + name + "_0");
        return found == values_.end() ? 0 : found->second;
    }

 private:
    std::map<std::string, std::uint32_t> values_;
    unsigned launches_ = 0;
};

}  // namespace

std::optional<LayerGeometry> layer_of(const Program& program) {
    const Registers csc(program);
    const bool image = (csc.value("D_DATAIN_FORMAT") & 1U) != 0;
    if (csc.launches() != 1 || image) {
        return std::nullopt;
    }
    LayerGeometry layer;
    layer.input.channels = csc.low("D_DATAIN_SIZE_EXT_1") + 1;
    layer.input.height = csc.high("D_DATAIN_SIZE_EXT_0") + 1;
    layer.input.width = csc.low("D_DATAIN_SIZE_EXT_0") + 1;
    layer.kernels.kernels = csc.high("D_WEIGHT_SIZE_EXT_1") + 1;
    layer.kernels.channels = layer.input.channels;
    layer.kernels.rows = csc.high("D_WEIGHT_SIZE_EXT_0") + 1;
    layer.kernels.columns = csc.low("D_WEIGHT_SIZE_EXT_0") + 1;
    layer.convolution = {.out_height = csc.high("D_DATAOUT_SIZE_0") + 1,
                         .out_width = csc.low("D_DATAOUT_SIZE_0") + 1,
                         .stride_y = csc.high("D_CONV_STRIDE_EXT") + 1,
                         .stride_x = csc.low("D_CONV_STRIDE_EXT") + 1,
                         .dilation_y = csc.high("D_DILATION_EXT") + 1,
                         .dilation_x = csc.low("D_DILATION_EXT") + 1,
                         .pad_top = csc.high("D_ZERO_PADDING"),
                         .pad_left = csc.low("D_ZERO_PADDING")};
    return layer;
}

}  // namespace npuscope::bench
