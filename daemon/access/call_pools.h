#ifndef HONE_DAEMON_ACCESS_CALL_POOLS_H_
#define HONE_DAEMON_ACCESS_CALL_POOLS_H_

#include <cstddef>
#include <functional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"

#include "base/thread_pool.h"
#include "daemon/access/methods.h"

namespace hone::daemon {

// The number of processes that environments live in, on so many cores.
size_t EnvironmentProcesses(size_t cores);

// The daemon's own threads for handlers, in one pool per PoolId, with a limit
// of the tasks that wait: more would only wait until nobody wants their answer.
// Threads: thread-safe, and no method blocks.
class CallPools {
 public:
  // `cores`: of the machine. `max_waiting`: tasks that wait in a pool at most;
  // of one client, half as many.
  CallPools(size_t cores, int max_waiting);

  // Runs `task` on a thread of `pool`. Returns false without doing so if too
  // many tasks wait there, or too many of `client`.
  bool Schedule(PoolId pool, const std::string& client,
                std::function<void()> task);
  // Runs the task of a call that was suspended. It is never refused.
  void Resume(PoolId pool, std::function<void()> task);

 private:
  struct Pool {
    explicit Pool(size_t num_threads) : threads(num_threads) {}
    absl::Mutex mu;
    int waiting ABSL_GUARDED_BY(mu) = 0;
    absl::flat_hash_map<std::string, int> waiting_of_client ABSL_GUARDED_BY(mu);
    // Last, as its tasks use the others.
    ThreadPool threads;
  };
  Pool& At(PoolId pool);

  const int max_waiting_;
  Pool control_;
  Pool lookup_;
  Pool heavy_;
  Pool environment_;
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_ACCESS_CALL_POOLS_H_
