#ifndef HONE_TUNING_TASKS_TPU_FUSION_PROBLEM_H_
#define HONE_TUNING_TASKS_TPU_FUSION_PROBLEM_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "hlo/fusion/fusion_space.h"
#include "hlo/ir/module.h"
#include "space/assignment_problem.h"
#include "tuning/tasks/tpu_kernel_times.h"

namespace hone::tuning {

// What the values of a TpuFusionProblem stand for.
struct TpuFusionPlan {
  hlo::FusionBits fused;
  hlo::LayoutBits layouts;
};

class TpuFusionProblem;
// Returns a model of the problem, or null if there is none.
using MakeFusionSurrogate =
    std::function<absl::StatusOr<std::unique_ptr<space::Surrogate>>(
        const TpuFusionProblem& problem)>;

struct TpuFusionOptions {
  // Tells the times of kernels, each of which it is asked for once.
  KernelTimer timer;
  MakeFusionSurrogate make_surrogate = nullptr;
  // The programs that a search measures at a time: more than 1 where many
  // kernels together are timed faster.
  int32_t measurement_batch = 1;
  // Returns the machines that have measured; null: this process does.
  std::function<std::vector<std::string>()> machines = nullptr;
  // Cancels measurements; may be null.
  std::function<bool()> stop = nullptr;
};

// One kernel of a program that was measured, and the time of one execution.
struct ProfiledKernel {
  hlo::Module kernel;
  double ns = 0;
};

// The problem of deciding which instructions of a program share a kernel on a
// TPU, and how the arrays between kernels lie in memory, so that all kernels
// together take the least time in nanoseconds: the sum of their times, each as
// often as the kernel runs. Loops run as often as they state, or as can be
// found (graphs::WithTripCounts), others once.
//
// The variables of `fuse` are the nodes of FusionSpace::fusible, in that order,
// 1 for fused; those of `layout` FusionSpace::swappable, 1 for swapped. A group
// without variables is left out.
//
// A decision that hlo::KernelRules does not allow, or with a kernel that cannot
// run, is kInvalid. Its violation is the number of nodes at fault, its cost the
// time of the kernels that are not.
class TpuFusionProblem final : public space::AssignmentProblem {
 public:
  // Errors: InvalidArgument if nothing can be decided; the timer's, and that of
  // a kernel of the unfused program, with the name of the instruction.
  static absl::StatusOr<std::unique_ptr<TpuFusionProblem>> Create(
      const hlo::Module& module, TpuFusionOptions options);

  const hlo::FusionSpace& space() const { return space_; }
  // Returns what values within their domains stand for, and the reverse.
  TpuFusionPlan Plan(absl::Span<const int32_t> values) const;
  std::vector<int32_t> Values(const TpuFusionPlan& plan) const;
  // Returns true if there is a value of its domain for each variable.
  bool IsInDomain(absl::Span<const int32_t> values) const;

  // Returns the kernels of a decision, which was measured, as a profile of that
  // run shows them; those that cannot run are left out, and none is there for
  // values outside the domain, or if kernels cannot be timed now.
  std::vector<ProfiledKernel> Profile(absl::Span<const int32_t> values) const;
  // Returns the machines that have measured; none if this process does.
  std::vector<std::string> machines() const {
    return machines_ ? machines_() : std::vector<std::string>();
  }
  // Asks the timer anew from now on: its answers have changed. Not while local
  // states are in use.
  void ForgetTimes() { times_.Forget(); }

  absl::string_view unit() const override { return "ns"; }
  // By priority, in row-major layouts.
  space::Candidate DefaultCandidate() const override {
    return seeds_[0].candidate;
  }
  // "priority", "greedy" and "unfused", in row-major layouts.
  std::vector<space::Seed> Seeds() const override { return seeds_; }
  double reference_cost() const override { return reference_cost_; }
  // Asks the timer once, for the kernels of all candidates.
  absl::StatusOr<std::vector<space::Measurement>> MeasureBatch(
      absl::Span<const space::Candidate> candidates) const override;
  int32_t measurement_batch() const override { return measurement_batch_; }
  // Decisions evaluated, in full or incrementally.
  int64_t evaluations() const override { return *evaluations_; }

  absl::Span<const space::VariableGroup> groups() const override {
    return groups_;
  }
  std::unique_ptr<space::Domains> MakeDomains() const override;
  // Makes a random decision legal, if that agrees with what is narrowed.
  std::optional<std::vector<int32_t>> Draw(
      space::Domains& domains, Rng& rng,
      const std::function<bool()>& stop) const override;
  std::unique_ptr<space::LocalState> MakeLocal(
      const space::Candidate& candidate) const override;
  absl::StatusOr<std::unique_ptr<space::Surrogate>> MakeSurrogate()
      const override;

 private:
  TpuFusionProblem(const hlo::Module& module, TpuFusionOptions options);

  absl::Status MakeSeeds();

  const hlo::FusionSpace space_;
  const std::function<bool()> stop_;
  const MakeFusionSurrogate make_surrogate_;
  const int32_t measurement_batch_;
  const std::function<std::vector<std::string>()> machines_;
  mutable TpuKernelTimes times_;
  std::vector<space::VariableGroup> groups_;
  std::vector<space::Seed> seeds_;
  double reference_cost_ = 1;
  // Shared with the local states.
  const std::shared_ptr<std::atomic<int64_t>> evaluations_ =
      std::make_shared<std::atomic<int64_t>>(0);
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_TPU_FUSION_PROBLEM_H_
