#include "hlo/fusion/fuse_by_priority.h"

#include <cstring>
#include <limits>
#include <queue>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

#include "base/hash.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/fusion/fuse.h"
#include "hlo/fusion/kernel_rules.h"

namespace hone::hlo {
namespace {

class PriorityFusion {
 public:
  PriorityFusion(const FusionSpace& space, const KernelTime& time)
      : space_(space),
        rules_(space),
        time_(time),
        layouts_(space.RowMajor()),
        fused_(space.Unfused()),
        version_(space.size()) {}

  FusionBits Run() {
    for (const FusionIndex node : space_.fusible()) {
      if (space_.node(node).is_cheap) FuseCheap(node);
    }
    for (const FusionIndex node : space_.fusible()) Enqueue(node);
    while (!queue_.empty()) {
      const Entry entry = queue_.top();
      queue_.pop();
      if (entry.version != version_[static_cast<size_t>(entry.node)] ||
          !rules_.Fuse(entry.node, fused_)) {
        continue;
      }
      for (const FusionIndex root : rules_.RootsAbove(entry.node, fused_)) {
        Enqueue(root);
        EnqueueOperands(root);
      }
    }
    return fused_;
  }

 private:
  struct Entry {
    double saved;
    FusionIndex node;
    uint32_t version;

    friend bool operator<(const Entry& a, const Entry& b) {
      return a.saved != b.saved ? a.saved < b.saved : a.node > b.node;
    }
  };

  // The time of the kernel of `root` as fused now.
  double TimeOf(FusionIndex root) {
    const std::vector<FusionIndex> members =
        rules_.MembersOf(root, fused_).nodes;
    const auto [it, is_new] =
        by_members_.emplace(FastHash(absl::string_view(
                                reinterpret_cast<const char*>(members.data()),
                                members.size() * sizeof(FusionIndex))),
                            0);
    if (!is_new) return it->second;
    const absl::StatusOr<Module> kernel = MakeKernel(space_, members, layouts_);
    if (!kernel.ok()) {
      return it->second = std::numeric_limits<double>::quiet_NaN();
    }
    const auto [known, is_unknown] =
        by_fingerprint_.emplace(FastFingerprint(*kernel), 0);
    if (is_unknown) known->second = time_(*kernel);
    return it->second = known->second;
  }

  // What the fusion of `node`, which is legal, saves; not a number if that is
  // unknown.
  double Saving(FusionIndex node) {
    uint8_t& bit = fused_[static_cast<size_t>(node)];
    const std::vector<FusionIndex> roots = rules_.RootsAbove(node, fused_);
    double saved = TimeOf(node);
    for (const FusionIndex root : roots) {
      bit = kOwnKernel;
      saved += TimeOf(root);
      bit = kFused;
      saved -= TimeOf(root);
    }
    bit = kOwnKernel;
    return saved;
  }

  // Fuses a node that costs nothing to compute again, unless that costs.
  void FuseCheap(FusionIndex node) {
    if (!rules_.Fuse(node, fused_)) return;
    fused_[static_cast<size_t>(node)] = kOwnKernel;
    if (Saving(node) >= 0) fused_[static_cast<size_t>(node)] = kFused;
  }

  void EnqueueOperands(FusionIndex root) {
    const std::vector<FusionIndex> operands =
        rules_.MembersOf(root, fused_).operands;
    for (const FusionIndex operand : operands) Enqueue(operand);
  }

  // Gives a node its place by what its fusion saves now.
  void Enqueue(FusionIndex node) {
    ++version_[static_cast<size_t>(node)];
    uint8_t& bit = fused_[static_cast<size_t>(node)];
    if (bit != kOwnKernel || space_.node(node).is_cheap ||
        !rules_.Fuse(node, fused_)) {
      return;
    }
    bit = kOwnKernel;
    const double saved = Saving(node);
    if (saved > 0) {
      queue_.push({saved, node, version_[static_cast<size_t>(node)]});
    }
  }

  const FusionSpace& space_;
  KernelRules rules_;
  const KernelTime& time_;
  const LayoutBits layouts_;
  FusionBits fused_;
  std::vector<uint32_t> version_;  // of each node's place in the queue
  std::priority_queue<Entry> queue_;
  absl::flat_hash_map<Hash128, double> by_members_;
  absl::flat_hash_map<Hash128, double> by_fingerprint_;
};

}  // namespace

FusionBits FuseByPriority(const FusionSpace& space, const KernelTime& time) {
  return PriorityFusion(space, time).Run();
}

}  // namespace hone::hlo
