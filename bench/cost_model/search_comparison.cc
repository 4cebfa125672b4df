#include "bench/cost_model/search_comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"

#include "base/clock.h"
#include "base/status_macros.h"
#include "optimizers/optimizer_text.h"
#include "optimizers/registry.h"
#include "optimizers/search.h"
#include "space/trial.h"

namespace hone::bench {
namespace {

// A search gives up that measures nothing new in so many candidates for each of
// its budget.
constexpr int64_t kCandidatesPerMeasurement = 50;

}  // namespace

void Found::Add(const space::Candidate& candidate, double ns) {
  if (!std::isfinite(ns) || !seen_.insert(candidate.choices).second) return;
  if (least_ns.empty() || ns < least_ns.back()) {
    least_ns.push_back(ns);
    best = candidate;
  } else {
    least_ns.push_back(least_ns.back());
  }
}

absl::StatusOr<std::unique_ptr<optimizers::Optimizer>> MakeSearch(
    const std::string& optimizer, const space::Problem& problem,
    uint64_t seed) {
  HONE_ASSIGN_OR_RETURN(optimizers::OptimizerChoice choice,
                        optimizers::ParseOptimizer(optimizer));
  choice.options.seed = seed;
  return optimizers::CreateOptimizer(*choice.info, problem, choice.options);
}

absl::StatusOr<Found> FindWithin(const space::Problem& problem,
                                 optimizers::Optimizer& search,
                                 int64_t budget) {
  Found found;
  optimizers::SearchOptions run;
  run.on_trial = [&](const space::Trial& trial) {
    found.Add(trial.candidate, space::EffectiveCost(trial.measurement));
    return absl::OkStatus();
  };
  run.stop = [&] {
    return static_cast<int64_t>(found.least_ns.size()) >= budget;
  };
  HONE_RETURN_IF_ERROR(
      optimizers::RunSearch(problem, search,
                            {.trials = kCandidatesPerMeasurement * budget},
                            SystemClock(), run)
          .status());
  return found;
}

absl::StatusOr<TunedPrograms> ReadTunedPrograms(
    const SearchComparisonOptions& options) {
  TunedPrograms tuned;
  HONE_ASSIGN_OR_RETURN(tuned.tpu, backends::FindTpu(options.tpu));
  if (options.budgets.empty() ||
      !std::is_sorted(options.budgets.begin(), options.budgets.end())) {
    return absl::InvalidArgumentError(
        "--budgets: not ascending, expected the least first");
  }
  HONE_ASSIGN_OR_RETURN(const FamilySplit split,
                        ReadFamilySplit(options.split));
  HONE_ASSIGN_OR_RETURN(
      std::vector<TpuProgram> programs,
      ReadTpuPrograms(options.corpus, options.partitions, options.only));
  for (TpuProgram& program : programs) {
    if (!split.test.contains(program.family)) continue;
    tuned.programs.push_back(std::move(program));
  }
  return tuned;
}

Spread SpreadOf(const LogSums& sums, int64_t cases) {
  Spread spread = {.least = std::numeric_limits<double>::infinity()};
  for (const double sum : sums) {
    const double ratio = std::exp(sum / static_cast<double>(cases));
    spread.mean += ratio;
    spread.least = std::min(spread.least, ratio);
    spread.most = std::max(spread.most, ratio);
  }
  spread.mean /= static_cast<double>(sums.size());
  return spread;
}

SearchRow MakeSearchRow(const std::string& optimizer, size_t counts,
                        size_t seeds) {
  return {optimizer, std::vector<LogSums>(counts, LogSums(seeds))};
}

void PrintSearchHead(absl::string_view first, absl::Span<const int64_t> budgets,
                     absl::Span<const absl::string_view> further,
                     std::ostream& out) {
  out << "| " << first << " |";
  for (const int64_t budget : budgets) {
    out << absl::StrFormat(" %d | spread |", budget);
  }
  for (const absl::string_view name : further) out << " " << name << " |";
  out << "\n|---|";
  for (size_t i = 0; i < 2 * budgets.size() + further.size(); ++i) {
    out << "---|";
  }
  out << "\n";
}

std::string SpreadCells(const Spread& spread) {
  return absl::StrFormat(" %.4f | %.4f to %.4f |", spread.mean, spread.least,
                         spread.most);
}

}  // namespace hone::bench
