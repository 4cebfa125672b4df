#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>

#include "graphs/step/partial_schedule.h"
#include "graphs/step/step_schedule.h"

namespace hone::graphs {
namespace {

// Children that looking ahead looks at, and their inputs, each time that one of
// these is scheduled: of a child with more, one input tells little.
constexpr size_t kMostChildren = 8;
constexpr size_t kMostInputs = 128;

double MeanSeconds(const KernelGraph& kernels, const DeviceTimes& times,
                   KernelIndex kernel) {
  double sum = 0;
  for (int32_t d = 0; d < times.device_count(); ++d) {
    sum += kernels.Seconds(kernel, times.kind_of(d));
  }
  return sum / times.device_count();
}

// The longest path from the beginning to each kernel, itself left out.
std::vector<double> DownwardRanks(const KernelGraph& kernels,
                                  const DeviceTimes& times) {
  std::vector<double> ranks(kernels.size());
  for (const KernelIndex kernel : kernels.topological_order()) {
    const double end = ranks[kernel] + MeanSeconds(kernels, times, kernel);
    for (const KernelGraph::Use& use : kernels.uses(kernel)) {
      ranks[use.kernel] = std::max(ranks[use.kernel],
                                   end + times.MeanTransferSeconds(use.bytes));
    }
  }
  return ranks;
}

std::vector<double> Ranks(const KernelGraph& kernels, const DeviceTimes& times,
                          ListRank rank) {
  switch (rank) {
    case ListRank::kUpward:
      return UpwardRanks(kernels, times, /*transfers=*/true);
    case ListRank::kStaticLevel:
      return UpwardRanks(kernels, times, /*transfers=*/false);
    case ListRank::kUpwardDownward: {
      std::vector<double> ranks = UpwardRanks(kernels, times, true);
      const std::vector<double> down = DownwardRanks(kernels, times);
      for (size_t k = 0; k < ranks.size(); ++k) ranks[k] += down[k];
      return ranks;
    }
    case ListRank::kProgram:
      break;
  }
  std::vector<double> ranks(kernels.size());
  for (size_t i = 0; i < ranks.size(); ++i) {
    ranks[kernels.topological_order()[i]] = -static_cast<double>(i);
  }
  return ranks;
}

// When the last of the kernels that read the result of `kernel`, which would
// finish on `device` at `finish`, could finish, each on the device that suits
// it best.
double LookAhead(const KernelGraph& kernels, const DeviceTimes& times,
                 const PartialSchedule& schedule, KernelIndex kernel,
                 int32_t device, double finish) {
  double last = finish;
  const absl::Span<const KernelGraph::Use> uses = kernels.uses(kernel);
  for (const KernelGraph::Use& use : uses.subspan(0, kMostChildren)) {
    if (kernels.inputs(use.kernel).size() > kMostInputs) continue;
    double first = std::numeric_limits<double>::infinity();
    for (int32_t d = 0; d < times.device_count(); ++d) {
      first = std::min(
          first, schedule.StartAfter(use.kernel, d, kernel, device, finish) +
                     schedule.Seconds(use.kernel, d));
    }
    last = std::max(last, first);
  }
  return last;
}

}  // namespace

std::vector<double> UpwardRanks(const KernelGraph& kernels,
                                const DeviceTimes& times, bool transfers) {
  std::vector<double> ranks(kernels.size());
  const absl::Span<const KernelIndex> order = kernels.topological_order();
  for (size_t i = order.size(); i-- > 0;) {
    const KernelIndex kernel = order[i];
    double after = 0;
    for (const KernelGraph::Use& use : kernels.uses(kernel)) {
      after = std::max(
          after, ranks[use.kernel] +
                     (transfers ? times.MeanTransferSeconds(use.bytes) : 0));
    }
    ranks[kernel] = after + MeanSeconds(kernels, times, kernel);
  }
  return ranks;
}

std::vector<double> PlacedRanks(const KernelGraph& kernels,
                                const DeviceTimes& times,
                                absl::Span<const int32_t> devices) {
  std::vector<double> ranks(kernels.size());
  const absl::Span<const KernelIndex> order = kernels.topological_order();
  for (size_t i = order.size(); i-- > 0;) {
    const KernelIndex kernel = order[i];
    const int32_t from = devices[kernel];
    double after = 0;
    for (const KernelGraph::Use& use : kernels.uses(kernel)) {
      after = std::max(
          after, ranks[use.kernel] + times.TransferSeconds(
                                         from, devices[use.kernel], use.bytes));
    }
    ranks[kernel] = after + kernels.Seconds(kernel, times.kind_of(from));
  }
  return ranks;
}

StepSchedule ScheduleByRank(const KernelGraph& kernels,
                            const DeviceTimes& times,
                            const ListScheduleOptions& options) {
  const std::vector<double> ranks = Ranks(kernels, times, options.rank);
  PartialSchedule schedule(kernels, times);
  std::vector<size_t> missing(kernels.size());
  // The highest rank first, then the lowest number.
  std::priority_queue<std::pair<double, int64_t>> ready;
  const auto add_ready = [&](size_t kernel) {
    ready.emplace(ranks[kernel], -static_cast<int64_t>(kernel));
  };
  for (size_t k = 0; k < kernels.size(); ++k) {
    const auto kernel = static_cast<KernelIndex>(k);
    if (!schedule.is_scheduled(kernel)) continue;
    missing[k] = schedule.MissingInputs(kernel);
    if (missing[k] == 0) add_ready(k);
  }
  while (!ready.empty()) {
    const auto kernel = static_cast<KernelIndex>(-ready.top().second);
    ready.pop();
    int32_t best = 0;
    int32_t roomiest = 0;
    double best_start = 0;
    double best_end = std::numeric_limits<double>::infinity();
    for (int32_t d = 0; d < times.device_count(); ++d) {
      if (schedule.free_bytes(d) > schedule.free_bytes(roomiest)) roomiest = d;
      if (!schedule.Fits(kernel, d)) continue;
      const double start = schedule.EarliestStart(kernel, d, options.inserts);
      double end = start + schedule.Seconds(kernel, d);
      if (options.looks_ahead) {
        end = LookAhead(kernels, times, schedule, kernel, d, end);
      }
      if (end < best_end) {
        best = d;
        best_start = start;
        best_end = end;
      }
    }
    if (best_end == std::numeric_limits<double>::infinity()) {
      best = roomiest;
      best_start = schedule.EarliestStart(kernel, best, options.inserts);
    }
    schedule.Add(kernel, best, best_start);
    for (const KernelGraph::Use& use : kernels.uses(kernel)) {
      if (--missing[use.kernel] == 0) add_ready(use.kernel);
    }
  }
  return schedule.Finish();
}

}  // namespace hone::graphs
