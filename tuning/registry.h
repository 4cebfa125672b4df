#ifndef HONE_TUNING_REGISTRY_H_
#define HONE_TUNING_REGISTRY_H_

#include <memory>

#include "tuning/task.h"

namespace hone::tuning {

// What the lines of tasks.def name. FindTask (task.h) looks them up.
#define HONE_TASK(id, factory) std::unique_ptr<Task> factory();
#include "tuning/tasks.def"
#undef HONE_TASK

}  // namespace hone::tuning

#endif  // HONE_TUNING_REGISTRY_H_
