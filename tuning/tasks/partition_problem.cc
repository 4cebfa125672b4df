#include "tuning/tasks/partition_problem.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

#include "backends/mcm_sim/pipeline_simulator.h"
#include "base/rng.h"
#include "base/status_macros.h"
#include "graphs/mcm/chip_loads.h"
#include "graphs/mcm/partition_rules.h"
#include "graphs/mcm/partitions.h"
#include "graphs/topological_orders.h"
#include "space/complete.h"
#include "tuning/tasks/partition_domains.h"
#include "tuning/tasks/partition_draw.h"
#include "tuning/tasks/partition_local.h"
#include "tuning/tasks/partition_observation.h"

namespace hone::tuning {

using graphs::NodeIndex;

namespace {

// Searches construct many partitions.
constexpr double kConstructTolerance = 1e-3;
// What becomes a trial, or a local search starts from, is usually among the
// last few hundred.
constexpr size_t kMostMeasured = 4096;

Hash128 HashOf(absl::Span<const int32_t> chips) {
  return FastHash({reinterpret_cast<const char*>(chips.data()),
                   chips.size() * sizeof(int32_t)});
}

}  // namespace

PartitionProblem::PartitionProblem(graphs::PartitionGraph graph,
                                   graphs::Package package,
                                   PartitionObjective objective,
                                   std::function<bool()> stop)
    : graph_(std::move(graph)),
      package_(package),
      objective_(objective),
      stop_(std::move(stop)),
      groups_({{.name = "chip",
                .count = static_cast<int32_t>(graph_.size()),
                .domain = graph_.chips(),
                .value_feature_names = ChipFeatureNames()}}),
      closure_(graph_),
      observation_(std::make_shared<const space::Observation>(
          ObservePartition(graph_))) {
  if (objective_ == PartitionObjective::kSimulated) {
    timed_graph_ = graph_.WithOverheads(package_.op_seconds * 1e3);
  }
}

absl::StatusOr<std::unique_ptr<PartitionProblem>> PartitionProblem::Create(
    graphs::PartitionGraph graph, graphs::Package package,
    PartitionObjective objective, std::function<bool()> stop,
    std::function<bool()> seeds_end, PartitionSeeds seeds) {
  auto problem = std::unique_ptr<PartitionProblem>(new PartitionProblem(
      std::move(graph), package, objective, std::move(stop)));
  problem->seeds_end_ = std::move(seeds_end);
  problem->offered_ = seeds;
  HONE_RETURN_IF_ERROR(problem->FindDefault());
  return problem;
}

absl::Status PartitionProblem::FindDefault() {
  std::vector<graphs::Partition> found;
  const auto fits = [&](const graphs::Partition& chips) {
    found.push_back(chips);
    return MeasureOne(chips).outcome == space::Outcome::kOk;
  };
  greedy_ = graphs::FillGreedily(graph_);
  if (greedy_ && fits(*greedy_)) {
    default_ = *greedy_;
  } else if ((segments_ = graphs::PartitionByOrders(graph_, stop_)) &&
             fits(*segments_)) {
    default_ = *segments_;
  } else {
    // By the solver: a partition that fits from the start, if not in
    // simulation.
    Rng rng(0);
    PartitionDomains domains(graph_, closure_);
    std::vector<int32_t> order(graph_.topological_order().begin(),
                               graph_.topological_order().end());
    constexpr int kTries = 16;
    for (int i = 0; i < kTries && default_.empty(); ++i) {
      if (stop_ && stop_()) return absl::CancelledError("partitioning");
      const auto drawn = space::Complete(
          domains, order,
          [&](int32_t, uint64_t left) { return space::DrawValue(left, rng); },
          stop_);
      if (drawn && fits(*drawn)) default_ = *drawn;
      std::shuffle(order.begin(), order.end(), rng);
    }
    if (default_.empty() && found.empty()) return CannotFit();
    // All run out of memory in simulation, which a search may mend.
    if (default_.empty()) default_ = found[0];
  }
  const double cost = MeasureOne(default_).cost;
  if (cost > 0) reference_cost_ = cost;
  evaluations_ = 0;
  return absl::OkStatus();
}

absl::Status PartitionProblem::CannotFit() const {
  const double memory = graph_.memory_bytes();
  double total = 0;
  for (const graphs::PartitionNode& node : graph_.nodes()) {
    if (!graphs::FitsChip(graph_, node.resident_bytes)) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "node '%s' has %.17g bytes from the start, %.17g more than the "
          "memory of a chip",
          node.name, node.resident_bytes, node.resident_bytes - memory));
    }
    total += node.resident_bytes;
  }
  for (const graphs::PartitionSource& source : graph_.sources()) {
    if (!source.readers.empty()) total += source.resident_bytes;
  }
  if (total > memory * graph_.chips()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "the graph has %.17g bytes from the start, %.17g more than the memory "
        "of all %d chips",
        total, total - memory * graph_.chips(), graph_.chips()));
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "no partition is found in which what each chip has from the start fits "
      "its memory of %.17g bytes and no chip sends to another one directly and "
      "over others (triangle rule)",
      memory));
}

std::vector<space::Seed> PartitionProblem::Seeds() const {
  std::vector<space::Seed> seeds = {{"default", DefaultCandidate()}};
  if (offered_ == PartitionSeeds::kNone) return seeds;
  for (space::Seed& seed : Constructions()) seeds.push_back(std::move(seed));
  return seeds;
}

std::vector<space::Seed> PartitionProblem::Constructions() const {
  absl::MutexLock lock(&mutex_);
  if (!constructions_) constructions_ = MakeConstructions();
  return *constructions_;
}

double PartitionProblem::bound() const {
  absl::MutexLock lock(&mutex_);
  return Bounds().greatest();
}

const graphs::PartitionBounds& PartitionProblem::Bounds() const {
  if (!bounds_) {
    bounds_ =
        graphs::FindPartitionBounds(graph_, [this] { return EndsSeeds(); });
  }
  return *bounds_;
}

std::vector<space::Seed> PartitionProblem::MakeConstructions() const {
  std::vector<space::Seed> seeds;
  if (greedy_) seeds.push_back({"greedy", {*greedy_}});
  // The default may have asked for them already.
  auto segments = segments_;
  if (!segments) {
    segments =
        graphs::PartitionByOrders(graph_, [this] { return EndsSeeds(); });
  }
  if (segments) seeds.push_back({"segments", {*std::move(segments)}});
  if (timed_graph_) {
    if (auto chips = graphs::PartitionByOrders(
            *timed_graph_, [this] { return EndsSeeds(); })) {
      seeds.push_back({"overheads", {*std::move(chips)}});
    }
  }
  if (const auto& chips = Bounds().best_pipeline) {
    seeds.push_back({"exact", {*chips}});
  }
  return seeds;
}

space::ObservationSpec PartitionProblem::observation_spec() const {
  return PartitionObservationSpec();
}

std::vector<float> PartitionProblem::ValueFeatures(int32_t) const {
  return ChipFeatures(graph_);
}

std::unique_ptr<space::Domains> PartitionProblem::MakeDomains() const {
  return std::make_unique<PartitionDomains>(graph_, closure_);
}

std::unique_ptr<space::LocalState> PartitionProblem::MakeLocal(
    const space::Candidate& candidate) const {
  return MakePartitionLocal(*this, candidate.choices);
}

std::optional<std::vector<int32_t>> PartitionProblem::Draw(
    space::Domains& domains, Rng& rng,
    const std::function<bool()>& stop) const {
  return DrawPartition(graph_, domains, rng, stop);
}

std::optional<std::vector<int32_t>> PartitionProblem::Construct(
    absl::Span<const float> keys) const {
  // Low keys first, as nodes of low chips come first.
  std::vector<float> priorities(keys.begin(), keys.end());
  for (float& priority : priorities) priority = -priority;
  return graphs::PartitionSegments(
      timed_graph_ ? *timed_graph_ : graph_,
      graphs::OrderByPriorities(graph_.adjacency(), priorities), stop_,
      kConstructTolerance);
}

absl::StatusOr<std::vector<space::Measurement>> PartitionProblem::MeasureBatch(
    absl::Span<const space::Candidate> candidates) const {
  std::vector<space::Measurement> measurements;
  measurements.reserve(candidates.size());
  for (const space::Candidate& candidate : candidates) {
    if (stop_ && stop_()) return absl::CancelledError("measuring was stopped");
    const Hash128 hash = HashOf(candidate.choices);
    if (std::optional<space::Measurement> known = FindIn(tries_, hash)) {
      measurements.push_back(*std::move(known));
      continue;
    }
    measurements.push_back(MeasureOne(candidate.choices));
    Remember(hash, measurements.back(), starts_);
  }
  return measurements;
}

space::Measurement PartitionProblem::MeasureOne(
    absl::Span<const int32_t> chips) const {
  ++evaluations_;
  space::Measurement measurement = Evaluate(chips);
  if (watch_) watch_(measurement);
  return measurement;
}

space::Measurement PartitionProblem::MeasureTry(
    absl::Span<const int32_t> chips) const {
  space::Measurement measurement = MeasureOne(chips);
  Remember(HashOf(chips), measurement, tries_);
  return measurement;
}

space::Measurement PartitionProblem::MeasureStart(
    absl::Span<const int32_t> chips) const {
  const Hash128 hash = HashOf(chips);
  for (const Measured* const measured : {&tries_, &starts_}) {
    if (std::optional<space::Measurement> known = FindIn(*measured, hash)) {
      return *std::move(known);
    }
  }
  return MeasureTry(chips);
}

void PartitionProblem::Watch(
    std::function<void(const space::Measurement&)> watch) {
  watch_ = std::move(watch);
  absl::MutexLock lock(&mutex_);
  tries_.clear();
  starts_.clear();
}

std::optional<space::Measurement> PartitionProblem::FindIn(
    const Measured& measured, const Hash128& hash) const {
  absl::MutexLock lock(&mutex_);
  const auto found = measured.find(hash);
  if (found == measured.end()) return std::nullopt;
  return found->second;
}

void PartitionProblem::Remember(const Hash128& hash,
                                const space::Measurement& measurement,
                                Measured& measured) const {
  absl::MutexLock lock(&mutex_);
  if (measured.size() >= kMostMeasured) measured.clear();
  measured.emplace(hash, measurement);
}

space::Measurement PartitionProblem::Evaluate(
    absl::Span<const int32_t> chips) const {
  const graphs::PartitionFaults faults = graphs::FindFaults(graph_, chips);
  if (faults.violation > 0) {
    const absl::Status valid = graphs::CheckPartition(graph_, chips);
    return {.outcome = space::Outcome::kInvalid,
            .cost = graphs::ComputeChipLoads(graph_, chips).max_load,
            .message = std::string(valid.message()),
            .violation = faults.violation};
  }
  if (objective_ == PartitionObjective::kModelled) {
    return {.cost = graphs::ComputeChipLoads(graph_, chips).max_load};
  }
  const backends::PipelineResult result =
      backends::SimulatePipeline(graph_, package_, chips);
  space::Measurement measurement = {.cost = result.interval};
  if (result.excess_bytes > 0) {
    measurement.outcome = space::Outcome::kInvalid;
    measurement.message = absl::StrFormat(
        "out of memory: chip %d needs %.17g bytes more than it has",
        result.fullest_chip, result.excess_bytes);
    measurement.violation = result.excess_bytes / graph_.memory_bytes();
  }
  return measurement;
}

}  // namespace hone::tuning
