#include <algorithm>
#include <limits>
#include <tuple>

#include "graphs/step/partial_schedule.h"
#include "graphs/step/step_schedule.h"

namespace hone::graphs {
namespace {

constexpr size_t kMostLookedAt = 32;
constexpr KernelIndex kNone = PartialSchedule::kNone;

// Returns for each kernel the child that it sends most to, such that no two
// have the same child.
std::vector<KernelIndex> FavoriteChildren(const KernelGraph& kernels) {
  struct Gift {
    double bytes;
    KernelIndex from;
    KernelIndex to;
  };
  std::vector<Gift> gifts;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const auto kernel = static_cast<KernelIndex>(k);
    for (const KernelGraph::Use& use : kernels.uses(kernel)) {
      gifts.push_back({use.bytes, kernel, use.kernel});
    }
  }
  std::stable_sort(
      gifts.begin(), gifts.end(),
      [](const Gift& a, const Gift& b) { return a.bytes > b.bytes; });
  std::vector<KernelIndex> child(kernels.size(), kNone);
  std::vector<uint8_t> is_child(kernels.size());
  for (const Gift& gift : gifts) {
    if (child[gift.from] != kNone || is_child[gift.to] != 0) continue;
    child[gift.from] = gift.to;
    is_child[gift.to] = 1;
  }
  return child;
}

// The next kernel, with where and when it starts.
struct Choice {
  double start = std::numeric_limits<double>::infinity();
  size_t place = 0;  // among those that are ready
  int32_t device = 0;
};

class EarliestFirst {
 public:
  EarliestFirst(const KernelGraph& kernels, const DeviceTimes& times,
                bool favorites)
      : kernels_(kernels),
        times_(times),
        levels_(UpwardRanks(kernels, times, /*transfers=*/false)),
        missing_(kernels.size()),
        schedule_(kernels, times) {
    if (favorites) favorites_ = FavoriteChildren(kernels);
  }

  StepSchedule Run() {
    for (size_t k = 0; k < kernels_.size(); ++k) {
      const auto kernel = static_cast<KernelIndex>(k);
      if (!schedule_.is_scheduled(kernel)) continue;
      missing_[k] = schedule_.MissingInputs(kernel);
      if (missing_[k] == 0) AddReady(kernel);
    }
    while (!ready_.empty()) {
      const Choice choice = Choose();
      const KernelIndex kernel = ready_[choice.place];
      ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(choice.place));
      schedule_.Add(kernel, choice.device, choice.start);
      for (const KernelGraph::Use& use : kernels_.uses(kernel)) {
        if (--missing_[use.kernel] == 0) AddReady(use.kernel);
      }
    }
    return schedule_.Finish();
  }

 private:
  // Keeps the ready kernels sorted: the highest level first.
  void AddReady(KernelIndex kernel) {
    ready_.insert(std::upper_bound(ready_.begin(), ready_.end(), kernel,
                                   [&](KernelIndex a, KernelIndex b) {
                                     return std::tuple(-levels_[a], a) <
                                            std::tuple(-levels_[b], b);
                                   }),
                  kernel);
  }

  Choice Choose() {
    Choice best;
    double best_rank = std::numeric_limits<double>::infinity();
    const size_t count = std::min(ready_.size(), kMostLookedAt);
    for (size_t i = 0; i < count; ++i) {
      for (int32_t d = 0; d < times_.device_count(); ++d) {
        if (!schedule_.Fits(ready_[i], d)) continue;
        const double start =
            schedule_.EarliestStart(ready_[i], d, /*inserts=*/false);
        const double rank = start + Wait(ready_[i], d);
        if (rank < best_rank) {
          best_rank = rank;
          best = {start, i, d};
        }
      }
    }
    if (best_rank < std::numeric_limits<double>::infinity()) return best;
    for (int32_t d = 1; d < times_.device_count(); ++d) {
      if (schedule_.free_bytes(d) > schedule_.free_bytes(best.device)) {
        best.device = d;
      }
    }
    best.start =
        schedule_.EarliestStart(ready_[0], best.device, /*inserts=*/false);
    return best;
  }

  // How long a device would rather wait for the favorite child of its last
  // kernel, which is still to come, than run another kernel: as long as the
  // transfer to another device takes.
  double Wait(KernelIndex kernel, int32_t device) const {
    if (favorites_.empty()) return 0;
    const KernelIndex last = schedule_.last(device);
    if (last == kNone || favorites_[last] == kNone ||
        favorites_[last] == kernel) {
      return 0;
    }
    const KernelIndex child = favorites_[last];
    if (missing_[child] == 0) return 0;
    for (const KernelGraph::Use& use : kernels_.uses(last)) {
      if (use.kernel == child) return times_.MeanTransferSeconds(use.bytes);
    }
    return 0;
  }

  const KernelGraph& kernels_;
  const DeviceTimes& times_;
  const std::vector<double> levels_;
  std::vector<KernelIndex> favorites_;  // empty without favorites
  std::vector<size_t> missing_;         // inputs of each kernel
  std::vector<KernelIndex> ready_;
  PartialSchedule schedule_;
};

}  // namespace

StepSchedule ScheduleEarliestFirst(const KernelGraph& kernels,
                                   const DeviceTimes& times, bool favorites) {
  return EarliestFirst(kernels, times, favorites).Run();
}

}  // namespace hone::graphs
