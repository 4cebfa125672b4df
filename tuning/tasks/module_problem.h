#ifndef HONE_TUNING_TASKS_MODULE_PROBLEM_H_
#define HONE_TUNING_TASKS_MODULE_PROBLEM_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"

#include "backends/kernel_measurer.h"
#include "base/hash.h"
#include "loops/lowering/plan/module_plan.h"
#include "space/composite_problem.h"
#include "tuning/tasks/kernel_problem.h"

namespace hone::tuning {

// A kernel of a module.
struct ModuleKernel {
  std::string name;
  // loops::FingerprintOf, what modules share its schedules by.
  std::string fingerprint;
  // How often it runs in one call of the module (plan_calls.h).
  double calls = 0;
};

struct ModuleProblemOptions {
  // The module, as HLO text.
  std::string module;
  // Its canonical plan (backends/plan_script.h).
  loops::ModulePlan plan;
  // By kernel of the plan.
  std::vector<ModuleKernel> kernels;
  // The device to tune for; machine.threads is that of parallel loops.
  backends::KernelDevice device;
  // Must outlive the problem.
  backends::KernelMeasurer* measurer = nullptr;
  // Polled during measurements; may be empty.
  std::function<bool()> stop;
};

// The problem of scheduling all kernels of a module: its parts are the problems
// of scheduling each (kernel_problem.h).
//
// The action `kernel N` turns to kernel N, with a greater number than those
// before; the actions that follow are that kernel's own, from its default
// schedule. Kernels that are not named keep it. The cost is the sum over
// kernels of time times calls, in nanoseconds, as measured kernel by kernel;
// kernels that cannot be measured on their own count as nothing and keep the
// default.
class ModuleProblem final : public space::CompositeProblem {
 public:
  explicit ModuleProblem(ModuleProblemOptions options);

  absl::string_view unit() const override { return "ns"; }
  bool is_noisy() const override { return true; }
  space::Candidate DefaultCandidate() const override { return {}; }
  void Recall(absl::Span<const space::Trial> log) override;

  size_t part_count() const override { return parts_.size(); }
  const space::SequentialProblem& part(size_t index) const override {
    return *parts_[index];
  }
  space::Candidate Compose(
      absl::Span<const space::Candidate> parts) const override;
  absl::StatusOr<std::vector<space::Candidate>> Decompose(
      const space::Candidate& candidate) const override;

  space::StatePtr InitialState() const override;
  int32_t action_count() const override;
  std::string ActionName(int32_t action) const override;
  std::string ActionNameIn(const space::StatePtr& state,
                           int32_t action) const override;
  int32_t max_steps() const override { return max_steps_; }
  std::vector<int32_t> LegalActions(
      const space::StatePtr& state) const override;
  absl::StatusOr<space::StatePtr> Step(const space::StatePtr& state,
                                       int32_t action) const override;
  std::vector<int32_t> Substitutes(const space::StatePtr& state,
                                   int32_t action) const override;
  std::vector<int32_t> Expand(absl::Span<const int32_t> actions) const override;

  bool costs_are_free() const override { return false; }
  double Cost(const space::StatePtr& state) const override;
  // The cost of the default, once it is measured, else 1.
  double reference_cost() const override;
  int32_t measurement_batch() const override { return 8; }
  absl::StatusOr<std::vector<space::Measurement>> MeasureBatch(
      absl::Span<const space::Candidate> candidates) const override;

  const std::vector<ModuleKernel>& kernels() const { return options_.kernels; }
  const KernelProblem& kernel(size_t index) const { return *parts_[index]; }
  // Returns the time of a kernel with a candidate as measured, in nanoseconds
  // of one call. Errors: as MeasureBatch, and if it is no valid candidate.
  absl::StatusOr<double> TimeOf(size_t kernel,
                                const space::Candidate& candidate) const;

  // Times the whole module, with a candidate for each kernel, against the
  // default in a fresh process that also compares it with the evaluator; on a
  // second machine too, if there is one. `expected_ns` is about the time of a
  // call. Errors: as MeasureBatch.
  absl::StatusOr<backends::KernelReport> TimeModule(
      absl::Span<const space::Candidate> candidates, double expected_ns) const;

 private:
  class ModuleState;

  absl::StatusOr<space::Measurement> MeasureOne(
      const space::Candidate& candidate) const;
  absl::StatusOr<space::Measurement> MeasurePart(
      size_t index, const space::Candidate& candidate) const;
  // Measures all that is new of a kernel together, for MeasurePart.
  absl::Status MeasureParts(
      absl::Span<const space::Candidate> candidates) const;

  const ModuleProblemOptions options_;
  std::vector<std::unique_ptr<KernelProblem>> parts_;
  int32_t max_steps_ = 0;
  mutable absl::Mutex mu_;
  // By kernel and the hash of its candidate.
  mutable absl::flat_hash_map<std::pair<size_t, Hash128>, space::Measurement>
      measured_ ABSL_GUARDED_BY(mu_);
  // Kernels whose default cannot be measured.
  mutable absl::flat_hash_set<size_t> unmeasured_ ABSL_GUARDED_BY(mu_);
  mutable std::optional<double> default_ns_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_MODULE_PROBLEM_H_
