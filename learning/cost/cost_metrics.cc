#include "learning/cost/cost_metrics.h"

#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"

#include "base/prediction_metrics.h"
#include "base/statistics.h"
#include "base/status_macros.h"

namespace hone::learning {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The mean of the numbers among `values`; NaN without any.
double MeanOfNumbers(const std::vector<double>& values) {
  double sum = 0, count = 0;
  for (const double x : values) {
    if (std::isnan(x)) continue;
    sum += x;
    ++count;
  }
  return count > 0 ? sum / count : kNaN;
}

double MedianOfNumbers(const std::vector<double>& values) {
  std::vector<double> numbers;
  for (const double x : values) {
    if (!std::isnan(x)) numbers.push_back(x);
  }
  return Median(numbers);
}

ProgramMetrics Evaluate(CostTarget target,
                        const std::vector<const PredictedChoices*>& kernels) {
  ProgramMetrics metrics;
  std::vector<PredictedChoices> sets;
  std::vector<double> times, predicted, kendall, top1, top5;
  for (const PredictedChoices* kernel : kernels) {
    ++metrics.kernels;
    metrics.samples += static_cast<int64_t>(kernel->times.size());
    times.insert(times.end(), kernel->times.begin(), kernel->times.end());
    for (const double log_time : kernel->predicted) {
      predicted.push_back(std::exp(log_time));
    }
    if (kernel->times.size() < 2) continue;
    sets.push_back(*kernel);
    kendall.push_back(KendallTau(kernel->times, kernel->predicted));
    top1.push_back(100 * TopKSlowdown(*kernel, 1));
    top5.push_back(100 * TopKSlowdown(*kernel, 5));
  }
  metrics.ape = SelectionApe(sets);
  metrics.kendall = MeanOfNumbers(kendall);
  metrics.top1 = MeanOfNumbers(top1);
  metrics.top5 = MeanOfNumbers(top5);
  metrics.mape = target == CostTarget::kTime
                     ? MeanAbsolutePercentageError(times, predicted)
                     : kNaN;
  return metrics;
}

}  // namespace

absl::StatusOr<std::vector<ProgramMetrics>> EvaluateCostModel(
    const CostPredictor& model, absl::Span<const CostGroup> groups) {
  HONE_RETURN_IF_ERROR(CheckGroups(model.spec(), groups));
  std::vector<PredictedChoices> kernels(groups.size());
  std::vector<ProgramMetrics> all;
  for (size_t h = 0; h < model.spec().heads.size(); ++h) {
    const auto head = static_cast<int32_t>(h);
    std::vector<CostQuery> queries;
    for (const CostGroup& group : groups) {
      if (group.head == head) AppendQueries(group, queries);
    }
    HONE_ASSIGN_OR_RETURN(const CostPredictions predictions,
                          model.Predict(head, queries));
    size_t next = 0;
    std::vector<std::pair<std::string, std::vector<const PredictedChoices*>>>
        programs;
    absl::flat_hash_map<std::string, size_t> index;
    for (size_t g = 0; g < groups.size(); ++g) {
      if (groups[g].head != head) continue;
      for (const CostSample& sample : groups[g].samples) {
        kernels[g].times.push_back(std::exp(sample.log_time));
        kernels[g].predicted.push_back(
            static_cast<double>(predictions.values[next++]));
      }
      const auto [it, is_new] =
          index.try_emplace(groups[g].program, programs.size());
      if (is_new) {
        programs.emplace_back(groups[g].program,
                              std::vector<const PredictedChoices*>());
      }
      programs[it->second].second.push_back(&kernels[g]);
    }
    for (const auto& [program, of_program] : programs) {
      ProgramMetrics metrics =
          Evaluate(model.spec().heads[h].target, of_program);
      metrics.program = program;
      metrics.head = head;
      all.push_back(std::move(metrics));
    }
  }
  return all;
}

HeadMetrics MeanOverPrograms(absl::Span<const ProgramMetrics> programs,
                             int32_t head) {
  HeadMetrics metrics;
  metrics.mean.head = head;
  std::vector<double> ape, kendall, top1, top5, mape;
  for (const ProgramMetrics& program : programs) {
    if (program.head != head) continue;
    metrics.mean.kernels += program.kernels;
    metrics.mean.samples += program.samples;
    ape.push_back(program.ape);
    kendall.push_back(program.kendall);
    top1.push_back(program.top1);
    top5.push_back(program.top5);
    mape.push_back(program.mape);
  }
  metrics.mean.ape = MeanOfNumbers(ape);
  metrics.mean.kendall = MeanOfNumbers(kendall);
  metrics.mean.top1 = MeanOfNumbers(top1);
  metrics.mean.top5 = MeanOfNumbers(top5);
  metrics.mean.mape = MeanOfNumbers(mape);
  metrics.median_ape = MedianOfNumbers(ape);
  metrics.median_mape = MedianOfNumbers(mape);
  return metrics;
}

double SelectionError(const CostSpec& spec,
                      absl::Span<const ProgramMetrics> programs) {
  double error = 0;
  for (size_t h = 0; h < spec.heads.size(); ++h) {
    const ProgramMetrics mean =
        MeanOverPrograms(programs, static_cast<int32_t>(h)).mean;
    const double of_head =
        spec.heads[h].target == CostTarget::kTime ? mean.mape : mean.ape;
    if (!std::isnan(of_head)) error += of_head;
  }
  return error;
}

}  // namespace hone::learning
