#ifndef HONE_TUNING_TASK_H_
#define HONE_TUNING_TASK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "backends/kernel_measurer.h"
#include "hlo/ir/module.h"
#include "optimizers/registry.h"
#include "space/problem.h"
#include "storage/record.h"
#include "tuning/verify.h"

namespace hone::tuning {

struct TaskOptions {
  // pass_order: "ops" or "time" (the analytical model's nanoseconds).
  std::string score = "ops";
  // pass_order: "all" passes, or those of the default "pipeline" only, so that
  // their order alone is tuned.
  std::string passes = "all";
  // kernel: of parallel scopes.
  int32_t threads = 1;
};

// What problems need of the world. Nothing is owned; it outlives them.
struct TaskContext {
  // As Task::ResolveTarget has found it.
  std::string target;
  // Null: kernels cannot be measured.
  backends::KernelMeasurer* kernels = nullptr;
  // Asked while something is measured; true gives it up.
  std::function<bool()> stop = nullptr;
};

// A candidate in words, and the module that it makes.
struct AppliedDecision {
  std::string decision;  // JSON
  hlo::Module module;
};

// A decision that may be published.
struct Winner {
  double cost = 0;  // of what was verified
  AppliedDecision applied;
  storage::Verification verification;
};

// One decision that Hone tunes.
// Threads: const methods are thread-safe.
class Task {
 public:
  virtual ~Task() = default;

  // The stable id; equals its line in tasks.def.
  virtual absl::string_view name() const = 0;

  // The kind of problem that MakeProblem makes: optimizers::kSequential or
  // kAssignment.
  virtual optimizers::Kinds problem_kind() const = 0;

  // Changes whenever the same candidate may mean something else, or the space
  // has grown: part of the cache key.
  virtual std::string space_version() const = 0;

  // The options that change the problem, in a fixed readable form: part of the
  // cache key. Errors: InvalidArgument for unknown values.
  virtual absl::StatusOr<std::string> OptionsKey(
      const TaskOptions& options) const = 0;

  // What a user may call the default target: "hlo" where no device matters,
  // else a kind of device, "cpu".
  virtual std::string default_target() const = 0;

  // The target that results are valid for, of what a user calls it: nothing,
  // default_target(), or the target itself. `kernels` may be null.
  // Errors: InvalidArgument for what it cannot be; Unavailable where there is
  // no such device, FailedPrecondition where there are several.
  virtual absl::StatusOr<std::string> ResolveTarget(
      absl::string_view asked, backends::KernelMeasurer* kernels) const = 0;

  // Trials of a budget that names none; 0: as many as for any task.
  virtual int64_t default_trials() const { return 0; }

  // `module` verifies and outlives the problem.
  // Errors: also Unavailable and Cancelled, where a device is needed.
  virtual absl::StatusOr<std::unique_ptr<space::Problem>> MakeProblem(
      const hlo::Module& module, const TaskOptions& options,
      const TaskContext& context) const = 0;

  // What `candidate` of `problem`, which MakeProblem made, makes of `module`.
  virtual absl::StatusOr<AppliedDecision> Apply(
      const hlo::Module& module, const space::Problem& problem,
      const space::Candidate& candidate) const = 0;

  // Measures and applies a candidate, and verifies what comes of it; by default
  // as VerifyRewrite does.
  // Errors: what speaks against publishing it; Unavailable and Cancelled.
  virtual absl::StatusOr<Winner> Judge(const hlo::Module& module,
                                       const space::Problem& problem,
                                       const space::Candidate& candidate,
                                       const VerifyOptions& options) const;

  // Applies a stored decision (AppliedDecision::decision).
  // Errors: InvalidArgument when it is not of this space version.
  virtual absl::StatusOr<hlo::Module> ApplyDecision(
      const hlo::Module& module, absl::string_view decision) const = 0;
};

// The task of that id, which lives as long as the process.
// Errors: NotFound, listing the known ids.
absl::StatusOr<const Task*> FindTask(absl::string_view name);
std::vector<absl::string_view> TaskNames();

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASK_H_
