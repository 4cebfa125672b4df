#ifndef HONE_CLI_STEP_REPORT_H_
#define HONE_CLI_STEP_REPORT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include <CLI/CLI.hpp>

#include "graphs/cluster.h"
#include "tuning/subject.h"
#include "tuning/task.h"

namespace hone::cli {

// Paths of what shows a step; an empty one is not written.
struct StepFiles {
  std::string report;  // a page for a browser
  std::string trace;   // a Chrome trace
};

// Adds --report and --trace to a command.
void AddStepFiles(CLI::App& command, StepFiles& files);

// Checks that `task` decides about a step under `options`, and that the files
// can be written. Errors: InvalidArgument.
absl::Status CheckStepFiles(const StepFiles& files, absl::string_view task,
                            const tuning::TaskOptions& options);

// A decision about a step, and the words and figures that a report adds.
struct TunedStep {
  const tuning::Subject* subject = nullptr;  // a module or an operator graph
  std::string cluster_name;
  graphs::Cluster cluster;
  std::string task;
  std::string decision;     // JSON, as tuning::PrintStepDecision writes it
  double default_cost = 0;  // step time in milliseconds
};

// Simulates the decision and writes the files.
// Errors: those of tuning::SimulateDecision and WriteFileAtomically.
absl::Status WriteStepFiles(const StepFiles& files, const TunedStep& step);

}  // namespace hone::cli

#endif  // HONE_CLI_STEP_REPORT_H_
