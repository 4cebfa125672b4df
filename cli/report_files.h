#ifndef HONE_CLI_REPORT_FILES_H_
#define HONE_CLI_REPORT_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include <CLI/CLI.hpp>

#include "tuning/task.h"

namespace hone::cli {

// Paths of what shows a result; an empty one is not written.
struct ReportFiles {
  std::string report;  // a page for a browser
  std::string trace;   // a Chrome trace, of a step
};

// Adds --report and --trace to a command.
void AddReportFiles(CLI::App& command, ReportFiles& files);

// Checks that the result of `task` under `options` is a step, or a partition
// without a trace, and that the files can be written. Errors: InvalidArgument.
absl::Status CheckReportFiles(const ReportFiles& files, absl::string_view task,
                              const tuning::TaskOptions& options);

}  // namespace hone::cli

#endif  // HONE_CLI_REPORT_FILES_H_
