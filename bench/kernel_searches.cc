#include "bench/kernel_searches.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

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
#include "tuning/search.h"

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

// The results of one optimizer with one budget, or of no search at all.
struct SearchResults {
  SearchResults(std::string search, int64_t budget)
      : name(std::move(search)), trials(budget) {}

  std::string name;
  int64_t trials;
  // For each seed, the geometric mean over kernels of best / default time.
  std::vector<double> by_seed;
  int64_t improved = 0;
  double seconds = 0;
};

class KernelSearchesRun {
 public:
  KernelSearchesRun(const KernelSearchesOptions& options,
                    const std::vector<std::string>& names, std::ostream& out)
      : options_(options), names_(names), out_(out) {
    for (const std::string& optimizer : options.optimizers) {
      for (const int64_t trials : options.trials) {
        results_.emplace_back(optimizer, trials);
      }
    }
    results_.emplace_back(kSame, 0);
  }

  // Tunes every kernel with every optimizer.
  absl::Status TuneAll(int32_t seed) {
    std::vector<std::vector<double>> ratios(results_.size());
    for (const std::string& name : names_) {
      HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                            ReadKernel(options_.suite, name));
      out_ << absl::StrFormat("seed %d, %-24s", seed, name);
      size_t row = 0;
      for (const std::string& optimizer : options_.optimizers) {
        HONE_ASSIGN_OR_RETURN(
            const std::vector<tuning::Found> stages,
            TuneKernelInStages(module,
                               {.optimizer = optimizer,
                                .seed = static_cast<uint64_t>(seed),
                                .threads = options_.threads},
                               options_.trials, measurer_));
        out_ << "  " << optimizer;
        double seconds = 0;
        for (const tuning::Found& found : stages) {
          const double ratio = found.best_cost / found.default_cost;
          seconds += found.seconds;
          out_ << absl::StrFormat(" %.3f", ratio) << std::flush;
          tunings_.push_back({{"kernel", name},
                              {"optimizer", optimizer},
                              {"seed", seed},
                              {"default_ns", found.default_cost},
                              {"best_ns", found.best_cost},
                              {"trials", found.trials},
                              {"seconds", seconds}});
          if (ratio < 1) ++results_[row].improved;
          results_[row].seconds += seconds;
          ratios[row++].push_back(ratio);
        }
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
        "tuned / default time, geometric mean over %d kernels\n"
        "%-12s %6s %8s %8s %8s %10s %12s\n",
        names_.size(), "search", "trials", "mean", "best", "worst", "improved",
        "s per tuning");
    Json summary = Json::array();
    for (const SearchResults& r : results_) {
      const size_t tunings = names_.size() * r.by_seed.size();
      const double ratio = GeometricMean(r.by_seed);
      const double seconds = r.seconds / static_cast<double>(tunings);
      const auto [best, worst] =
          std::minmax_element(r.by_seed.begin(), r.by_seed.end());
      out_ << absl::StrFormat("%-12s %6d %8.3f %8.3f %8.3f %6d/%-3d %12.1f\n",
                              r.name, r.trials, ratio, *best, *worst,
                              r.improved, tunings, seconds);
      summary.push_back({{"optimizer", r.name},
                         {"trials", r.trials},
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
  if (options.trials.empty() || !absl::c_is_sorted(options.trials)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--trials ", absl::StrJoin(options.trials, ","),
                     ": expected budgets in ascending order"));
  }
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
