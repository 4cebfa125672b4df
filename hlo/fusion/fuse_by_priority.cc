#include "hlo/fusion/fuse_by_priority.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

#include "base/hash.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/fusion/fuse.h"
#include "hlo/fusion/kernel_rules.h"

namespace hone::hlo {
namespace {

// The place of the time of a kernel that has no module.
constexpr size_t kNoKernel = std::numeric_limits<size_t>::max();

class PriorityFusion {
 public:
  PriorityFusion(const FusionSpace& space, const KernelTimes& times)
      : space_(space),
        rules_(space),
        times_(times),
        layouts_(space.RowMajor()),
        fused_(space.Unfused()),
        version_(space.size()) {}

  FusionBits Run() {
    for (const FusionIndex node : space_.fusible()) {
      if (space_.node(node).is_cheap) FuseCheap(node);
    }
    Enqueue({space_.fusible().begin(), space_.fusible().end()});
    while (!queue_.empty()) {
      const Entry entry = queue_.top();
      queue_.pop();
      if (entry.version != version_[static_cast<size_t>(entry.node)] ||
          !rules_.Fuse(entry.node, fused_)) {
        continue;
      }
      std::vector<FusionIndex> nodes = rules_.RootsAbove(entry.node, fused_);
      for (size_t i = 0, roots = nodes.size(); i < roots; ++i) {
        const std::vector<FusionIndex>& operands =
            rules_.MembersOf(nodes[i], fused_).operands;
        nodes.insert(nodes.end(), operands.begin(), operands.end());
      }
      std::sort(nodes.begin(), nodes.end());
      nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
      Enqueue(nodes);
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

  // The time of the kernel of `root` as fused now; not a number if it is not
  // known yet, and asked for by AskForTimes.
  double TimeOf(FusionIndex root) {
    const std::vector<FusionIndex>& members =
        rules_.MembersOf(root, fused_).nodes;
    const auto [it, is_new] =
        by_members_.emplace(FastHash(absl::string_view(
                                reinterpret_cast<const char*>(members.data()),
                                members.size() * sizeof(FusionIndex))),
                            kNoKernel);
    if (is_new) {
      absl::StatusOr<Module> kernel = MakeKernel(space_, members, layouts_);
      if (kernel.ok()) it->second = NumberOf(*std::move(kernel));
    }
    return it->second == kNoKernel ? std::numeric_limits<double>::quiet_NaN()
                                   : known_[it->second];
  }

  // Returns the place in known_ of the time of a kernel.
  size_t NumberOf(Module kernel) {
    const auto [it, is_new] =
        by_fingerprint_.emplace(FastFingerprint(kernel), known_.size());
    if (is_new) {
      known_.push_back(std::numeric_limits<double>::quiet_NaN());
      unknown_.push_back(std::move(kernel));
    }
    return it->second;
  }

  // Makes the times known that TimeOf did not know; returns whether there were
  // any.
  bool AskForTimes() {
    if (unknown_.empty()) return false;
    const size_t first = known_.size() - unknown_.size();
    const std::vector<double> times =
        times_(std::exchange(unknown_, std::vector<Module>()));
    for (size_t i = 0; i < times.size(); ++i) known_[first + i] = times[i];
    return true;
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
    double saved = Saving(node);
    if (AskForTimes()) saved = Saving(node);
    if (saved >= 0) fused_[static_cast<size_t>(node)] = kFused;
  }

  // Gives distinct nodes their places by what their fusion saves now.
  void Enqueue(const std::vector<FusionIndex>& nodes) {
    std::vector<FusionIndex> legal;
    for (const FusionIndex node : nodes) {
      ++version_[static_cast<size_t>(node)];
      uint8_t& bit = fused_[static_cast<size_t>(node)];
      if (bit != kOwnKernel || space_.node(node).is_cheap ||
          !rules_.Fuse(node, fused_)) {
        continue;
      }
      bit = kOwnKernel;
      legal.push_back(node);
    }
    std::vector<double> saved(legal.size());
    const auto find_savings = [&] {
      for (size_t i = 0; i < legal.size(); ++i) saved[i] = Saving(legal[i]);
    };
    find_savings();
    if (AskForTimes()) find_savings();
    for (size_t i = 0; i < legal.size(); ++i) {
      if (!(saved[i] > 0)) continue;
      queue_.push(
          {saved[i], legal[i], version_[static_cast<size_t>(legal[i])]});
    }
  }

  const FusionSpace& space_;
  KernelRules rules_;
  const KernelTimes& times_;
  const LayoutBits layouts_;
  FusionBits fused_;
  std::vector<uint32_t> version_;  // of each node's place in the queue
  std::priority_queue<Entry> queue_;
  // The times of kernels, and where they are there.
  std::vector<double> known_;
  absl::flat_hash_map<Hash128, size_t> by_members_;
  absl::flat_hash_map<Hash128, size_t> by_fingerprint_;
  // The last ones of known_, which are to be asked for.
  std::vector<Module> unknown_;
};

}  // namespace

FusionBits FuseByPriority(const FusionSpace& space, const KernelTime& time) {
  return FuseByPriority(space, [&time](const std::vector<Module>& kernels) {
    std::vector<double> times;
    times.reserve(kernels.size());
    for (const Module& kernel : kernels) times.push_back(time(kernel));
    return times;
  });
}

FusionBits FuseByPriority(const FusionSpace& space, const KernelTimes& times) {
  return PriorityFusion(space, times).Run();
}

}  // namespace hone::hlo
