// SPDX-License-Identifier: Apache-2.0
// Programs that launch jobs: words of descriptors that are wrong, and jobs in another order.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>

#include "bench/mutation/mutant.h"
#include "models/tinpu/tinpu_descriptor.h"

namespace npuscope::bench {
namespace {

struct Launch {
    std::size_t statement;
    const TinpuJob* job;
};

std::vector<Launch> launches_of(const MutationSite& site) {
    std::vector<Launch> launches;
    for (std::size_t i = 0; i < site.program.statements.size(); ++i) {
        const auto* launch = std::get_if<LaunchJob>(&site.at(i).action);
        const auto* job =
            launch == nullptr ? nullptr : dynamic_cast<const TinpuJob*>(launch->job.get());
        if (job != nullptr) {
            launches.push_back({i, job});
        }
    }
    return launches;
}

using DescriptorBytes = std::vector<std::uint8_t>;

/// A word of a descriptor, as findings name it.
std::vector<std::string> names_of(std::size_t word) {
    constexpr std::array pairs{"words 1 and 2 (input)", "words 3 and 4 (output)",
                               "words 5 and 6 (residual)", "words 7 and 8 (weights)",
                               "words 9 and 10 (constants)"};
    const std::string window = "words 11 to 21 (sizes and window)";
    if (word == 0) {
        return {"word 0"};
    }
    if (word > 16) {
        return {window};
    }
    if (word <= 10) {
        return {pairs[(word - 1) / 2]};
    }
    return {word <= 13 ? "words 11 to 13 (input shape)" : "words 14 to 16 (output shape)", window};
}

/// The descriptor as read after `change`; what is no longer a layer is refused.
Mistake with_descriptor(const MutationSite& site, const Launch& launch, std::size_t word,
                        const std::string& what, std::function<void(DescriptorBytes&)> change) {
    Mistake mistake;
    mistake.what = fmt::format("{}: {}", launch.job->name, what);
    mistake.registers = names_of(word);
    mistake.places = {site.at(launch.statement).place};
    mistake.make = [statement = launch.statement, change = std::move(change)](Program& program) {
        auto& action = std::get<LaunchJob>(program.statements[statement].action);
        const auto& job = dynamic_cast<const TinpuJob&>(*action.job);
        DescriptorBytes bytes = store_descriptor(job);
        change(bytes);
        auto read = std::make_shared<TinpuJob>();
        try {
            *read = load_descriptor(
                std::span<const std::uint8_t, descriptor_bytes>(bytes.data(), descriptor_bytes));
        } catch (const ConfigError& error) {  // as when a file is read
            throw ConfigError(program.statements[statement].place, error.sentence(),
                              error.remedy());
        }
        read->name = job.name;
        read->kind = job.kind;
        action.job = std::move(read);
    };
    return mistake;
}

std::uint32_t word_of(const TinpuJob& job, std::size_t word) {
    const DescriptorBytes bytes = store_descriptor(job);
    std::uint32_t value = 0;
    for (std::size_t i = 4; i-- > 0;) {
        value = value << 8U | bytes[4 * word + i];
    }
    return value;
}

void put_word(DescriptorBytes& bytes, std::size_t word, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i) {
        bytes[4 * word + i] = static_cast<std::uint8_t>(value >> 8U * i);
    }
}

void add_word(const MutationSite& site, const Launch& launch, std::size_t word, std::uint32_t value,
              Mistakes& mistakes) {
    const std::uint32_t was = word_of(*launch.job, word);
    if (was == value) {
        return;
    }
    mistakes.push_back(
        with_descriptor(site, launch, word, fmt::format("word {} {:#x} -> {:#x}", word, was, value),
                        [word, value](DescriptorBytes& bytes) { put_word(bytes, word, value); }));
}

Mistakes job_address(const MutationSite& site) {
    Mistakes mistakes;
    for (const Launch& launch : launches_of(site)) {
        for (const std::size_t word : {1U, 3U, 5U, 7U, 9U}) {
            const std::uint32_t was = word_of(*launch.job, word);
            const bool used = (word != 5 || launch.job->residual) &&
                              (word != 7 || launch.job->weights) &&
                              (word != 9 || launch.job->constants);
            for (const std::uint32_t by : {4U, 0U - 4U, 32U, 0x400U, 2U}) {
                if (used) {
                    add_word(site, launch, word, was + by, mistakes);
                }
            }
        }
    }
    return mistakes;
}

Mistakes job_address_high(const MutationSite& site) {
    Mistakes mistakes;
    for (const Launch& launch : launches_of(site)) {
        add_word(site, launch, 2, 1, mistakes);
        add_word(site, launch, 4, 1, mistakes);
    }
    return mistakes;
}

Mistakes job_maps_swapped(const MutationSite& site) {
    Mistakes mistakes;
    for (const Launch& launch : launches_of(site)) {
        for (const auto& [one, other] : {std::pair{1U, 3U}, std::pair{1U, 5U}}) {
            if (other == 5 && !launch.job->residual) {
                continue;
            }
            const std::uint32_t first = word_of(*launch.job, one);
            const std::uint32_t second = word_of(*launch.job, other);
            Mistake mistake = with_descriptor(
                site, launch, one, fmt::format("words {} and {} are swapped", one, other),
                [=](DescriptorBytes& bytes) {
                    put_word(bytes, one, second);
                    put_word(bytes, other, first);
                });
            mistake.registers.push_back(names_of(other).front());
            // a sum does not depend on the order in which its maps are read
            if (other != 5 || launch.job->input.shape != launch.job->output.shape) {
                mistakes.push_back(std::move(mistake));
            }
        }
    }
    return mistakes;
}

Mistakes job_shape(const MutationSite& site) {
    Mistakes mistakes;
    for (const Launch& launch : launches_of(site)) {
        for (std::size_t word = 11; word <= 16; ++word) {
            const std::uint32_t was = word_of(*launch.job, word);
            for (const std::uint32_t value : {was + 1, was - 1, was + 4, was * 2, was / 2}) {
                if (value > 0) {
                    add_word(site, launch, word, value, mistakes);
                }
            }
        }
    }
    return mistakes;
}

Mistakes job_window(const MutationSite& site) {
    Mistakes mistakes;
    for (const Launch& launch : launches_of(site)) {
        for (std::size_t word = 17; word <= 21; ++word) {
            const std::uint32_t was = word_of(*launch.job, word);
            const std::uint32_t swapped = was << 16U | was >> 16U;
            for (const std::uint32_t value :
                 {was + 1, was - 1, was + 0x10000, was - 0x10000, swapped}) {
                const bool fits = (value != was - 1 || (was & 0xffffU) > 0) &&
                                  (value != was - 0x10000 || was >> 16U > 0);
                if (fits) {
                    add_word(site, launch, word, value, mistakes);
                }
            }
        }
    }
    return mistakes;
}

Mistakes flip(const MutationSite& site, std::initializer_list<std::uint32_t> bits) {
    Mistakes mistakes;
    for (const Launch& launch : launches_of(site)) {
        for (const std::uint32_t bit : bits) {
            add_word(site, launch, 0, word_of(*launch.job, 0) ^ bit, mistakes);
        }
    }
    return mistakes;
}

Mistakes job_sign(const MutationSite& site) {
    return flip(site, {std::uint32_t{1} << 16U, std::uint32_t{1} << 17U});
}
Mistakes job_work(const MutationSite& site) { return flip(site, {1U, 2U, 4U}); }
Mistakes job_parts(const MutationSite& site) {
    return flip(site, {std::uint32_t{1} << 18U, std::uint32_t{1} << 20U, std::uint32_t{1} << 24U});
}

Mistakes job_weight_bits(const MutationSite& site) {
    Mistakes mistakes;
    for (const Launch& launch : launches_of(site)) {
        const std::uint32_t was = word_of(*launch.job, 0);
        for (const std::uint32_t bits : {8U, 4U, 2U}) {
            if (launch.job->weights) {
                add_word(site, launch, 0, (was & ~0xff00U) | bits << 8U, mistakes);
            }
        }
    }
    return mistakes;
}

/// How ties and padding count, and where results are clipped, depends only on the model.
Mistakes job_rounding(const MutationSite& site) {
    return flip(site, {std::uint32_t{1} << 21U, std::uint32_t{1} << 22U});
}
Mistakes job_clip(const MutationSite& site) {
    Mistakes mistakes;
    for (const Launch& launch : launches_of(site)) {
        const std::uint32_t was = word_of(*launch.job, 22);
        add_word(site, launch, 22, was ^ 0x10000U, mistakes);
        add_word(site, launch, 22, was ^ 1U, mistakes);
    }
    return mistakes;
}

Mistakes job_missing(const MutationSite& site) {
    Mistakes mistakes;
    for (const Launch& launch : launches_of(site)) {
        Mistake mistake = without(site, launch.statement, launch.job->name + " is not launched");
        mistake.registers = {launch.job->name};
        mistake.bytes = {{launch.job->output.base, launch.job->output.bytes()}};
        mistakes.push_back(std::move(mistake));
    }
    return mistakes;
}

Mistakes jobs_swapped(const MutationSite& site) {
    Mistakes mistakes;
    const std::vector<Launch> launches = launches_of(site);
    for (std::size_t i = 0; i + 1 < launches.size(); ++i) {
        const std::size_t one = launches[i].statement;
        const std::size_t other = launches[i + 1].statement;
        Mistake mistake;
        mistake.what = fmt::format("{} after {}", launches[i].job->name, launches[i + 1].job->name);
        mistake.registers = {launches[i].job->name, launches[i + 1].job->name};
        mistake.places = {site.at(one).place, site.at(other).place};
        mistake.make = [one, other](Program& program) {
            std::swap(program.statements[one], program.statements[other]);
        };
        mistakes.push_back(std::move(mistake));
    }
    return mistakes;
}

}  // namespace

std::span<const MistakeKind> job_kinds() {
    static constexpr std::array kinds{
        MistakeKind{"job_address", "an address of a descriptor is off", false, job_address},
        MistakeKind{"job_address_high", "the upper half of an address is wrong", false,
                    job_address_high},
        MistakeKind{"job_maps_swapped", "two addresses of a descriptor are swapped", false,
                    job_maps_swapped},
        MistakeKind{"job_shape", "a size of a job's input or output is wrong", false, job_shape},
        MistakeKind{"job_window", "window, stride, dilation or padding of a job is wrong", false,
                    job_window},
        MistakeKind{"job_sign", "a map of a job has the wrong sign", false, job_sign},
        MistakeKind{"job_work", "a job does other work", false, job_work},
        MistakeKind{"job_parts", "a residual, constants or the version are wrong", false,
                    job_parts},
        MistakeKind{"job_weight_bits", "weights of a job have another width", false,
                    job_weight_bits},
        MistakeKind{"job_missing", "a job is not launched", false, job_missing},
        MistakeKind{"jobs_swapped", "two jobs are launched in the other order", false,
                    jobs_swapped},
        MistakeKind{"job_rounding", "padding or halves of a pool count otherwise", true,
                    job_rounding},
        MistakeKind{"job_clip", "a job clips at another number", true, job_clip},
    };
    return kinds;
}

}  // namespace npuscope::bench
