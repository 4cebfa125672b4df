#include "tuning/tasks/step_local.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "backends/cluster_sim/step_simulator.h"
#include "tuning/tasks/step_moves.h"

namespace hone::tuning {
namespace {

using graphs::KernelGraph;
using graphs::KernelIndex;
using graphs::NodeIndex;

constexpr double kMillisecondsPerSecond = 1e3;
// The weight of the load of the fullest device, beside the time of the step:
// changes off the critical path that make room count a little.
constexpr double kLoadWeight = 0.02;
// Draws of a proposal.
constexpr int kMaxDraws = 16;

class StepLocal final : public space::LocalState {
 public:
  StepLocal(const StepSpace& space, const StepGroups& groups,
            std::shared_ptr<std::atomic<int64_t>> evaluations,
            absl::Span<const int32_t> values)
      : space_(space),
        groups_(groups),
        evaluations_(std::move(evaluations)),
        rules_(space.rules()),
        values_(values.begin(), values.end()),
        moves_(space) {
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
      if (change.variable == space_.order_variable() || IsFusion(change)) {
        everything = true;
        break;
      }
      const KernelIndex kernel = plan_.kernels->kernel_of(
          space_.node_of(space_.UnitOf(change.variable)));
      if (kernel != KernelGraph::kFused) changed_.push_back(kernel);
    }
    tried_score_ = everything ? TryAnew() : TryChanged();
    return tried_score_;
  }

  void Commit() override {
    bool everything = false;
    for (const space::Change& change : tried_) {
      values_[static_cast<size_t>(change.variable)] = change.value;
      everything |=
          change.variable == space_.order_variable() || IsFusion(change);
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
    changes.clear();
    for (int i = 0; i < kMaxDraws && changes.empty(); ++i) {
      const uint64_t kind = rng.Below(100);
      const StepDecisions& decides = space_.decisions();
      if (kind == 0 && space_.order_variable() >= 0) {
        const auto orders = static_cast<uint64_t>(space_.groups()[0].domain);
        const auto order = static_cast<int32_t>(rng.Below(orders));
        if (order != values_[0]) changes.push_back({0, order});
      } else if (decides.fusion && (kind < 35 || !decides.devices)) {
        ProposeFusion(rng, changes);
      } else if (decides.priorities && (kind < 50 || !decides.devices)) {
        ProposePriority(rng, changes);
      } else if (decides.devices) {
        ProposeDevices(rng, changes);
      }
    }
  }

 private:
  bool IsFusion(const space::Change& change) const {
    return space_.first_fused() >= 0 && change.variable >= space_.first_fused();
  }
  bool IsPriority(const space::Change& change) const {
    return space_.first_priority() >= 0 &&
           change.variable >= space_.first_priority() && !IsFusion(change);
  }
  size_t DeviceVariable(size_t unit) const {
    return static_cast<size_t>(space_.first_device()) + unit;
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
  }

  // Makes a change of a device or a priority in the plan.
  void Set(const space::Change& change) {
    const size_t unit = space_.UnitOf(change.variable);
    const KernelIndex kernel = plan_.kernels->kernel_of(space_.node_of(unit));
    if (kernel == KernelGraph::kFused) return;
    if (IsPriority(change)) {
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

  // The unit of a kernel: one on the critical path most of the time.
  size_t PickUnit(Rng& rng) const {
    const KernelIndex kernel =
        rng.Below(4) == 0
            ? static_cast<KernelIndex>(rng.Below(plan_.kernels->size()))
            : path_[rng.Below(path_.size())];
    return UnitOfNode(plan_.kernels->root(kernel));
  }
  size_t UnitOfNode(NodeIndex node) const {
    return space_.decisions().fusion
               ? node
               : space_.default_kernels()->kernel_of(node);
  }

  // The device of a kernel that gives or takes a result of `unit`, or any.
  int32_t PickDevice(size_t unit, Rng& rng) const {
    const KernelIndex kernel = plan_.kernels->kernel_of(space_.node_of(unit));
    const auto devices = static_cast<uint64_t>(space_.times().device_count());
    if (kernel != KernelGraph::kFused && rng.Below(5) != 0) {
      const auto inputs = plan_.kernels->inputs(kernel);
      const auto uses = plan_.kernels->uses(kernel);
      if (inputs.size() + uses.size() > 0) {
        const uint64_t pick = rng.Below(inputs.size() + uses.size());
        return plan_
            .devices[pick < inputs.size() ? inputs[pick]
                                          : uses[pick - inputs.size()].kernel];
      }
    }
    return static_cast<int32_t>(rng.Below(devices));
  }

  void ProposeDevices(Rng& rng, std::vector<space::Change>& changes) const {
    const size_t unit = PickUnit(rng);
    const size_t level = rng.Below(groups_.level_count());
    const absl::Span<const uint32_t> members = groups_.Members(level, unit);
    const int32_t from = values_[DeviceVariable(unit)];
    // A member at the edge of the group is next to where it could go.
    int32_t to = PickDevice(members[rng.Below(members.size())], rng);
    if (to == from) to = PickDevice(unit, rng);
    if (to == from) return;
    // All of the group, or those of it that are where the unit is.
    const bool all = rng.Below(2) == 0;
    for (const uint32_t member : members) {
      const size_t variable = DeviceVariable(member);
      if (values_[variable] == to || (!all && values_[variable] != from)) {
        continue;
      }
      changes.push_back({static_cast<int32_t>(variable), to});
    }
  }

  void ProposePriority(Rng& rng, std::vector<space::Change>& changes) const {
    const size_t unit = PickUnit(rng);
    const size_t level = rng.Below(std::min<size_t>(3, groups_.level_count()));
    const auto first = static_cast<size_t>(space_.first_priority());
    const int32_t before = values_[first + unit];
    int32_t after = static_cast<int32_t>(rng.Below(StepSpace::kLevels));
    if (rng.Below(2) == 0) {
      after = std::clamp(before + (rng.Below(3) == 0 ? -1 : 1), 0,
                         StepSpace::kLevels - 1);
    }
    if (after == before) return;
    for (const uint32_t member : groups_.Members(level, unit)) {
      const size_t variable = first + member;
      if (values_[variable] != after) {
        changes.push_back({static_cast<int32_t>(variable), after});
      }
    }
  }

  // Fuses what a kernel reads, or makes a member of it a kernel of its own,
  // where the kernel is.
  void ProposeFusion(Rng& rng, std::vector<space::Change>& changes) {
    const NodeIndex root = space_.node_of(PickUnit(rng));
    const auto first = static_cast<size_t>(space_.first_fused());
    rules_.Cost(root, plan_.fused);
    const std::vector<NodeIndex> members(rules_.members().begin(),
                                         rules_.members().end());
    const NodeIndex member = members[rng.Below(members.size())];
    if (member != root && rng.Below(2) == 0) {
      changes.push_back({static_cast<int32_t>(first + member), 0});
      if (space_.decisions().devices) {
        const int32_t device = values_[DeviceVariable(root)];
        if (values_[DeviceVariable(member)] != device) {
          changes.push_back(
              {static_cast<int32_t>(DeviceVariable(member)), device});
        }
      }
      return;
    }
    const auto before = space_.graph().adjacency().predecessors(member);
    if (before.empty()) return;
    const NodeIndex input = before[rng.Below(before.size())];
    if (plan_.fused[input] == 0 && rules_.may_fuse(input)) {
      changes.push_back({static_cast<int32_t>(first + input), 1});
    }
  }

  const StepSpace& space_;
  const StepGroups& groups_;
  const std::shared_ptr<std::atomic<int64_t>> evaluations_;
  graphs::FusionRules rules_;
  std::vector<int32_t> values_;
  StepPlan plan_;
  std::optional<backends::StepSimulator> simulator_;
  std::vector<KernelIndex> path_;  // critical
  space::LocalScore score_;
  std::vector<space::Change> tried_;
  std::vector<KernelIndex> changed_;
  space::LocalScore tried_score_;
  StepMoves moves_;
  bool is_described_ = false;  // moves_ starts from values_
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
