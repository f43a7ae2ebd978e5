// SPDX-License-Identifier: Apache-2.0
#include "models/conv/conv_registers.h"

#include <fmt/format.h>

#include "models/base/error.h"
#include "models/layout/alignment.h"
#include "models/layout/precision_table.h"

namespace npuscope {

void refuse(const RegisterValues& registers, std::string_view register_name,
            const std::string& feature, const std::string& remedy) {
    throw ConfigError(
        fmt::format("{} = {:#x}: {} not available", spelled(registers.block().name, register_name),
                    registers.raw(register_name), feature),
        remedy);
}

Precision read_precision(const RegisterValues& registers, std::string_view field_name,
                         const DatapathConfig& datapath) {
    const std::uint32_t code = registers.field("D_MISC_CFG", field_name);
    if (code > 2) {
        refuse(registers, "D_MISC_CFG", fmt::format("{} {} is", field_name, code),
               datapath.int16 && datapath.fp16 ? "use int8 (0), int16 (1) or fp16 (2)"
                                               : "use int8 (0)");
    }
    const auto precision = static_cast<Precision>(code);
    if (!datapath.supports(precision)) {
        refuse(registers, "D_MISC_CFG",
               fmt::format("{} {} is", field_name, precision_name(precision)), "use int8 (0)");
    }
    return precision;
}

bool read_winograd(const RegisterValues& registers, const ConvFeatures& features) {
    const bool winograd = registers.field("D_MISC_CFG", "CONV_MODE") != 0;
    if (winograd && !features.winograd) {
        refuse(registers, "D_MISC_CFG", "Winograd convolution is", "use direct convolution (0)");
    }
    return winograd;
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

ConvMode read_mode(const RegisterValues& registers, const ConvFeatures& features) {
    const bool image = registers.field("D_DATAIN_FORMAT", "DATAIN_FORMAT") != 0;
    if (!read_winograd(registers, features)) {
        return image ? ConvMode::Image : ConvMode::Direct;
    }
    if (image) {
        refuse(registers, "D_DATAIN_FORMAT", "Winograd convolution of an image is",
               "use feature data (0) or direct convolution");
    }
    return ConvMode::Winograd;
}

Shape read_output(const RegisterValues& registers) {
    return {registers.size("D_DATAOUT_SIZE_1", "DATAOUT_CHANNEL"),
            registers.size("D_DATAOUT_SIZE_0", "DATAOUT_HEIGHT"),
            registers.size("D_DATAOUT_SIZE_0", "DATAOUT_WIDTH")};
}

bool read_compressed(const RegisterValues& registers, const ConvFeatures& features) {
    const bool compressed = registers.field("D_WEIGHT_FORMAT", "WEIGHT_FORMAT") != 0;
    if (compressed && !features.weight_compression) {
        refuse(registers, "D_WEIGHT_FORMAT", "compressed weights are",
               "store the weights uncompressed (0)");
    }
    return compressed;
}

std::uint32_t read_batches(const RegisterValues& registers, const ConvFeatures& features) {
    const std::uint32_t batches = registers.size("D_BATCH_NUMBER", "BATCHES");
    if (batches > features.max_batch) {
        refuse(registers, "D_BATCH_NUMBER",
               features.max_batch == 1
                   ? "more than one batch is"
                   : fmt::format("more than {} batches are", features.max_batch),
               fmt::format("use {} or less", features.max_batch - 1));
    }
    return batches;
}

Address read_address(const RegisterValues& registers, std::string_view high, std::string_view low) {
    return Address(std::uint64_t{registers.raw(high)} << 32U | registers.raw(low));
}

}  // namespace npuscope
