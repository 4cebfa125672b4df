#include "bench/measurement.h"

#include <climits>
#include <functional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "backends/cpu/host.h"
#include "backends/cpu/measure/isolated_child.h"
#include "backends/process/local_kernels.h"
#include "base/clock.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "bench/corpus.h"
#include "bench/kernel_suite.h"
#include "hlo/text/printer.h"
#include "loops/ir/rewrite.h"
#include "loops/lowering/lowering.h"
#include "loops/schedules/default_schedule.h"
#include "loops/transforms/script.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

// Kernels of 20 microseconds to a few milliseconds, bound by memory and by
// arithmetic.
constexpr const char* kKernels[] = {"row_sum_1001x777", "transpose_1001x777",
                                    "softmax_4096x257", "matmul_256x256x256",
                                    "conv3x3_2x29x31x33_47"};
constexpr const char* kMatmul = "matmul_512x512x512";
// Legal moves are timed once the steps of kMatmul's default schedule have made
// this many loops, and after all steps.
constexpr int kLoops = 10;

double Milliseconds(const std::function<void()>& body) {
  const absl::Duration start = SystemClock().Monotonic();
  body();
  return absl::ToDoubleMilliseconds(SystemClock().Monotonic() - start);
}

struct Kernel {
  hlo::Module module;
  loops::Program program;
  std::vector<loops::Step> script;
};

absl::StatusOr<Kernel> ScheduledKernel(const std::string& suite,
                                       const std::string& name) {
  Kernel kernel;
  HONE_ASSIGN_OR_RETURN(kernel.module, ReadKernel(suite, name));
  HONE_ASSIGN_OR_RETURN(kernel.program, loops::LowerToProgram(kernel.module));
  loops::Machine machine = backends::DetectHost().machine;
  machine.threads = 1;
  kernel.script = loops::DefaultSchedule(kernel.program, machine);
  return kernel;
}

// Returns the number of comparisons of a kernel with itself that found a
// difference.
absl::StatusOr<int32_t> CountDifferent(backends::LocalKernels& measurer,
                                       const Kernel& kernel,
                                       int32_t comparisons) {
  backends::KernelRequest request;
  request.module = hlo::PrintModule(kernel.module);
  request.baseline_script = loops::PrintScript(kernel.script);
  request.candidate_scripts.assign(static_cast<size_t>(comparisons),
                                   request.baseline_script);
  HONE_ASSIGN_OR_RETURN(
      const backends::KernelReport report,
      measurer.Measure(request, backends::HostDevice().fingerprint,
                       /*stop=*/nullptr));
  int32_t different = 0;
  for (const backends::KernelTiming& timing : report.candidates) {
    if (timing.outcome != space::Outcome::kOk) {
      return absl::InternalError(timing.message);
    }
    if (timing.ratio_low > 1 || timing.ratio_high < 1) ++different;
  }
  return different;
}

int CountLoops(const loops::Program& program) {
  int loops = 0;
  loops::VisitLoops(program, {},
                    [&](const loops::Path&, const loops::Loop&) { ++loops; });
  return loops;
}

// Times the enumeration of the legal moves of a form of kMatmul.
Json TimeMoves(const loops::Program& program, int32_t rounds,
               std::ostream& out) {
  std::vector<double> samples_ms;
  samples_ms.reserve(static_cast<size_t>(rounds));
  size_t moves = 0;
  for (int32_t i = 0; i < rounds; ++i) {
    samples_ms.push_back(Milliseconds([&] {
      moves = loops::LegalSteps(program, backends::DetectHost().machine).size();
    }));
  }
  const int loops = CountLoops(program);
  out << absl::StrFormat(
      "%d legal moves of %s with %d loops: %.3f ms (median)\n", moves, kMatmul,
      loops, Median(samples_ms));
  return {{"loops", loops}, {"moves", moves}, {"ms", Median(samples_ms)}};
}

}  // namespace

absl::StatusOr<Json> RunMeasurementBench(const MeasurementOptions& options,
                                         std::ostream& out) {
  Json document = {{"bench", "measurement"}, {"machine", DescribeMachine()}};
  out << document["machine"].get<std::string>() << "\n";

  // First, since it forks and this process has no threads yet.
  std::vector<double> child_ms;
  for (int32_t i = 0; i < options.rounds; ++i) {
    absl::Status status;
    child_ms.push_back(Milliseconds(
        [&] { status = backends::RunInChild([] {}, {}).status(); }));
    HONE_RETURN_IF_ERROR(status);
  }
  document["child_ms"] = Median(child_ms);
  out << absl::StrFormat("a child process: %.3f ms (median of %d)\n",
                         Median(child_ms), options.rounds);

  HONE_ASSIGN_OR_RETURN(const Kernel matmul,
                        ScheduledKernel(options.suite, kMatmul));
  document["moves"] = Json::array();
  loops::Program program = matmul.program;
  size_t applied = 0;
  for (int loops : {kLoops, INT_MAX}) {
    while (applied < matmul.script.size() && CountLoops(program) < loops) {
      HONE_ASSIGN_OR_RETURN(
          program, loops::ApplyScript(program, {matmul.script[applied++]}));
    }
    document["moves"].push_back(TimeMoves(program, options.rounds, out));
  }

  backends::LocalKernels measurer;
  int32_t total = 0;
  document["identical"] = Json::array();
  for (const char* name : kKernels) {
    HONE_ASSIGN_OR_RETURN(const Kernel kernel,
                          ScheduledKernel(options.suite, name));
    HONE_ASSIGN_OR_RETURN(
        const int32_t different,
        CountDifferent(measurer, kernel, options.comparisons));
    total += different;
    document["identical"].push_back({{"kernel", name},
                                     {"comparisons", options.comparisons},
                                     {"different", different}});
    out << absl::StrFormat("%s with itself: found different %d times of %d\n",
                           name, different, options.comparisons)
        << std::flush;
  }
  const double share =
      static_cast<double>(total) / (static_cast<double>(options.comparisons) *
                                    static_cast<double>(std::size(kKernels)));
  document["different_share"] = share;
  out << absl::StrFormat("identical candidates found different: %.1f %%\n",
                         100 * share);
  return document;
}

}  // namespace hone::bench
