// SPDX-License-Identifier: Apache-2.0
#include "sim/check/conv_surfaces.h"

#include <utility>

namespace npuscope {
namespace {

SurfaceUse weights_at(const char* surface, const char* address_register, const ByteRun& run) {
    SurfaceUse use;
    use.surface = surface;
    use.unit = "NVDLA_CDMA";
    use.address_register = address_register;
    use.kind = DataKind::Weights;
    use.constant = true;
    use.base = run.address;
    return with_runs(std::move(use), {run});
}

void add_weight_surfaces(const ConvJob& job, CheckedOperation& operation) {
    const CdmaJob& cdma = job.parts.cdma;
    if (!cdma.compression) {
        operation.uses.push_back(weights_at("weights", "D_WEIGHT_ADDR_LOW",
                                            {cdma.weight_address, job.weights.used_bytes()}));
        return;
    }
    const CompressedPlaces places = compressed_places(cdma);
    operation.compressed = CompressedUse{job.weights, places};
    operation.uses.push_back(
        weights_at("weights", "D_WEIGHT_ADDR_LOW", {places.values, places.value_bytes}));
    operation.uses.push_back(
        weights_at("WMB", "D_WMB_ADDR_LOW", {places.mask, used_mask_bytes(job.weights)}));
    operation.uses.push_back(
        weights_at("WGS", "D_WGS_ADDR_LOW", {places.sizes, Bytes(4) * job.weights.groups()}));
}

}  // namespace

void add_conv_surfaces(const ConvJob& job, const BufferStart& start, CheckedOperation& operation) {
    const CdmaJob& cdma = job.parts.cdma;
    SurfaceUse input;
    input.surface = "input";
    input.unit = "NVDLA_CDMA";
    input.address_register = "D_DAIN_ADDR_LOW_0";
    input.stride_register = "D_LINE_STRIDE";
    if (!start.data_reused) {
        if (cdma.mode == ConvMode::Image) {
            input.kind = DataKind::Pixels;
            input.base = cdma.pixels.base[0];
            operation.uses.push_back(with_runs(std::move(input), cdma.pixels.runs()));
        } else {
            operation.uses.push_back(cube_use(std::move(input), cdma.feature));
        }
    }
    if (!start.weights_reused) {
        add_weight_surfaces(job, operation);
    }
}

}  // namespace npuscope
