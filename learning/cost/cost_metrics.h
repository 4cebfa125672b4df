#ifndef HONE_LEARNING_COST_COST_METRICS_H_
#define HONE_LEARNING_COST_COST_METRICS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "learning/cost/cost_predictor.h"
#include "learning/cost/cost_samples.h"

namespace hone::learning {

// How well a head predicts the kernels of one program. Those that do not apply
// are NaN.
struct ProgramMetrics {
  std::string program;
  int32_t head = 0;
  int64_t kernels = 0;
  int64_t samples = 0;
  // Of selecting a configuration of each kernel that has several.
  double ape = 0;      // SelectionApe, per cent
  double kendall = 0;  // mean of Kendall's τ over the kernels
  // Means of TopKSlowdown over the kernels, per cent, with 1 and 5 tries.
  double top1 = 0;
  double top5 = 0;
  // Of heads for times: MeanAbsolutePercentageError over all samples, per cent.
  double mape = 0;
};

// Returns the metrics by head and program, in the order of the heads and of the
// first groups of the programs.
// Errors: those of Predict.
absl::StatusOr<std::vector<ProgramMetrics>> EvaluateCostModel(
    const CostPredictor& model, absl::Span<const CostGroup> groups);

// The metrics of a head over programs: arithmetic means over those programs to
// which a metric applies (NaN if to none), and the sums of counts.
struct HeadMetrics {
  ProgramMetrics mean;
  double median_ape = 0;
  double median_mape = 0;
};
HeadMetrics MeanOverPrograms(absl::Span<const ProgramMetrics> programs,
                             int32_t head);

// Returns the error by which weights are selected, in per cent: the sum over
// the heads that have metrics of the mean MAPE (times) or APE (orders).
double SelectionError(const CostSpec& spec,
                      absl::Span<const ProgramMetrics> programs);

}  // namespace hone::learning

#endif  // HONE_LEARNING_COST_COST_METRICS_H_
