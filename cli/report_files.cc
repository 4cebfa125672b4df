#include "cli/report_files.h"

#include "absl/strings/str_cat.h"
#include "cli/command.h"

#include "base/status_macros.h"

namespace hone::cli {
namespace {

bool DecidesAboutStep(absl::string_view task,
                      const tuning::TaskOptions& options) {
  return task == "schedule" || task == "fusion" || task == "joint" ||
         (task == "placement" && options.objective == tuning::kStepTime);
}

absl::Status NothingToShow(absl::string_view option, absl::string_view task,
                           absl::string_view expected) {
  return absl::InvalidArgumentError(absl::StrCat(
      option, " FILE: task ", task, task == "placement" ? " for max-load" : "",
      " has no step to show, expected ", expected));
}

}  // namespace

void AddReportFiles(CLI::App& command, ReportFiles& files) {
  command
      .add_option("--report", files.report,
                  "Path of a page that shows the result of the last task: the "
                  "graph, timeline and memory of a step, or the loads, traffic "
                  "and timeline of a partition")
      ->type_name("FILE.html");
  command
      .add_option("--trace", files.trace,
                  "Path of the timeline of a step as a Chrome trace, which "
                  "Perfetto opens")
      ->type_name("FILE.json");
}

absl::Status CheckReportFiles(const ReportFiles& files, absl::string_view task,
                              const tuning::TaskOptions& options) {
  const bool is_step = DecidesAboutStep(task, options);
  if (!files.report.empty()) {
    if (!is_step && task != "partition") {
      return NothingToShow("--report", task,
                           "task schedule, fusion, joint, placement "
                           "for step-time, or partition");
    }
    HONE_RETURN_IF_ERROR(CheckWritable(files.report));
  }
  if (!files.trace.empty()) {
    if (!is_step) {
      return NothingToShow("--trace", task,
                           task == "partition"
                               ? "--report FILE.html for its timeline"
                               : "task schedule, fusion, joint, or "
                                 "placement for step-time");
    }
    HONE_RETURN_IF_ERROR(CheckWritable(files.trace));
  }
  return absl::OkStatus();
}

}  // namespace hone::cli
