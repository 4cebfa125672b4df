#include "tuning/tasks/step_seeds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>

#include "backends/cluster_sim/step_simulator.h"
#include "graphs/step/fusions.h"
#include "graphs/step/place_kernels.h"
#include "graphs/step/step_schedule.h"

namespace hone::tuning {
namespace {

using graphs::KernelGraph;
using graphs::KernelIndex;
using graphs::ListRank;
using graphs::NodeIndex;

// A placement of kernels by a known method.
struct Found {
  std::string name;
  std::vector<int32_t> devices;    // [kernels]
  std::vector<KernelIndex> order;  // its own, or empty
  space::Rank rank = {INFINITY, INFINITY};
  size_t best_order = 0;  // of SeedMaker::orders_
};

std::vector<KernelIndex> ByRank(const std::vector<double>& ranks) {
  std::vector<KernelIndex> order(ranks.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(
      order.begin(), order.end(),
      [&](KernelIndex a, KernelIndex b) { return ranks[a] > ranks[b]; });
  return order;
}

class SeedMaker {
 public:
  explicit SeedMaker(StepSpace& space)
      : space_(space),
        kernels_(*space.default_kernels()),
        times_(space.times()),
        simulator_(kernels_, times_) {
    std::vector<KernelIndex> program(kernels_.size());
    std::iota(program.begin(), program.end(), 0);
    // That of the program, unless another one was decided before.
    const auto priority = [&](KernelIndex kernel) {
      const size_t unit =
          space.decisions().fusion ? kernels_.root(kernel) : kernel;
      return space.Priority(unit, 0, StepSpace::kStay);
    };
    std::stable_sort(program.begin(), program.end(),
                     [&](KernelIndex a, KernelIndex b) {
                       return priority(a) > priority(b);
                     });
    orders_ = {Priorities(program)};
    common_ = {0,
               AddOrder(ByRank(graphs::UpwardRanks(kernels_, times_, true)))};
  }

  void Make(const std::function<bool()>& stop) {
    if (space_.has_base_devices() && !space_.decisions().devices) {
      std::vector<int32_t> devices;
      for (size_t k = 0; k < kernels_.size(); ++k) {
        devices.push_back(
            space_
                .default_devices()[kernels_.root(static_cast<KernelIndex>(k))]);
      }
      Add("base", std::move(devices), {});
      return;
    }
    Add("layers", graphs::PlaceByLayers(space_.graph(), kernels_, times_), {});
    Add("single_device", graphs::PlaceOnFastest(kernels_, times_), {});
    if (stop && stop()) return;
    Add("metis", graphs::PlaceByCut(kernels_, times_), {});
    Found best;
    for (int i = 0; i < 16 && !(stop && stop()); ++i) {
      graphs::StepSchedule schedule =
          graphs::ScheduleByRank(kernels_, times_,
                                 {.rank = static_cast<ListRank>(i / 4),
                                  .looks_ahead = i % 2 == 1,
                                  .inserts = i / 2 % 2 == 1});
      Found found = Judge("heft", std::move(schedule.devices),
                          std::move(schedule.order), /*keep=*/false);
      if (found.rank < best.rank) best = std::move(found);
    }
    if (!best.devices.empty()) Add("heft", best.devices, best.order);
    for (const bool favorites : {false, true}) {
      if (stop && stop()) return;
      graphs::StepSchedule schedule =
          graphs::ScheduleEarliestFirst(kernels_, times_, favorites);
      Add(favorites ? "m_sct" : "m_etf", std::move(schedule.devices),
          std::move(schedule.order));
    }
  }

  std::vector<space::Seed> Seeds() {
    const Found& best = *std::min_element(
        found_.begin(), found_.end(),
        [](const Found& a, const Found& b) { return a.rank < b.rank; });
    const Found& usual = found_[0].rank.violation == 0 ? found_[0] : best;
    const graphs::Fusion& fusion = space_.default_fusion();
    space_.set_default_devices(
        space_.DevicesOfNodes(kernels_, fusion, usual.devices));
    std::vector<space::Seed> seeds;
    // The compiler's default: no priorities.
    seeds.push_back({"default", {Encode(usual, fusion, 0)}});
    if (space_.decisions().devices) {
      for (const Found& found : found_) {
        seeds.push_back(
            {found.name, {Encode(found, fusion, found.best_order)}});
      }
    } else if (space_.decisions().priorities) {
      seeds.push_back({"ranks", {Encode(usual, fusion, usual.best_order)}});
    }
    if (space_.decisions().fusion) {
      graphs::FusionRules rules = space_.rules();
      const Found& placed = space_.decisions().devices ? best : usual;
      seeds.push_back(
          {"no_fusion",
           {Encode(placed, graphs::Fusion(fusion.size()), placed.best_order)}});
      seeds.push_back(
          {"producer_fusion",
           {Encode(placed, graphs::FuseProducers(rules), placed.best_order)}});
    }
    return seeds;
  }

 private:
  // Returns the number of the order in the space.
  size_t AddOrder(const std::vector<KernelIndex>& order) {
    const size_t number =
        space_.AddOrder(space_.PositionsOfNodes(kernels_, order));
    if (number == orders_.size()) orders_.push_back(Priorities(order));
    return number;
  }

  static std::vector<uint64_t> Priorities(
      const std::vector<KernelIndex>& order) {
    std::vector<uint64_t> priorities(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      priorities[order[i]] = order.size() - i;
    }
    return priorities;
  }

  void Add(const char* name, std::vector<int32_t> devices,
           std::vector<KernelIndex> order) {
    if (devices.empty()) return;
    found_.push_back(
        Judge(name, std::move(devices), std::move(order), /*keep=*/true));
  }

  // Simulates a placement in the common orders, its own, and that of the
  // longest paths under it, which become orders of the space if `keep`.
  Found Judge(const char* name, std::vector<int32_t> devices,
              std::vector<KernelIndex> order, bool keep) {
    Found found = {name, std::move(devices), std::move(order)};
    const auto consider = [&](size_t number,
                              const std::vector<uint64_t>& priorities) {
      const backends::StepResult result =
          simulator_.Run(found.devices, priorities);
      const space::Rank rank = {result.worst_excess, result.seconds};
      if (!(rank < found.rank)) return;
      found.rank = rank;
      found.best_order = number;
    };
    for (const size_t number : common_) consider(number, orders_[number]);
    const std::vector<KernelIndex> placed =
        ByRank(graphs::PlacedRanks(kernels_, times_, found.devices));
    for (const auto& own : {found.order, placed}) {
      if (own.empty()) continue;
      if (!keep) {
        consider(0, Priorities(own));
        continue;
      }
      const size_t number = AddOrder(own);
      consider(number, orders_[number]);
    }
    return found;
  }

  std::vector<int32_t> Encode(const Found& found, const graphs::Fusion& fused,
                              size_t order) const {
    return space_.Encode(
        space_.DevicesOfNodes(kernels_, space_.default_fusion(), found.devices),
        fused, static_cast<int32_t>(order));
  }

  StepSpace& space_;
  const KernelGraph& kernels_;
  const graphs::DeviceTimes& times_;
  backends::StepSimulator simulator_;
  std::vector<std::vector<uint64_t>> orders_;  // priorities of kernels
  std::array<size_t, 2> common_ = {0, 0};
  std::vector<Found> found_;
};

}  // namespace

std::vector<space::Seed> MakeStepSeeds(StepSpace& space,
                                       const std::function<bool()>& stop) {
  SeedMaker maker(space);
  maker.Make(stop);
  return maker.Seeds();
}

}  // namespace hone::tuning
