// SPDX-License-Identifier: Apache-2.0
#include "models/csb/csb.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "models/base/check.h"
#include "models/link/clock.h"

namespace npuscope {
namespace {

/// Blocks behind retiming stages, if there are any.
constexpr std::array<std::string_view, 3> retimed{"NVDLA_CMAC_A", "NVDLA_CMAC_B", "NVDLA_CACC"};

}  // namespace

Csb::Csb(const sc_core::sc_module_name& name, const CsbConfig& config,
         std::span<const RegisterBlock> blocks, DiagnosticLog& log)
    : Unit(name), config_(config), log_(log), queue_(config.fifo_depth, config.fifo_round_trip) {
    for (const RegisterBlock& block : blocks) {
        files_.emplace_back(block).before_hardware_writes([this] { settle(); });
    }
    socket.register_b_transport(this, &Csb::b_transport);
    repeat("deliver", [this](Activity& activity) { deliver(activity); });
}

RegisterFile& Csb::file(std::string_view block_name) {
    const auto found = std::ranges::find_if(
        files_, [&](const RegisterFile& file) { return file.block().name == block_name; });
    NPU_CHECK(found != files_.end(), "no register block " + std::string(block_name));
    return *found;
}

RegisterFile* Csb::file_at(std::uint64_t address) {
    const auto found = std::ranges::find_if(files_, [&](const RegisterFile& file) {
        return address >= file.block().base &&
               address - file.block().base < register_block_size.value;
    });
    return found == files_.end() ? nullptr : &*found;
}

void Csb::deliver(Activity& activity) {
    while (triggers_.empty()) {
        activity.wait_for(trigger_posted_, WaitKind::Idle, "a write that sets something off");
    }
    activity.spend(triggers_.front() - now());
    triggers_.pop_front();
    settle();
}

void Csb::settle() {
    while (!posted_.empty() && posted_.front().effect <= now()) {
        const PostedWrite posted = posted_.front();
        posted_.pop_front();
        write(posted);
    }
}

void Csb::post(const PostedWrite& posted) {
    posted_.push_back(posted);
    if (posted.file->sets_off(posted.offset)) {
        triggers_.push_back(posted.effect);
        trigger_posted_.notify(sc_core::SC_ZERO_TIME);
    }
}

void Csb::write(const PostedWrite& posted) {
    WriteEffect effect = posted.file->write(posted.offset, posted.value);
    if (effect.finding) {
        log_.add(*effect.finding);
    }
    if (listener_ != nullptr) {
        listener_->register_written(*posted.file, effect, posted.effect);
    }
}

Cycles Csb::read_cycles(const RegisterBlock& block) const {
    const bool near = std::ranges::find(retimed, block.name) == retimed.end();
    return config_.read_cycles + (near ? Cycles(0) : config_.retiming);
}

Cycles Csb::read_way(const RegisterBlock& block) const {
    // one cycle remains, which a bus that is awake saves
    return std::min(config_.read_way,
                    Cycles(std::max<std::uint64_t>(read_cycles(block).value, 1) - 1));
}

std::uint32_t Csb::read(RegisterFile& file, std::uint32_t offset) {
    settle();
    if (listener_ != nullptr) {
        listener_->register_about_to_be_read(file);
    }
    return file.read(offset).value_or(0);
}

std::uint32_t Csb::read_after(RegisterFile& file, std::uint32_t offset, Cycles presented,
                              PollExtension* poll) {
    Cycles effect = queue_.present(presented).effect;
    const Cycles way = read_way(file.block());
    sc_core::wait(to_time(effect + way - now()));
    const std::uint32_t value = read(file, offset);
    const RegisterRow* row = find_register(file.block(), offset);
    if (poll == nullptr || poll->met(value) || row == nullptr || listener_ == nullptr) {
        return value;
    }
    const Cycles holds = listener_->register_holds_until(file, *row, effect);
    if (effect >= holds) {
        return value;
    }
    while (effect < holds && poll->reads_left > 1) {
        --poll->reads_left;
        effect = queue_.present(effect + config_.read_cycles).effect;
    }
    sc_core::wait(to_time(effect + way - now()));
    return read(file, offset);
}

void Csb::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (payload.get_data_length() != sizeof(std::uint32_t) || payload.get_address() % 4 != 0) {
        payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
        return;
    }
    RegisterFile* file = file_at(payload.get_address());
    if (file == nullptr) {
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    const auto offset = static_cast<std::uint32_t>(payload.get_address() - file->block().base);
    const Cycles presented = now() + to_cycles(delay);
    std::uint32_t value = 0;
    if (payload.is_write()) {
        const CsbAccessTimes times = queue_.present(presented);
        std::memcpy(&value, payload.get_data_ptr(), sizeof value);
        post({file, offset, value, times.effect});
        written_ = times.accepted;
        delay = to_time(times.accepted - now());
    } else {
        // after all the writes, which have reached their registers by then
        value = read_after(*file, offset, presented, payload.get_extension<PollExtension>());
        std::memcpy(payload.get_data_ptr(), &value, sizeof value);
        // source: nv_full RTL, simulated: the bus is awake after a write; master RTL, simulated: it
        // is not
        const bool wakes = config_.address_map == AddressMap::NvFull;
        const Cycles awake(wakes && written_ == presented ? 1 : 0);
        delay = to_time(read_cycles(file->block()) - read_way(file->block()) - awake);
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

}  // namespace npuscope
