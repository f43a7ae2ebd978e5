// SPDX-License-Identifier: Apache-2.0
#include "sim/sweep/pareto.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace npuscope {
namespace {

constexpr double near_enough = 1e-6;    ///< distance at which designs count as the same
constexpr std::size_t first_share = 4;  ///< of the budget, before anything is known
constexpr double least_gain = 1e-3;     ///< a tenth of a percent is not worth a run
constexpr std::size_t most_candidates = 500;
constexpr double caution = 1.0;  ///< overestimate of a cost assumed possible, in spreads

/// Logarithm of a ratio of two costs; 0 if undefined.
double log_ratio(double cost, double estimate) {
    const bool comparable = cost * estimate > 0;
    return comparable ? std::log(cost / estimate) : 0;
}

/// Largest improvement of `costs` over `other` in any cost, as a logarithm.
double gain_over(const Costs& costs, const Costs& other) {
    double gain = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < costs.size(); ++i) {
        const bool negative = costs[i] < 0 && other[i] < 0;
        const double ratio = log_ratio(other[i], costs[i]);
        gain = std::max(gain, negative ? -ratio : ratio);
        if (costs[i] * other[i] <= 0 && costs[i] < other[i]) {
            gain = std::max(gain, 1.0);  // across zero
        }
    }
    return gain;
}

}  // namespace

bool dominates(const Costs& one, const Costs& other) {
    bool better = false;
    for (std::size_t i = 0; i < one.size(); ++i) {
        if (one[i] > other[i]) {
            return false;
        }
        better = better || one[i] < other[i];
    }
    return better;
}

std::vector<std::size_t> pareto_front(const std::vector<Costs>& points) {
    std::vector<std::size_t> order(points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order,
                             [&](std::size_t a, std::size_t b) { return points[a] < points[b]; });
    std::vector<std::size_t> front;
    for (const std::size_t one : order) {
        const bool beaten = std::ranges::any_of(front, [&](std::size_t other) {
            return dominates(points[other], points[one]) || points[other] == points[one];
        });
        if (!beaten) {
            front.push_back(one);
        }
    }
    return front;
}

double hypervolume(std::vector<Costs> points, const Costs& best, const Costs& worst) {
    std::erase_if(points, [&](const Costs& point) {
        for (std::size_t i = 0; i < worst.size(); ++i) {
            if (point[i] >= worst[i]) {
                return true;
            }
        }
        return false;
    });
    if (points.empty()) {
        return 0;
    }
    const double width = worst.front() - best.front();
    std::ranges::sort(points);
    if (worst.size() == 1) {
        return (worst.front() - std::max(points.front().front(), best.front())) / width;
    }
    // Slices between two costs of the first kind: in each, only points that reach it count.
    double volume = 0;
    std::vector<Costs> reached;
    for (std::size_t i = 0; i < points.size(); ++i) {
        reached.emplace_back(points[i].begin() + 1, points[i].end());
        const double from = std::max(points[i].front(), best.front());
        const double to =
            i + 1 < points.size() ? std::max(points[i + 1].front(), best.front()) : worst.front();
        if (to > from) {
            volume += (to - from) / width *
                      hypervolume(reached, Costs(best.begin() + 1, best.end()),
                                  Costs(worst.begin() + 1, worst.end()));
        }
    }
    return volume;
}

FrontSearch::FrontSearch(std::vector<std::vector<double>> places,
                         std::vector<std::optional<Costs>> estimates, std::size_t budget)
    : places_(std::move(places)),
      estimates_(std::move(estimates)),
      budget_(budget),
      chosen_(places_.size()) {
    const auto known =
        std::ranges::find_if(estimates_, [](const auto& one) { return one.has_value(); });
    objectives_ = known == estimates_.end() ? 0 : (*known)->size();
}

double FrontSearch::distance(std::size_t one, std::size_t other) const {
    double sum = near_enough;
    for (std::size_t i = 0; i < places_[one].size(); ++i) {
        const double far = places_[one][i] - places_[other][i];
        sum += far * far;
    }
    return sum;
}

Costs FrontSearch::expected(std::size_t design) const {
    Costs costs = estimates_[design] ? *estimates_[design] : Costs(objectives_, 1);
    Costs error(objectives_, 0);
    double weights = 0;
    for (const Known& known : known_) {
        const double weight = 1 / std::pow(distance(design, known.design), 2);
        weights += weight;
        for (std::size_t i = 0; i < objectives_; ++i) {
            error[i] += weight * known.error[i];
        }
    }
    for (std::size_t i = 0; i < objectives_ && weights > 0; ++i) {
        costs[i] *= std::exp(error[i] / weights);
    }
    return costs;
}

double FrontSearch::spread() const {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < objectives_; ++i) {
        double mean = 0;
        for (const Known& known : known_) {
            mean += known.error[i] / static_cast<double>(known_.size());
        }
        for (const Known& known : known_) {
            sum += (known.error[i] - mean) * (known.error[i] - mean);
            ++count;
        }
    }
    return count == 0 ? 0 : std::sqrt(sum / static_cast<double>(count));
}

std::vector<std::size_t> FrontSearch::first_designs(std::size_t count) const {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < places_.size(); ++i) {
        if (!chosen_[i]) {
            open.push_back(i);
        }
    }
    std::vector<std::size_t> first;
    const bool blind = objectives_ == 0;
    if (!blind) {
        // The best of the estimates, evenly along the front.
        std::vector<Costs> points;
        std::vector<std::size_t> estimated;
        for (const std::size_t design : open) {
            if (estimates_[design]) {
                points.push_back(*estimates_[design]);
                estimated.push_back(design);
            }
        }
        const std::vector<std::size_t> front = pareto_front(points);
        const std::size_t taken = std::min(count, front.size());
        for (std::size_t i = 0; i < taken; ++i) {
            const std::size_t at = taken == 1 ? 0 : i * (front.size() - 1) / (taken - 1);
            first.push_back(estimated[front[at]]);
        }
        return first;
    }
    for (std::size_t i = 0; i < std::min(count, open.size()); ++i) {
        first.push_back(open[i * open.size() / std::min(count, open.size())]);
    }
    return first;
}

std::vector<std::size_t> FrontSearch::most_promising(std::vector<Costs> front,
                                                     std::size_t count) const {
    struct Candidate {
        std::size_t design = 0;
        Costs costs;
        double gain = 0;
    };
    const double doubt = caution * spread();
    Costs low = front.front();
    Costs high = front.front();
    const auto widen = [&](const Costs& costs) {
        for (std::size_t i = 0; i < costs.size(); ++i) {
            low[i] = std::min(low[i], costs[i]);
            high[i] = std::max(high[i], costs[i]);
        }
    };
    std::ranges::for_each(known_, widen, &Known::costs);
    std::vector<Candidate> candidates;
    for (std::size_t design = 0; design < places_.size(); ++design) {
        if (!chosen_[design]) {
            Candidate one{design, expected(design), std::numeric_limits<double>::infinity()};
            for (const Costs& other : front) {
                one.gain = std::min(one.gain, gain_over(one.costs, other));
            }
            widen(one.costs);
            if (one.gain + doubt > least_gain) {
                candidates.push_back(std::move(one));
            }
        }
    }
    std::ranges::stable_sort(candidates, std::greater{}, &Candidate::gain);
    candidates.resize(std::min(candidates.size(), most_candidates));
    for (std::size_t i = 0; i < high.size(); ++i) {
        high[i] += high[i] > low[i] ? 0 : 1;
    }
    // Of those, what adds most to the area that the front dominates; gaps in it come last.
    std::vector<std::size_t> taken;
    while (taken.size() < count && !candidates.empty()) {
        const double before = hypervolume(front, low, high);
        const auto worth = [&](const Candidate& one) {
            std::vector<Costs> with = front;
            with.push_back(one.costs);
            return std::pair{hypervolume(with, low, high) - before, one.gain};
        };
        const auto best = std::ranges::max_element(candidates, {}, worth);
        taken.push_back(best->design);
        front.push_back(best->costs);
        candidates.erase(best);
    }
    return taken;
}

std::vector<std::size_t> FrontSearch::next(std::size_t count) {
    count = std::min(count, budget_ - std::min(budget_, runs_));
    std::vector<std::size_t> taken;
    if (known_.empty() && count > 0) {
        taken = first_designs(std::min(budget_ - runs_, std::max(count, budget_ / first_share)));
    } else if (count > 0) {
        std::vector<Costs> best;
        for (const Known& known : known_) {
            best.push_back(known.costs);
        }
        std::vector<Costs> front;
        for (const std::size_t one : pareto_front(best)) {
            front.push_back(best[one]);
        }
        taken = most_promising(front, count);
    }
    for (const std::size_t design : taken) {
        chosen_[design] = true;
        ++runs_;
    }
    return taken;
}

void FrontSearch::tell(std::size_t design, const std::optional<Costs>& costs) {
    if (!costs) {
        return;
    }
    objectives_ = costs->size();
    const Costs estimate = estimates_[design] ? *estimates_[design] : Costs(objectives_, 1);
    Costs error;
    for (std::size_t i = 0; i < objectives_; ++i) {
        error.push_back(log_ratio((*costs)[i], estimate[i]));
    }
    known_.push_back({design, *costs, std::move(error)});
}

}  // namespace npuscope
