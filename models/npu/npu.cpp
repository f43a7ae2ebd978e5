// SPDX-License-Identifier: Apache-2.0
#include "models/npu/npu.h"

#include <algorithm>

#include "models/mcif/mcif.h"
#include "models/npu/register_blocks.h"

namespace npuscope {

namespace {

/// The port for SRAM, whose bursts are as long as a turn.
/// source: nv_full.spec, SECONDARY_MEMIF_MAX_BURST_LENGTH_4
McifConfig secondary_port(McifConfig config) {
    config.max_burst = std::max(config.max_burst, config.turn_beats);
    return config;
}

}  // namespace

Npu::Npu(const sc_core::sc_module_name& name, const NpuConfig& config, DiagnosticLog& log)
    : sc_core::sc_module(name),
      csb("csb", config.csb, nvdla_register_blocks(config.csb.address_map, config.csb.wide_fields),
          log),
      mcif("mcif", config.mcif, log),
      cbuf("cbuf", config.cbuf),
      cacc(config.cacc, config.datapath, values),
      cmac(cacc),
      csc("csc", config.csc, config.datapath,
          {cbuf.data, cbuf.weights, cbuf.masks, cacc.credits, cmac, values,
           static_cast<std::uint32_t>(config.cacc.depth(config.datapath.atomic_k))}),
      cdma("cdma", config.cdma, {config.mcif.bus_width, config.datapath},
           {cbuf.data, cbuf.weights, cbuf.masks,
            [this](BankSplit banks) { cbuf.split(banks.data, banks.weight); }, log, values}),
      pdp("pdp", config.pdp, config.datapath, config.mcif.bus_width, values),
      sdp("sdp", config.sdp, config.datapath,
          {cacc.atoms, pdp.flying, config.mcif.bus_width, values, config.pdp.throughput}),
      cdp("cdp", config.cdp, config.datapath,
          // a burst's command follows the previous burst at once, on branch master
          // source: NV_NVDLA_MCIF_WRITE_IG_arb.v, src_cmd0_rdy
          {config.mcif.bus_width, std::max(config.mcif.max_burst, 1U),
           Cycles(config.mcif.request_stages ? 2 : 3)}),
      map_(config.csb.address_map),
      log_(log),
      dispatcher_(config, log, {csb, glb, cdma, csc, cacc, sdp, values}) {
    if (config.mcif.secondary_port) {
        cvif.emplace("cvif", secondary_port(config.mcif), log);
    }
    dispatcher_.add(pdp);
    dispatcher_.add(cdp);
    with_optional_units([&](const char* unit_name, auto& unit, auto unit_config) {
        if ((config.*unit_config).present) {
            unit.emplace(unit_name, config.*unit_config, config.datapath, config.mcif.bus_width);
            dispatcher_.add(*unit);
        }
    });
    connect_clients();
}

void Npu::connect_clients() {
    // readers in the order of the arbiter's turns, source: nv_small RTL,
    // NV_NVDLA_NOCIF_DRAM_READ_ig
    connect(cdma.data_port);
    connect(cdma.weight_port);
    connect(cdp.read_port);
    connect(pdp.read_port);
    connect(sdp.source.port);
    for (OperandReader& operand : sdp.operands) {
        connect(operand.port);
    }
    connect(sdp.write_port);
    connect(pdp.write_port);
    connect(cdp.write_port);
    with_optional_units([this](const char* /*name*/, auto& unit, auto /*config*/) {
        if (unit) {
            connect(unit->read_port);
            connect(unit->write_port);
        }
    });
}

void Npu::connect(DmaPort& port) {
    mcif.connect(port);
    if (mcif.carries_values()) {
        port.take_values_from_reads();
    }
    if (cvif) {
        cvif->connect_secondary(port);
    }
}

void Npu::bind_memory(Memory& memory) {
    const auto bind = [&memory](Mcif& port) {
        port.memory.bind(memory.socket);
        port.leave_late_where([&memory] { return memory.looks_back(); });
    };
    bind(mcif);
    if (cvif) {
        bind(*cvif);
    }
}

std::vector<Npu::UnitEntry> Npu::units() {
    std::vector<UnitEntry> all{{"csb", &csb}, {"cdma", &cdma}, {"csc", &csc},
                               {"sdp", &sdp}, {"pdp", &pdp},   {"cdp", &cdp}};
    with_optional_units([&all](const char* name, auto& unit, auto /*config*/) {
        if (unit) {
            all.push_back({name, &*unit});
        }
    });
    return all;
}

std::vector<Npu::EnabledGroup> Npu::enabled_groups() {
    std::vector<EnabledGroup> all;
    for (const RegisterFile& file : csb.files()) {
        for (const unsigned group : {0U, 1U}) {
            if (file.op_enabled(group)) {
                all.push_back({file.block().name, group});
            }
        }
    }
    for (unsigned group = 0; bdma && group < 2; ++group) {
        if (dispatcher_.copies(group)) {
            all.push_back({"NVDLA_BDMA", group});
        }
    }
    return all;
}

void Npu::leave_out_repeats(const Surroundings& surroundings) {
    if (mcif.asks_for_bursts()) {
        return;
    }
    SteadyGroups::Rooms rooms{csc, cdma, cacc, sdp, glb, {&mcif}, {}};
    if (cvif) {
        rooms.ports.push_back(&*cvif);
    }
    for (const UnitEntry& entry : units()) {
        for (Activity& activity : entry.unit->activities()) {
            rooms.activities.push_back(&activity);
        }
    }
    steady_.emplace(rooms, surroundings);
    RepeatedOperations::Rooms all{*steady_, std::move(rooms), csb, dispatcher_, log_, {&pdp, &cdp}};
    with_optional_units([&all](const char* /*name*/, auto& unit, auto /*config*/) {
        if (unit) {
            all.others.push_back(&*unit);
        }
    });
    repeated_.emplace(std::move(all), surroundings);
    record_to(&*steady_);
    dispatcher_.complete_records_by([this](OperationRecord& record) { steady_->count(record); });
}

void Npu::record_to(Recorder* recorder) {
    for (const UnitEntry& entry : units()) {
        entry.unit->record_to(recorder);
    }
    cbuf.data.record_to(recorder);
    cbuf.weights.record_to(recorder);
}

std::vector<Mcif::Traffic> Npu::traffic() const {
    std::vector<Mcif::Traffic> merged;
    merge_traffic(merged, mcif.traffic());
    if (cvif) {
        merge_traffic(merged, cvif->traffic());
    }
    return merged;
}

std::vector<Npu::PortTraffic> Npu::ports() const {
    std::vector<PortTraffic> all{{"primary", mcif.total(), mcif.width()}};
    if (cvif) {
        all.push_back({"secondary", cvif->total(), cvif->width()});
    }
    return all;
}

std::vector<ActionCount> Npu::actions() const {
    const Csc::Actions& array = csc.actions();
    return {{"mac", "int8", array.products[static_cast<std::size_t>(Precision::Int8)]},
            {"mac", "int16", array.products[static_cast<std::size_t>(Precision::Int16)]},
            {"mac", "fp16", array.products[static_cast<std::size_t>(Precision::Fp16)]},
            {"cbuf", "read_bytes", array.buffer_read.value},
            {"cbuf", "write_bytes", array.buffer_written.value},
            {"cacc", "update", array.partial_sums}};
}

std::vector<Npu::OperationTraffic> Npu::operation_traffic() const {
    std::vector<OperationTraffic> all;
    add_operation_traffic(all, mcif, "primary");
    if (cvif) {
        add_operation_traffic(all, *cvif, "secondary");
    }
    return all;
}

}  // namespace npuscope
