#include "tuning/tasks/placement_problem.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

#include "base/status_macros.h"
#include "graphs/block_graph.h"
#include "graphs/max_load.h"
#include "graphs/placement_state.h"
#include "graphs/placements.h"
#include "space/complete.h"
#include "space/domains.h"
#include "tuning/tasks/placement_local.h"
#include "tuning/tasks/placement_observation.h"

namespace hone::tuning {
namespace {

// Places color classes where memory allows, the largest first, each on the
// first device that is left to it; nothing if that fails.
std::optional<graphs::Placement> PlaceAnywhere(
    const graphs::DeviceGraph& graph, const std::function<bool()>& stop) {
  auto rules = std::make_shared<const PlacementRules>(
      PlacementRules{graphs::GatherColorClasses(graph), {}});
  std::vector<int32_t> order(graph.size());
  std::iota(order.begin(), order.end(), 0);
  const auto bytes = [&](int32_t node) {
    const graphs::BlockGraph& blocks = rules->blocks;
    return blocks.blocks[blocks.block_of[static_cast<size_t>(node)]].size_bytes;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return bytes(a) > bytes(b); });
  const std::unique_ptr<space::Domains> domains =
      MakePlacementDomains(graph, rules);
  std::optional<graphs::Placement> placement = space::Complete(
      *domains, order,
      [](int32_t, uint64_t left) { return std::countr_zero(left); }, stop);
  // One device may leave no choice, and be too small all the same.
  if (placement &&
      !graphs::CheckAssignment(graph, *placement, graphs::Contiguity::kNone)
           .ok()) {
    return std::nullopt;
  }
  return placement;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PlacementProblem>> PlacementProblem::Create(
    graphs::DeviceGraph graph, graphs::Contiguity contiguity,
    std::function<bool()> stop, std::optional<graphs::Cluster> cluster,
    PlacementSeeds seeds, std::function<bool()> seeds_end) {
  if (graph.device_count() > space::kMaxValues) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the graph has %d devices (maxFPGAs %d and maxCPUs %d), expected at "
        "most %d",
        graph.device_count(), graph.limits().accelerators, graph.limits().cpus,
        space::kMaxValues));
  }
  auto problem = std::unique_ptr<PlacementProblem>(new PlacementProblem(
      std::move(graph), contiguity, std::move(stop), seeds));
  problem->cluster_ = std::move(cluster);
  problem->seeds_end_ = std::move(seeds_end);
  std::optional<graphs::Placement> found =
      graphs::PlaceGreedily(problem->graph_);
  if (!found) found = graphs::PlaceOnOneDevice(problem->graph_);
  if (!found) found = graphs::PlaceSegments(problem->graph_, problem->stop_);
  if (!found) found = graphs::PlaceExactly(problem->graph_, problem->stop_);
  if (!found && contiguity == graphs::Contiguity::kNone) {
    found = PlaceAnywhere(problem->graph_, problem->stop_);
  }
  if (!found) {
    return absl::InvalidArgumentError(
        "no valid placement of the graph is found: memory, color classes or "
        "nodes that accelerators do not support are in the way");
  }
  HONE_ASSIGN_OR_RETURN(const graphs::DeviceLoads loads,
                        graphs::ComputeLoads(problem->graph_, *found));
  problem->default_ = *std::move(found);
  if (loads.max_load > 0) problem->reference_cost_ = loads.max_load;
  problem->moves_ = std::make_shared<const graphs::PlacementMoves>(
      problem->graph_, contiguity);
  problem->MakeRules();
  problem->observation_ = std::make_shared<const space::Observation>(
      ObservePlacement(problem->graph_));
  return problem;
}

void PlacementProblem::MakeRules() {
  PlacementRules rules;
  if (contiguity_ == graphs::Contiguity::kNone) {
    rules.blocks = graphs::GatherColorClasses(graph_);
  } else {
    bool same_direction = false;
    rules.device_order =
        graphs::PlacementState(graph_, graphs::Contiguity::kPipeline, default_)
            .DeviceOrder(same_direction);
    rules.blocks = graphs::GatherBlocks(
        graph_, same_direction ? graphs::BackwardDirection::kSame
                               : graphs::BackwardDirection::kReverse);
  }
  rules_ = std::make_shared<const PlacementRules>(std::move(rules));
}

PlacementProblem::PlacementProblem(graphs::DeviceGraph graph,
                                   graphs::Contiguity contiguity,
                                   std::function<bool()> stop,
                                   PlacementSeeds seeds)
    : graph_(std::move(graph)),
      contiguity_(contiguity),
      stop_(std::move(stop)),
      offered_(seeds),
      groups_({{.name = "device",
                .count = static_cast<int32_t>(graph_.size()),
                .domain = graph_.device_count(),
                .value_feature_names = DeviceFeatureNames()}}) {}

std::vector<space::Seed> PlacementProblem::Seeds() const {
  absl::MutexLock lock(&mutex_);
  if (seeds_.empty()) seeds_ = MakeSeeds();
  return seeds_;
}

std::vector<space::Seed> PlacementProblem::MakeSeeds() const {
  std::vector<space::Seed> seeds = {{"default", DefaultCandidate()}};
  if (offered_ == PlacementSeeds::kNone) return seeds;
  const graphs::StopCondition end = [this] {
    return (stop_ && stop_()) || (seeds_end_ && seeds_end_());
  };
  const graphs::Placement* best = &default_;
  double best_load = graphs::ComputeLoads(graph_, default_)->max_load;
  std::vector<std::pair<const char*, std::optional<graphs::Placement>>> found;
  found.emplace_back("greedy", graphs::PlaceGreedily(graph_));
  found.emplace_back("single_device", graphs::PlaceOnOneDevice(graph_));
  found.emplace_back("segments", graphs::PlaceSegments(graph_, end));
  found.emplace_back("metis", graphs::PlaceByMetis(graph_, end));
  if (offered_ == PlacementSeeds::kAll) {
    found.emplace_back("exact", graphs::PlaceExactly(graph_, end));
  }
  for (const auto& [name, placement] : found) {
    if (!placement) continue;
    seeds.push_back({name, {*placement}});
    const double load = graphs::ComputeLoads(graph_, *placement)->max_load;
    if (load < best_load) {
      best_load = load;
      best = &*placement;
    }
  }
  seeds.push_back(
      {"local_search",
       {graphs::ImprovePlacement(graph_, contiguity_, *best, end)}});
  return seeds;
}

space::ObservationSpec PlacementProblem::observation_spec() const {
  return PlacementObservationSpec();
}

std::vector<float> PlacementProblem::ValueFeatures(int32_t) const {
  return DeviceFeatures(graph_);
}

std::unique_ptr<space::Domains> PlacementProblem::MakeDomains() const {
  return MakePlacementDomains(graph_, rules_);
}

std::unique_ptr<space::LocalState> PlacementProblem::MakeLocal(
    const space::Candidate& candidate) const {
  return MakePlacementLocal(graph_, contiguity_, moves_, evaluations_,
                            candidate.choices);
}

absl::StatusOr<std::vector<space::Measurement>> PlacementProblem::MeasureBatch(
    absl::Span<const space::Candidate> candidates) const {
  std::vector<space::Measurement> measurements;
  measurements.reserve(candidates.size());
  for (const space::Candidate& candidate : candidates) {
    if (stop_ && stop_()) return absl::CancelledError("measuring was stopped");
    measurements.push_back(MeasureOne(candidate.choices));
  }
  return measurements;
}

space::Measurement PlacementProblem::MeasureOne(
    absl::Span<const int32_t> assignment) const {
  ++*evaluations_;
  const absl::StatusOr<graphs::DeviceLoads> loads =
      graphs::ComputeLoads(graph_, assignment);
  if (!loads.ok()) {
    return {.outcome = space::Outcome::kInvalid,
            .message = std::string(loads.status().message())};
  }
  space::Measurement measurement = {.cost = loads->max_load};
  if (const absl::Status valid =
          graphs::CheckAssignment(graph_, assignment, contiguity_);
      !valid.ok()) {
    measurement.outcome = space::Outcome::kInvalid;
    measurement.message = std::string(valid.message());
    measurement.violation =
        graphs::PlacementState(graph_, contiguity_, assignment).violation();
  }
  return measurement;
}

}  // namespace hone::tuning
