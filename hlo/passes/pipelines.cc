#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "hlo/passes/pipeline.h"

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

// What XLA:CPU brings every module to before layout assignment, whatever it is
// given: the passes of XlaCpu that expand, decompose or normalize, in the same
// order, without those that only simplify. They add operations as a rule.
Pipeline XlaCpuLowering() {
  return {"xla-cpu-lowering",
          {{{"batched_gather_scatter_normalizer", "dot_decomposer",
             "conditional-to-select", "map-inline", "topk-decomposer",
             "comparison-expander", "call-inliner",
             "convolution-group-converter", "batchnorm_expander",
             "logistic-expander", "convolution-canonicalization",
             "select_and_scatter_expander", "gather_expander",
             "gather_simplifier", "scatter_expander", "scatter_simplifier"}},
           {{"tree_reduction_rewriter"}, kFixedPointRounds},
           {{"gemv-rewriter", "cse_barrier_expander", "flatten-call-graph"}}}};
}

// The same of XlaGpu.
Pipeline XlaGpuLowering() {
  return {
      "xla-gpu-lowering",
      {{{"batched_gather_scatter_normalizer", "topk-decomposer",
         "dot_decomposer", "comparison-expander", "select_and_scatter_expander",
         "call-inliner", "batchnorm_expander", "logistic-expander",
         "gather_simplifier", "gather_expander", "scatter_simplifier",
         "scatter_expander", "flatten-call-graph"}}}};
}

}  // namespace

const std::vector<Pipeline>& Pipelines() {
  static const auto* const pipelines = new std::vector<Pipeline>{
      XlaCpu(), XlaCpuLowering(), XlaGpu(), XlaGpuLowering()};
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

}  // namespace hone::hlo
