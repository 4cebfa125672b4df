#include "hlo/passes/pipeline.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/clock.h"
#include "base/status_macros.h"
#include "hlo/inference/verifier.h"
#include "hlo/passes/registry.h"

namespace hone::hlo {
namespace {

// Memory for a module grows with its slots, dead ones included, and so does the
// time of every pass and fork.
void CompactSparseComputations(Module& module) {
  for (ComputationId id : module.ComputationIds()) {
    const Computation& computation = module.computation(id);
    if (computation.slot_count() > 2 * computation.live_count()) {
      module.mutable_computation(id).Compact();
    }
  }
}

// Runs passes one by one and writes the report.
class Runner {
 public:
  Runner(Module& module, const PipelineOptions& options)
      : module_(module), options_(options) {}

  // Returns true if anything changed.
  absl::StatusOr<bool> RunRound(absl::Span<const std::string> passes) {
    bool changed = false;
    for (const std::string& name : passes) {
      HONE_ASSIGN_OR_RETURN(const Pass* pass, FindPass(name));
      HONE_ASSIGN_OR_RETURN(const bool pass_changed, RunOne(*pass));
      changed |= pass_changed;
    }
    return changed;
  }

  absl::Status RunStage(const PipelineStage& stage) {
    for (int round = 0; round < stage.max_rounds; ++round) {
      HONE_ASSIGN_OR_RETURN(const bool changed, RunRound(stage.passes));
      if (!changed) return absl::OkStatus();
    }
    if (stage.max_rounds > 1) report_.converged = false;
    return absl::OkStatus();
  }

  absl::Status RunStages(absl::Span<const PipelineStage> stages) {
    for (const PipelineStage& stage : stages) {
      HONE_RETURN_IF_ERROR(RunStage(stage));
    }
    return absl::OkStatus();
  }

  PipelineReport TakeReport() { return std::move(report_); }
  // The pass that failed; empty if none did.
  const std::string& failed_pass() const { return failed_pass_; }

 private:
  absl::StatusOr<bool> RunOne(const Pass& pass) {
    PassRun run;
    run.pass = std::string(pass.name());
    run.instructions_before = module_.instruction_count();
    const absl::Duration start = SystemClock().Monotonic();
    absl::StatusOr<bool> changed = pass.Run(module_, options_.rewrite);
    run.duration = SystemClock().Monotonic() - start;
    if (!changed.ok()) {
      failed_pass_ = std::string(pass.name());
      return absl::InternalError(absl::StrCat(
          "pass '", pass.name(), "': ", changed.status().message()));
    }
    run.changed = *changed;
    run.instructions_after = module_.instruction_count();
    report_.runs.push_back(std::move(run));
    if (!*changed) return false;
    report_.changed = true;
    if (options_.verify_each) {
      if (absl::Status status = VerifyModule(module_); !status.ok()) {
        failed_pass_ = std::string(pass.name());
        return absl::InternalError(
            absl::StrCat("pass '", pass.name(),
                         "' left an invalid module: ", status.message()));
      }
    }
    CompactSparseComputations(module_);
    return true;
  }

  Module& module_;
  const PipelineOptions& options_;
  PipelineReport report_;
  std::string failed_pass_;
};

absl::Status CheckPassesExist(absl::Span<const std::string> passes) {
  for (const std::string& name : passes) {
    HONE_RETURN_IF_ERROR(FindPass(name).status());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PipelineReport> RunPasses(Module& module,
                                         absl::Span<const std::string> passes,
                                         const PipelineOptions& options) {
  HONE_RETURN_IF_ERROR(CheckPassesExist(passes));
  Runner runner(module, options);
  HONE_RETURN_IF_ERROR(runner.RunRound(passes).status());
  return runner.TakeReport();
}

absl::StatusOr<PipelineReport> RunPipeline(Module& module,
                                           const Pipeline& pipeline,
                                           const PipelineOptions& options) {
  for (const PipelineStage& stage : pipeline.stages) {
    HONE_RETURN_IF_ERROR(CheckPassesExist(stage.passes));
  }
  if (!options.skip_failing) {
    Runner runner(module, options);
    HONE_RETURN_IF_ERROR(runner.RunStages(pipeline.stages));
    return runner.TakeReport();
  }
  // Failures are rare: it is cheaper to begin again than to keep a copy of what
  // each pass got.
  Pipeline rest = pipeline;
  for (;;) {
    Module result = module;
    Runner runner(result, options);
    const absl::Status status = runner.RunStages(rest.stages);
    if (status.ok()) {
      module = std::move(result);
      return runner.TakeReport();
    }
    for (PipelineStage& stage : rest.stages) {
      std::erase(stage.passes, runner.failed_pass());
    }
  }
}

absl::StatusOr<PipelineReport> RunPipeline(Module& module,
                                           absl::string_view name,
                                           const PipelineOptions& options) {
  HONE_ASSIGN_OR_RETURN(const Pipeline* pipeline, FindPipeline(name));
  return RunPipeline(module, *pipeline, options);
}

}  // namespace hone::hlo
