#include "bench/cost_model/collect_kernels.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <regex>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "base/clock.h"
#include "base/status_macros.h"
#include "bench/corpus.h"
#include "bench/cost_model/data_file.h"
#include "bench/cost_model/kernel_samples.h"
#include "bench/cost_model/random_kernels.h"
#include "bench/cost_model/schedule_draw.h"
#include "bench/kernel_searches.h"
#include "bench/kernel_suite.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "loops/lowering/lowering.h"
#include "loops/transforms/script.h"
#include "tuning/tasks/kernel_problem.h"

namespace hone::bench {
namespace {

// The most pairs of samples of a schedule. They race against the best so far:
// most lose after three, and those that might be the best are known best.
constexpr int32_t kPairs = 7;
// Schedules of one request. Between requests, the best so far are edited.
constexpr size_t kRequest = 16;
// Of kernels that take longer, fewer schedules are measured, but at least so
// many.
constexpr double kSlowNs = 2e6;
constexpr int64_t kFewSchedules = 4;

// The families of the suite's kernels, by the beginning of their names; the
// first that fits.
constexpr struct {
  absl::string_view prefix;
  absl::string_view family;
} kSuiteFamilies[] = {
    {"adam", "adam"},
    {"attention", "attention"},
    {"batch_norm", "batch_norm"},
    {"batched_matmul", "batched_matmul"},
    {"column_sum", "reduction"},
    {"row_sum", "reduction"},
    {"conv", "conv"},
    {"depthwise", "depthwise"},
    {"layer_norm", "layer_norm"},
    {"logsumexp", "logsumexp"},
    {"matmul_bias", "matmul_bias"},
    {"matmul", "matmul"},
    {"matvec", "matvec"},
    {"rms_norm", "rms_norm"},
    {"softmax", "softmax"},
    {"swiglu", "swiglu"},
    {"transpose", "transpose"},
};

std::string FamilyOf(absl::string_view name) {
  for (const auto& [prefix, family] : kSuiteFamilies) {
    if (absl::StartsWith(name, prefix)) return std::string(family);
  }
  return "elementwise";
}

// The kernels of the suite, then random ones.
absl::StatusOr<std::vector<NamedKernel>> KernelsOf(
    const CollectKernelsOptions& options) {
  HONE_ASSIGN_OR_RETURN(const std::regex only, ParseOnly(options.only));
  const std::regex excluded(KernelSearchesOptions().only);
  std::vector<NamedKernel> all;
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                        KernelNames(options.suite, ""));
  for (const std::string& name : names) {
    if (std::regex_search(name, excluded)) continue;
    HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                          ReadKernel(options.suite, name));
    all.push_back({FamilyOf(name), name, hlo::PrintModule(module)});
  }
  absl::flat_hash_set<std::string> seen;
  std::vector<NamedKernel> kernels;
  for (int64_t i = 0; i < options.kernels + options.composites; ++i) {
    const auto suite = static_cast<int64_t>(all.size());
    NamedKernel kernel = i >= options.kernels
                             ? DrawComposite(options.seed, i - options.kernels)
                         : i < suite ? all[static_cast<size_t>(i)]
                                     : DrawKernel(options.seed, i - suite);
    // The same kernel may be drawn twice.
    if (!seen.insert(kernel.name).second) continue;
    if (std::regex_search(kernel.name, only)) {
      kernels.push_back(std::move(kernel));
    }
  }
  return kernels;
}

ScheduleSample SampleOf(std::string script,
                        const backends::KernelTiming& timing) {
  return {.script = std::move(script),
          .outcome = timing.outcome,
          .message = timing.message,
          .ratio = timing.ratio,
          .ratio_low = timing.ratio_low,
          .ratio_high = timing.ratio_high,
          .ns = timing.ns,
          .least_ns = timing.samples_ns.empty()
                          ? timing.ns
                          : *absl::c_min_element(timing.samples_ns)};
}

class Collector {
 public:
  Collector(const CollectKernelsOptions& options,
            backends::KernelMeasurer& measurer, backends::KernelDevice device)
      : options_(options), measurer_(measurer), device_(std::move(device)) {
    device_.machine.threads = options.threads;
  }

  // Errors: those of lowering and of the measurer.
  absl::StatusOr<KernelSamples> Collect(const NamedKernel& kernel) {
    HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                          hlo::ParseHloText(kernel.module));
    tuning::KernelProblemOptions problem_options;
    HONE_ASSIGN_OR_RETURN(problem_options.program,
                          loops::LowerToProgram(module));
    problem_options.module = kernel.module;
    problem_options.device = device_;
    problem_options.kernels = &measurer_;
    const tuning::KernelProblem problem(std::move(problem_options));
    const auto initial =
        tuning::KernelProblem::ScheduleAt(problem.InitialState());

    backends::KernelRequest request;
    request.module = kernel.module;
    request.baseline_script = loops::PrintScript(initial.script);
    request.threads = options_.threads;
    request.seed = options_.seed;
    request.pairs = kPairs;
    KernelSamples samples;
    samples.kernel = kernel;
    samples.device = device_;
    samples.threads = options_.threads;
    HONE_RETURN_IF_ERROR(MeasureDefault(request, samples));
    ScheduleDraw draw(problem, options_.seed);
    const auto share = std::max<int64_t>(
        kFewSchedules,
        std::llround(static_cast<double>(options_.schedules) *
                     std::min(1.0, kSlowNs / samples.default_ns)));
    const auto wanted =
        static_cast<size_t>(1 + std::min(share, options_.schedules));
    double best = 1;
    while (samples.samples.size() < wanted) {
      const std::vector<ScheduleDraw::Drawn> drawn =
          draw.Draw(std::min(kRequest, wanted - samples.samples.size()));
      if (drawn.empty()) break;
      request.candidate_scripts.clear();
      for (const ScheduleDraw::Drawn& each : drawn) {
        request.candidate_scripts.push_back(loops::PrintScript(
            tuning::KernelProblem::ScheduleAt(each.state).script));
      }
      request.bar = best;
      HONE_ASSIGN_OR_RETURN(const backends::KernelReport report,
                            Measure(request));
      for (size_t i = 0; i < drawn.size(); ++i) {
        const backends::KernelTiming& timing = report.candidates[i];
        samples.samples.push_back(
            SampleOf(std::move(request.candidate_scripts[i]), timing));
        if (timing.outcome != space::Outcome::kOk) continue;
        draw.Learn(drawn[i], timing.ratio);
        best = std::min(best, timing.ratio_high);
      }
    }
    return samples;
  }

 private:
  absl::StatusOr<backends::KernelReport> Measure(
      const backends::KernelRequest& request) {
    return measurer_.Measure(request, device_.fingerprint, /*stop=*/nullptr);
  }

  // Measures the default schedule, and before the first kernel the machine.
  absl::Status MeasureDefault(backends::KernelRequest request,
                              KernelSamples& samples) {
    request.time_baseline = true;
    request.calibrate = calibration_.levels.empty();
    HONE_ASSIGN_OR_RETURN(backends::KernelReport report, Measure(request));
    if (report.calibration.has_value()) {
      calibration_ = *std::move(report.calibration);
    }
    samples.calibration = calibration_;
    if (report.baseline->outcome != space::Outcome::kOk) {
      return absl::InternalError(
          absl::StrCat("the default schedule is ",
                       space::OutcomeName(report.baseline->outcome), ": ",
                       report.baseline->message));
    }
    samples.samples.push_back(
        SampleOf(request.baseline_script, *report.baseline));
    samples.default_ns = samples.samples.front().least_ns;
    return absl::OkStatus();
  }

  const CollectKernelsOptions& options_;
  backends::KernelMeasurer& measurer_;
  backends::KernelDevice device_;
  backends::Calibration calibration_;
};

}  // namespace

absl::StatusOr<CollectedKernels> CollectKernels(
    const CollectKernelsOptions& options, backends::KernelMeasurer& measurer,
    std::ostream& log) {
  HONE_ASSIGN_OR_RETURN(const backends::KernelDevice device,
                        measurer.AwaitDevice("", /*stop=*/nullptr));
  absl::flat_hash_set<std::string> present;
  if (HasLines(options.output)) {
    HONE_RETURN_IF_ERROR(ReadKernelSamples(
        options.output, [&](const KernelSamples& line) -> absl::Status {
          if (line.device.fingerprint != device.fingerprint ||
              line.threads != options.threads) {
            return absl::InvalidArgumentError(absl::StrCat(
                options.output, ": has kernels of ", line.device.fingerprint,
                " with ", line.threads, " threads, expected ",
                device.fingerprint, " with ", options.threads));
          }
          present.insert(line.kernel.name);
          return absl::OkStatus();
        }));
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<NamedKernel> kernels,
                        KernelsOf(options));
  HONE_ASSIGN_OR_RETURN(DataFile file,
                        DataFile::Open(options.output, kKernelLineBegin));
  Collector collector(options, measurer, device);
  CollectedKernels result;
  const absl::Duration start = SystemClock().Monotonic();
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (present.contains(kernels[i].name)) continue;
    if (SystemClock().Monotonic() - start >= options.time) break;
    const absl::StatusOr<KernelSamples> samples = collector.Collect(kernels[i]);
    if (absl::IsUnavailable(samples.status()) ||
        absl::IsCancelled(samples.status())) {
      return samples.status();
    }
    log << absl::StrFormat("%d/%d %s: ", i + 1, kernels.size(),
                           kernels[i].name);
    if (!samples.ok()) {
      ++result.refused;
      log << samples.status().message() << "\n" << std::flush;
      continue;
    }
    HONE_RETURN_IF_ERROR(file.Add(PrintKernelSamples(*samples)));
    ++result.kernels;
    double best = 1;
    for (const ScheduleSample& sample : samples->samples) {
      ++result.schedules;
      if (sample.outcome == space::Outcome::kOk) {
        best = std::min(best, sample.ratio);
      } else {
        ++result.failures;
      }
    }
    result.seconds = absl::ToDoubleSeconds(SystemClock().Monotonic() - start);
    log << absl::StrFormat(
               "%.0f us, %d schedules, best %.3f (%.1f schedules/s)\n",
               samples->default_ns / 1e3, samples->samples.size(), best,
               static_cast<double>(result.schedules) / result.seconds)
        << std::flush;
  }
  result.seconds = absl::ToDoubleSeconds(SystemClock().Monotonic() - start);
  return result;
}

}  // namespace hone::bench
