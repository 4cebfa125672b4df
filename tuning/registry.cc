#include "tuning/registry.h"

#include "base/status_macros.h"

namespace hone::tuning {

const Registry<TaskEntry>& Tasks() {
  static const auto* const tasks = new Registry<TaskEntry>("task", {
#define HONE_TASK(id, factory) {id, factory().release()},
#include "tuning/tasks.def"
#undef HONE_TASK
                                                                   });
  return *tasks;
}

absl::StatusOr<const Task*> FindTask(absl::string_view name) {
  HONE_ASSIGN_OR_RETURN(const TaskEntry* entry, Tasks().Find(name));
  return entry->task;
}

}  // namespace hone::tuning
