// SPDX-License-Identifier: Apache-2.0
// Multi-objective ranking of designs; all objectives are costs: less is better.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace npuscope {

using Costs = std::vector<double>;

/// Whether `one` is at least as good in every cost, and better in at least one.
bool dominates(const Costs& one, const Costs& other);

/// The non-dominated points, in order of their first cost; the first of equal ones.
std::vector<std::size_t> pareto_front(const std::vector<Costs>& points);

/// Share of the box between the best cost of each kind and `worst` that the points dominate, in two
/// or more dimensions. 0 to 1; points beyond `worst` are ignored.
double hypervolume(std::vector<Costs> points, const Costs& best, const Costs& worst);

/// Chooses which of many designs are worth a full run, from cheap estimates corrected by the runs:
/// an estimate is assumed to have the error of those of nearby designs.
class FrontSearch {
 public:
    /// `places`: coordinates of every design, 0 to 1 on each axis. `estimates`: its costs as far as
    /// known beforehand; empty if unknown.
    FrontSearch(std::vector<std::vector<double>> places,
                std::vector<std::optional<Costs>> estimates, std::size_t budget);

    /// Designs to run next, at most `count`; none if the budget is used up or no other design is
    /// expected to be better than all that were run.
    std::vector<std::size_t> next(std::size_t count);
    /// Reports a run's result; nothing for a design that cannot be run.
    void tell(std::size_t design, const std::optional<Costs>& costs);
    /// A design that was to run next is refused: the budget is not charged for it.
    void refuse() { --runs_; }

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
