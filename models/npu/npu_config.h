// SPDX-License-Identifier: Apache-2.0
// One NPU: the widths that its units share and the knobs of each unit. A preset is a YAML file of
// this; no code knows a preset's name. Defaults are nv_small's.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/base/describe.h"
#include "models/base/quantity.h"
#include "models/bdma/bdma_job.h"
#include "models/cdp/cdp_job.h"
#include "models/conv/conv_config.h"
#include "models/csb/csb_timing.h"
#include "models/layout/datapath.h"
#include "models/mcif/mcif_timing.h"
#include "models/pdp/pdp_job.h"
#include "models/rubik/rubik_job.h"
#include "models/sdp/sdp_config.h"

namespace npuscope {

/// The images that a driver passes to the NPU and gets from it, where they are not in the machine's
/// own feature format: the host converts them when it loads them and after the run. Layouts are
/// named as in `npuscope list layouts`; the machine itself always works on feature cubes.
struct SurfaceConfig {
    std::vector<std::string> inputs;   ///< empty: any layout
    std::vector<std::string> outputs;  ///< empty: any layout
    Bytes entry{1};

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("inputs", self.inputs,
                    "layouts of input images that this NPU accepts, default first; empty: any");
        visit.field("outputs", self.outputs,
                    "layouts of output images that this NPU produces, default first; empty: any");
        visit.field("entry", self.entry, "size granularity of input and output images, in bytes");
    }
};

/// The RTL that a configuration is built from; its name says how NVIDIA published it.
/// source: nvdla/hw, branches nv_small, master and nvdlav1
enum class RtlGeneration { NvSmall, Master, V1 };

template <>
struct EnumNames<RtlGeneration> {
    static constexpr std::array names{
        std::pair{RtlGeneration::NvSmall, std::string_view("nv_small")},
        std::pair{RtlGeneration::Master, std::string_view("master")},
        std::pair{RtlGeneration::V1, std::string_view("v1")}};
};

struct NpuConfig {
    std::string name = "unnamed";
    RtlGeneration rtl = RtlGeneration::NvSmall;
    Hertz clock{1'000'000'000};
    std::string memory = "dram_50";
    SurfaceConfig surfaces;
    DatapathConfig datapath;
    CsbConfig csb;
    McifConfig mcif;
    CdmaConfig cdma;
    CbufConfig cbuf;
    CscConfig csc;
    CaccConfig cacc;
    SdpConfig sdp;
    PdpConfig pdp;
    CdpConfig cdp;
    BdmaConfig bdma;
    RubikConfig rubik;

    /// Sets what follows from widths and generation.
    void derive();

    template <class Visitor, class Self>
    static void describe(Visitor& visit, Self& self) {
        visit.field("name", self.name, "name of the preset, as results show it");
        visit.field("rtl", self.rtl,
                    "generation of the RTL: branch of NVIDIA's public repository (v1: nvdlav1); "
                    "fields that are not given follow from it and from the widths");
        visit.field("clock", self.clock,
                    "clock of core and bus; used by reports and by DRAMs with their own clock");
        visit.field("memory", self.memory,
                    "preset of the NPU's memory, where the command line names none");
        visit.field("surfaces", self.surfaces,
                    "images as drivers pass them, in layouts other than feature cubes");
        visit.field("datapath", self.datapath, "widths that several units share");
        visit.field("csb", self.csb, "configuration bus");
        visit.field("mcif", self.mcif, "memory interface");
        visit.field("cdma", self.cdma, "convolution DMA");
        visit.field("cbuf", self.cbuf, "convolution buffer");
        visit.field("csc", self.csc, "convolution sequence controller");
        visit.field("cacc", self.cacc, "convolution accumulator");
        visit.field("sdp", self.sdp, "single-point data processor");
        visit.field("pdp", self.pdp, "planar data processor (pooling)");
        visit.field("cdp", self.cdp, "cross-channel data processor (LRN)");
        visit.field("bdma", self.bdma, "bridge DMA between the memories of the two ports");
        visit.field("rubik", self.rubik, "reshape engine");
    }
};

}  // namespace npuscope
