#include "cli/predict_kernel.h"

#include <cmath>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/read_script.h"
#include "cli/read_subject.h"

#include "backends/cpu/host.h"
#include "backends/process/local_kernels.h"
#include "base/status_macros.h"
#include "costmodels/loop_features.h"
#include "hlo/inference/verifier.h"
#include "hlo/read_module.h"
#include "hlo/text/printer.h"
#include "loops/lowering/lowering.h"
#include "loops/schedules/default_schedule.h"
#include "loops/text/text.h"
#include "loops/transforms/script.h"
#include "tuning/read_cost_model.h"
#include "tuning/tasks/kernel_cost_spec.h"

namespace hone::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr absl::Duration kCandidateTimeout = absl::Minutes(1);

absl::Status At(const std::string& file, const absl::Status& status) {
  if (status.ok() || absl::StrContains(status.message(), file)) return status;
  return absl::Status(status.code(),
                      absl::StrCat(file, ": ", status.message()));
}

// A kernel as it is measured, and as a program without a schedule.
struct Kernel {
  std::string text;
  backends::KernelForm form = backends::KernelForm::kHlo;
  loops::Program program;
};

absl::StatusOr<Kernel> ReadKernel(const std::string& path) {
  if (absl::EndsWith(path, ".loops")) {
    HONE_ASSIGN_OR_RETURN(const std::string bytes, hlo::ReadFileBytes(path));
    absl::StatusOr<loops::Program> program = loops::ParseProgram(bytes);
    if (!program.ok()) {
      return absl::Status(program.status().code(),
                          absl::StrCat(path, ":", program.status().message()));
    }
    return Kernel{loops::PrintProgram(*program), backends::KernelForm::kProgram,
                  *std::move(program)};
  }
  HONE_ASSIGN_OR_RETURN(const hlo::Module module, ReadModule(path));
  HONE_RETURN_IF_ERROR(At(path, hlo::VerifyModule(module)));
  absl::StatusOr<loops::Program> program = loops::LowerToProgram(module);
  HONE_RETURN_IF_ERROR(At(path, program.status()));
  return Kernel{hlo::PrintModule(module), backends::KernelForm::kHlo,
                *std::move(program)};
}

// A scheduled kernel with what is predicted of it.
struct Schedule {
  const char* name;
  std::string script;
  loops::Program program;
  double predicted_ns = 0;
  double deviation = 0;  // of the logarithm
};

absl::StatusOr<std::vector<Schedule>> Schedules(
    const PredictKernelOptions& options, const Kernel& kernel,
    const loops::Machine& machine) {
  const std::string by_default =
      loops::PrintScript(loops::DefaultSchedule(kernel.program, machine));
  HONE_ASSIGN_OR_RETURN(
      loops::Program program,
      Replay(kernel.program, by_default, "the default schedule"));
  std::vector<Schedule> schedules;
  schedules.push_back({"default", by_default, std::move(program)});
  if (options.script.empty()) return schedules;
  HONE_ASSIGN_OR_RETURN(const std::string script, ReadScript(options.script));
  HONE_ASSIGN_OR_RETURN(program,
                        Replay(kernel.program, script, options.script));
  schedules.push_back({"script", script, std::move(program)});
  return schedules;
}

absl::Status Predict(const learning::CostPredictor& model,
                     const loops::Machine& machine,
                     std::vector<Schedule>& schedules) {
  std::vector<costmodels::LoopFeatures> features;
  for (const Schedule& schedule : schedules) {
    features.push_back(costmodels::LoopFeaturesOf(schedule.program, machine));
  }
  std::vector<learning::CostQuery> queries;
  for (const costmodels::LoopFeatures& of : features) {
    queries.push_back({&of.graph, of.kernel});
  }
  HONE_ASSIGN_OR_RETURN(const learning::CostPredictions predictions,
                        model.Predict(tuning::kKernelTimeHead, queries));
  for (size_t i = 0; i < schedules.size(); ++i) {
    schedules[i].predicted_ns =
        std::exp(static_cast<double>(predictions.values[i]));
    schedules[i].deviation = predictions.deviations[i];
  }
  return absl::OkStatus();
}

// Returns the timings of the schedules, in order.
absl::StatusOr<std::vector<backends::KernelTiming>> Measure(
    const Kernel& kernel, const std::vector<Schedule>& schedules,
    int32_t threads) {
  backends::KernelRequest request;
  request.module = kernel.text;
  request.form = kernel.form;
  request.baseline_script = schedules[0].script;
  for (size_t i = 1; i < schedules.size(); ++i) {
    request.candidate_scripts.push_back(schedules[i].script);
  }
  request.threads = threads;
  request.timeout = kCandidateTimeout;
  request.time_baseline = true;
  HONE_ASSIGN_OR_RETURN(
      backends::KernelReport report,
      backends::LocalKernels().Measure(
          request, backends::HostDevice().fingerprint, /*stop=*/nullptr));
  std::vector<backends::KernelTiming> timings = {*std::move(report.baseline)};
  for (backends::KernelTiming& timing : report.candidates) {
    timings.push_back(std::move(timing));
  }
  return timings;
}

Json Describe(const Schedule& schedule) {
  return {{"schedule", schedule.name},
          {"predicted_ns", schedule.predicted_ns},
          {"deviation", schedule.deviation},
          {"unsure", schedule.deviation >= tuning::kUnsureDeviation}};
}

void AddTiming(const backends::KernelTiming& timing, Json& json) {
  json["outcome"] = space::OutcomeName(timing.outcome);
  if (timing.outcome == space::Outcome::kOk) {
    json["measured_ns"] = timing.ns;
  } else {
    json["message"] = timing.message;
  }
}

void Print(const Json& document) {
  std::cout << absl::StrFormat("%-10s %12s %12s %12s %8s\n", "schedule",
                               "predicted us", "within", "measured us",
                               "error");
  for (const Json& row : document["schedules"]) {
    const double predicted = row["predicted_ns"].get<double>();
    std::string measured = "-";
    std::string error = "-";
    std::string notes;
    if (row.contains("measured_ns")) {
      const double ns = row["measured_ns"].get<double>();
      measured = absl::StrFormat("%.2f", ns / 1e3);
      error = absl::StrFormat("%+.1f%%", 100 * (predicted / ns - 1));
    }
    if (row["unsure"].get<bool>()) absl::StrAppend(&notes, "  unsure");
    if (row.contains("message")) {
      absl::StrAppend(&notes, "  ", row["outcome"].get<std::string>(), ": ",
                      row["message"].get<std::string>());
    }
    // A factor of one standard deviation.
    const std::string within =
        absl::StrFormat("x%.2f", std::exp(row["deviation"].get<double>()));
    std::cout << absl::StrFormat(
        "%-10s %12.2f %12s %12s %8s%s\n", row["schedule"].get<std::string>(),
        predicted / 1e3, within, measured, error, notes);
  }
}

}  // namespace

absl::StatusOr<int> PredictKernel(const PredictKernelOptions& options,
                                  const Context& context) {
  HONE_ASSIGN_OR_RETURN(const Kernel kernel, ReadKernel(options.file));
  HONE_ASSIGN_OR_RETURN(const auto model,
                        tuning::ReadCostModel(options.weights, "cpu_kernel",
                                              tuning::KernelCostSpec()));
  loops::Machine machine = backends::DetectHost().machine;
  machine.threads = options.threads;
  HONE_ASSIGN_OR_RETURN(std::vector<Schedule> schedules,
                        Schedules(options, kernel, machine));
  HONE_RETURN_IF_ERROR(Predict(*model, machine, schedules));
  Json rows = Json::array();
  for (const Schedule& schedule : schedules) {
    rows.push_back(Describe(schedule));
  }
  if (options.measures) {
    const auto timings = Measure(kernel, schedules, options.threads);
    HONE_RETURN_IF_ERROR(At(options.file, timings.status()));
    for (size_t i = 0; i < timings->size(); ++i) {
      AddTiming((*timings)[i], rows[i]);
    }
  }
  const Json document = {{"target", backends::HostDevice().fingerprint},
                         {"threads", options.threads},
                         {"schedules", std::move(rows)}};
  if (context.json) {
    PrintJson(document);
  } else {
    Print(document);
  }
  return kDone;
}

}  // namespace hone::cli
