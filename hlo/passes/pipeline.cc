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

// XLA:CPU up to layout assignment (cpu_compiler.cc, RunHloPassesThroughLayout-
// Assn), without what only other element types, dynamic shapes, sharding or
// random numbers call for.
Pipeline XlaCpu() {
  // Tree reductions and the like raise the number of ops: the order is
  // upstream's, for code that runs well, not for few ops.
  const PipelineStage simplification = {
      {"algsimp", "simplify-sorts", "dce", "gather_expander",
       "gather_simplifier", "tree_reduction_rewriter",
       "zero_sized_hlo_elimination", "while-loop-invariant-code-motion",
       "tuple-simplifier", "while-loop-constant-sinking",
       "simplify-while-loops", "dce", "reshape-mover", "constant_folding",
       "simplify-conditional"},
      kFixedPointRounds};
  return {
      "xla-cpu",
      {
          {{"flatten-call-graph", "dce", "batched_gather_scatter_normalizer",
            "dot_decomposer", "zero_sized_hlo_elimination",
            "conditional-to-select", "map-inline", "topk-decomposer",
            "comparison-expander", "call-inliner", "batch-dot-simplification",
            "dot_decomposer", "convolution-group-converter",
            "batchnorm_expander", "logistic-expander",
            "dynamic-dimension-simplifier", "convolution-canonicalization"}},
          simplification,
          {{"select_and_scatter_expander", "scatter_expander",
            "scatter_simplifier"}},
          simplification,
          {{"gemv-rewriter", "transpose-folding", "cse", "cse_barrier_expander",
            "while-loop-trip-count-annotator", "flatten-call-graph"}},
      }};
}

// XLA:GPU up to the first target-specific rewrites (gpu_compiler.cc,
// RunOptimizationPasses). Unlike on the CPU, cse is in the loop and loop-
// invariant code motion and tree reductions are not.
Pipeline XlaGpu() {
  return {"xla-gpu",
          {
              {{"flatten-call-graph", "batched_gather_scatter_normalizer",
                "topk-decomposer", "dot_decomposer", "comparison-expander",
                "zero_sized_hlo_elimination", "select_and_scatter_expander",
                "scatter_simplifier", "call-inliner", "batchnorm_expander",
                "logistic-expander", "dynamic-dimension-simplifier"}},
              {{"zero_sized_hlo_elimination", "gather_simplifier",
                "gather_expander", "scatter_simplifier", "scatter_expander",
                "dot-strength-reduction", "algsimp", "simplify-sorts",
                "tuple-simplifier", "while-loop-constant-sinking",
                "simplify-while-loops", "slice-sinker", "reshape-mover",
                "constant_folding", "simplify-conditional", "cse", "dce"},
               kFixedPointRounds},
              {{"dot-merger", "transpose-folding"}},
              {{"convert-mover", "algsimp"}, kFixedPointRounds},
              {{"dce", "computation-deduplicator"}},
          }};
}

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

  PipelineReport TakeReport() { return std::move(report_); }

 private:
  absl::StatusOr<bool> RunOne(const Pass& pass) {
    PassRun run;
    run.pass = std::string(pass.name());
    run.instructions_before = module_.instruction_count();
    const absl::Duration start = SystemClock().Monotonic();
    absl::StatusOr<bool> changed = pass.Run(module_, options_.rewrite);
    run.duration = SystemClock().Monotonic() - start;
    if (!changed.ok()) {
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
};

absl::Status CheckPassesExist(absl::Span<const std::string> passes) {
  for (const std::string& name : passes) {
    HONE_RETURN_IF_ERROR(FindPass(name).status());
  }
  return absl::OkStatus();
}

}  // namespace

const std::vector<Pipeline>& Pipelines() {
  static const auto* const pipelines =
      new std::vector<Pipeline>{XlaCpu(), XlaGpu()};
  return *pipelines;
}

absl::StatusOr<const Pipeline*> FindPipeline(absl::string_view name) {
  for (const Pipeline& pipeline : Pipelines()) {
    if (pipeline.name == name) return &pipeline;
  }
  const auto append_name = [](std::string* out, const Pipeline& pipeline) {
    out->append(pipeline.name);
  };
  return absl::NotFoundError(absl::StrCat(
      "unknown pipeline '", name,
      "', expected one of: ", absl::StrJoin(Pipelines(), ", ", append_name)));
}

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
  Runner runner(module, options);
  for (const PipelineStage& stage : pipeline.stages) {
    HONE_RETURN_IF_ERROR(runner.RunStage(stage));
  }
  return runner.TakeReport();
}

absl::StatusOr<PipelineReport> RunPipeline(Module& module,
                                           absl::string_view name,
                                           const PipelineOptions& options) {
  HONE_ASSIGN_OR_RETURN(const Pipeline* pipeline, FindPipeline(name));
  return RunPipeline(module, *pipeline, options);
}

}  // namespace hone::hlo
