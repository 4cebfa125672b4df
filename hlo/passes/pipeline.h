#ifndef HONE_HLO_PASSES_PIPELINE_H_
#define HONE_HLO_PASSES_PIPELINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

#include "hlo/ir/module.h"
#include "hlo/rewrite/options.h"

namespace hone::hlo {

// Passes that run in order, again and again until a round changes nothing.
struct PipelineStage {
  std::vector<std::string> passes;
  // Rounds at most; 1 runs the passes once.
  int max_rounds = 1;
};

// XLA's limit for passes that run to a fixed point.
inline constexpr int kFixedPointRounds = 25;

struct Pipeline {
  // Stable id.
  std::string name;
  std::vector<PipelineStage> stages;
};

// The named pipelines, sorted: `xla-cpu` and `xla-gpu`, the target-independent
// part of XLA's order on that target, as far as Hone has the passes; and of
// each the `-lowering`, the mandatory part: what the target makes of every
// module before layout assignment, whatever order it came by. A lowering leaves
// a lowered module as it is.
const std::vector<Pipeline>& Pipelines();

// The pipeline of that name; it lives as long as the process.
// Errors: NotFound, listing the known names.
absl::StatusOr<const Pipeline*> FindPipeline(absl::string_view name);

struct PipelineOptions {
  // For every pass.
  RewriteOptions rewrite = {};
  // Verifies the module after every pass that changed it.
  bool verify_each = false;
  // RunPipeline leaves out passes that fail, as if the pipeline had not had
  // them, so that none can keep a module from the others.
  bool skip_failing = false;
};

// One run of one pass.
struct PassRun {
  std::string pass;
  bool changed = false;
  absl::Duration duration;
  // Module::instruction_count.
  int64_t instructions_before = 0;
  int64_t instructions_after = 0;
};

struct PipelineReport {
  // In order of execution.
  std::vector<PassRun> runs;
  bool changed = false;
  // False when a stage stopped at max_rounds > 1 and its last round still
  // changed something.
  bool converged = true;
};

// Runs the passes once each, in order. Computations that have become mostly
// dead slots are compacted afterwards (Computation::Compact), so instruction
// ids do not survive this.
// Errors: NotFound for an unknown pass, listing the known ones, before anything
// runs; Internal when a pass fails or, with verify_each, leaves a module that
// does not verify (the message names the pass). `module` is then in an
// unspecified state.
absl::StatusOr<PipelineReport> RunPasses(Module& module,
                                         absl::Span<const std::string> passes,
                                         const PipelineOptions& options = {});

// Runs a pipeline; otherwise like RunPasses.
absl::StatusOr<PipelineReport> RunPipeline(Module& module,
                                           const Pipeline& pipeline,
                                           const PipelineOptions& options = {});
// Errors: also NotFound, listing the known pipelines.
absl::StatusOr<PipelineReport> RunPipeline(Module& module,
                                           absl::string_view name,
                                           const PipelineOptions& options = {});

}  // namespace hone::hlo

#endif  // HONE_HLO_PASSES_PIPELINE_H_
