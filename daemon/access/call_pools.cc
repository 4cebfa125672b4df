#include "daemon/access/call_pools.h"

#include <algorithm>
#include <utility>

#include "daemon/limits.h"

namespace hone::daemon {

size_t EnvironmentProcesses(size_t cores) { return std::max<size_t>(2, cores); }

CallPools::CallPools(size_t cores, int max_waiting)
    : max_waiting_(max_waiting),
      // Some of them write to the store.
      control_(4),
      lookup_(std::max<size_t>(4, cores)),
      // They wait for the disk, too.
      heavy_(std::max<size_t>(4, 2 * cores)),
      // They only wait for processes.
      environment_(kMaxEnvironmentCalls * EnvironmentProcesses(cores)) {}

CallPools::Pool& CallPools::At(PoolId pool) {
  switch (pool) {
    case PoolId::kControl:
      return control_;
    case PoolId::kLookup:
      return lookup_;
    case PoolId::kEnvironment:
      return environment_;
    case PoolId::kHeavy:
      break;
  }
  return heavy_;
}

bool CallPools::Schedule(PoolId pool, const std::string& client,
                         std::function<void()> task) {
  Pool& at = At(pool);
  {
    absl::MutexLock lock(&at.mu);
    if (at.waiting >= max_waiting_) return false;
    int& of_client = at.waiting_of_client[client];
    if (of_client >= max_waiting_ / 2) return false;
    ++of_client;
    ++at.waiting;
  }
  at.threads.Schedule([&at, client, task = std::move(task)] {
    {
      absl::MutexLock lock(&at.mu);
      --at.waiting;
      const auto entry = at.waiting_of_client.find(client);
      if (--entry->second == 0) at.waiting_of_client.erase(entry);
    }
    task();
  });
  return true;
}

void CallPools::Resume(PoolId pool, std::function<void()> task) {
  At(pool).threads.Schedule(std::move(task));
}

}  // namespace hone::daemon
