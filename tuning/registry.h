#ifndef HONE_TUNING_REGISTRY_H_
#define HONE_TUNING_REGISTRY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

#include "base/registry.h"
#include "tuning/task.h"

namespace hone::tuning {

#define HONE_TASK(id, factory) std::unique_ptr<Task> factory();
#include "tuning/tasks.def"
#undef HONE_TASK

// One line of tasks.def.
struct TaskEntry {
  absl::string_view id;
  const Task* task;  // lives as long as the process
};

// All tasks.
const Registry<TaskEntry>& Tasks();

// Returns the task of that id. Errors: NotFound, listing the known ids.
absl::StatusOr<const Task*> FindTask(absl::string_view name);

}  // namespace hone::tuning

#endif  // HONE_TUNING_REGISTRY_H_
