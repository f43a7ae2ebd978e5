// SPDX-License-Identifier: Apache-2.0
#include "sim/check/launch_board.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/check.h"
#include "models/csb/register_blocks.h"
#include "sim/check/mover_decoder.h"

namespace npuscope {
namespace {

constexpr std::array unit_names{"conv", "sdp", "pdp", "cdp"};

std::deque<RegisterFile> register_files(AddressMap map) {
    std::deque<RegisterFile> files;
    for (const RegisterBlock& block : nvdla_register_blocks(map)) {
        files.emplace_back(block);
    }
    return files;
}

std::string remedy_of(const std::string& kind) {
    if (kind == "register_in_use") {
        return "wait for the operation's interrupt first, or program the other group (S_POINTER)";
    }
    if (kind == "lut_not_writable" || kind == "lut_past_end" || kind == "register_read_only") {
        return "leave the write out";
    }
    return kind == "register_unknown" ? "`npuscope list registers` prints the map" : "";
}

bool starts_move(const WriteRegister& write) {
    const bool trigger = write.name.starts_with("NVDLA_BDMA.CFG_OP") ||
                         write.name.starts_with("NVDLA_RBK.D_OP_ENABLE");
    return trigger && (write.value & 1U) != 0;
}

/// Silicon drops writes to a table that is selected for reading, and public programs do it.
Severity severity_of(const Diagnostic& finding) {
    return finding.id == "lut_not_writable" ? Severity::Note : finding.severity;
}

}  // namespace

LaunchBoard::LaunchBoard(const NpuConfig& npu)
    : npu_(npu),
      decoder_(npu),
      history_(npu.cbuf.bank_width),
      files_(register_files(npu.csb.address_map)),
      conv_({&file("NVDLA_CDMA"), &file("NVDLA_CSC"), &file("NVDLA_CMAC_A"), &file("NVDLA_CMAC_B"),
             &file("NVDLA_CACC")}),
      sdp_({&file("NVDLA_SDP")}),
      sdp_rdma_({&file("NVDLA_SDP_RDMA")}),
      pdp_({&file("NVDLA_PDP")}),
      pdp_rdma_({&file("NVDLA_PDP_RDMA")}),
      cdp_({&file("NVDLA_CDP"), &file("NVDLA_CDP_RDMA")}) {}

RegisterFile& LaunchBoard::file(std::string_view name) {
    const auto found = std::ranges::find_if(
        files_, [&](const RegisterFile& file) { return file.block().name == name; });
    NPU_CHECK(found != files_.end(), "no register block " + std::string(name));
    return *found;
}

RegisterFile* LaunchBoard::file_at(std::uint32_t address) {
    const auto found = std::ranges::find_if(files_, [&](const RegisterFile& file) {
        return address >= file.block().base &&
               address - file.block().base < register_block_size.value;
    });
    return found == files_.end() ? nullptr : &*found;
}

BlockGroup& LaunchBoard::main_blocks(OperationUnit unit) {
    switch (unit) {
        case OperationUnit::Conv:
            return conv_;
        case OperationUnit::Sdp:
            return sdp_;
        case OperationUnit::Pdp:
            return pdp_;
        case OperationUnit::Cdp:
            break;
    }
    return cdp_;
}

BlockGroup* LaunchBoard::rdma_blocks(OperationUnit unit) {
    return unit == OperationUnit::Sdp   ? &sdp_rdma_
           : unit == OperationUnit::Pdp ? &pdp_rdma_
                                        : nullptr;
}

void LaunchBoard::write(const WriteRegister& write, const Place& place, FoundList& found) {
    RegisterFile* target = file_at(write.address);
    if (target == nullptr) {
        Found one;
        one.finding.id = "register_unknown";
        one.finding.sentence = fmt::format("no register at {}", to_hex(write.address));
        one.finding.place = place;
        one.remedy = remedy_of(one.finding.id);
        found.add(std::move(one));
        return;
    }
    WriteEffect effect = target->write(write.address - target->block().base, write.value);
    if (effect.finding) {
        Found one{std::move(*effect.finding), write.name, {}};
        one.finding.place = place;
        one.finding.unit = target->block().name;
        one.finding.severity = severity_of(one.finding);
        one.remedy = remedy_of(one.finding.id);
        found.add(std::move(one));
    }
    if (starts_move(write)) {
        add_move(*target, write, place, found);
    } else if (effect.kind == WriteEffect::Kind::OpEnabled) {
        launch_ready(place, found);
    }
}

void LaunchBoard::add_move(const RegisterFile& mover, const WriteRegister& write,
                           const Place& place, FoundList& found) {
    std::vector<Found> complaints;
    CheckedOperation move;
    const bool copies = write.name.starts_with("NVDLA_BDMA");
    move.name = fmt::format("{} {}", copies ? "bdma" : "rubik", movers_++);
    move.place = place;
    const RegisterValues& values = mover.values(copies ? 0 : mover.producer());
    move.uses = copies ? bdma_uses(values, npu_, complaints) : rubik_uses(values, npu_, complaints);
    for (Found& one : complaints) {
        one.finding.operation = move.name;
        one.finding.place = place;
        found.add(std::move(one));
    }
    moves_.push_back(std::move(move));
}

void LaunchBoard::launch_ready(const Place& place, FoundList& found) {
    for (bool again = true; again;) {
        again = false;
        std::vector<Found> complaints;
        const auto both = [](const BlockGroup& main, const BlockGroup& rdma) {
            std::vector<RegisterValues> values = main.values();
            values.push_back(rdma.values().front());
            return values;
        };
        if (pdp_.open()) {
            if (auto pdp = decoder_.pdp(both(pdp_, pdp_rdma_), pdp_rdma_.open(), complaints)) {
                again = launch(std::move(*pdp), complaints, place, found);
                continue;
            }
        }
        if (sdp_.open()) {
            if (auto sdp = decoder_.sdp(both(sdp_, sdp_rdma_), sdp_rdma_.open(), complaints)) {
                again = launch(std::move(*sdp), complaints, place, found);
                continue;
            }
        }
        if (cdp_.open()) {
            CheckedOperation cdp = decoder_.cdp(cdp_.values(), complaints);
            again = launch(std::move(cdp), complaints, place, found);
        } else if (conv_.open()) {
            CheckedOperation conv = decoder_.conv(conv_.values(), history_, complaints);
            again = launch(std::move(conv), complaints, place, found);
        }
    }
}

bool LaunchBoard::launch(CheckedOperation operation, const std::vector<Found>& complaints,
                         const Place& place, FoundList& found) {
    const std::size_t index = operations_.size();
    BlockGroup& blocks = main_blocks(operation.unit);
    operation.name =
        fmt::format("{} {}", unit_names[static_cast<std::size_t>(operation.unit)], index);
    operation.group = blocks.group();
    operation.place = place;
    blocks.pass();
    if (BlockGroup* rdma = rdma_blocks(operation.unit); rdma != nullptr && operation.uses_rdma) {
        rdma->pass();
    }
    for (Found one : complaints) {
        one.finding.operation = operation.name;
        one.finding.place = place;
        found.add(std::move(one));
    }
    operations_.push_back(std::move(operation));
    pair(index, found);
    return true;
}

/// Results fly from the accumulators to the SDP and from the SDP to the PDP in order.
void LaunchBoard::pair(std::size_t index, FoundList& found) {
    CheckedOperation& newest = operations_[index];
    for (std::size_t i = 0; i < index; ++i) {
        CheckedOperation& other = operations_[i];
        const auto feeds = [](const CheckedOperation& from, const CheckedOperation& to) {
            const bool neighbours =
                (from.unit == OperationUnit::Conv && to.unit == OperationUnit::Sdp) ||
                (from.unit == OperationUnit::Sdp && to.unit == OperationUnit::Pdp);
            return neighbours && from.gives && to.takes && !from.consumer && !to.producer;
        };
        if (feeds(other, newest)) {
            other.consumer = index;
            newest.producer = i;
            check_flight(i, index, found);
        } else if (feeds(newest, other)) {
            newest.consumer = i;
            other.producer = index;
            check_flight(index, i, found);
        }
    }
}

void LaunchBoard::check_flight(std::size_t producer, std::size_t consumer, FoundList& found) const {
    const CheckedOperation& from = operations_[producer];
    const CheckedOperation& to = operations_[consumer];
    const char* const unit = to.unit == OperationUnit::Sdp ? "NVDLA_SDP" : "NVDLA_PDP";
    for (Diagnostic& finding :
         flight_contradictions({from.name, "", *from.gives}, {to.name, unit, *to.takes})) {
        finding.place = to.place;
        std::string register_name = flight_register(finding);
        const char* const what = finding.id == "shape_mismatch" ? "shape" : "precision";
        found.add({std::move(finding), std::move(register_name),
                   fmt::format("program one {} in both units", what)});
    }
}

std::optional<std::size_t> LaunchBoard::find(
    Interrupt interrupt, const std::function<bool(const CheckedOperation&)>& good) const {
    for (std::size_t i = 0; i < operations_.size(); ++i) {
        const CheckedOperation& operation = operations_[i];
        if (interrupt_of(operation.unit) == interrupt.source &&
            operation.group == interrupt.group && good(operation)) {
            return i;
        }
    }
    return std::nullopt;
}

void LaunchBoard::finish(std::size_t index) {
    if (operations_[index].finished) {
        return;
    }
    const OperationUnit unit = operations_[index].unit;
    for (std::size_t i = 0; i <= index; ++i) {
        CheckedOperation& operation = operations_[i];
        if (operation.unit != unit || operation.finished) {
            continue;
        }
        operation.finished = true;
        main_blocks(unit).finish();
        if (operation.uses_rdma && rdma_blocks(unit) != nullptr) {
            rdma_blocks(unit)->finish();
        }
        if (operation.producer) {
            finish(*operation.producer);
        }
    }
}

void LaunchBoard::finish_all() {
    for (std::size_t i = 0; i < operations_.size(); ++i) {
        finish(i);
    }
}

std::size_t LaunchBoard::end_of_chain(std::size_t index) const {
    while (operations_[index].consumer) {
        index = *operations_[index].consumer;
    }
    return index;
}

std::uint32_t LaunchBoard::interrupt_mask() const {
    for (const RegisterFile& file : files_) {
        if (file.block().name == "NVDLA_GLB") {
            return file.values(0).raw("S_INTR_MASK");
        }
    }
    return 0;
}

}  // namespace npuscope
