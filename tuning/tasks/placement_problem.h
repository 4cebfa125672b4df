#ifndef HONE_TUNING_TASKS_PLACEMENT_PROBLEM_H_
#define HONE_TUNING_TASKS_PLACEMENT_PROBLEM_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"

#include "graphs/cluster.h"
#include "graphs/contiguity.h"
#include "graphs/device_graph.h"
#include "graphs/placement_moves.h"
#include "space/assignment_problem.h"
#include "tuning/tasks/placement_domains.h"

namespace hone::tuning {

// The constructions that a problem offers as seeds besides its default.
enum class PlacementSeeds {
  kAll,
  // All but the exact program: what searches find where that does not finish.
  kInexact,
  // None, so that a search shows what it finds by itself.
  kNone,
};

// The problem of placing each node of a graph on a device so that the largest
// load of a device is least (graphs/max_load.h). Variable i is node i, its
// value is its device.
//
// The cost is the max load in the unit of the graph's own times. The public
// graphs have milliseconds, and so says unit(); a graph in other units has
// costs in those.
//
// An assignment that breaks constraints is kInvalid, with a violation that is
// the share of the nodes at fault (on accelerators that do not support them, or
// apart from their color class) and edges at fault (against the order of the
// devices), plus the share of all bytes that are too many for their device.
class PlacementProblem final : public space::AssignmentProblem {
 public:
  // `stop` and `seeds_end` are polled while seeds are constructed; once one
  // returns true, those that are not finished are missing. `stop` cancels
  // measurements, too. `cluster` is what the graph was made
  // for, if it is that of a module. Errors: InvalidArgument for more devices
  // than space::kMaxValues, or a graph for which no valid placement is found.
  static absl::StatusOr<std::unique_ptr<PlacementProblem>> Create(
      graphs::DeviceGraph graph, graphs::Contiguity contiguity,
      std::function<bool()> stop = nullptr,
      std::optional<graphs::Cluster> cluster = std::nullopt,
      PlacementSeeds seeds = PlacementSeeds::kAll,
      std::function<bool()> seeds_end = nullptr);

  const graphs::DeviceGraph& graph() const { return graph_; }
  graphs::Contiguity contiguity() const { return contiguity_; }
  const std::optional<graphs::Cluster>& cluster() const { return cluster_; }

  absl::string_view unit() const override { return "ms"; }
  absl::string_view policy_name() const override { return "placement"; }

  // The greedy contiguous split, or the first of the seeds that is valid.
  space::Candidate DefaultCandidate() const override { return {default_}; }
  // The default, then those of "greedy", "single_device", "segments", "metis",
  // "exact" and "local_search" that found something (graphs/placements.h), as
  // far as they were asked for. The local search starts from the best of the
  // others. Constructed with the first call.
  std::vector<space::Seed> Seeds() const override;
  double reference_cost() const override { return reference_cost_; }

  absl::StatusOr<std::vector<space::Measurement>> MeasureBatch(
      absl::Span<const space::Candidate> candidates) const override;
  // Assignments evaluated, in full or incrementally.
  int64_t evaluations() const override { return *evaluations_; }

  absl::Span<const space::VariableGroup> groups() const override {
    return groups_;
  }
  // Node i is variable i (placement_observation.h).
  space::ObservationSpec observation_spec() const override;
  std::shared_ptr<const space::Observation> Graph() const override {
    return observation_;
  }
  int32_t NodeOf(int32_t variable) const override { return variable; }
  std::vector<float> ValueFeatures(int32_t group) const override;

  // MakePlacementDomains with the devices in the order of the default
  // placement. A kConvex problem has those of kPipeline: what they leave is
  // convex, but not all that is convex. For kNone blocks are color classes.
  std::unique_ptr<space::Domains> MakeDomains() const override;
  std::unique_ptr<space::LocalState> MakeLocal(
      const space::Candidate& candidate) const override;

 private:
  PlacementProblem(graphs::DeviceGraph graph, graphs::Contiguity contiguity,
                   std::function<bool()> stop, PlacementSeeds seeds);

  space::Measurement MeasureOne(absl::Span<const int32_t> assignment) const;
  std::vector<space::Seed> MakeSeeds() const;
  void MakeRules();

  const graphs::DeviceGraph graph_;
  const graphs::Contiguity contiguity_;
  const std::function<bool()> stop_;
  std::function<bool()> seeds_end_;
  std::optional<graphs::Cluster> cluster_;
  const PlacementSeeds offered_;
  std::vector<space::VariableGroup> groups_;
  std::vector<int32_t> default_;
  double reference_cost_ = 1;
  std::shared_ptr<const graphs::PlacementMoves> moves_;
  std::shared_ptr<const PlacementRules> rules_;
  std::shared_ptr<const space::Observation> observation_;
  // Shared with the local states.
  const std::shared_ptr<std::atomic<int64_t>> evaluations_ =
      std::make_shared<std::atomic<int64_t>>(0);

  mutable absl::Mutex mutex_;
  mutable std::vector<space::Seed> seeds_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_PLACEMENT_PROBLEM_H_
