// SPDX-License-Identifier: Apache-2.0
// Fields that several units of the convolution pipeline decode alike, and how a unit refuses what
// the machine does not do: ConfigError with the register, its value and the feature.
#pragma once

#include <string>
#include <string_view>

#include "models/base/register_map.h"
#include "models/conv/conv_job.h"

namespace npuscope {

/// ConfigError: `NVDLA_CSC.D_WEIGHT_FORMAT_0 = 0x1: compressed weights are not available`.
[[noreturn]] void refuse(const RegisterValues& registers, std::string_view register_name,
                         const std::string& feature, const std::string& remedy = {});

/// A precision of D_MISC_CFG: refuses what the data path does not have.
Precision read_precision(const RegisterValues& registers, std::string_view field_name,
                         const DatapathConfig& datapath);
/// D_MISC_CFG.CONV_MODE: refuses Winograd where there is none.
bool read_winograd(const RegisterValues& registers, const ConvFeatures& features);
/// D_MISC_CFG.{DATA,WEIGHT}_REUSE, SKIP_{DATA,WEIGHT}_RLS.
BufferReuse read_reuse(const RegisterValues& registers);
/// D_BANK.
BankSplit read_banks(const RegisterValues& registers);
/// D_MISC_CFG.CONV_MODE and D_DATAIN_FORMAT.DATAIN_FORMAT.
ConvMode read_mode(const RegisterValues& registers, const ConvFeatures& features);
/// D_DATAOUT_SIZE_0 and _1.
Shape read_output(const RegisterValues& registers);
/// D_WEIGHT_FORMAT: refuses compressed weights where nobody decompresses them.
bool read_compressed(const RegisterValues& registers, const ConvFeatures& features);
/// D_BATCH_NUMBER: refuses more batches than there can be.
std::uint32_t read_batches(const RegisterValues& registers, const ConvFeatures& features);
/// A 64-bit address out of its two halves.
Address read_address(const RegisterValues& registers, std::string_view high, std::string_view low);

}  // namespace npuscope
