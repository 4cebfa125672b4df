#include "tuning/tasks/step_proposals.h"

#include <algorithm>

#include "graphs/op_graph.h"
#include "graphs/step/kernel_graph.h"

namespace hone::tuning {

using graphs::KernelGraph;
using graphs::KernelIndex;
using graphs::NodeIndex;

namespace {

// Draws of a proposal.
constexpr int kMaxDraws = 16;
// Draws of a fusion that is legal.
constexpr int kMaxFusionDraws = 8;

// The shares of kinds of moves, of 100, where devices are decided; the rest are
// devices. Measured on training steps: most of what a search gains is by
// devices, and most priorities change nothing.
constexpr uint64_t kOrderShare = 1;
constexpr uint64_t kFusionShare = 24;
constexpr uint64_t kPriorityShare = 5;

}  // namespace

StepProposals::StepProposals(const StepSpace& space, const StepGroups& groups)
    : space_(space), groups_(groups), rules_(space.rules()) {}

void StepProposals::Start(absl::Span<const int32_t> values,
                          const StepPlan& plan,
                          const backends::StepSimulator& simulator,
                          absl::Span<const KernelIndex> path) {
  values_ = values;
  plan_ = &plan;
  simulator_ = &simulator;
  path_ = path;
}

void StepProposals::Propose(Rng& rng, std::vector<space::Change>& changes) {
  changes.clear();
  const StepDecisions& decides = space_.decisions();
  for (int i = 0; i < kMaxDraws && changes.empty(); ++i) {
    const uint64_t kind = rng.Below(100);
    if (kind < kOrderShare && space_.order_variable() >= 0) {
      const auto orders = static_cast<uint64_t>(space_.groups()[0].domain);
      const auto order = static_cast<int32_t>(rng.Below(orders));
      if (order != values_[0]) changes.push_back({0, order});
    } else if (decides.fusion &&
               (kind < kOrderShare + kFusionShare || !decides.devices)) {
      ProposeFusion(rng, changes);
    } else if (decides.priorities &&
               (kind < kOrderShare + kFusionShare + kPriorityShare ||
                !decides.devices)) {
      if (rng.Below(2) == 0) {
        ProposeOvertaking(rng, changes);
      } else {
        ProposePriorities(rng, changes);
      }
    } else if (decides.devices) {
      ProposeDevices(rng, changes);
    }
  }
}

size_t StepProposals::PickUnit(Rng& rng) const {
  const KernelIndex kernel =
      rng.Below(4) == 0
          ? static_cast<KernelIndex>(rng.Below(plan_->kernels->size()))
          : path_[rng.Below(path_.size())];
  return UnitOfNode(plan_->kernels->root(kernel));
}

size_t StepProposals::UnitOfNode(NodeIndex node) const {
  return space_.decisions().fusion ? node
                                   : space_.default_kernels()->kernel_of(node);
}

size_t StepProposals::RootOf(size_t unit) const {
  NodeIndex node = space_.node_of(unit);
  while (plan_->fused[node] != 0) {
    node = space_.graph().adjacency().successors(node)[0];
  }
  return UnitOfNode(node);
}

int32_t StepProposals::PickDevice(size_t unit, Rng& rng) const {
  const KernelIndex kernel = plan_->kernels->kernel_of(space_.node_of(unit));
  const auto devices = static_cast<uint64_t>(space_.times().device_count());
  if (rng.Below(5) != 0) {
    const auto inputs = plan_->kernels->inputs(kernel);
    const auto uses = plan_->kernels->uses(kernel);
    if (inputs.size() + uses.size() > 0) {
      const uint64_t pick = rng.Below(inputs.size() + uses.size());
      return plan_
          ->devices[pick < inputs.size() ? inputs[pick]
                                         : uses[pick - inputs.size()].kernel];
    }
  }
  return static_cast<int32_t>(rng.Below(devices));
}

void StepProposals::ProposeDevices(Rng& rng,
                                   std::vector<space::Change>& changes) const {
  const size_t unit = PickUnit(rng);
  const size_t level = rng.Below(groups_.level_count());
  const absl::Span<const uint32_t> members = groups_.Members(level, unit);
  const auto first = static_cast<size_t>(space_.first_device());
  const int32_t from = values_[first + unit];
  // A member at the edge of the group is next to where it could go.
  int32_t to = PickDevice(RootOf(members[rng.Below(members.size())]), rng);
  if (to == from) to = PickDevice(unit, rng);
  if (to == from) return;
  // All of the group, or those of it that are where the unit is.
  const bool all = rng.Below(2) == 0;
  for (const uint32_t member : members) {
    if (IsFused(member)) continue;
    const int32_t device = values_[first + member];
    if (device == to || (!all && device != from)) continue;
    changes.push_back({static_cast<int32_t>(first + member), to});
  }
}

void StepProposals::ProposePriorities(
    Rng& rng, std::vector<space::Change>& changes) const {
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
    if (IsFused(member) || values_[first + member] == after) continue;
    changes.push_back({static_cast<int32_t>(first + member), after});
  }
}

void StepProposals::ProposeOvertaking(
    Rng& rng, std::vector<space::Change>& changes) const {
  const KernelGraph& kernels = *plan_->kernels;
  const size_t at = rng.Below(path_.size());
  const KernelIndex late = path_[at];
  double ready = 0;
  for (const KernelIndex input : kernels.inputs(late)) {
    ready = std::max(ready, simulator_->finish(input));
  }
  // What its device ran after that, on the critical path.
  const int32_t device = plan_->devices[late];
  const size_t kind = space_.times().kind_of(device);
  size_t end = at + 1;
  while (end < path_.size() && plan_->devices[path_[end]] == device &&
         simulator_->finish(path_[end]) - kernels.Seconds(path_[end], kind) >=
             ready) {
    ++end;
  }
  if (end == at + 1) return;
  const KernelIndex early = path_[at + 1 + rng.Below(end - at - 1)];
  // The late one goes up or the early one down, as little as it takes.
  const bool up = rng.Below(2) == 0;
  const size_t unit = UnitOfNode(kernels.root(up ? late : early));
  const uint64_t other = plan_->priorities[up ? early : late];
  const auto variable = static_cast<size_t>(space_.first_priority()) + unit;
  for (int32_t level = values_[variable];
       level >= 0 && level < StepSpace::kLevels; level += up ? 1 : -1) {
    const uint64_t priority = space_.Priority(unit, values_[0], level);
    if (up ? priority <= other : priority >= other) continue;
    if (level != values_[variable]) {
      changes.push_back({static_cast<int32_t>(variable), level});
    }
    return;
  }
}

void StepProposals::ProposeFusion(Rng& rng,
                                  std::vector<space::Change>& changes) {
  const NodeIndex root = space_.node_of(PickUnit(rng));
  rules_.Cost(root, plan_->fused);
  const std::vector<NodeIndex> members(rules_.members().begin(),
                                       rules_.members().end());
  if (members.size() > 1 && rng.Below(6) == 0) {
    ProposeSplit(root, members[1 + rng.Below(members.size() - 1)], rng,
                 changes);
    return;
  }
  graphs::Fusion fused = plan_->fused;
  for (int i = 0; i < kMaxFusionDraws; ++i) {
    const auto inputs = space_.graph().adjacency().predecessors(
        members[rng.Below(members.size())]);
    if (inputs.empty()) continue;
    const NodeIndex input = inputs[rng.Below(inputs.size())];
    if (fused[input] != 0 || !rules_.Fuse(input, fused)) continue;
    for (const NodeIndex node : PickAlike(input, rng)) {
      if (node != input && !rules_.Fuse(node, fused)) continue;
      changes.push_back({space_.first_fused() + static_cast<int32_t>(node), 1});
    }
    return;
  }
}

void StepProposals::ProposeSplit(NodeIndex root, NodeIndex member, Rng& rng,
                                 std::vector<space::Change>& changes) const {
  for (const NodeIndex node : PickAlike(member, rng)) {
    changes.push_back({space_.first_fused() + static_cast<int32_t>(node), 0});
    const size_t kernel = node == member ? root : RootOf(node);
    Copy(space_.first_device(), kernel, node, changes);
    Copy(space_.first_priority(), kernel, node, changes);
  }
}

std::vector<NodeIndex> StepProposals::PickAlike(NodeIndex node,
                                                Rng& rng) const {
  std::vector<NodeIndex> alike = {node};
  if (rng.Below(5) == 0) return alike;
  const graphs::OpNode& like = space_.graph().node(node);
  const auto add = [&](NodeIndex other) {
    const graphs::OpNode& of = space_.graph().node(other);
    if (other != node && plan_->fused[other] == plan_->fused[node] &&
        of.opcode == like.opcode && of.flops == like.flops &&
        of.output_bytes == like.output_bytes) {
      alike.push_back(other);
    }
  };
  // Of a group, or of the whole graph.
  const size_t level = rng.Below(groups_.level_count() + 1);
  if (level < groups_.level_count()) {
    for (const uint32_t unit : groups_.Members(level, node)) {
      add(space_.node_of(unit));
    }
  } else {
    for (NodeIndex other = 0; other < space_.graph().size(); ++other) {
      add(other);
    }
  }
  return alike;
}

void StepProposals::Copy(int32_t first, size_t from, size_t unit,
                         std::vector<space::Change>& changes) const {
  if (first < 0) return;
  const int32_t value = values_[static_cast<size_t>(first) + from];
  if (values_[static_cast<size_t>(first) + unit] != value) {
    changes.push_back({first + static_cast<int32_t>(unit), value});
  }
}

}  // namespace hone::tuning
