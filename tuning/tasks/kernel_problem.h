#ifndef HONE_TUNING_TASKS_KERNEL_PROBLEM_H_
#define HONE_TUNING_TASKS_KERNEL_PROBLEM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"

#include "backends/kernel_measurer.h"
#include "backends/roofline.h"
#include "base/hash.h"
#include "loops/program.h"
#include "loops/transforms/transform.h"
#include "space/problem.h"

namespace hone::tuning {

struct KernelProblemOptions {
  // HLO text: what the schedules must compute.
  std::string module;
  // What it lowers to, and what it has to do at least.
  loops::Program program;
  backends::LeastWork work;
  // Where it is tuned for; machine.threads are those of parallel scopes.
  backends::KernelDevice device;
  // Of the arguments that candidates are checked and timed with.
  uint64_t seed = 0;
  // Outlives the problem.
  backends::KernelMeasurer* kernels = nullptr;
  // Asked while something is measured; may be empty.
  std::function<bool()> stop;
};

// How to schedule a kernel. A state is a loop program and the script that made
// it; the cost is its measured time.
//
// It begins with what the default schedule makes of the kernel. First come
// actions that have it decide one thing otherwise (loops/schedules/choices.h);
// each leads to the schedule that follows from all choices so far. Then, after
// the action `transform`, or `lowered` to begin anew with the program as it was
// lowered, come the transformations: action t·64 + k applies the k-th legal
// step of the t-th of them, so that numbers mean the same wherever one is. The
// game of transformations is that of PerfDojo (arXiv 2511.03586, section 3);
// beginning with a schedule's choices is ours, as it makes 64 trials count.
//
// Costs: nanoseconds of the default, as measured first, times the median of
// paired ratios to it. Programs that have been measured keep their cost.
class KernelProblem final : public space::SequentialProblem {
 public:
  explicit KernelProblem(KernelProblemOptions options);

  absl::string_view unit() const override { return "ns"; }
  bool is_noisy() const override { return true; }
  space::Candidate DefaultCandidate() const override { return {}; }
  void Recall(absl::Span<const space::Trial> log) override;

  space::StatePtr InitialState() const override;
  int32_t action_count() const override;
  std::string ActionName(int32_t action) const override;
  int32_t max_steps() const override { return 32; }
  std::vector<int32_t> LegalActions(
      const space::StatePtr& state) const override;
  absl::StatusOr<space::StatePtr> Step(const space::StatePtr& state,
                                       int32_t action) const override;
  double Cost(const space::StatePtr& state) const override;

  // The script of where a candidate leads.
  // Errors: InvalidArgument for an illegal action.
  absl::StatusOr<std::vector<loops::Step>> ScriptOf(
      const space::Candidate& candidate) const;

  // What a candidate takes compared with the default: measured once more, by a
  // process of its own, with other arguments and more samples.
  struct Confirmation {
    backends::KernelTiming timing;
    double cost = 0;  // in the unit of Measure
    // What the work takes at least on the device, in the same unit.
    double roof = 0;
  };
  // Errors: as Measure.
  absl::StatusOr<Confirmation> Confirm(const space::Candidate& candidate) const;

 private:
  class ProgramState;
  using ProgramStatePtr = std::shared_ptr<const ProgramState>;

  absl::StatusOr<space::Measurement> MeasureState(
      const space::StatePtr& state) const override;
  absl::StatusOr<backends::KernelReport> Ask(
      backends::KernelRequest request) const;

  absl::StatusOr<ProgramStatePtr> Follow(
      const space::Candidate& candidate) const;
  // The schedule of some choices, remembered.
  ProgramStatePtr Scheduled(const std::vector<int64_t>& choices) const;

  const KernelProblemOptions options_;
  mutable absl::Mutex mu_;
  // By choices.
  mutable absl::flat_hash_map<std::vector<int64_t>, ProgramStatePtr> scheduled_
      ABSL_GUARDED_BY(mu_);
  // By the program's text.
  mutable absl::flat_hash_map<Hash128, space::Measurement> measured_
      ABSL_GUARDED_BY(mu_);
  // Nanoseconds of the default, and what the device can do, once known.
  mutable std::optional<double> default_ns_ ABSL_GUARDED_BY(mu_);
  mutable std::optional<backends::Calibration> calibration_
      ABSL_GUARDED_BY(mu_);

  // Made with what is above.
  const ProgramStatePtr initial_;
  const std::string default_script_;
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_KERNEL_PROBLEM_H_
