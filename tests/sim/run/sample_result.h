// SPDX-License-Identifier: Apache-2.0
// A result with one of everything.
#pragma once

#include "sim/compile/nvdla/nvdla_family.h"
#include "sim/run/result.h"

namespace npuscope::sample {

inline Result result() {
    Result result;
    result.program = "dc_small";
    result.cycles = Cycles(54914);
    result.simulated_cycles = Cycles(62555);
    result.wall_seconds = 0.5;
    result.checks = {{CheckKind::Crc32,
                      "",
                      Address(0x90000000),
                      Bytes(5376),
                      "0x8c467827",
                      "0x8c467827",
                      true,
                      {"dc/p.cfg", 210, 1}}};
    result.traffic = {{"cdma_dat", {Bytes(8000), Bytes(0), 1000, 0}},
                      {"sdp", {Bytes(0), Bytes(5376), 0, 672}}};
    OperationRecord operation;
    operation.unit = "conv";
    operation.name = "conv 0";
    operation.start = Cycles(100);
    operation.end = Cycles(54000);
    operation.macs = 1'724'800;
    operation.mac_cells = 64;
    operation.causes[Cause::Mac] = Cycles(40000);
    operation.causes[Cause::SdpDrain] = Cycles(13900);
    operation.own = operation.causes;
    operation.traffic = {{"cdma_dat", {Bytes(8000), Bytes(0), 1000, 0}, "primary"},
                         {"sdp", {Bytes(0), Bytes(5376), 0, 672}, "primary"}};
    result.operations = {operation};
    result.ports = {{"primary", {Bytes(8000), Bytes(5376), 1000, 672}, Bytes(8)}};
    result.units = {{"cdma", {Cycles(100), Cycles(20), Cycles(3)}}};
    result.findings = {{.severity = Severity::Warning,
                        .id = "uninitialised_read",
                        .sentence = "uninitialised bytes were read",
                        .address = Address(0x80000010),
                        .unit = "cdma_dat",
                        .surface = "input",
                        .operation = "conv 0",
                        .place = {"dc/p.cfg", 7, 1}}};
    result.config = nvdla_system();
    nvdla_npu(result.config).name = "nv_small";
    return result;
}

}  // namespace npuscope::sample
