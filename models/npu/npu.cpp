// SPDX-License-Identifier: Apache-2.0
#include "models/npu/npu.h"

#include <algorithm>

namespace npuscope {

Npu::Npu(const sc_core::sc_module_name& name, const NpuConfig& config, FindingLog& log)
    : sc_core::sc_module(name),
      csb("csb", config.csb, log),
      mcif("mcif", config.mcif, log),
      cbuf("cbuf", config.cbuf),
      cacc(config.cacc, config.datapath),
      cmac(cacc),
      csc("csc", config.csc, config.datapath, {cbuf.data, cbuf.weights, cacc.credits, cmac}),
      cdma("cdma", config.cdma,
           {cbuf.data, cbuf.weights,
            [this](BankSplit banks) { cbuf.split(banks.data, banks.weight); }}),
      pdp("pdp", config.pdp, config.datapath),
      sdp("sdp", config.sdp, config.datapath, {cacc.atoms, pdp.flying}),
      cdp("cdp", config.cdp, config.datapath),
      dispatcher_(config, log, {csb, glb, cdma, csc, cacc, sdp, pdp, cdp}) {
    if (config.mcif.secondary_port) {
        cvif.emplace("cvif", config.mcif, log);
    }
    connect(cdma.data_port);
    connect(cdma.weight_port);
    connect(sdp.reader.port);
    for (OperandReader& operand : sdp.operands) {
        connect(operand.port);
    }
    connect(sdp.write_port);
    connect(pdp.reader.port);
    connect(pdp.write_port);
    connect(cdp.reader.port);
    connect(cdp.write_port);
}

template <class Port>
void Npu::connect(Port& port) {
    mcif.connect(port.client(), port.primary);
    if (cvif) {
        cvif->connect(port.client(), port.secondary);
    }
}

std::vector<Npu::UnitEntry> Npu::units() {
    return {{"cdma", &cdma}, {"csc", &csc}, {"sdp", &sdp}, {"pdp", &pdp}, {"cdp", &cdp}};
}

std::vector<Mcif::Traffic> Npu::traffic() const {
    std::vector<Mcif::Traffic> merged;
    const auto add = [&](const Mcif::Traffic& entry) {
        const auto same = std::ranges::find(merged, entry.client, &Mcif::Traffic::client);
        if (same == merged.end()) {
            merged.push_back(entry);
        } else {
            same->moved += entry.moved;
        }
    };
    std::ranges::for_each(mcif.traffic(), add);
    if (cvif) {
        std::ranges::for_each(cvif->traffic(), add);
    }
    return merged;
}

}  // namespace npuscope
