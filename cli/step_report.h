#ifndef HONE_CLI_STEP_REPORT_H_
#define HONE_CLI_STEP_REPORT_H_

#include <string>

#include "absl/status/status.h"
#include "cli/report_files.h"

#include "graphs/cluster.h"
#include "tuning/subject.h"

namespace hone::cli {

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
absl::Status WriteStepFiles(const ReportFiles& files, const TunedStep& step);

}  // namespace hone::cli

#endif  // HONE_CLI_STEP_REPORT_H_
