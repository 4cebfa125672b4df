#include "tuning/tasks/tpu_fusion_domains.h"

#include <bit>
#include <cstddef>
#include <vector>

#include "hlo/fusion/kernel_rules.h"

namespace hone::tuning {
namespace {

using hlo::FusionIndex;

constexpr uint64_t kBoth = 3;

class TpuFusionDomains final : public space::Domains {
 public:
  explicit TpuFusionDomains(const hlo::FusionSpace& space)
      : space_(space),
        rules_(space),
        fused_(space.Unfused()),
        variable_of_(space.size(), -1),
        left_(space.fusible().size() + space.swappable().size(), kBoth),
        is_open_(space.size()) {
    for (size_t i = 0; i < space.fusible().size(); ++i) {
      const FusionIndex node = space.fusible()[i];
      fused_[static_cast<size_t>(node)] = hlo::kUndecided;
      variable_of_[static_cast<size_t>(node)] = static_cast<int32_t>(i);
    }
    // Heroes that are in several kernels whenever they are fused.
    for (const FusionIndex node : space.fusible()) {
      if (!LookAhead(node)) is_possible_ = false;
    }
    is_possible_ = is_possible_ && Propagate();
    trail_.clear();
  }

  int32_t variable_count() const override {
    return static_cast<int32_t>(left_.size());
  }
  uint64_t Get(int32_t variable) const override {
    return left_[static_cast<size_t>(variable)];
  }
  bool Narrow(int32_t variable, uint64_t values) override {
    return is_possible_ && Reduce(variable, values) && Propagate();
  }

  int32_t Mark() override { return static_cast<int32_t>(trail_.size()); }
  void Undo(int32_t mark) override {
    for (const FusionIndex node : open_)
      is_open_[static_cast<size_t>(node)] = 0;
    open_.clear();
    while (trail_.size() > static_cast<size_t>(mark)) {
      const auto variable = static_cast<size_t>(trail_.back());
      trail_.pop_back();
      left_[variable] = kBoth;
      if (variable < space_.fusible().size()) {
        fused_[static_cast<size_t>(space_.fusible()[variable])] =
            hlo::kUndecided;
      }
    }
  }

 private:
  bool Propagate() {
    while (!open_.empty()) {
      const FusionIndex node = open_.back();
      open_.pop_back();
      is_open_[static_cast<size_t>(node)] = 0;
      if (fused_[static_cast<size_t>(node)] == hlo::kUndecided &&
          !LookAhead(node)) {
        return false;
      }
    }
    return true;
  }

  // Returns false if nothing is left to the variable, or a kernel is at fault.
  bool Reduce(int32_t variable, uint64_t values) {
    const auto at = static_cast<size_t>(variable);
    const uint64_t after = left_[at] & values;
    if (after == left_[at]) return true;
    if (after == 0) return false;
    // There are two values, so it is decided, and both were left before.
    trail_.push_back(variable);
    left_[at] = after;
    if (at >= space_.fusible().size()) return true;
    const FusionIndex node = space_.fusible()[at];
    fused_[static_cast<size_t>(node)] =
        static_cast<uint8_t>(std::countr_zero(after));
    if (!rules_.IsLegalAround(node, fused_) || !HeroFits(node)) return false;
    const std::vector<FusionIndex> forced = must_fuse_;
    OpenAround(node);
    for (const FusionIndex other : forced) {
      if (!Reduce(variable_of_[static_cast<size_t>(other)],
                  uint64_t{1} << hlo::kFused)) {
        return false;
      }
    }
    return true;
  }

  // Returns false if the hero that the kernels of `node` compute, if there is
  // one, cannot be in a single kernel; must_fuse_ are the nodes that then have
  // to be fused.
  bool HeroFits(FusionIndex node) {
    must_fuse_.clear();
    for (const FusionIndex member : rules_.MembersOf(node, fused_).nodes) {
      if (space_.node(member).role == hlo::FusionRole::kHero &&
          fused_[static_cast<size_t>(member)] == hlo::kFused) {
        return rules_.FitsOneKernel(member, fused_, must_fuse_);
      }
    }
    return true;
  }

  // Looks again at the undecided nodes in and next to the kernels that `node`
  // is part of.
  void OpenAround(FusionIndex node) {
    std::vector<FusionIndex> ends = rules_.EndsAbove(node, fused_, kMaxEnds);
    ends.push_back(node);
    for (const FusionIndex end : ends) {
      Open(end);
      const std::vector<FusionIndex> members =
          rules_.MembersOf(end, fused_).nodes;
      for (const FusionIndex member : members) {
        for (const FusionIndex next : space_.producers(member)) Open(next);
        if (space_.node(member).is_cheap) continue;
        for (const FusionIndex next : space_.consumers(member)) Open(next);
      }
    }
  }
  void Open(FusionIndex node) {
    const auto at = static_cast<size_t>(node);
    if (fused_[at] != hlo::kUndecided || is_open_[at] != 0) return;
    is_open_[at] = 1;
    open_.push_back(node);
  }

  // Removes the values of an undecided node that would be at fault.
  bool LookAhead(FusionIndex node) {
    const auto at = static_cast<size_t>(node);
    uint64_t possible = 0;
    for (const uint8_t value : {hlo::kOwnKernel, hlo::kFused}) {
      fused_[at] = value;
      if (rules_.IsLegalAround(node, fused_) && HeroFits(node)) {
        possible |= uint64_t{1} << value;
      }
    }
    fused_[at] = hlo::kUndecided;
    return possible == kBoth ||
           (possible != 0 && Reduce(variable_of_[at], possible));
  }

  // More kernels are not looked at for what to look at again: those of a
  // constant that all of a program reads.
  static constexpr size_t kMaxEnds = 16;

  const hlo::FusionSpace& space_;
  hlo::KernelRules rules_;
  hlo::FusionBits fused_;
  std::vector<int32_t> variable_of_;  // [nodes]
  std::vector<uint64_t> left_;        // [variables]
  std::vector<int32_t> trail_;        // decided variables
  std::vector<FusionIndex> open_;     // nodes to look ahead at
  std::vector<uint8_t> is_open_;      // [nodes]
  std::vector<FusionIndex> must_fuse_;
  // False if no decision is legal.
  bool is_possible_ = true;
};

}  // namespace

std::unique_ptr<space::Domains> MakeTpuFusionDomains(
    const hlo::FusionSpace& space) {
  return std::make_unique<TpuFusionDomains>(space);
}

}  // namespace hone::tuning
