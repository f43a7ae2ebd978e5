// SPDX-License-Identifier: Apache-2.0
#include "models/data/conv_registers.h"

#include <fmt/format.h>

#include "models/base/error.h"
#include "models/data/alignment.h"

namespace npuscope {

void refuse(const RegisterValues& registers, std::string_view register_name,
            const std::string& feature, const std::string& remedy) {
    throw ConfigError(
        fmt::format("{} = {:#x}: {} not available", spelled(registers.block().name, register_name),
                    registers.raw(register_name), feature),
        remedy);
}

Precision read_precision(const RegisterValues& registers, std::string_view field_name) {
    switch (registers.field("D_MISC_CFG", field_name)) {
        case 0:
            return Precision::Int8;
        case 1:
            refuse(registers, "D_MISC_CFG", fmt::format("{} int16 is", field_name), "use int8 (0)");
        case 2:
            refuse(registers, "D_MISC_CFG", fmt::format("{} fp16 is", field_name), "use int8 (0)");
        default:
            refuse(registers, "D_MISC_CFG", fmt::format("{} 3 is", field_name), "use int8 (0)");
    }
}

void refuse_winograd(const RegisterValues& registers) {
    if (registers.field("D_MISC_CFG", "CONV_MODE") != 0) {
        refuse(registers, "D_MISC_CFG", "Winograd convolution is", "use direct convolution (0)");
    }
}

BufferReuse read_reuse(const RegisterValues& registers) {
    const auto flag = [&](std::string_view name) {
        return registers.field("D_MISC_CFG", name) != 0;
    };
    return {flag("DATA_REUSE"), flag("WEIGHT_REUSE"), flag("SKIP_DATA_RLS"),
            flag("SKIP_WEIGHT_RLS")};
}

BankSplit read_banks(const RegisterValues& registers) {
    return {registers.size("D_BANK", "DATA_BANK"), registers.size("D_BANK", "WEIGHT_BANK")};
}

ConvMode read_mode(const RegisterValues& registers) {
    return registers.field("D_DATAIN_FORMAT", "DATAIN_FORMAT") == 0 ? ConvMode::Direct
                                                                    : ConvMode::Image;
}

Shape read_output(const RegisterValues& registers) {
    return {registers.size("D_DATAOUT_SIZE_1", "DATAOUT_CHANNEL"),
            registers.size("D_DATAOUT_SIZE_0", "DATAOUT_HEIGHT"),
            registers.size("D_DATAOUT_SIZE_0", "DATAOUT_WIDTH")};
}

void refuse_compression(const RegisterValues& registers) {
    if (registers.field("D_WEIGHT_FORMAT", "WEIGHT_FORMAT") != 0) {
        refuse(registers, "D_WEIGHT_FORMAT", "compressed weights are",
               "store the weights uncompressed (0)");
    }
}

void refuse_batches(const RegisterValues& registers) {
    if (registers.field("D_BATCH_NUMBER", "BATCHES") != 0) {
        refuse(registers, "D_BATCH_NUMBER", "more than one batch is", "use one batch (0)");
    }
}

Address read_address(const RegisterValues& registers, std::string_view high, std::string_view low) {
    return Address(std::uint64_t{registers.raw(high)} << 32U | registers.raw(low));
}

}  // namespace npuscope
