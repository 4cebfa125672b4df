#include "bench/kernels.h"

#include <filesystem>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"

#include "backends/cpu/export/export.h"
#include "backends/cpu/host.h"
#include "backends/process/local_kernels.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "bench/corpus.h"
#include "bench/json_file.h"
#include "bench/kernel_suite.h"
#include "bench/python_script.h"
#include "loops/lowering/lowering.h"
#include "loops/schedules/default_schedule.h"
#include "loops/transforms/script.h"
#include "tuning/tasks/kernel.h"

namespace hone::bench {
namespace {

using Json = nlohmann::ordered_json;

// The kernels for one number of threads.
class KernelsRun {
 public:
  KernelsRun(const KernelsOptions& options, int32_t threads, std::ostream& out)
      : options_(options),
        threads_(threads),
        folder_(absl::StrCat(options.objects, "/", threads)),
        out_(out) {}

  absl::StatusOr<Json> Run(const std::vector<std::string>& names) {
    for (const char* kind : {"default", "tuned"}) {
      const std::filesystem::path folder = folder_ + "/" + kind;
      std::error_code error;
      std::filesystem::remove_all(folder, error);
      if (!std::filesystem::create_directories(folder, error)) {
        return absl::InvalidArgumentError(
            absl::StrCat(folder.string(), ": ", error.message()));
      }
    }
    Json document = {{"threads", threads_}, {"kernels", Json::array()}};
    for (const std::string& name : names) {
      HONE_ASSIGN_OR_RETURN(Json row, Kernel(name));
      document["kernels"].push_back(std::move(row));
    }
    document["compile_ms"] = {{"median", Median(compile_ms_)},
                              {"most", Quantile(compile_ms_, 1)}};
    out_ << absl::StrFormat(
        "%d threads: scheduled, compiled and linked in %.0f ms (median), "
        "%.0f ms at most\n",
        threads_, Median(compile_ms_), Quantile(compile_ms_, 1));
    if (!options_.python.empty()) {
      HONE_ASSIGN_OR_RETURN(document["peers"], TimePeers());
    }
    return document;
  }

 private:
  absl::StatusOr<Json> Kernel(const std::string& name) {
    HONE_ASSIGN_OR_RETURN(const hlo::Module module,
                          ReadKernel(options_.suite, name));
    const absl::Time start = absl::Now();
    HONE_ASSIGN_OR_RETURN(const loops::Program program,
                          loops::LowerToProgram(module));
    loops::Machine machine = backends::DetectHost().machine;
    machine.threads = threads_;
    HONE_ASSIGN_OR_RETURN(
        const loops::Program scheduled,
        loops::ApplyScript(program, loops::DefaultSchedule(program, machine)));
    HONE_RETURN_IF_ERROR(backends::ExportKernel(
        scheduled, threads_, absl::StrCat(folder_, "/default/", name, ".so")));
    const double ms = absl::ToDoubleMilliseconds(absl::Now() - start);
    compile_ms_.push_back(ms);
    Json row = {{"kernel", name}, {"compile_ms", ms}};
    if (options_.trials > 0) HONE_RETURN_IF_ERROR(Tune(name, module, row));
    return row;
  }

  absl::Status Tune(const std::string& name, const hlo::Module& module,
                    Json& row) {
    HONE_ASSIGN_OR_RETURN(const storage::Record record,
                          TuneKernel(module,
                                     {.optimizer = options_.optimizer,
                                      .seed = options_.seed,
                                      .trials = options_.trials,
                                      .threads = threads_},
                                     measurer_));
    HONE_ASSIGN_OR_RETURN(const loops::Program program,
                          tuning::KernelOfDecision(module, record.decision));
    HONE_RETURN_IF_ERROR(backends::ExportKernel(
        program, threads_, absl::StrCat(folder_, "/tuned/", name, ".so")));
    row["tuned"] = {{"default_ns", record.default_cost},
                    {"best_ns", record.best_cost},
                    {"trials", record.trials},
                    {"seconds", record.seconds},
                    {"decision", Json::parse(record.decision)},
                    {"verified", record.verification.method}};
    out_ << absl::StrFormat(
                "%-28s default %9.1f us, tuned %9.1f us (%.3f), %d trials in "
                "%.1f s",
                name, record.default_cost / 1e3, record.best_cost / 1e3,
                record.best_cost / record.default_cost, record.trials,
                record.seconds)
         << std::endl;
    return absl::OkStatus();
  }

  // The table, from the script that has PyTorch and XLA in its process.
  absl::StatusOr<Json> TimePeers() {
    const std::string result = folder_ + "/peers.json";
    std::vector<std::string> arguments = {"bench/kernels/time_peers.py",
                                          "--objects",
                                          folder_ + "/default",
                                          "--tuned",
                                          folder_ + "/tuned",
                                          "--threads",
                                          absl::StrCat(threads_),
                                          "--rounds",
                                          absl::StrCat(options_.rounds),
                                          "--only",
                                          options_.only,
                                          "-o",
                                          result};
    if (options_.compile) arguments.push_back("--compile");
    const absl::StatusOr<int> status = RunProcess(
        {.program = options_.python, .arguments = std::move(arguments)}, out_);
    HONE_RETURN_IF_ERROR(status.status());
    if (*status != 0) {
      return absl::FailedPreconditionError(
          "the peers were not timed, expected Hone's source tree as the "
          "working directory and equal results");
    }
    return ReadJsonFile(result, "what time_peers.py writes");
  }

  const KernelsOptions& options_;
  const int32_t threads_;
  const std::string folder_;
  std::ostream& out_;
  backends::LocalKernels measurer_;
  std::vector<double> compile_ms_;
};

}  // namespace

absl::StatusOr<Json> RunKernelsBench(const KernelsOptions& options,
                                     std::ostream& out) {
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                        KernelNames(options.suite, options.only));
  if (!options.python.empty()) {
    HONE_RETURN_IF_ERROR(CheckRounds(options.rounds));
    HONE_RETURN_IF_ERROR(CheckPython(options.python, "jax, torch", out));
  }
  Json document = {{"bench", "kernels"},
                   {"machine", DescribeMachine()},
                   {"device", backends::HostDevice().fingerprint},
                   {"optimizer", options.optimizer},
                   {"trials", options.trials},
                   {"seed", options.seed},
                   {"runs", Json::array()}};
  out << document["machine"].get<std::string>() << "\n";
  for (int32_t threads : options.threads) {
    HONE_ASSIGN_OR_RETURN(Json run,
                          KernelsRun(options, threads, out).Run(names));
    document["runs"].push_back(std::move(run));
  }
  return document;
}

}  // namespace hone::bench
