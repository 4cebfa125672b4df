#ifndef HONE_CLI_PARTITION_REPORT_H_
#define HONE_CLI_PARTITION_REPORT_H_

#include <string>

#include "absl/status/status.h"

#include "graphs/mcm/package.h"
#include "tuning/subject.h"

namespace hone::cli {

// A decision of task partition, and the words and figures that a report adds.
struct TunedPartition {
  const tuning::Subject* subject = nullptr;
  std::string package_name;
  graphs::Package package;
  std::string decision;  // JSON
  // Costs by the decision's objective, in milliseconds.
  double default_cost = 0;
  double best_cost = 0;
};

// Simulates the decision and writes a page for a browser that shows it; nothing
// if `path` is empty.
// Errors: those of tuning::ParsePartitionDecision and WriteFileAtomically.
absl::Status WritePartitionReport(const std::string& path,
                                  const TunedPartition& partition);

}  // namespace hone::cli

#endif  // HONE_CLI_PARTITION_REPORT_H_
