#ifndef HONE_TUNING_TASK_H_
#define HONE_TUNING_TASK_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "hlo/module.h"
#include "optimizers/registry.h"
#include "space/problem.h"
#include "storage/record.h"

namespace hone::tuning {

struct TaskOptions {
  // pass_order: "ops" or "time" (the analytical model's nanoseconds).
  std::string score = "ops";
  // pass_order: "all" passes, or those of the default "pipeline" only, so that
  // their order alone is tuned.
  std::string passes = "all";
};

// A candidate in words, and the module that it makes.
struct AppliedDecision {
  std::string decision;  // JSON
  hlo::Module module;
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

  // The target that results are valid for on this machine; "hlo" where no
  // device matters.
  virtual std::string default_target() const = 0;

  // `module` verifies and outlives the problem.
  virtual absl::StatusOr<std::unique_ptr<space::Problem>> MakeProblem(
      const hlo::Module& module, const TaskOptions& options) const = 0;

  // What `candidate` of MakeProblem's problem makes of `module`.
  virtual absl::StatusOr<AppliedDecision> Apply(
      const hlo::Module& module, const TaskOptions& options,
      const space::Candidate& candidate) const = 0;

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
