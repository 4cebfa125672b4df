#ifndef HONE_HLO_FUSION_KERNEL_RULES_H_
#define HONE_HLO_FUSION_KERNEL_RULES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

#include "hlo/fusion/fusion_space.h"

namespace hone::hlo {

// Which fusion decisions make kernels that a TPU could run.
//
// A kernel of several nodes has at most kMaxMembers of them, reads at most
// kMaxOperands others, and computes at most one hero. What reads the hero, up
// to the root, is elementwise, so that each tile of the result needs one tile
// of the hero and computes it once. The root is a node that may_end. A hero is
// in one kernel, any other node in at most kMaxCopies, unless it is cheap.
//
// Every rule is a limit of a number that grows while nodes are decided, so
// decisions can be checked in part: what the check finds at fault then stays so
// however the undecided nodes are decided. It is exact for the nodes whose
// kernels are decided.
// Source: the rules of XLA's priority fusion for GPUs (reference implementation
// in openxla/xla, xla/service/gpu/transforms/priority_fusion.cc), with heroes
// inside of kernels as on TPUs.
// Threads: not thread-safe, as checks need room to work.
class KernelRules {
 public:
  static constexpr size_t kMaxMembers = 48;
  static constexpr size_t kMaxOperands = 48;
  static constexpr size_t kMaxCopies = 8;

  // `space` outlives this.
  explicit KernelRules(const FusionSpace& space);

  const FusionSpace& space() const { return space_; }

  // The nodes of a kernel, ascending, the root last; and the nodes that it
  // reads, in no meaningful order. Of undecided nodes it has neither.
  struct Members {
    std::vector<FusionIndex> nodes;
    std::vector<FusionIndex> operands;
  };
  // Returns the kernel of `root`. Valid until the next call of any method.
  const Members& MembersOf(FusionIndex root, absl::Span<const uint8_t> fused);

  // Returns the roots of the kernels that compute `node` if it is fused, or
  // read it if it is not, ascending; at most `limit` of them.
  std::vector<FusionIndex> RootsAbove(FusionIndex node,
                                      absl::Span<const uint8_t> fused,
                                      size_t limit = SIZE_MAX) {
    return EndsAbove(node, fused, limit, /*undecided=*/false);
  }
  // The same with the undecided nodes that read `node`, directly or through
  // fused ones: whatever their kernel will be, it computes `node`, or reads it.
  std::vector<FusionIndex> EndsAbove(FusionIndex node,
                                     absl::Span<const uint8_t> fused,
                                     size_t limit, bool undecided = true);

  // Describes what is wrong with the decision about `node`: that it is fused,
  // or, if it has a kernel, with that; empty if nothing is.
  std::string FaultOf(FusionIndex node, absl::Span<const uint8_t> fused);
  // Returns false if `hero` is in more than one kernel however the undecided
  // nodes are decided, if it is fused. Otherwise replaces `must_fuse` with the
  // undecided nodes that have to be fused so that it is in one.
  bool FitsOneKernel(FusionIndex hero, absl::Span<const uint8_t> fused,
                     std::vector<FusionIndex>& must_fuse);

  // OK if the rules allow the decision. Errors: InvalidArgument, "NAME: …" with
  // the last node at fault.
  absl::Status Check(absl::Span<const uint8_t> fused);
  // Returns false if one of the kernels that the decision about `node` is part
  // of, or a node in them, is at fault; also if a kernel will be whatever is
  // decided about its undecided nodes.
  bool IsLegalAround(FusionIndex node, absl::Span<const uint8_t> fused);

  // Fuses `node`, which is not fused, if that is legal where all else is, and
  // returns whether it is.
  bool Fuse(FusionIndex node, FusionBits& fused);
  // Returns the fusion of the nodes that are fused in `wanted`, as far as the
  // rules allow, users before what they read; `wanted` itself if it is legal.
  FusionBits Legalize(absl::Span<const uint8_t> wanted);

 private:
  // The most kernels that may compute `node`.
  size_t MaxCopies(FusionIndex node) const;
  // Describes what is wrong with the kernel of `root`, or with what any kernel
  // of an undecided node has; empty if nothing is.
  std::string FaultOfKernel(FusionIndex root, absl::Span<const uint8_t> fused);
  // The same of the copies of a fused node.
  std::string FaultOfCopies(FusionIndex node, absl::Span<const uint8_t> fused);

  const FusionSpace& space_;
  // Room to work.
  Members members_;
  std::vector<FusionIndex> stack_;
  std::vector<uint32_t> stamp_;
  std::vector<uint8_t> reads_hero_;
  uint32_t now_ = 0;
};

// Returns a fusion that needs no costs: every node, users first, as far as the
// rules allow.
FusionBits FuseGreedily(const FusionSpace& space);

}  // namespace hone::hlo

#endif  // HONE_HLO_FUSION_KERNEL_RULES_H_
