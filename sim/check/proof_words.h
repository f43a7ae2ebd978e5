// SPDX-License-Identifier: Apache-2.0
// What an operation computes, in words: `64x14x14 int8 at 0x80001000 * 128x64x3x3 int8 at
// 0x80010000, stride 1, padding 1`. Shapes are channels x height x width.
#pragma once

#include <string>

#include "models/cdp/cdp_job.h"
#include "models/conv/conv_job.h"
#include "models/pdp/pdp_job.h"
#include "models/sdp/sdp_job.h"
#include "models/tinpu/tinpu_job.h"

namespace npuscope {

/// `input`: the operation's input if that is not in memory; the result's place comes last.
std::string meaning_of(const ConvJob& job, bool data_kept, bool weights_kept);
std::string meaning_of(const SdpJob& job, const std::string& input);
std::string meaning_of(const PdpJob& job, const std::string& input);
std::string meaning_of(const CdpJob& job);
std::string meaning_of(const TinpuJob& job);

}  // namespace npuscope
