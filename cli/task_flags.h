#ifndef HONE_CLI_TASK_FLAGS_H_
#define HONE_CLI_TASK_FLAGS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include <CLI/CLI.hpp>

#include "hone/v1/record.pb.h"
#include "tuning/task.h"

namespace hone::cli {

// The flags that change the problem of a task, each for the tasks that have it.
struct TaskFlags {
  std::string score = "ops";
  std::string numerics = "reassociate";
  std::string contiguity = "pipeline";
  std::string objective = {};  // empty: the task's own
  std::string cluster = {};    // empty: none
  std::string package = {};    // empty: none
  std::string tpu = {};        // empty: none
  int32_t threads = 1;
};

// Adds all of them to a command.
void AddTaskFlags(CLI::App& command, TaskFlags& flags);

// Reads a target "cluster:NAME|FILE" as the cluster of the flags, with the step
// time as objective unless another one is given, "mcm:NAME|FILE" as the package
// and "tpu:NAME|FILE" as the TPU; leaves "cluster", "mcm" or "tpu". Other
// targets stay. Errors: InvalidArgument if the flags have a cluster, a package
// or a TPU, too.
absl::Status TakeHardware(std::string& target, TaskFlags& flags);
// Gives the flags the cluster, package or TPU that is used where none is
// given, if one of `tasks` needs one for `bytes` of `file`. Returns a note that
// says so, or nothing.
std::string TakeDefaultHardware(absl::Span<const std::string> tasks,
                                absl::string_view bytes, absl::string_view file,
                                TaskFlags& flags);

// Errors: InvalidArgument for an unknown numerics or contiguity; those of
// ReadCluster and ReadPackage.
absl::StatusOr<tuning::TaskOptions> ParseTaskFlags(const TaskFlags& flags);

// Sets those options that `task` has. Errors: InvalidArgument for an unknown
// score, numerics or contiguity.
absl::Status SetOptions(absl::string_view task, const TaskFlags& flags,
                        hone::v1::TaskOptions& options);

}  // namespace hone::cli

#endif  // HONE_CLI_TASK_FLAGS_H_
