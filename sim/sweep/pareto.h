// SPDX-License-Identifier: Apache-2.0
// Designs by several objectives at once, all of which are costs: less is better.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace npuscope {

using Costs = std::vector<double>;

/// Whether `one` is at least as good in everything, and better in something.
bool dominates(const Costs& one, const Costs& other);

/// Of the points that none dominates, in order of their first cost; of equal ones the first.
std::vector<std::size_t> pareto_front(const std::vector<Costs>& points);

/// Share of the box between the best cost of each kind and `worst` that points dominate, in two or more
/// dimensions. 0 to 1; points beyond `worst` count nothing.
double hypervolume(std::vector<Costs> points, const Costs& best, const Costs& worst);

/// Chooses which of many designs are worth a full run, from cheap estimates that the runs correct: an
/// estimate is taken to be wrong by what those of designs nearby were wrong by.
class FrontSearch {
 public:
    /// `places`: coordinates of every design, 0 to 1 in each axis. `estimates`: its costs as far as they
    /// are known beforehand; empty where nothing is.
    FrontSearch(std::vector<std::vector<double>> places,
                std::vector<std::optional<Costs>> estimates, std::size_t budget);

    /// Designs that are to be run next, at most `count`; none when the budget is used up or no other design
    /// is expected to be better than all that were run.
    std::vector<std::size_t> next(std::size_t count);
    /// What a run gave; nothing for a design that cannot be run.
    void tell(std::size_t design, const std::optional<Costs>& costs);

    std::size_t runs() const { return runs_; }

 private:
    struct Known {
        std::size_t design = 0;
        Costs costs;
        Costs error;  ///< logarithm of cost to estimate
    };
    std::vector<std::size_t> first_designs(std::size_t count) const;
    /// Of the designs not yet chosen, those that add most to the front.
    std::vector<std::size_t> most_promising(std::vector<Costs> front, std::size_t count) const;
    Costs expected(std::size_t design) const;
    double distance(std::size_t one, std::size_t other) const;
    double spread() const;

    std::vector<std::vector<double>> places_;
    std::vector<std::optional<Costs>> estimates_;
    std::size_t budget_;
    std::size_t runs_ = 0;
    std::vector<bool> chosen_;
    std::vector<Known> known_;
    std::size_t objectives_ = 0;
};

}  // namespace npuscope
