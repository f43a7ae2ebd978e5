// SPDX-License-Identifier: Apache-2.0
#include "models/mcif/mcif.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/base/check.h"
#include "models/base/register_rows.h"
#include "models/link/clock.h"
#include "models/mcif/burst_spacing.h"

namespace npuscope {
namespace {

// Registers of NVDLA_MCIF: arbitration between the clients of the external memory port.
// source: NVDLA register specification, nv_small, NVDLA_MCIF.rdl
constexpr RegisterText mcif_text[] = {
    {"CFG_RD_WEIGHT_0",
     0x00,
     {rw("RD_WEIGHT_BDMA", 0, 8, 1), rw("RD_WEIGHT_SDP", 8, 8, 1), rw("RD_WEIGHT_PDP", 16, 8, 1),
      rw("RD_WEIGHT_CDP", 24, 8, 1)}},
    {"CFG_RD_WEIGHT_1",
     0x04,
     {rw("RD_WEIGHT_SDP_B", 0, 8, 1), rw("RD_WEIGHT_SDP_N", 8, 8, 1),
      rw("RD_WEIGHT_SDP_E", 16, 8, 1), rw("RD_WEIGHT_CDMA_DAT", 24, 8, 1)}},
    {"CFG_RD_WEIGHT_2",
     0x08,
     {rw("RD_WEIGHT_CDMA_WT", 0, 8, 1), rw("RD_WEIGHT_RBK", 8, 8, 1),
      rw("RD_WEIGHT_RSV_1", 16, 8, 1), rw("RD_WEIGHT_RSV_0", 24, 8, 1)}},
    {"CFG_WR_WEIGHT_0",
     0x0c,
     {rw("WR_WEIGHT_BDMA", 0, 8, 1), rw("WR_WEIGHT_SDP", 8, 8, 1), rw("WR_WEIGHT_PDP", 16, 8, 1),
      rw("WR_WEIGHT_CDP", 24, 8, 1)}},
    {"CFG_WR_WEIGHT_1",
     0x10,
     {rw("WR_WEIGHT_RBK", 0, 8, 1), rw("WR_WEIGHT_RSV_2", 8, 8, 1), rw("WR_WEIGHT_RSV_1", 16, 8, 1),
      rw("WR_WEIGHT_RSV_0", 24, 8, 1)}},
    {"CFG_OUTSTANDING_CNT", 0x14, {rw("RD_OS_CNT", 0, 8, 0xff), rw("WR_OS_CNT", 8, 8, 0xff)}},
    {"STATUS", 0x18, {ro("IDLE", 8, 1, 1)}},
};
constexpr auto mcif_rows = to_rows(mcif_text);

ReadChannel::Turn turn_of(const McifConfig& config) {
    return {.beats = std::max(config.max_burst, config.turn_beats),
            .split = config.turn_beats > config.max_burst,
            .stages = config.request_stages};
}

}  // namespace

constinit const RegisterBlock mcif_block{"NVDLA_MCIF", 0x2000, mcif_rows};
constinit const RegisterBlock cvif_block{"NVDLA_CVIF", 0xf000, mcif_rows};

ReadLane::ReadLane(unsigned client, Bytes bus_width, std::uint32_t longest, Transport transport)
    : bus_width_(bus_width), longest_(longest), transport_(std::move(transport)) {
    info_.kind = AccessKind::Timed;
    info_.client = client;
    payload_.set_command(tlm::TLM_READ_COMMAND);
    payload_.set_byte_enable_ptr(nullptr);
    payload_.set_extension(&info_);
}

ReadLane::ReadLane(unsigned client, Bytes bus_width, std::uint32_t longest, Ask ask)
    : ReadLane(client, bus_width, longest, Transport()) {
    ask_ = std::move(ask);
}

void ReadLane::open(ReadStream& stream, const StreamLabel& label) {
    stream_ = &stream;
    offered_ = {};
    gathered_ = {};
    run_left_ = 0;
    info_.unit = label.unit;
    info_.surface = label.surface;
    info_.operation = label.operation;
    starts_.note(label.operation, traffic_);
}

void ReadLane::begin_run(const ByteRun& run) {
    run_ = run;
    place_ = run.address.value / bus_width_.value;
    run_left_ = divide_up(run.end().value, bus_width_.value) - place_;
    next_beat_ = Address(place_ * bus_width_.value);
    if (ask_) {
        return;
    }
    scratch_.resize(std::max<std::size_t>(scratch_.size(), run.bytes.value));
    payload_.set_address(run.address.value);
    payload_.set_data_ptr(scratch_.data());
    payload_.set_data_length(static_cast<unsigned>(run.bytes.value));
    payload_.set_streaming_width(static_cast<unsigned>(run.bytes.value));
    payload_.set_dmi_allowed(false);
    payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    info_.beat_interval = Cycles(1);
    info_.timer = nullptr;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    transport_(payload_, delay);
    const Cycles answer = std::max(to_cycles(delay), Cycles(1));
    latency_ = answer - Cycles(1);
    interval_ = std::max(info_.beat_interval, Cycles(1));
}

void ReadLane::beats_ready(std::span<Cycles> times) {
    if (times.size() == 1) {
        times.front() = info_.timer->read_beat(next_beat_, bus_width_, times.front());
    } else {
        info_.timer->read_beats(next_beat_, bus_width_, times);
    }
    next_beat_ = next_beat_ + bus_width_ * times.size();
}

void ReadLane::ask(Cycles command, std::uint64_t beats) {
    const Address end = next_beat_ + bus_width_ * beats;
    // compressed weights that straddle beats are counted without the beat that they begin in: what
    // they request beyond the run is its last beat again
    const Address last((run_.end().value - 1) / bus_width_.value * bus_width_.value);
    const Address from = std::max(std::min(next_beat_, last), run_.address);
    next_beat_ = end;
    ask_({from, std::min(end, run_.end()) - from}, command, info_);
}

std::optional<ChannelBurst> ReadLane::next_burst() {
    if (longest_ == 1) {
        return next_beats();
    }
    // a burst ends at a multiple of its length and with its run; its beats need room together
    // source: NV_NVDLA_MCIF_READ_IG_bpt.v, ftran_size, ltran_size and slot_needed
    while (true) {
        offered_.request = false;
        offered_.stages = 0;
        if (offered_.beats == 0) {
            const std::optional<ChannelBurst> more = next_beats();
            if (!more) {
                return std::nullopt;
            }
            offered_ = *more;
        }
        const std::uint64_t whole =
            std::min<std::uint64_t>(run_left_, longest_ - place_ % longest_);
        const std::uint64_t beats = std::min(offered_.beats, whole);
        ChannelBurst burst = offered_;
        burst.ready = std::max(burst.ready, gathered_.ready);
        burst.beats = gathered_.beats + beats;
        offered_.beats -= beats;
        place_ += beats;
        run_left_ -= beats;
        if (beats == whole) {
            gathered_ = {};
            return burst;
        }
        gathered_ = burst;
    }
}

std::optional<ChannelBurst> ReadLane::next_beats() {
    const std::optional<ReadBurst> burst = stream_->next_burst();
    if (!burst) {
        return std::nullopt;
    }
    if (burst->run) {
        begin_run(*burst->run);
        run_left_ = burst->run_beats > 0 ? burst->run_beats : run_left_;
        traffic_.read_bytes += burst->run->bytes;
    }
    traffic_.read_beats += burst->beats;
    return ChannelBurst{burst->ready,           burst->beats,   latency_,      interval_,
                        info_.timer != nullptr, burst->request, burst->stages, burst->gap};
}

Mcif::Client::Client(DmaPort& behind, unsigned index, Mcif& interface)
    : port(&behind),
      number(index),
      name(behind.client()),
      room_name(name + " (room)"),
      lane(interface.make_lane(index)) {}

ReadLane Mcif::make_lane(unsigned index) {
    if (!config_.awaits_answers()) {
        return {index, config_.bus_width, turn_of(config_).beats,
                [this](tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
                    transport(payload, delay);
                }};
    }
    return {index, config_.bus_width, turn_of(config_).beats,
            [this, index](const ByteRun& run, Cycles command, const AccessInfo& info) {
                BurstTransaction& read = new_transaction(tlm::TLM_READ_COMMAND, run, info);
                read.info.asked = command;
                read.number = clients_[index].asked++;
                send(read);
            }};
}

Mcif::Mcif(const sc_core::sc_module_name& name, const McifConfig& config, DiagnosticLog& log)
    : sc_core::sc_module(name),
      config_(config),
      log_(log),
      reads_(config.outstanding_reads, config.slot_return, turn_of(config),
             config.awaits_answers()) {
    memory.register_nb_transport_bw(this, &Mcif::answer);
    if (config.awaits_answers()) {
        sc_core::sc_spawn_options options;
        options.spawn_method();
        options.set_sensitivity(&next_read_);
        options.dont_initialize();
        sc_core::sc_spawn([this] { issue_reads(); }, "issue_reads", &options);
    }
    clients.register_b_transport(this, &Mcif::b_transport);
    clients.register_transport_dbg(this, &Mcif::transport_dbg);
}

unsigned Mcif::add_client(DmaPort& port) {
    const unsigned index = reads_.add_client();
    clients_.emplace_back(port, index, *this);
    return index;
}

void Mcif::connect(DmaPort& port) {
    port.primary.bind(clients);
    port.attach_primary({this, add_client(port)});
}

void Mcif::connect_secondary(DmaPort& port) {
    port.add_secondary().bind(clients);
    port.attach_secondary({this, add_client(port)});
}

bool Mcif::takes_pieces(Address address, const Pieces& pieces) const {
    const std::uint64_t width = config_.bus_width.value;
    return looks_back_ && looks_back_() && !config_.awaits_answers() && config_.turn_beats <= 1 &&
           pieces.step.value % width == 0 && address.value % width + pieces.written.value <= width;
}

std::uint64_t Mcif::beats_of(const tlm::tlm_generic_payload& payload) const {
    if (payload.get_byte_enable_ptr() != nullptr) {  // pieces of one beat each
        return divide_up(payload.get_data_length(), payload.get_byte_enable_length());
    }
    const std::uint64_t first = payload.get_address() / config_.bus_width.value;
    const std::uint64_t end =
        divide_up(payload.get_address() + payload.get_data_length(), config_.bus_width.value);
    return end - first;
}

std::uint64_t Mcif::longest_burst() const { return turn_of(config_).beats; }

std::uint64_t Mcif::gathered_beats(const tlm::tlm_generic_payload& payload, Address request) const {
    const std::uint64_t width = config_.bus_width.value;
    const std::uint64_t last = (payload.get_address() + payload.get_data_length() - 1) / width;
    const std::uint64_t begin = std::min(request.value / width, last);
    return std::min<std::uint64_t>(last % turn_of(config_).beats, last - begin) + 1;
}

std::uint64_t Mcif::new_beats(Client& client, const tlm::tlm_generic_payload& payload,
                              const AccessInfo* info) const {
    const std::uint64_t beats = beats_of(payload);
    if (info == nullptr) {
        return beats;
    }
    const std::size_t operations = client.writes.all.size();
    client.writes.note(info->operation, client.written);
    const std::uint64_t width = config_.bus_width.value;
    const std::uint64_t first = payload.get_address() / width;
    const bool goes_on = client.writes.all.size() == operations && client.request == info->request;
    const bool shared = goes_on && client.last_beat == first;
    client.request = info->request;
    client.last_beat = (payload.get_address() + payload.get_data_length() - 1) / width;
    return beats - (shared ? 1 : 0);
}

bool Mcif::address_fits(const tlm::tlm_generic_payload& payload, const AccessInfo* info) {
    if (config_.address_bits >= 64 || (payload.get_address() >> config_.address_bits) == 0) {
        return true;
    }
    Diagnostic finding{.id = "address_width",
                       .sentence = fmt::format("address {} needs more than the {} bits of the port",
                                               to_hex(payload.get_address()), config_.address_bits),
                       .address = Address(payload.get_address())};
    if (info != nullptr && info->unit != nullptr) {
        finding.unit = *info->unit;
        finding.surface = *info->surface;
        finding.operation = *info->operation;
    }
    log_.add(std::move(finding));
    return false;
}

void Mcif::open(unsigned client, ReadStream& stream, const StreamLabel& label) {
    reads_.advance(now());
    clients_[client].lane.open(stream, label);
    reads_.open(client, clients_[client].lane, stream.beats());
    if (awaits_answers()) {
        issue_reads();
    }
}

void Mcif::wait_issued(Activity& activity, unsigned client, std::uint64_t beats,
                       const sc_core::sc_event* room, WaitKind kind) {
    if (awaits_answers()) {
        issue_reads();
        while (reads_.answered(client) < beats) {
            const sc_core::sc_event& answered = clients_[client].at_beats(beats);
            room == nullptr ? activity.wait_for(answered, kind, channel_name_)
                            : activity.wait_for(answered, *room, kind, channel_name_);
            issue_reads();
        }
        return;
    }
    reads_.advance(now());
    while (reads_.issued(client) < beats) {
        if (const std::optional<Cycles> bound = reads_.issued_after(client, beats)) {
            activity.wait_until(*bound, kind, channel_name_);
        } else if (room != nullptr) {
            activity.wait_for(*room, kind, clients_[client].room_name);
        } else {
            const bool holds_more = clients_[client].lane.hold_more();
            NPU_CHECK(holds_more,
                      clients_[client].name +
                          ": a stream waits for room that only its own client can give");
        }
        reads_.advance(now());
    }
}

void Mcif::transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const auto* info = payload.get_extension<AccessInfo>();
    if (!address_fits(payload, info)) {
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    memory->b_transport(payload, delay);
    if (info != nullptr) {
        beat_interval_ = std::max(info->beat_interval, Cycles(1));
    }
}

void Mcif::read(unsigned client, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const auto* info = payload.get_extension<AccessInfo>();
    LineStream line({Address(payload.get_address()), Bytes(payload.get_data_length())},
                    now() + Cycles(1), beats_of(payload));
    open(client, line,
         info == nullptr ? StreamLabel{} : StreamLabel{info->unit, info->surface, info->operation});
    reads_.advance(now());
    while (awaits_answers() && !reads_.finished(client)) {
        sc_core::wait(clients_[client].at_beats(0));
    }
    while (!reads_.finished(client)) {
        sc_core::wait(to_time(*reads_.issued_after(client, line.beats()) - now()));
        reads_.advance(now());
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    delay += to_time(line.last_arrival() - now());
}

void Mcif::pass_front(Client& client, const tlm::tlm_generic_payload& payload,
                      const AccessInfo& info, WriteChannel::Burst& burst) const {
    const std::uint64_t width = config_.bus_width.value;
    const std::uint64_t begin = payload.get_address();
    const std::uint64_t end = begin + payload.get_data_length();
    // atoms leave one after the other if a beat holds several, otherwise beats do
    const bool atoms = info.last_beat > info.first_beat && info.beat_step > Cycles(0);
    const std::uint64_t steps =
        atoms ? (info.last_beat - info.first_beat) / info.beat_step + 1 : burst.beats;
    // whole atoms, of which a beat holds two
    const std::uint64_t step_bytes =
        std::max<std::uint64_t>(round_up((end - begin) / steps, width / 2), 1);
    const std::uint64_t request = info.request.value;
    const bool goes_on = client.request == info.request && begin > request;
    const std::uint64_t turn = turn_of(config_).beats;
    Cycles first;
    Cycles last;
    for (std::uint64_t beat = begin / width; beat * width < end; ++beat) {
        // what arrives together counts from the request's start
        const std::uint64_t in_beat = std::min(end, (beat + 1) * width) - request;
        const std::uint64_t needed = std::min(round_up(in_beat, width), end - request);
        const std::uint64_t step =
            atoms ? divide_up(needed + request - begin, step_bytes) - 1 : beat - begin / width;
        const bool opens = beat == begin / width;
        const bool same = opens && goes_on && client.last_beat == beat;
        const std::size_t number = beat - begin / width;
        const Cycles even = info.first_beat + info.beat_step * step;
        last = client.front.pass(info.beats.empty() ? even : info.beats[number],
                                 {.begins_request = opens && !goes_on,
                                  .begins_burst = !same && beat % turn == 0,
                                  .same_beat = same,
                                  .same_packet = in_beat % width == 0 && request % width != 0,
                                  .shifted = request % width != 0 && (!opens || goes_on) &&
                                             (beat + turn) * width <= end});
        first = opens ? last : first;
        if (!info.beats.empty()) {
            info.beats[number] = client.front.left();
        }
    }
    burst.step = burst.beats > 1 ? Cycles((last - first) / Cycles(burst.beats - 1)) : Cycles(0);
    burst.first = last - burst.step * (burst.beats - 1);
}

Cycles Mcif::wait_taken(const Client& client, std::uint64_t beats) {
    while (true) {
        writes_.advance(now());
        if (const std::optional<Cycles> time = writes_.taken(client.number, beats)) {
            return *time;
        }
        sc_core::wait(to_time(writes_.taken_after(client.number, beats) - now()));
    }
}

void Mcif::write(Client& client, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const auto* info = payload.get_extension<AccessInfo>();
    WriteChannel::Burst burst{now(), Cycles(0), beats_of(payload), beat_interval_};
    if (info != nullptr) {
        burst.first = info->first_beat;
        burst.step = info->beat_step;
        if (info->last_beat > burst.first + burst.step * (burst.beats - 1)) {
            // a beat holds several atoms, and leaves with the last of them
            const Cycles all = info->last_beat - burst.first;
            burst.step = burst.beats > 1 ? Cycles(all / Cycles(burst.beats - 1)) : Cycles(0);
            burst.first = info->last_beat - burst.step * (burst.beats - 1);
        }
        if (config_.turn_beats > 1) {
            pass_front(client, payload, *info, burst);
        }
        const bool pieces = payload.get_byte_enable_ptr() != nullptr;
        burst.gathered = pieces ? 1 : gathered_beats(payload, info->request);
        if (config_.request_stages && !pieces) {
            follow_others(burst, turn_of(config_).beats, client.last_taken);
        }
    }
    client.written.write_beats += new_beats(client, payload, info);
    for_each_enabled(payload, [&](Address, const std::uint8_t*, Bytes bytes) {
        client.written.write_bytes += bytes;
    });
    writes_.open(client.number, burst);
    if (config_.awaits_answers()) {
        send_bursts(client, payload, burst);
        if (leaves_late()) {
            const Cycles answer = client.write_answers.time_of(client.write_answers.sent());
            delay += to_time(answer - std::min(answer, now()));
        }
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
        return;
    }
    client.last_taken = wait_taken(client, burst.beats);
    reads_.advance(now());
    transport(payload, delay);
}

void Mcif::b_transport(int client, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    auto* info = payload.get_extension<AccessInfo>();
    if (info != nullptr) {
        info->client = static_cast<unsigned>(client);
    }
    if (payload.is_write()) {
        write(clients_[static_cast<std::size_t>(client)], payload, delay);
    } else {
        read(static_cast<unsigned>(client), payload, delay);
    }
}

unsigned Mcif::transport_dbg(int client, tlm::tlm_generic_payload& payload) {
    auto* info = payload.get_extension<AccessInfo>();
    if (info != nullptr) {
        info->client = static_cast<unsigned>(client);
    }
    return address_fits(payload, info) ? memory->transport_dbg(payload) : 0;
}

}  // namespace npuscope
