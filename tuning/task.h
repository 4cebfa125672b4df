#ifndef HONE_TUNING_TASK_H_
#define HONE_TUNING_TASK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "backends/kernel_measurer.h"
#include "backends/tpu_sim/tpu.h"
#include "graphs/cluster.h"
#include "graphs/contiguity.h"
#include "graphs/mcm/package.h"
#include "hlo/ir/module.h"
#include "hlo/rewrite/numerics.h"
#include "optimizers/registry.h"
#include "space/problem.h"
#include "storage/record.h"
#include "storage/store.h"
#include "tuning/subject.h"
#include "tuning/verify.h"

namespace hone::tuning {

// Objectives of a placement: the largest load of a device
// (graphs/max_load.h), and the time of a step
// (backends/cluster_sim/step_simulator.h).
inline constexpr absl::string_view kMaxLoad = "max-load";
inline constexpr absl::string_view kStepTime = "step-time";
// A partition minimizes the largest load of a chip (graphs/mcm/chip_loads.h),
// also kMaxLoad, or the interval between samples
// (backends/mcm_sim/pipeline_simulator.h).
inline constexpr absl::string_view kInterval = "interval";

struct TaskOptions {
  // pass_order: "ops" or "xla" (nanoseconds by the model of XLA:CPU).
  std::string score = "ops";
  // pass_order: "all" passes, or only those of the default "pipeline", so that
  // their order alone is tuned.
  std::string passes = "all";
  // How far the result of a rewrite may differ numerically from its input.
  hlo::Numerics numerics = hlo::Numerics::kReassociate;
  // kernel: the number of threads of parallel loops.
  int32_t threads = 1;
  // placement: kMaxLoad, which empty stands for, or kStepTime, on a cluster.
  // partition: kMaxLoad, which empty stands for, or kInterval.
  std::string objective = {};
  // placement for the max load: what the nodes of a device must be.
  graphs::Contiguity contiguity = graphs::Contiguity::kPipeline;
  // placement, schedule, fusion, joint: the devices for the operators of a
  // module or an operator graph. A weighted graph lists its own, and has none
  // here.
  std::optional<graphs::Cluster> cluster = std::nullopt;
  // partition: the chips.
  std::optional<graphs::Package> package = std::nullopt;
  // tile: the TPU.
  std::optional<backends::Tpu> tpu = std::nullopt;
};

// The environment of a problem. Nothing is owned; everything outlives it.
struct TaskContext {
  // The result of Task::ResolveTarget.
  std::string target;
  // Null if kernels cannot be measured.
  backends::KernelMeasurer* kernels = nullptr;
  // Called during measurements; returns true to cancel them.
  std::function<bool()> stop = nullptr;
  // Called while known candidates (space::Problem::Seeds) are constructed;
  // returns true once no more time is left for them. Null: no limit.
  std::function<bool()> seeds_end = nullptr;
};

// A serialized decision and the module it produces.
struct AppliedDecision {
  std::string decision;  // JSON
  // Nothing if the task makes no module.
  std::optional<hlo::Module> module = std::nullopt;
};

// A verified decision.
struct Winner {
  double cost = 0;
  AppliedDecision applied;
  storage::Verification verification;
};

// One decision that Hone tunes.
// Threads: const methods are thread-safe.
class Task {
 public:
  virtual ~Task() = default;

  // The stable id, as in tasks.def.
  virtual absl::string_view name() const = 0;

  // The kinds of subjects that it decides about, given the options; never none.
  virtual std::vector<SubjectKind> subject_kinds(
      const TaskOptions& options) const = 0;
  // The options with which it decides about subjects of another kind, for
  // messages; empty if there are none.
  virtual absl::string_view OptionsForKind(SubjectKind /*kind*/) const {
    return "";
  }
  // The kind of graphs that it decides about; kGraph if about none.
  SubjectKind graph_kind(const TaskOptions& options) const;
  // Returns OK if the task decides about subjects of `kind`. Errors:
  // InvalidArgument, which says what the subject `name` is and what was
  // expected.
  absl::Status CheckSubject(SubjectKind kind, absl::string_view name,
                            const TaskOptions& options) const;
  // Returns true if candidates or winners are judged by evaluating the subject,
  // a module, which then must not be too costly.
  virtual bool evaluates() const { return true; }

  // The kind of MakeProblem's problems: optimizers::kSequential or kAssignment.
  virtual optimizers::Kinds problem_kind() const = 0;

  // The optimizer of a tuning that names none.
  virtual std::string default_optimizer() const = 0;
  // The same, where it depends on the options.
  virtual std::string OptimizerFor(const TaskOptions& /*options*/) const {
    return default_optimizer();
  }

  // The version of the search space, part of the cache key. It changes whenever
  // a candidate may mean something else, or the space has grown.
  virtual std::string space_version() const = 0;

  // Returns the options that change the problem in a fixed readable form, part
  // of the cache key. Errors: InvalidArgument for a value that the task does
  // not support.
  virtual absl::StatusOr<std::string> OptionsKey(
      const TaskOptions& options) const = 0;

  // The name of the default target: a compiler, "xla-cpu", or a kind of device,
  // "cpu".
  virtual std::string default_target() const = 0;

  // Returns the target that results are valid for. `requested` is empty,
  // default_target(), or a target. `kernels` may be null.
  // Errors: InvalidArgument for an impossible target; Unavailable if no such
  // device exists, FailedPrecondition if several do.
  virtual absl::StatusOr<std::string> ResolveTarget(
      absl::string_view requested, backends::KernelMeasurer* kernels) const = 0;

  // The number of trials for a budget without one; 0 stands for the common
  // default.
  virtual int64_t default_trials() const { return 0; }
  // The same, where it depends on the options.
  virtual int64_t TrialsFor(const TaskOptions& /*options*/) const {
    return default_trials();
  }

  // Returns the problem of tuning `subject`, which verifies.
  // Errors: those of CheckSubject; also Unavailable and Cancelled if a device
  // is needed.
  absl::StatusOr<std::unique_ptr<space::Problem>> MakeProblem(
      const Subject& subject, const TaskOptions& options,
      const TaskContext& context) const;

  // Applies `candidate` of `problem`, which MakeProblem returned for `subject`.
  virtual absl::StatusOr<AppliedDecision> Apply(
      const Subject& subject, const space::Problem& problem,
      const space::Candidate& candidate) const = 0;

  // Returns the candidate of `problem` that stands for a decision that Apply
  // wrote, maybe for another target or search space; nothing by default, and if
  // nothing of the decision can be used.
  virtual std::optional<space::Candidate> CandidateOf(
      const space::Problem& /*problem*/, absl::string_view /*decision*/) const {
    return std::nullopt;
  }

  // Returns a decision for a tuning of `key` that published decisions about
  // other subjects suggest, for CandidateOf; nothing by default.
  virtual std::optional<std::string> SharedDecision(
      storage::Store& /*store*/, const storage::CacheKey& /*key*/) const {
    return std::nullopt;
  }

  // Returns the records of what is decided together with the subject of
  // `record`, to be published beside it; none by default.
  virtual std::vector<storage::Record> RecordsOfParts(
      const storage::Record& /*record*/) const {
    return {};
  }

  // Measures and applies a candidate and verifies the result, by default that
  // of a rewritten module with VerifyRewrite.
  // Errors: the reason why the candidate must not be published; Unavailable and
  // Cancelled.
  virtual absl::StatusOr<Winner> Judge(const Subject& subject,
                                       const space::Problem& problem,
                                       const space::Candidate& candidate,
                                       const VerifyOptions& options) const;

 private:
  // MakeProblem for a subject of the right kind.
  virtual absl::StatusOr<std::unique_ptr<space::Problem>> CreateProblem(
      const Subject& subject, const TaskOptions& options,
      const TaskContext& context) const = 0;
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASK_H_
