#include "tuning/tasks/step_moves.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "absl/strings/string_view.h"

#include "graphs/step/step_schedule.h"

namespace hone::tuning {
namespace {

using graphs::KernelGraph;
using graphs::KernelIndex;

constexpr KernelIndex kNone = ~KernelIndex{0};

// The slack, as a share of the step, below which a kernel is as good as
// critical.
constexpr double kTight = 0.01;

// A part of the step, which may be a millionth or all of it, either sign.
float Part(double seconds, double step) {
  const double share = seconds / std::max(step, 1e-12);
  return static_cast<float>(
      std::copysign(std::cbrt(std::min(std::abs(share), 8.0)), share));
}

// In the order in which Describe gives them.
constexpr absl::string_view kFeatures[] = {
    "changes",         "moved_time",     "moves_devices", "moves_priorities",
    "fuses",           "unfuses",        "moves_order",   "from_load",
    "to_load",         "sent_before",    "sent_after",    "sent_change",
    "critical_share",  "critical_time",  "critical_sent", "critical_added",
    "critical_saved",  "least_slack",    "mean_slack",    "tight_share",
    "tight_kernels",   "earlier",        "later",         "waited",
    "critical_waited", "blocked",        "to_busy",       "delay",
    "mean_delay",      "critical_delay", "critical_exits"};

constexpr size_t PlaceOf(absl::string_view feature) {
  size_t place = 0;
  while (kFeatures[place] != feature) ++place;
  return place;
}

// The features that a move is judged by without a policy, and their weights:
// chosen on the models of bench/data/placement.
constexpr size_t kDelay = PlaceOf("delay");
constexpr size_t kCriticalDelay = PlaceOf("critical_delay");
constexpr float kDelayWeight = 2;
constexpr float kCriticalDelayWeight = 8;

}  // namespace

std::vector<std::string> StepMoveFeatureNames() {
  return {std::begin(kFeatures), std::end(kFeatures)};
}

float EstimateStepMove(absl::Span<const float> features) {
  return -kDelayWeight * features[kDelay] -
         kCriticalDelayWeight * features[kCriticalDelay];
}

// What the kernels of a move add up to.
struct StepMoves::Sums {
  double seconds = 0;
  double sent_before = 0;
  double sent_after = 0;
  double critical = 0;  // kernels
  double critical_seconds = 0;
  double critical_sent = 0;  // transfers on the critical path as it is
  double critical_added = 0;
  double critical_saved = 0;
  double least_slack = INFINITY;
  double slack = 0;
  double tight = 0;  // kernels with hardly any slack
  double waited = 0;
  double critical_waited = 0;
  double blocked = 0;
  double to_busy = 0;  // of the new device while the kernels run now
  // By how much results come later, or earlier, than they may without making
  // the step longer: the latest, and the sum over the kernels.
  double delay = -INFINITY;
  double delays = 0;
  // By how much later the critical path goes on, and how often it leaves.
  double critical_delay = 0;
  double critical_exits = 0;
};

StepMoves::StepMoves(const StepSpace& space) : space_(space) {}

void StepMoves::Start(absl::Span<const int32_t> values, const StepPlan& plan,
                      const backends::StepSimulator& simulator,
                      double step_seconds, absl::Span<const KernelIndex> path) {
  const KernelGraph& kernels = *plan.kernels;
  const graphs::DeviceTimes& times = space_.times();
  values_ = values;
  plan_ = &plan;
  step_seconds_ = step_seconds;
  loads_.assign(static_cast<size_t>(times.device_count()), 0);
  slack_ = graphs::PlacedRanks(kernels, times, plan.devices);
  for (size_t k = 0; k < kernels.size(); ++k) {
    const auto kernel = static_cast<KernelIndex>(k);
    const int32_t device = plan.devices[k];
    const double seconds = kernels.Seconds(kernel, times.kind_of(device));
    loads_[static_cast<size_t>(device)] += seconds;
    slack_[k] = std::max(
        0.0, step_seconds - (simulator.finish(kernel) - seconds + slack_[k]));
  }
  size_t tight = 0;
  for (const double slack : slack_) {
    tight += slack < kTight * step_seconds ? 1 : 0;
  }
  tight_share_ = static_cast<float>(tight) /
                 static_cast<float>(std::max<size_t>(1, slack_.size()));
  mean_load_ = 0;
  for (const double load : loads_) mean_load_ += load;
  mean_load_ /= static_cast<double>(loads_.size());
  waited_for_.assign(kernels.size(), kNone);
  waits_.assign(kernels.size(), kNone);
  is_critical_.assign(kernels.size(), 0);
  for (size_t i = 0; i < path.size(); ++i) {
    is_critical_[path[i]] = 1;
    if (i + 1 == path.size()) break;
    waited_for_[path[i]] = path[i + 1];
    waits_[path[i + 1]] = path[i];
  }
  waits_of_.Set(plan, times, simulator);
  new_device_.resize(kernels.size());
  new_end_.resize(kernels.size());
  if (stamp_.size() != kernels.size()) stamp_.assign(kernels.size(), 0);
}

void StepMoves::AddKernel(KernelIndex kernel, Sums& sums) const {
  const KernelGraph& kernels = *plan_->kernels;
  const graphs::DeviceTimes& times = space_.times();
  const int32_t from = plan_->devices[kernel];
  const int32_t to = NewDevice(kernel);
  const double seconds = kernels.Seconds(kernel, times.kind_of(from));
  sums.seconds += seconds;
  sums.least_slack = std::min(sums.least_slack, slack_[kernel]);
  sums.slack += slack_[kernel];
  sums.tight += slack_[kernel] < kTight * step_seconds_ ? 1 : 0;
  if (is_critical_[kernel] != 0) {
    ++sums.critical;
    sums.critical_seconds += seconds;
    sums.critical_waited += waits_of_.waited(kernel);
  }
  sums.waited += waits_of_.waited(kernel);
  sums.blocked += waits_of_.blocked(kernel);
  if (to != from) {
    sums.to_busy +=
        waits_of_.Busy(to, waits_of_.begin(kernel), waits_of_.end(kernel));
  }
  const auto count = [&](KernelIndex other, int32_t other_before,
                         int32_t other_after, bool other_first, double bytes) {
    // Nothing is sent, before or after.
    if (other_before == from && other_after == to) return;
    const auto sent = [&](int32_t here, int32_t there) {
      return other_first ? times.TransferSeconds(there, here, bytes)
                         : times.TransferSeconds(here, there, bytes);
    };
    const double before = sent(from, other_before);
    const double after = sent(to, other_after);
    sums.sent_before += before;
    sums.sent_after += after;
    const bool is_critical =
        other_first ? waited_for_[kernel] == other : waits_[kernel] == other;
    if (!is_critical) return;
    sums.critical_sent += before;
    sums.critical_added += std::max(0.0, after - before);
    sums.critical_saved += std::max(0.0, before - after);
  };
  uint32_t number = kernels.first_input(kernel);
  for (const KernelIndex input : kernels.inputs(kernel)) {
    count(input, plan_->devices[input], NewDevice(input), true,
          kernels.input_bytes(number++));
  }
  for (const KernelGraph::Use& use : kernels.uses(kernel)) {
    // Edges between kernels of the move are counted where they end.
    if (IsMoved(use.kernel)) continue;
    count(use.kernel, plan_->devices[use.kernel], plan_->devices[use.kernel],
          false, use.bytes);
  }
}

void StepMoves::Estimate(Sums& sums) {
  const KernelGraph& kernels = *plan_->kernels;
  const graphs::DeviceTimes& times = space_.times();
  ranks_.clear();
  for (const KernelIndex kernel : moved_) {
    ranks_.push_back(waits_of_.rank(kernel));
  }
  std::sort(ranks_.begin(), ranks_.end());
  free_at_.assign(static_cast<size_t>(times.device_count()), 0);
  for (const uint32_t rank : ranks_) {
    const KernelIndex kernel = waits_of_.kernel_at(rank);
    const int32_t to = new_device_[kernel];
    double& free_at = free_at_[static_cast<size_t>(to)];
    double begin = free_at;
    uint32_t number = kernels.first_input(kernel);
    for (const KernelIndex input : kernels.inputs(kernel)) {
      const double end =
          IsMoved(input) ? new_end_[input] : waits_of_.end(input);
      begin = std::max(
          begin, end + times.TransferSeconds(NewDevice(input), to,
                                             kernels.input_bytes(number++)));
    }
    const double seconds = kernels.Seconds(kernel, times.kind_of(to));
    new_end_[kernel] = begin + seconds;
    free_at = std::max(free_at, new_end_[kernel]);
    double delay = new_end_[kernel] - waits_of_.end(kernel) - slack_[kernel];
    for (const KernelGraph::Use& use : kernels.uses(kernel)) {
      if (IsMoved(use.kernel)) continue;
      const int32_t there = plan_->devices[use.kernel];
      const double arrival =
          new_end_[kernel] + times.TransferSeconds(to, there, use.bytes);
      delay = std::max(
          delay, arrival - waits_of_.begin(use.kernel) - slack_[use.kernel]);
      if (waits_[kernel] == use.kernel) {
        const double before =
            waits_of_.end(kernel) +
            times.TransferSeconds(plan_->devices[kernel], there, use.bytes);
        sums.critical_delay += arrival - before;
        ++sums.critical_exits;
      }
    }
    sums.delay = std::max(sums.delay, delay);
    sums.delays += delay;
  }
}

void StepMoves::Describe(absl::Span<const space::Change> changes,
                         std::vector<float>& features) {
  const KernelGraph& kernels = *plan_->kernels;
  ++now_;
  moved_.clear();
  bool devices = false;
  bool priorities = false;
  bool fuses = false;
  bool unfuses = false;
  bool order = false;
  double earlier = 0;
  double later = 0;
  double from_load = 0;
  double to_load = 0;
  for (const space::Change& change : changes) {
    if (change.variable == space_.order_variable()) {
      order = true;
      continue;
    }
    const KernelIndex kernel =
        kernels.kernel_of(space_.node_of(space_.UnitOf(change.variable)));
    const bool is_fusion = space_.is_fused(change.variable);
    const bool is_priority = space_.is_priority(change.variable);
    if (is_fusion) {
      (change.value != 0 ? fuses : unfuses) = true;
    } else if (is_priority) {
      priorities = true;
      const int32_t before = values_[static_cast<size_t>(change.variable)];
      (change.value > before ? earlier : later) +=
          std::abs(change.value - before);
    } else {
      devices = true;
    }
    if (kernel == KernelGraph::kFused) continue;
    // One kernel may change in several ways.
    if (stamp_[kernel] != now_) {
      stamp_[kernel] = now_;
      new_device_[kernel] = plan_->devices[kernel];
      moved_.push_back(kernel);
    }
    if (is_fusion || is_priority) continue;
    from_load += loads_[static_cast<size_t>(plan_->devices[kernel])];
    to_load += loads_[static_cast<size_t>(change.value)];
    new_device_[kernel] = change.value;
  }
  Sums sums;
  for (const KernelIndex kernel : moved_) AddKernel(kernel, sums);
  Estimate(sums);
  const double count = std::max<double>(1, static_cast<double>(moved_.size()));
  const double mean = std::max(mean_load_, 1e-12);
  const auto flag = [](bool is) { return is ? 1.0F : 0.0F; };
  const double steps = static_cast<double>(StepSpace::kStay) *
                       std::max<double>(1, static_cast<double>(changes.size()));
  features = {static_cast<float>(std::log2(1 + count) / 12),
              Part(sums.seconds, step_seconds_),
              flag(devices),
              flag(priorities),
              flag(fuses),
              flag(unfuses),
              flag(order),
              static_cast<float>(std::min(4.0, from_load / count / mean) / 2),
              static_cast<float>(std::min(4.0, to_load / count / mean) / 2),
              Part(sums.sent_before, step_seconds_),
              Part(sums.sent_after, step_seconds_),
              Part(sums.sent_after - sums.sent_before, step_seconds_),
              static_cast<float>(sums.critical / count),
              Part(sums.critical_seconds, step_seconds_),
              Part(sums.critical_sent, step_seconds_),
              Part(sums.critical_added, step_seconds_),
              Part(sums.critical_saved, step_seconds_),
              moved_.empty() ? 0 : Part(sums.least_slack, step_seconds_),
              Part(sums.slack / count, step_seconds_),
              static_cast<float>(sums.tight / count),
              tight_share_,
              static_cast<float>(earlier / steps),
              static_cast<float>(later / steps),
              Part(sums.waited, step_seconds_),
              Part(sums.critical_waited, step_seconds_),
              Part(sums.blocked, step_seconds_),
              static_cast<float>(sums.to_busy / std::max(sums.seconds, 1e-12)),
              moved_.empty() ? 0 : Part(sums.delay, step_seconds_),
              Part(sums.delays / count, step_seconds_),
              Part(sums.critical_delay, step_seconds_),
              static_cast<float>(std::log2(1 + sums.critical_exits) / 4)};
}

}  // namespace hone::tuning
