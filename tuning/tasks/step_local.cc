#include "tuning/tasks/step_local.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "backends/cluster_sim/step_simulator.h"
#include "tuning/tasks/step_moves.h"
#include "tuning/tasks/step_proposals.h"

namespace hone::tuning {
namespace {

using graphs::KernelGraph;
using graphs::KernelIndex;

constexpr double kMillisecondsPerSecond = 1e3;
// The weight of the load of the fullest device, beside the time of the step:
// changes off the critical path that make room count a little.
constexpr double kLoadWeight = 0.02;

class StepLocal final : public space::LocalState {
 public:
  StepLocal(const StepSpace& space, const StepGroups& groups,
            std::shared_ptr<std::atomic<int64_t>> evaluations,
            absl::Span<const int32_t> values)
      : space_(space),
        evaluations_(std::move(evaluations)),
        rules_(space.rules()),
        values_(values.begin(), values.end()),
        moves_(space),
        proposals_(space, groups) {
    Rebuild();
  }

  absl::Span<const int32_t> values() const override { return values_; }
  space::LocalScore score() const override { return score_; }

  space::LocalScore Try(absl::Span<const space::Change> changes) override {
    ++*evaluations_;
    tried_.assign(changes.begin(), changes.end());
    changed_.clear();
    bool everything = false;
    for (const space::Change& change : tried_) {
      if (ChangesEverything(change)) {
        everything = true;
        break;
      }
      const KernelIndex kernel = plan_.kernels->kernel_of(
          space_.node_of(space_.UnitOf(change.variable)));
      if (kernel != KernelGraph::kFused) changed_.push_back(kernel);
    }
    return everything ? TryAnew() : TryChanged();
  }

  void Commit() override {
    bool everything = false;
    for (const space::Change& change : tried_) {
      values_[static_cast<size_t>(change.variable)] = change.value;
      everything |= ChangesEverything(change);
    }
    if (everything) {
      Rebuild();
    } else {
      for (const space::Change& change : tried_) Set(change);
      Remember();
    }
    tried_.clear();
  }

  void DescribeMove(absl::Span<const space::Change> changes,
                    std::vector<float>& features) override {
    if (!is_described_) {
      moves_.Start(values_, plan_, *simulator_,
                   score_.rank.cost / kMillisecondsPerSecond, path_);
      is_described_ = true;
    }
    moves_.Describe(changes, features);
  }

  void Propose(Rng& rng, std::vector<space::Change>& changes) override {
    proposals_.Propose(rng, changes);
  }

 private:
  // Whether other kernels, or the order of all, come of a change.
  bool ChangesEverything(const space::Change& change) const {
    return change.variable == space_.order_variable() ||
           space_.is_fused(change.variable);
  }

  // Makes the plan of values_ anew.
  void Rebuild() {
    plan_ = space_.Decode(values_, rules_);
    simulator_.emplace(*plan_.kernels, space_.times());
    Remember();
  }

  void Remember() {
    score_ = Score(simulator_->RunAndRemember(plan_.devices, plan_.priorities),
                   plan_);
    path_ = simulator_->CriticalPath();
    if (path_.empty()) path_ = {0};
    is_described_ = false;
    proposals_.Start(values_, plan_, *simulator_, path_);
  }

  // Makes a change of a device or a priority in the plan.
  void Set(const space::Change& change) {
    const size_t unit = space_.UnitOf(change.variable);
    const KernelIndex kernel = plan_.kernels->kernel_of(space_.node_of(unit));
    if (kernel == KernelGraph::kFused) return;
    if (space_.is_priority(change.variable)) {
      plan_.priorities[kernel] =
          space_.Priority(unit, values_[0], change.value);
    } else {
      plan_.devices[kernel] = change.value;
    }
  }

  space::LocalScore TryChanged() {
    if (changed_.empty()) return score_;
    // What was there before, to return to.
    std::vector<std::pair<int32_t, uint64_t>> before;
    before.reserve(changed_.size());
    for (const KernelIndex kernel : changed_) {
      before.emplace_back(plan_.devices[kernel], plan_.priorities[kernel]);
    }
    for (const space::Change& change : tried_) Set(change);
    const space::LocalScore score = Score(
        simulator_->Rerun(plan_.devices, plan_.priorities, changed_), plan_);
    for (size_t i = 0; i < changed_.size(); ++i) {
      plan_.devices[changed_[i]] = before[i].first;
      plan_.priorities[changed_[i]] = before[i].second;
    }
    return score;
  }

  space::LocalScore TryAnew() {
    std::vector<int32_t> values = values_;
    for (const space::Change& change : tried_) {
      values[static_cast<size_t>(change.variable)] = change.value;
    }
    const StepPlan plan = space_.Decode(values, rules_);
    backends::StepSimulator simulator(*plan.kernels, space_.times());
    return Score(simulator.Run(plan.devices, plan.priorities), plan);
  }

  space::LocalScore Score(const backends::StepResult& result,
                          const StepPlan& plan) const {
    std::vector<double> loads(
        static_cast<size_t>(space_.times().device_count()));
    for (size_t k = 0; k < plan.devices.size(); ++k) {
      const int32_t device = plan.devices[k];
      loads[static_cast<size_t>(device)] += plan.kernels->Seconds(
          static_cast<KernelIndex>(k), space_.times().kind_of(device));
    }
    const double cost = result.seconds * kMillisecondsPerSecond;
    const double load = *std::max_element(loads.begin(), loads.end());
    return {{result.worst_excess, cost},
            cost + kLoadWeight * load * kMillisecondsPerSecond};
  }

  const StepSpace& space_;
  const std::shared_ptr<std::atomic<int64_t>> evaluations_;
  graphs::FusionRules rules_;
  std::vector<int32_t> values_;
  StepPlan plan_;
  std::optional<backends::StepSimulator> simulator_;
  std::vector<KernelIndex> path_;  // critical
  space::LocalScore score_;
  std::vector<space::Change> tried_;
  std::vector<KernelIndex> changed_;
  StepMoves moves_;
  bool is_described_ = false;  // moves_ starts from values_
  StepProposals proposals_;
};

}  // namespace

std::unique_ptr<space::LocalState> MakeStepLocal(
    const StepSpace& space, const StepGroups& groups,
    std::shared_ptr<std::atomic<int64_t>> evaluations,
    absl::Span<const int32_t> values) {
  return std::make_unique<StepLocal>(space, groups, std::move(evaluations),
                                     values);
}

}  // namespace hone::tuning
