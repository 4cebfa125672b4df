#include "tuning/registry.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hone::tuning {
namespace {

using TaskMap = std::map<absl::string_view, std::unique_ptr<const Task>>;

const TaskMap& AllTasks() {
  static const TaskMap* const tasks = [] {
    auto* map = new TaskMap;
#define HONE_TASK(id, factory) map->emplace(id, factory());
#include "tuning/tasks.def"
#undef HONE_TASK
    return map;
  }();
  return *tasks;
}

}  // namespace

absl::StatusOr<const Task*> FindTask(absl::string_view name) {
  auto it = AllTasks().find(name);
  if (it == AllTasks().end()) {
    return absl::NotFoundError(
        absl::StrCat("unknown task '", name,
                     "', expected one of: ", absl::StrJoin(TaskNames(), ", ")));
  }
  return it->second.get();
}

std::vector<absl::string_view> TaskNames() {
  std::vector<absl::string_view> names;
  for (const auto& [name, _] : AllTasks()) names.push_back(name);
  return names;
}

}  // namespace hone::tuning
