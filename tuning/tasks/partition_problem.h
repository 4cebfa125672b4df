#ifndef HONE_TUNING_TASKS_PARTITION_PROBLEM_H_
#define HONE_TUNING_TASKS_PARTITION_PROBLEM_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"

#include "base/hash.h"
#include "base/rng.h"
#include "graphs/mcm/package.h"
#include "graphs/mcm/partition_bounds.h"
#include "graphs/mcm/partition_graph.h"
#include "space/assignment_problem.h"
#include "tuning/tasks/partition_closure.h"
#include "tuning/tasks/partition_moves.h"

namespace hone::tuning {

// The cost that a partition minimizes: the load of the busiest chip by the
// analytical model (graphs/mcm/chip_loads.h), or the interval between samples
// in simulation (backends/mcm_sim).
enum class PartitionObjective { kModelled, kSimulated };

// The constructions that a problem offers as seeds besides its default.
enum class PartitionSeeds {
  kAll,
  // None, so that a search shows what it finds by itself.
  kNone,
};

// The problem of putting each node of a graph on a chip of a package so that
// samples follow each other fast. Variable i is node i of the graph, which has
// no sources; its value is its chip. The cost is in milliseconds.
//
// A partition with faults (graphs/mcm/partition_rules.h) is kInvalid, with
// their violation. So is one that runs out of memory in simulation: a violation
// that only the simulation shows, the share of its memory that the fullest chip
// lacks.
class PartitionProblem final : public space::AssignmentProblem {
 public:
  // `stop` and `seeds_end` are polled while seeds are constructed; once one
  // returns true, those that are not finished are missing. `stop` cancels
  // measurements, too. Errors: InvalidArgument if no partition is found that
  // fits in memory: which rule is in the way, and by how much.
  static absl::StatusOr<std::unique_ptr<PartitionProblem>> Create(
      graphs::PartitionGraph graph, graphs::Package package,
      PartitionObjective objective, std::function<bool()> stop = nullptr,
      std::function<bool()> seeds_end = nullptr,
      PartitionSeeds seeds = PartitionSeeds::kAll);

  const graphs::PartitionGraph& graph() const { return graph_; }
  const graphs::Package& package() const { return package_; }
  PartitionObjective objective() const { return objective_; }

  absl::string_view unit() const override { return "ms"; }
  absl::string_view policy_name() const override { return "partition"; }

  // The greedy fill, or the first construction that fits.
  space::Candidate DefaultCandidate() const override { return {default_}; }
  // The default, then Constructions, unless the problem is to offer none.
  std::vector<space::Seed> Seeds() const override;
  // "greedy" and "segments" (graphs/mcm/partitions.h), in simulation
  // "overheads", the segments with the overhead of operators, and "exact"
  // (PartitionBounds::best_pipeline), as far as there are any; also where they
  // are no seeds. Constructed with the first call.
  std::vector<space::Seed> Constructions() const;
  // A lower bound of the max load, in milliseconds. Found with the first call
  // of this or of Constructions.
  double bound() const;
  double reference_cost() const override { return reference_cost_; }

  absl::StatusOr<std::vector<space::Measurement>> MeasureBatch(
      absl::Span<const space::Candidate> candidates) const override;
  // Partitions evaluated.
  int64_t evaluations() const override { return evaluations_; }

  absl::Span<const space::VariableGroup> groups() const override {
    return groups_;
  }
  // Node i is variable i (partition_observation.h).
  space::ObservationSpec observation_spec() const override;
  std::shared_ptr<const space::Observation> Graph() const override {
    return observation_;
  }
  int32_t NodeOf(int32_t variable) const override { return variable; }
  std::vector<float> ValueFeatures(int32_t group) const override;

  // PartitionDomains.
  std::unique_ptr<space::Domains> MakeDomains() const override;
  // DrawPartition.
  std::optional<std::vector<int32_t>> Draw(
      space::Domains& domains, Rng& rng,
      const std::function<bool()>& stop) const override;
  std::unique_ptr<space::LocalState> MakeLocal(
      const space::Candidate& candidate) const override;

  std::vector<std::string> move_feature_names() const override {
    return PartitionMoveFeatureNames();
  }
  float EstimateMove(absl::Span<const float> features) const override {
    return EstimatePartitionMove(features);
  }

  // PartitionSegments, in simulation with the overhead of operators, over the
  // topological order in which low keys come first:
  // the keys of a partition, by its chips, give that or a better one, up to a
  // thousandth.
  bool constructs() const override { return true; }
  std::optional<std::vector<int32_t>> Construct(
      absl::Span<const float> keys) const override;

  // The moves, of all proposed, that the constraint solver repaired (FIX), and
  // the variables that it gave other values than those moves.
  struct Repairs {
    int64_t moves = 0;
    int64_t variables = 0;
  };
  Repairs repairs() const { return {repairs_, repaired_variables_}; }
  // Counts a repair that changed so many variables.
  void CountRepair(int64_t changed) const {
    ++repairs_;
    repaired_variables_ += changed;
  }

  // Calls `watch` with each evaluation from now on, in their order; null ends
  // that. Forgets what was tried. Not while other threads use the problem.
  void Watch(std::function<void(const space::Measurement&)> watch);

  // Evaluates one partition; counts as an evaluation. Linear time for
  // kModelled.
  space::Measurement MeasureOne(absl::Span<const int32_t> chips) const;
  // The same for a try of a local search, which is not evaluated again when it
  // becomes a trial.
  space::Measurement MeasureTry(absl::Span<const int32_t> chips) const;
  // The same for where a local search starts from: evaluated, unless it was one
  // of the last tries or candidates.
  space::Measurement MeasureStart(absl::Span<const int32_t> chips) const;

 private:
  PartitionProblem(graphs::PartitionGraph graph, graphs::Package package,
                   PartitionObjective objective, std::function<bool()> stop);

  // By the hash of their chips.
  using Measured = absl::flat_hash_map<Hash128, space::Measurement>;

  std::optional<space::Measurement> FindIn(const Measured& measured,
                                           const Hash128& hash) const;
  void Remember(const Hash128& hash, const space::Measurement& measurement,
                Measured& measured) const;
  space::Measurement Evaluate(absl::Span<const int32_t> chips) const;
  // Finds default_. Errors: see Create.
  absl::Status FindDefault();
  absl::Status CannotFit() const;
  std::vector<space::Seed> MakeConstructions() const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool EndsSeeds() const {
    return (stop_ && stop_()) || (seeds_end_ && seeds_end_());
  }
  const graphs::PartitionBounds& Bounds() const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const graphs::PartitionGraph graph_;
  // With what operators take in simulation beside their work, which
  // constructions balance; nothing if that is not the objective.
  std::optional<graphs::PartitionGraph> timed_graph_;
  const graphs::Package package_;
  const PartitionObjective objective_;
  const std::function<bool()> stop_;
  std::function<bool()> seeds_end_;
  PartitionSeeds offered_ = PartitionSeeds::kAll;
  const std::vector<space::VariableGroup> groups_;
  const PartitionClosure closure_;
  const std::shared_ptr<const space::Observation> observation_;
  std::function<void(const space::Measurement&)> watch_;
  // The greedy fill, and the segments if the default needed them.
  std::optional<std::vector<int32_t>> greedy_;
  std::optional<std::vector<int32_t>> segments_;
  std::vector<int32_t> default_;
  double reference_cost_ = 1;
  mutable std::atomic<int64_t> evaluations_ = 0;

  mutable std::atomic<int64_t> repairs_ = 0;
  mutable std::atomic<int64_t> repaired_variables_ = 0;

  mutable absl::Mutex mutex_;
  // The last tries, and the last candidates measured. Changed under mutex_.
  mutable Measured tries_;
  mutable Measured starts_;
  mutable std::optional<std::vector<space::Seed>> constructions_
      ABSL_GUARDED_BY(mutex_);
  mutable std::optional<graphs::PartitionBounds> bounds_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_PARTITION_PROBLEM_H_
