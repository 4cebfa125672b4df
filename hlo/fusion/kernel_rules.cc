#include "hlo/fusion/kernel_rules.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"

namespace hone::hlo {

KernelRules::KernelRules(const FusionSpace& space)
    : space_(space), stamp_(space.size()), reads_hero_(space.size()) {}

const KernelRules::Members& KernelRules::MembersOf(
    FusionIndex root, absl::Span<const uint8_t> fused) {
  ++now_;
  members_.nodes = {root};
  members_.operands.clear();
  stamp_[static_cast<size_t>(root)] = now_;
  for (size_t i = 0; i < members_.nodes.size(); ++i) {
    for (const FusionIndex before : space_.producers(members_.nodes[i])) {
      const auto at = static_cast<size_t>(before);
      if (stamp_[at] == now_ || fused[at] == kUndecided) continue;
      stamp_[at] = now_;
      (fused[at] == kFused ? members_.nodes : members_.operands)
          .push_back(before);
    }
  }
  std::sort(members_.nodes.begin(), members_.nodes.end());
  return members_;
}

std::vector<FusionIndex> KernelRules::EndsAbove(FusionIndex node,
                                                absl::Span<const uint8_t> fused,
                                                size_t limit, bool undecided) {
  std::vector<FusionIndex> roots;
  ++now_;
  stack_ = {node};
  while (!stack_.empty()) {
    const FusionIndex from = stack_.back();
    stack_.pop_back();
    for (const FusionIndex user : space_.consumers(from)) {
      const auto at = static_cast<size_t>(user);
      if (stamp_[at] == now_ || (fused[at] == kUndecided && !undecided) ||
          space_.node(user).role == FusionRole::kSource) {
        continue;
      }
      stamp_[at] = now_;
      if (fused[at] == kFused) {
        stack_.push_back(user);
      } else {
        if (roots.size() == limit) break;
        roots.push_back(user);
      }
    }
    if (roots.size() == limit) break;
  }
  std::sort(roots.begin(), roots.end());
  return roots;
}

size_t KernelRules::MaxCopies(FusionIndex node) const {
  if (space_.node(node).is_cheap) return SIZE_MAX;
  return space_.node(node).role == FusionRole::kHero ? 1 : kMaxCopies;
}

bool KernelRules::FitsOneKernel(FusionIndex hero,
                                absl::Span<const uint8_t> fused,
                                std::vector<FusionIndex>& must_fuse) {
  must_fuse.clear();
  // The readers so far, the first on top. Each is in the kernel; its root is
  // the last of all.
  std::priority_queue<FusionIndex, std::vector<FusionIndex>, std::greater<>>
      readers;
  ++now_;
  const auto add_readers = [&](FusionIndex node) {
    for (const FusionIndex user : space_.consumers(node)) {
      if (stamp_[static_cast<size_t>(user)] == now_) continue;
      stamp_[static_cast<size_t>(user)] = now_;
      readers.push(user);
    }
  };
  add_readers(hero);
  for (size_t members = 1; members <= kMaxMembers && !readers.empty();
       ++members) {
    const FusionIndex reader = readers.top();
    readers.pop();
    const uint8_t bit = fused[static_cast<size_t>(reader)];
    if (space_.node(reader).role != FusionRole::kElementwise) return false;
    // May be the root.
    if (readers.empty() && bit != kFused) return true;
    if (bit == kOwnKernel) return false;
    if (bit == kUndecided) must_fuse.push_back(reader);
    add_readers(reader);
  }
  return false;
}

std::string KernelRules::FaultOfKernel(FusionIndex root,
                                       absl::Span<const uint8_t> fused) {
  const Members& members = MembersOf(root, fused);
  if (members.nodes.size() == 1) return "";
  if (members.nodes.size() > kMaxMembers) {
    return absl::StrCat("its kernel has ", members.nodes.size(),
                        " instructions, expected at most ", kMaxMembers);
  }
  if (members.operands.size() > kMaxOperands) {
    return absl::StrCat("its kernel reads ", members.operands.size(),
                        " arrays, expected at most ", kMaxOperands);
  }
  if (!space_.node(root).may_end &&
      fused[static_cast<size_t>(root)] == kOwnKernel) {
    return "its kernel has other instructions, expected none, or to be fused "
           "itself: its batch dimensions do not come first or it contracts "
           "several dimensions or none";
  }
  FusionIndex hero = -1;
  for (const FusionIndex member : members.nodes) {
    if (space_.node(member).role != FusionRole::kHero) continue;
    if (hero >= 0) {
      return absl::StrCat("its kernel has ", space_.NameOf(hero), " and ",
                          space_.NameOf(member), ", expected one of them");
    }
    hero = member;
  }
  if (hero < 0 || hero == root) return "";
  // A stamp is a member or an operand, and operands are not fused.
  for (const FusionIndex member : members.nodes) {
    uint8_t reads = 0;
    for (const FusionIndex before : space_.producers(member)) {
      const auto at = static_cast<size_t>(before);
      if (fused[at] != kFused) continue;
      if (before == hero || reads_hero_[at] != 0) reads = 1;
    }
    reads_hero_[static_cast<size_t>(member)] = reads;
    if (reads != 0 && space_.node(member).role != FusionRole::kElementwise) {
      return absl::StrCat("its kernel has ", space_.NameOf(hero), ", which ",
                          space_.NameOf(member),
                          " reads, expected elementwise instructions only");
    }
  }
  return "";
}

std::string KernelRules::FaultOfCopies(FusionIndex node,
                                       absl::Span<const uint8_t> fused) {
  const size_t most = MaxCopies(node);
  if (most == SIZE_MAX || RootsAbove(node, fused, most + 1).size() <= most) {
    return "";
  }
  return absl::StrCat("is fused into more than ", most,
                      " kernels, expected at most ", most);
}

std::string KernelRules::FaultOf(FusionIndex node,
                                 absl::Span<const uint8_t> fused) {
  const uint8_t bit = fused[static_cast<size_t>(node)];
  if (bit == kFused) {
    return space_.node(node).may_fuse ? FaultOfCopies(node, fused)
                                      : "is fused, expected not to be";
  }
  if (bit == kUndecided || space_.node(node).role == FusionRole::kSource) {
    return "";
  }
  return FaultOfKernel(node, fused);
}

absl::Status KernelRules::Check(absl::Span<const uint8_t> fused) {
  for (size_t i = space_.size(); i-- > 0;) {
    const auto node = static_cast<FusionIndex>(i);
    const std::string fault = FaultOf(node, fused);
    if (!fault.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(space_.NameOf(node), ": ", fault));
    }
  }
  return absl::OkStatus();
}

bool KernelRules::IsLegalAround(FusionIndex node,
                                absl::Span<const uint8_t> fused) {
  const uint8_t bit = fused[static_cast<size_t>(node)];
  if (bit == kFused &&
      (!space_.node(node).may_fuse || !FaultOfCopies(node, fused).empty())) {
    return false;
  }
  std::vector<FusionIndex> ends = EndsAbove(node, fused, SIZE_MAX);
  if (bit != kFused) ends.push_back(node);
  std::vector<FusionIndex> members;
  for (const FusionIndex end : ends) {
    if (!FaultOfKernel(end, fused).empty()) return false;
    members.insert(members.end(), members_.nodes.begin(), members_.nodes.end());
  }
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  return absl::c_all_of(members, [&](FusionIndex member) {
    return fused[static_cast<size_t>(member)] != kFused ||
           FaultOfCopies(member, fused).empty();
  });
}

bool KernelRules::Fuse(FusionIndex node, FusionBits& fused) {
  if (!space_.node(node).may_fuse) return false;
  uint8_t& bit = fused[static_cast<size_t>(node)];
  bit = kFused;
  if (IsLegalAround(node, fused)) return true;
  bit = kOwnKernel;
  return false;
}

FusionBits KernelRules::Legalize(absl::Span<const uint8_t> wanted) {
  // In the order below a kernel may break a rule on the way to what is legal.
  if (Check(wanted).ok()) return FusionBits(wanted.begin(), wanted.end());
  FusionBits fused = space_.Unfused();
  for (const FusionIndex node : space_.fusible()) {
    if (wanted[static_cast<size_t>(node)] != kOwnKernel) Fuse(node, fused);
  }
  return fused;
}

FusionBits FuseGreedily(const FusionSpace& space) {
  return KernelRules(space).Legalize(FusionBits(space.size(), kFused));
}

}  // namespace hone::hlo
