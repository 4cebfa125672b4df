#include "tuning/warm_start.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"

#include "tuning/registry.h"

namespace hone::tuning {
namespace {

constexpr size_t kMaxStarts = 3;
// The newest records of the module that are looked at.
constexpr int32_t kMaxRecords = 64;

}  // namespace

std::vector<std::string> FindStarts(storage::Store& store,
                                    const storage::CacheKey& key) {
  std::vector<std::string> starts;
  const auto add = [&](const storage::Record& record) {
    if (starts.size() < kMaxStarts &&
        !absl::c_linear_search(starts, record.decision)) {
      starts.push_back(record.decision);
    }
  };
  // Not Lookup: this is no use of the cache.
  const absl::StatusOr<storage::Record> own = store.GetRecord(key.Digest());
  if (own.ok()) add(*own);
  absl::StatusOr<storage::Page<storage::Record>> page = store.ListRecords(
      {.module_fingerprint = key.module_fingerprint, .task = key.task},
      kMaxRecords, "");
  if (!page.ok()) return starts;
  std::erase_if(page->items, [&](const storage::Record& record) {
    return record.key.task_options != key.task_options;
  });
  absl::c_stable_partition(page->items, [&](const storage::Record& record) {
    return record.key.target == key.target;
  });
  for (const storage::Record& record : page->items) add(record);
  if (const auto task = FindTask(key.task); task.ok()) {
    if (auto shared = (*task)->SharedDecision(store, key)) {
      starts.push_back(*std::move(shared));
    }
  }
  return starts;
}

}  // namespace hone::tuning
