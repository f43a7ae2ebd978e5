// SPDX-License-Identifier: Apache-2.0
// The conversions that `bench/convert` measures, with the acceptable time.
#pragma once

#include <array>

namespace npuscope::bench {

/// Layouts as on the command line; `most` is a multiple of the memcpy time of the larger side.
struct ConvertRow {
    const char* name;
    const char* shape;
    const char* type;
    const char* from;
    const char* to;
    double most;
    const char* quantise = "";
    const char* dequantise = "";
};

constexpr const char* cube = "1x64x256x256";
constexpr const char* image = "1x4x1024x1024";  // as many values for layouts with few channels
constexpr double of_words = 1.3;
constexpr double of_bytes = 2;
constexpr double of_changed = 3;  // high/low and quantised values

constexpr std::array convert_rows{
    ConvertRow{"fp32 elempack 1 -> 4", cube, "float32", "nchw", "C/4 H W C%4", of_words},
    ConvertRow{"fp32 elempack 4 -> 1", cube, "float32", "C/4 H W C%4", "nchw", of_words},
    ConvertRow{"fp32 elempack 1 -> 8", cube, "float32", "nchw", "C/8 H W C%8", of_words},
    ConvertRow{"fp32 elempack 8 -> 1", cube, "float32", "C/8 H W C%8", "nchw", of_words},
    ConvertRow{"fp32 elempack 4 -> 8", cube, "float32", "C/4 H W C%4", "C/8 H W C%8", of_words},
    ConvertRow{"fp32 feature cube, 32-byte atom", cube, "float32", "nchw", "C/8 H W C%8", of_words},
    ConvertRow{"fp32 NHWC", cube, "float32", "nchw", "nhwc", of_words},
    ConvertRow{"fp32 NHWC -> NCHW", cube, "float32", "nhwc", "nchw", of_words},
    ConvertRow{"fp32 16W1C8B", cube, "float32", "nchw", "C H W/16 W%16", of_words},
    ConvertRow{"fp32 16W1C8B of KL520", cube, "float32", "nchw", "H C W/16 W%16", of_words},
    ConvertRow{"fp32 1W16C8B", cube, "float32", "nchw", "C/16 H W C%16", of_words},
    ConvertRow{"fp32 1W16C8B -> NCHW", cube, "float32", "C/16 H W C%16", "nchw", of_words},
    ConvertRow{"int8 elempack 1 -> 8", cube, "int8", "nchw", "C/8 H W C%8", of_bytes},
    ConvertRow{"int8 elempack 8 -> 1", cube, "int8", "C/8 H W C%8", "nchw", of_bytes},
    ConvertRow{"int8 elempack 1 -> 4", cube, "int8", "nchw", "C/4 H W C%4", of_bytes},
    ConvertRow{"int8 elempack 1 -> 16", cube, "int8", "nchw", "C/16 H W C%16", of_bytes},
    ConvertRow{"int8 4W4C8B", image, "int8", "nchw", "4W4C8B", of_bytes},
    ConvertRow{"int8 4W4C8B, 64 channels", cube, "int8", "nchw", "H W/4 C/4 W%4 C%4", of_bytes},
    ConvertRow{"int8 16W1C8B", cube, "int8", "nchw", "16W1C8B", of_bytes},
    ConvertRow{"int8 16W1C8B of KL520", cube, "int8", "nchw", "16W1C8B:chip=520", of_bytes},
    ConvertRow{"int8 1W16C8B", cube, "int8", "nchw", "1W16C8B", of_bytes},
    ConvertRow{"int8 1W16C8B -> NCHW", cube, "int8", "1W16C8B", "nchw", of_bytes},
    ConvertRow{"int8 1W16C8B_CH_COMPACT", cube, "int8", "nchw", "1W16C8B_CH_COMPACT", of_bytes},
    ConvertRow{"int8 feature, 32-byte atom", cube, "int8", "nchw", "feature:atom=32", of_bytes},
    ConvertRow{"int8 feature 32 -> NCHW", cube, "int8", "feature:atom=32", "nchw", of_bytes},
    ConvertRow{"int8 feature, 8-byte atom", cube, "int8", "nchw", "feature:atom=8", of_bytes},
    ConvertRow{"int8 feature 8 -> NCHW", cube, "int8", "feature:atom=8", "nchw", of_bytes},
    ConvertRow{"int16 4W4C8BHL", image, "int16", "nchw", "4W4C8BHL", of_changed},
    ConvertRow{"int16 4W4C8BHL -> NCHW", image, "int16", "4W4C8BHL", "nchw", of_changed},
    ConvertRow{"int16 1W16C8BHL", cube, "int16", "nchw", "1W16C8BHL", of_changed},
    ConvertRow{"int16 1W16C8BHL -> NCHW", cube, "int16", "1W16C8BHL", "nchw", of_changed},
    ConvertRow{"int16 16W1C8BHL", cube, "int16", "nchw", "16W1C8BHL", of_changed},
    ConvertRow{"int16 16W1C8BHL -> NCHW", cube, "int16", "16W1C8BHL", "nchw", of_changed},
    ConvertRow{"int16 1W16C8BHL_CH_COMPACT", cube, "int16", "nchw", "1W16C8BHL_CH_COMPACT",
               of_changed},
    ConvertRow{"int16 1W16C8BHL_CH_COMPACT -> NCHW", cube, "int16", "1W16C8BHL_CH_COMPACT", "nchw",
               of_changed},
    ConvertRow{"float -> int8 4W4C8B", image, "int8", "nchw", "4W4C8B", of_changed,
               "scale=1.2,radix=5"},
    ConvertRow{"float -> int8 1W16C8B", cube, "int8", "nchw", "1W16C8B", of_changed,
               "scale=1.2,radix=5"},
    ConvertRow{"float -> int8 16W1C8B", cube, "int8", "nchw", "16W1C8B", of_changed,
               "scale=1.2,radix=5"},
    ConvertRow{"float -> int8 NCHW", cube, "int8", "nchw", "nchw", of_changed, "scale=1.2,radix=5"},
    ConvertRow{"float -> int16 8W1C16B", cube, "int16", "nchw", "8W1C16B", of_changed, "radix=12"},
    ConvertRow{"float -> int16 4W4C8BHL", image, "int16", "nchw", "4W4C8BHL", of_changed,
               "radix=12"},
    ConvertRow{"float -> int16 1W16C8BHL", cube, "int16", "nchw", "1W16C8BHL", of_changed,
               "radix=12"},
    ConvertRow{"float -> int16 16W1C8BHL", cube, "int16", "nchw", "16W1C8BHL", of_changed,
               "radix=12"},
    ConvertRow{"int8 1W16C8B -> float", cube, "int8", "1W16C8B", "nchw", of_changed, "",
               "scale=1.2,radix=5"},
    ConvertRow{"int8 16W1C8B -> float", cube, "int8", "16W1C8B", "nchw", of_changed, "",
               "scale=1.2,radix=5"},
    ConvertRow{"int16 1W16C8BHL -> float", cube, "int16", "1W16C8BHL", "nchw", of_changed, "",
               "radix=12"},
    ConvertRow{"int16 16W1C8BHL -> float", cube, "int16", "16W1C8BHL", "nchw", of_changed, "",
               "radix=12"},
};

}  // namespace npuscope::bench
