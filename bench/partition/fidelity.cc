#include "bench/partition/fidelity.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>

#include "absl/strings/str_format.h"
#include "absl/time/time.h"

#include "backends/mcm_sim/pipeline_simulator.h"
#include "base/clock.h"
#include "base/rng.h"
#include "base/status_macros.h"
#include "graphs/mcm/chip_loads.h"
#include "graphs/mcm/partition_rules.h"
#include "space/domains.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

// Draws for each partition wanted, after which those found are enough.
constexpr int64_t kDrawsPerPartition = 256;

// Pearson's; NaN for fewer than three values, or equal ones.
double Correlation(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() < 3) return NAN;
  const auto n = static_cast<double>(a.size());
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / n;
  const double mean_b = std::accumulate(b.begin(), b.end(), 0.0) / n;
  double both = 0;
  double of_a = 0;
  double of_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    both += (a[i] - mean_a) * (b[i] - mean_b);
    of_a += (a[i] - mean_a) * (a[i] - mean_a);
    of_b += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return both / std::sqrt(of_a * of_b);
}

// The places of values in their order; equal ones share the mean of theirs.
std::vector<double> Ranks(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t i = 0; i < order.size();) {
    size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (size_t j = i; j < end; ++j) {
      ranks[order[j]] = static_cast<double>(i + end - 1) / 2;
    }
    i = end;
  }
  return ranks;
}

void AppendRelative(const std::vector<double>& values,
                    std::vector<double>& all) {
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) /
                      static_cast<double>(values.size());
  for (const double value : values) all.push_back(value / mean);
}

}  // namespace

absl::StatusOr<FidelityRow> CompareModels(
    const std::string& name, const tuning::PartitionProblem& problem,
    int64_t draws) {
  FidelityRow row;
  row.name = name;
  const std::unique_ptr<space::Domains> domains = problem.MakeDomains();
  Rng rng(0);
  int64_t found = 0;
  for (int64_t i = 0; i < kDrawsPerPartition * draws && found < draws; ++i) {
    const absl::Duration begin = SystemClock().Monotonic();
    const auto chips = problem.Draw(*domains, rng, nullptr);
    row.draw_seconds +=
        absl::ToDoubleSeconds(SystemClock().Monotonic() - begin);
    if (!chips) continue;
    ++found;
    HONE_RETURN_IF_ERROR(graphs::CheckPartition(problem.graph(), *chips));
    const backends::PipelineResult result =
        backends::SimulatePipeline(problem.graph(), problem.package(), *chips);
    if (result.excess_bytes > 0) {
      ++row.failures;
      continue;
    }
    row.loads.push_back(
        graphs::ComputeChipLoads(problem.graph(), *chips).max_load);
    row.intervals.push_back(result.interval);
  }
  row.solver =
      static_cast<const tuning::PartitionDomains&>(*domains).statistics();
  return row;
}

Json PrintFidelity(const std::vector<FidelityRow>& rows, std::ostream& out) {
  out << absl::StreamFormat(
      "\n%-22s %10s %10s %10s %10s | %10s %10s %10s %10s\n",
      "analytical / simulated", "partitions", "linear", "ranks", "failures",
      "found/s", "narrowings", "conflicts", "removals");
  Json list = Json::array();
  const auto print = [&](const std::string& name,
                         const std::vector<double>& loads,
                         const std::vector<double>& intervals, int64_t failures,
                         const FidelityRow* row) {
    const auto drawn = static_cast<int64_t>(loads.size()) + failures;
    const double linear = Correlation(loads, intervals);
    const double ranks = Correlation(Ranks(loads), Ranks(intervals));
    const double share =
        drawn > 0 ? static_cast<double>(failures) / static_cast<double>(drawn)
                  : 0;
    out << absl::StreamFormat("%-22s %10d %10.3f %10.3f %9.1f%%", name, drawn,
                              linear, ranks, 100 * share);
    list.push_back({{"name", name},
                    {"partitions", drawn},
                    {"linear", linear},
                    {"ranks", ranks},
                    {"failures", share}});
    if (row != nullptr && drawn > 0) {
      // What the solver did, for each partition.
      const auto each = [&](int64_t count) {
        return static_cast<double>(count) / static_cast<double>(drawn);
      };
      const double rate =
          static_cast<double>(drawn) / std::max(row->draw_seconds, 1e-9);
      out << absl::StreamFormat(
          " | %10.0f %10.0f %10.1f %10.0f", rate, each(row->solver.narrowings),
          each(row->solver.conflicts), each(row->solver.removals));
      list.back().update({{"found_per_second", rate},
                          {"narrowings", each(row->solver.narrowings)},
                          {"conflicts", each(row->solver.conflicts)},
                          {"removals", each(row->solver.removals)}});
    }
    out << "\n";
  };
  std::vector<double> loads;
  std::vector<double> intervals;
  int64_t failures = 0;
  for (const FidelityRow& row : rows) {
    print(row.name, row.loads, row.intervals, row.failures, &row);
    failures += row.failures;
    if (row.loads.empty()) continue;
    AppendRelative(row.loads, loads);
    AppendRelative(row.intervals, intervals);
  }
  print("all", loads, intervals, failures, nullptr);
  return list;
}

}  // namespace hone::bench
