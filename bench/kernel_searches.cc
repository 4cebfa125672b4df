#include "bench/kernel_searches.h"

#include <algorithm>

#include "absl/strings/str_format.h"

#include "backends/cpu/host.h"
#include "backends/process/local_kernels.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "bench/corpus.h"
#include "bench/kernel_suite.h"
#include "hlo/text/printer.h"
#include "loops/lowering/lowering.h"
#include "loops/schedules/default_schedule.h"
#include "loops/transforms/script.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

// How winners are confirmed (tuning/search.cc, tuning/tasks/kernel*.cc).
constexpr size_t kFinalists = 3;
constexpr uint64_t kConfirmations = 2;
constexpr int32_t kConfirmingPairs = 63;

constexpr const char* kSame = "same code";

// Returns the ratio that a search would publish whose finalists are all the
// default schedule: what of a search's gain is luck.
absl::StatusOr<double> RatioOfSame(const hlo::Module& module, int32_t threads,
                                   uint64_t seed,
                                   backends::KernelMeasurer& measurer) {
  HONE_ASSIGN_OR_RETURN(const loops::Program program,
                        loops::LowerToProgram(module));
  loops::Machine machine = backends::DetectHost().machine;
  machine.threads = threads;
  backends::KernelRequest request;
  request.module = hlo::PrintModule(module);
  request.baseline_script =
      loops::PrintScript(loops::DefaultSchedule(program, machine));
  request.candidate_scripts.assign(kFinalists, request.baseline_script);
  request.threads = threads;
  request.pairs = kConfirmingPairs;
  request.fresh_process = true;
  std::vector<double> ratios(kFinalists, 0);
  for (uint64_t i = 0; i < kConfirmations; ++i) {
    request.seed = seed + 1 + i;
    HONE_ASSIGN_OR_RETURN(
        const backends::KernelReport report,
        measurer.Measure(request, backends::HostDevice().fingerprint,
                         /*stop=*/nullptr));
    for (size_t f = 0; f < kFinalists; ++f) {
      const backends::KernelTiming& timing = report.candidates[f];
      if (timing.outcome != space::Outcome::kOk) {
        return absl::InternalError(timing.message);
      }
      // 1 unless it is surely faster.
      ratios[f] =
          std::max(ratios[f], timing.ratio_high < 1 ? timing.ratio : 1.0);
    }
  }
  return *std::min_element(ratios.begin(), ratios.end());
}

// The results of one optimizer, or of no search at all.
struct SearchResults {
  std::string name;
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
        results_(options.optimizers.size() + 1) {
    for (size_t i = 0; i < options.optimizers.size(); ++i) {
      results_[i].name = options.optimizers[i];
    }
    results_.back().name = kSame;
  }

  // Tunes every kernel with every optimizer.
  absl::Status TuneAll(int32_t seed) {
    std::vector<std::vector<double>> ratios(results_.size());
    for (const std::string& name : names_) {
      HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                            ReadKernel(options_.suite, name));
      out_ << absl::StrFormat("seed %d, %-24s", seed, name);
      for (size_t i = 0; i < options_.optimizers.size(); ++i) {
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
      HONE_ASSIGN_OR_RETURN(
          const double same,
          RatioOfSame(module, options_.threads, static_cast<uint64_t>(seed),
                      measurer_));
      out_ << absl::StrFormat("  %s %.3f\n", kSame, same) << std::flush;
      ratios.back().push_back(same);
      if (same < 1) ++results_.back().improved;
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
    for (const SearchResults& r : results_) {
      const size_t tunings = names_.size() * r.by_seed.size();
      const double ratio = GeometricMean(r.by_seed);
      const double seconds = r.seconds / static_cast<double>(tunings);
      const auto [best, worst] =
          std::minmax_element(r.by_seed.begin(), r.by_seed.end());
      out_ << absl::StrFormat("%-12s %8.3f %8.3f %8.3f %6d/%-3d %12.1f\n",
                              r.name, ratio, *best, *worst, r.improved, tunings,
                              seconds);
      summary.push_back({{"optimizer", r.name},
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
