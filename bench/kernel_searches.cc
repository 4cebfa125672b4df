#include "bench/kernel_searches.h"

#include <algorithm>

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

// The results of one optimizer.
struct SearchResults {
  // For each seed, the geometric mean over kernels of best / default time.
  std::vector<double> by_seed;
  int64_t improved = 0;
  double seconds = 0;
};

class KernelSearchesRun {
 public:
  KernelSearchesRun(const KernelSearchesOptions& options,
                    const std::vector<std::string>& names, std::ostream& out)
      : options_(options),
        names_(names),
        out_(out),
        results_(options.optimizers.size()) {}

  // Tunes every kernel with every optimizer.
  absl::Status TuneAll(int32_t seed) {
    std::vector<std::vector<double>> ratios(results_.size());
    for (const std::string& name : names_) {
      HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                            ReadKernel(options_.suite, name));
      out_ << absl::StrFormat("seed %d, %-24s", seed, name);
      for (size_t i = 0; i < results_.size(); ++i) {
        const std::string& optimizer = options_.optimizers[i];
        HONE_ASSIGN_OR_RETURN(const storage::Record record,
                              TuneKernel(module,
                                         {.optimizer = optimizer,
                                          .seed = static_cast<uint64_t>(seed),
                                          .trials = options_.trials,
                                          .threads = options_.threads},
                                         measurer_));
        const double ratio = record.best_cost / record.default_cost;
        out_ << absl::StrFormat("  %s %.3f", optimizer, ratio) << std::flush;
        ratios[i].push_back(ratio);
        if (ratio < 1) ++results_[i].improved;
        results_[i].seconds += record.seconds;
        tunings_.push_back({{"kernel", name},
                            {"optimizer", optimizer},
                            {"seed", seed},
                            {"default_ns", record.default_cost},
                            {"best_ns", record.best_cost},
                            {"trials", record.trials},
                            {"seconds", record.seconds}});
      }
      out_ << "\n";
    }
    for (size_t i = 0; i < results_.size(); ++i) {
      results_[i].by_seed.push_back(GeometricMean(ratios[i]));
    }
    return absl::OkStatus();
  }

  // One entry for each optimizer; printed as a table too.
  Json Summary() {
    out_ << absl::StrFormat(
        "tuned / default time, geometric mean over %d kernels, %d trials\n"
        "%-12s %8s %8s %8s %10s %12s\n",
        names_.size(), options_.trials, "search", "mean", "best", "worst",
        "improved", "s per tuning");
    Json summary = Json::array();
    for (size_t i = 0; i < results_.size(); ++i) {
      const SearchResults& r = results_[i];
      const size_t tunings = names_.size() * r.by_seed.size();
      const double ratio = GeometricMean(r.by_seed);
      const double seconds = r.seconds / static_cast<double>(tunings);
      const auto [best, worst] =
          std::minmax_element(r.by_seed.begin(), r.by_seed.end());
      out_ << absl::StrFormat("%-12s %8.3f %8.3f %8.3f %6d/%-3d %12.1f\n",
                              options_.optimizers[i], ratio, *best, *worst,
                              r.improved, tunings, seconds);
      summary.push_back({{"optimizer", options_.optimizers[i]},
                         {"ratio_by_seed", r.by_seed},
                         {"ratio", ratio},
                         {"improved", r.improved},
                         {"tunings", tunings},
                         {"seconds_per_tuning", seconds}});
    }
    return summary;
  }

  const Json& Tunings() const { return tunings_; }

 private:
  const KernelSearchesOptions& options_;
  const std::vector<std::string>& names_;
  std::ostream& out_;
  backends::LocalKernels measurer_;
  std::vector<SearchResults> results_;
  Json tunings_ = Json::array();
};

}  // namespace

absl::StatusOr<Json> RunKernelSearchesBench(
    const KernelSearchesOptions& options, std::ostream& out) {
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                        KernelNames(options.suite, options.only));
  const std::string machine = DescribeMachine();
  out << machine << "\n";
  KernelSearchesRun run(options, names, out);
  // Seeds outermost and searches innermost, so that a slowdown of the machine
  // affects all searches.
  for (int32_t seed = 0; seed < options.seeds; ++seed) {
    HONE_RETURN_IF_ERROR(run.TuneAll(seed));
  }
  return Json{{"bench", "kernel-searches"},
              {"machine", machine},
              {"device", backends::HostDevice().fingerprint},
              {"trials", options.trials},
              {"threads", options.threads},
              {"tunings", run.Tunings()},
              {"searches", run.Summary()}};
}

}  // namespace hone::bench
