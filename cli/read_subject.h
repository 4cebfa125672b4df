#ifndef HONE_CLI_READ_SUBJECT_H_
#define HONE_CLI_READ_SUBJECT_H_

#include <string>

#include "absl/status/statusor.h"

#include "hlo/ir/module.h"
#include "tuning/subject.h"
#include "tuning/task.h"

namespace hone::cli {

// Parses `bytes` of the file at `path`, a subject that `task` takes with
// `options`.
// Errors: InvalidArgument, naming the file, also for a subject of the other
// kind, and for a graph where what is read is neither.
absl::StatusOr<tuning::Subject> ReadSubject(const std::string& bytes,
                                            const std::string& path,
                                            const tuning::Task& task,
                                            const tuning::TaskOptions& options);

// Reads and verifies the module in the file at `path`.
// Errors: those of hlo::ReadModuleFile; InvalidArgument for a graph.
absl::StatusOr<hlo::Module> ReadModule(const std::string& path);

}  // namespace hone::cli

#endif  // HONE_CLI_READ_SUBJECT_H_
