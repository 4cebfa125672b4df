#include "bench/kernel_searches.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"

#include "backends/cpu/host.h"
#include "backends/process/local_kernels.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "bench/corpus.h"
#include "bench/kernel_suite.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

// A search's results on all kernels, for one seed after the other.
struct SearchResults {
  // Tuned time over the default's, of the geometric mean over kernels.
  std::vector<double> by_seed;
  int64_t tunings = 0;
  int64_t improved = 0;
  double seconds = 0;
};

}  // namespace

absl::StatusOr<Json> RunKernelSearchesBench(
    const KernelSearchesOptions& options, std::ostream& out) {
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                        KernelNames(options.suite, options.only));
  Json document = {{"bench", "kernel-searches"},
                   {"machine", DescribeMachine()},
                   {"device", backends::HostDevice().fingerprint},
                   {"trials", options.trials},
                   {"threads", options.threads},
                   {"tunings", Json::array()},
                   {"searches", Json::array()}};
  out << document["machine"].get<std::string>() << "\n";
  backends::LocalKernels measurer;
  std::vector<SearchResults> results(options.optimizers.size());
  // Seeds outermost and searches innermost: a machine that slows down does so
  // for all of them.
  for (int32_t seed = 0; seed < options.seeds; ++seed) {
    std::vector<double> log_ratios(options.optimizers.size(), 0.0);
    for (const std::string& name : names) {
      HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                            ReadKernel(options.suite, name));
      out << absl::StrFormat("seed %d, %-24s", seed, name);
      for (size_t i = 0; i < options.optimizers.size(); ++i) {
        HONE_ASSIGN_OR_RETURN(const storage::Record record,
                              TuneKernel(module,
                                         {.optimizer = options.optimizers[i],
                                          .seed = static_cast<uint64_t>(seed),
                                          .trials = options.trials,
                                          .threads = options.threads},
                                         measurer));
        const double ratio = record.best_cost / record.default_cost;
        document["tunings"].push_back({{"kernel", name},
                                       {"optimizer", options.optimizers[i]},
                                       {"seed", seed},
                                       {"default_ns", record.default_cost},
                                       {"best_ns", record.best_cost},
                                       {"trials", record.trials},
                                       {"seconds", record.seconds}});
        out << absl::StrFormat("  %s %.3f", options.optimizers[i], ratio)
            << std::flush;
        log_ratios[i] += std::log(ratio);
        ++results[i].tunings;
        if (ratio < 1) ++results[i].improved;
        results[i].seconds += record.seconds;
      }
      out << "\n";
    }
    for (size_t i = 0; i < results.size(); ++i) {
      results[i].by_seed.push_back(
          std::exp(log_ratios[i] / static_cast<double>(names.size())));
    }
  }
  out << absl::StrFormat(
      "tuned / default time, geometric mean over %d kernels, %d trials\n"
      "%-12s %8s %8s %8s %10s %12s\n",
      names.size(), options.trials, "search", "mean", "best", "worst",
      "improved", "s per tuning");
  for (size_t i = 0; i < results.size(); ++i) {
    const SearchResults& r = results[i];
    const auto [best, worst] =
        std::minmax_element(r.by_seed.begin(), r.by_seed.end());
    out << absl::StrFormat("%-12s %8.3f %8.3f %8.3f %6d/%-3d %12.1f\n",
                           options.optimizers[i], GeometricMean(r.by_seed),
                           *best, *worst, r.improved, r.tunings,
                           r.seconds / static_cast<double>(r.tunings));
    document["searches"].push_back(
        {{"optimizer", options.optimizers[i]},
         {"ratio_by_seed", r.by_seed},
         {"ratio", GeometricMean(r.by_seed)},
         {"improved", r.improved},
         {"tunings", r.tunings},
         {"seconds_per_tuning", r.seconds / static_cast<double>(r.tunings)}});
  }
  return document;
}

}  // namespace hone::bench
