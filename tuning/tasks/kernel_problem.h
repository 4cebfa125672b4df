#ifndef HONE_TUNING_TASKS_KERNEL_PROBLEM_H_
#define HONE_TUNING_TASKS_KERNEL_PROBLEM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"

#include "backends/kernel_measurer.h"
#include "backends/roofline.h"
#include "base/hash.h"
#include "loops/ir/program.h"
#include "loops/schedules/choices.h"
#include "loops/transforms/transform.h"
#include "space/sequential_problem.h"
#include "tuning/tasks/kernel_actions.h"

namespace hone::tuning {

class KernelProblem;
// Returns a model of the problem, or null if there is none.
using MakeKernelSurrogate =
    std::function<absl::StatusOr<std::unique_ptr<space::Surrogate>>(
        const KernelProblem& problem)>;

struct KernelProblemOptions {
  // The kernel, as text of this form: kHlo or kProgram.
  std::string module;
  backends::KernelForm form = backends::KernelForm::kHlo;
  // The program that the module lowers to, and its minimum work.
  loops::Program program;
  backends::LeastWork work;
  // The device to tune for; machine.threads is that of parallel loops.
  backends::KernelDevice device;
  // The seed of the arguments of checks and timings.
  uint64_t seed = 0;
  // Must outlive the problem.
  backends::KernelMeasurer* kernels = nullptr;
  // Polled during measurements, and while legal actions are listed, of which
  // those that are found by then are the result; may be empty.
  std::function<bool()> stop;
  MakeKernelSurrogate make_surrogate = nullptr;
};

// The problem of scheduling a kernel. A state is a loop program and the script
// that made it; the cost is its measured time.
//
// The initial state is the default schedule. The first actions override one of
// its choices each (loops/schedules/choices.h), everywhere or one of the times
// that it is made, and lead to the schedule that follows from all choices so
// far; a choice that decides nothing is forgotten.
// Then transformations come: after `transform` to the scheduled program, after
// `lowered` to the unscheduled one. Each action
// then applies one legal step, where the steps of the schedule that follows
// from the choices count as legal wherever they apply (kernel_actions.h). So
// `lowered` and the steps of the schedule write it out, which is how Expand
// makes its decisions single ones that a local search edits.
//
// The game of transformations is that of PerfDojo (arXiv 2511.03586, section
// 3); choices first is ours, so that 64 trials are enough to gain something.
//
// The cost is the time of the default in nanoseconds, as measured first, times
// the median of the paired ratios to it. Costs are memoized by program.
// Candidates race against the best so far, so that those that surely lose take
// little time.
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
  // As text, a step: "split 0.1 16".
  std::string ActionNameIn(const space::StatePtr& state,
                           int32_t action) const override;
  int32_t max_steps() const override;
  std::vector<int32_t> LegalActions(
      const space::StatePtr& state) const override;
  absl::StatusOr<space::StatePtr> Step(const space::StatePtr& state,
                                       int32_t action) const override;
  std::vector<int32_t> Substitutes(const space::StatePtr& state,
                                   int32_t action) const override;
  std::vector<int32_t> Expand(absl::Span<const int32_t> actions) const override;

  space::ObservationSpec observation_spec() const override;
  space::Observation Observe(const space::StatePtr& state) const override;
  space::ActionSpec action_spec() const override;
  space::ActionBatch Describe(const space::StatePtr& state,
                              absl::Span<const int32_t> actions) const override;

  absl::StatusOr<std::unique_ptr<space::Surrogate>> MakeSurrogate()
      const override;

  // Candidates are compiled while others are timed.
  int32_t measurement_batch() const override { return kMeasuredTogether; }
  absl::StatusOr<std::vector<space::Measurement>> MeasureBatch(
      absl::Span<const space::Candidate> candidates) const override;

  bool costs_are_free() const override { return false; }
  double Cost(const space::StatePtr& state) const override;
  // The time of the default, once it is measured, else 1.
  double reference_cost() const override;

  // What schedules are made for.
  const loops::Machine& machine() const { return options_.device.machine; }

  // Returns the legal steps of one transformation, an index of
  // loops::AllTransforms, in a state after `transform` or `lowered`.
  std::vector<int32_t> LegalSteps(const space::StatePtr& state,
                                  size_t transform) const;

  // Returns the state that a candidate leads to, or InvalidArgument for an
  // illegal action. Step remembers where recent steps lead, so that candidates
  // that begin alike take little time.
  absl::StatusOr<space::StatePtr> StateOf(
      const space::Candidate& candidate) const;

  // What a state stands for; it lives as long as the state.
  struct Schedule {
    const loops::Program& program;
    // The script that makes it of the lowered program.
    const std::vector<loops::Step>& script;
    // The hash of the program's text: states of equal programs take as long.
    Hash128 program_key;
    // False while the program is the schedule of the choices.
    bool transforming = false;
    // The steps of `script` that are more than those of that schedule.
    size_t further_steps = 0;
  };
  static Schedule ScheduleAt(const space::StatePtr& state);

  // Returns the script of a candidate, or InvalidArgument for an illegal
  // action.
  absl::StatusOr<std::vector<loops::Step>> ScriptOf(
      const space::Candidate& candidate) const;

  // A further measurement of a candidate against the default, by a fresh
  // process, with other arguments and more samples; each `repetition` has
  // arguments and an order of its own. `by_two`: on a second machine too, if
  // there is one (KernelRequest::confirm).
  struct Confirmation {
    backends::KernelTiming timing;
    // In the unit of Measure.
    double cost = 0;
    // The least time of the work on the device.
    double roofline_ns = 0;
    // The ids of the workers that measured; none if this machine did.
    std::vector<std::string> workers;
    // Their machines, in the same order.
    std::vector<std::string> machines;
  };
  // Memoized by program and repetition: who asks again gets no second chance.
  // Errors: as Measure.
  absl::StatusOr<Confirmation> Confirm(const space::Candidate& candidate,
                                       int32_t repetition = 0,
                                       bool by_two = false) const;

 private:
  class ProgramState;
  using ProgramStatePtr = std::shared_ptr<const ProgramState>;

  // The number of candidates of one request.
  static constexpr int32_t kMeasuredTogether = 16;

  absl::Status MeasureDefault() const;
  absl::StatusOr<space::Measurement> MeasureState(
      const space::StatePtr& state) const override;
  // Measures those that are not yet known.
  absl::Status MeasureNew(absl::Span<const ProgramStatePtr> states) const;
  absl::StatusOr<backends::KernelReport> Request(
      backends::KernelRequest request) const;

  absl::StatusOr<ProgramStatePtr> ProgramStateOf(
      const space::Candidate& candidate) const;
  KernelSteps StepsAt(const ProgramState& state) const;
  std::vector<int32_t> FindLegalActions(const ProgramState& from) const;
  // Returns true if the choice leads from this schedule to another program.
  bool Changes(const ProgramState& from, const ChoiceAction& made) const;
  // Returns the state after a step.
  absl::StatusOr<space::StatePtr> Applied(const ProgramState& from,
                                          loops::Step step) const;
  // Returns the state of a schedule with these choices; memoized.
  ProgramStatePtr Scheduled(const loops::Choices& choices) const;

  const KernelProblemOptions options_;
  mutable absl::Mutex mu_;
  // By choices.
  mutable absl::flat_hash_map<loops::Choices, ProgramStatePtr> scheduled_
      ABSL_GUARDED_BY(mu_);
  // Where steps lead, by the keys of states and actions, and the legal actions
  // of states, by their keys; of recent ones.
  mutable absl::flat_hash_map<std::pair<Hash128, int32_t>, space::StatePtr>
      stepped_ ABSL_GUARDED_BY(mu_);
  mutable absl::flat_hash_map<Hash128, std::vector<int32_t>> legal_
      ABSL_GUARDED_BY(mu_);
  // By the program's text.
  mutable absl::flat_hash_map<Hash128, space::Measurement> measured_
      ABSL_GUARDED_BY(mu_);
  // By program and repetition.
  mutable absl::flat_hash_map<std::pair<Hash128, int32_t>, Confirmation>
      confirmed_ ABSL_GUARDED_BY(mu_);
  // The time of the default in nanoseconds, and the calibration of the device,
  // once known.
  mutable std::optional<double> default_ns_ ABSL_GUARDED_BY(mu_);
  // The least ratio to the default so far, by the upper end of its interval:
  // luck must not end the race of those that follow.
  mutable double best_ratio_ ABSL_GUARDED_BY(mu_) = 1;
  mutable std::optional<backends::Calibration> calibration_
      ABSL_GUARDED_BY(mu_);

  // Initialized from the members above.
  const ProgramStatePtr initial_;
  const std::string default_script_;
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_KERNEL_PROBLEM_H_
