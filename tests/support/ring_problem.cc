#include "tests/support/ring_problem.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/rng.h"

namespace hone::testing {
namespace {

// What two neighbors with different values cost.
constexpr double kDifference = 3;

std::vector<int32_t> Changed(absl::Span<const int32_t> values,
                             absl::Span<const space::Change> changes) {
  std::vector<int32_t> changed(values.begin(), values.end());
  for (const space::Change& change : changes) {
    changed[static_cast<size_t>(change.variable)] = change.value;
  }
  return changed;
}

}  // namespace

class RingProblem::Local final : public space::LocalState {
 public:
  Local(const RingProblem& problem, std::vector<int32_t> values)
      : problem_(problem), values_(std::move(values)) {}

  absl::Span<const int32_t> values() const override { return values_; }
  space::LocalScore score() const override { return ScoreOf(values_); }

  space::LocalScore Try(absl::Span<const space::Change> changes) override {
    problem_.tries_.push_back({values_, {changes.begin(), changes.end()}});
    tried_ = Changed(values_, changes);
    return ScoreOf(tried_);
  }
  void Commit() override { values_ = tried_; }

  // A new value for a variable or, half of the time, for two neighbors.
  void Propose(Rng& rng, std::vector<space::Change>& changes) override {
    changes.clear();
    const Options& options = problem_.options();
    if (!options.proposes) return;
    const auto draw = [&rng](int32_t bound) {
      return static_cast<int32_t>(rng.Below(static_cast<uint64_t>(bound)));
    };
    const int32_t variable = draw(options.variables);
    const int32_t value = draw(options.values);
    const int32_t neighbor = (variable + 1) % options.variables;
    const int32_t count = 1 + draw(2);
    for (const int32_t v : {variable, neighbor}) {
      if (v == neighbor && (count == 1 || neighbor == variable)) continue;
      if (values_[static_cast<size_t>(v)] != value) {
        changes.push_back({v, value});
      }
    }
  }

  void DescribeMove(absl::Span<const space::Change> changes,
                    std::vector<float>& features) override {
    features = problem_.Describe(values_, changes);
  }

 private:
  space::LocalScore ScoreOf(absl::Span<const int32_t> values) const {
    const double cost = problem_.Cost(values);
    return {{0, cost}, cost};
  }

  const RingProblem& problem_;
  std::vector<int32_t> values_;
  std::vector<int32_t> tried_;
};

RingProblem::RingProblem(Options options)
    : options_(std::move(options)),
      first_(static_cast<size_t>(options_.variables)),
      groups_({{.name = "value",
                .first = 0,
                .count = options_.variables,
                .domain = options_.values}}) {
  Rng rng(options_.seed);
  for (int32_t i = 0; i < options_.variables * options_.values; ++i) {
    prices_.push_back(1 + 9 * rng.Uniform());
  }
  space::Observation graph;
  for (int32_t v = 0; v < options_.variables; ++v) {
    graph.node_kinds.push_back(0);
    graph.edge_sources.push_back(v);
    graph.edge_targets.push_back((v + 1) % options_.variables);
  }
  graph_ = std::make_shared<const space::Observation>(std::move(graph));
}

space::Candidate RingProblem::DefaultCandidate() const { return {first_}; }

std::vector<space::Seed> RingProblem::Seeds() const {
  std::vector<int32_t> best = first_;
  for (int32_t value = 1; value < options_.values; ++value) {
    const std::vector<int32_t> all(first_.size(), value);
    if (Cost(all) < Cost(best)) best = all;
  }
  return {{"default", {first_}}, {"constant", {best}}};
}

absl::StatusOr<std::vector<space::Measurement>> RingProblem::MeasureBatch(
    absl::Span<const space::Candidate> candidates) const {
  std::vector<space::Measurement> measurements;
  for (const space::Candidate& candidate : candidates) {
    ++measurements_;
    measurements.push_back({.cost = Cost(candidate.choices)});
  }
  return measurements;
}

std::unique_ptr<space::LocalState> RingProblem::MakeLocal(
    const space::Candidate& candidate) const {
  return std::make_unique<Local>(*this, candidate.choices);
}

double RingProblem::Cost(absl::Span<const int32_t> values) const {
  double cost = 0;
  for (size_t v = 0; v < values.size(); ++v) {
    cost += prices_[v * static_cast<size_t>(options_.values) +
                    static_cast<size_t>(values[v])];
    if (values[v] != values[(v + 1) % values.size()]) cost += kDifference;
  }
  return cost;
}

std::vector<float> RingProblem::Describe(
    absl::Span<const int32_t> from,
    absl::Span<const space::Change> changes) const {
  std::vector<float> features;
  for (const std::string& name : options_.move_features) {
    if (name == "saved") {
      const double saved = Cost(from) - Cost(Changed(from, changes));
      features.push_back(static_cast<float>(std::clamp(saved / 4, -1.0, 1.0)));
    } else if (name == "size") {
      features.push_back(static_cast<float>(changes.size()) / 2);
    } else {
      // Of the first change alone.
      const int32_t mixed =
          changes.empty()
              ? 0
              : (changes[0].variable * 31 + changes[0].value * 17) % 11;
      features.push_back(static_cast<float>(mixed) / 5 - 1);
    }
  }
  return features;
}

}  // namespace hone::testing
