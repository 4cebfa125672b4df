#ifndef HONE_DAEMON_TELEMETRY_METRICS_H_
#define HONE_DAEMON_TELEMETRY_METRICS_H_

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include "daemon/access/methods.h"

namespace hone::daemon {

// One RPC method of the daemon: its rules and its metrics.
struct MethodMetrics {
  std::string method;  // "hone.v1.CacheService/Lookup"
  const Method& rule;
  // Calls that are open, of rule.max_open.
  std::atomic<int>& open;
  prometheus::Counter& started;
  prometheus::Gauge& in_flight;
  prometheus::Histogram& duration;
  prometheus::Counter& received_bytes;
  prometheus::Counter& sent_bytes;
  prometheus::Counter& handled_ok;
  // By code, other than OK.
  prometheus::Family<prometheus::Counter>& handled;
};

// All metrics of the daemon. Labels take values from fixed sets only: methods,
// codes, states, tasks. Series never expire.
// Threads: thread-safe.
class Metrics {
 private:
  prometheus::Registry registry_;  // Before the metrics registered in it.

 public:
  Metrics();

  // `method` is in methods.cc: no other can be served.
  MethodMetrics Method(absl::string_view method);
  // reason: "overload", "queue_full", "draining", "module_too_large",
  // "too_many_environments", "too_many_workers", "unauthenticated",
  // "permission_denied".
  prometheus::Counter& RpcRejected(const std::string& reason);

  // limit: a name in limits.def.
  prometheus::Counter& LimitRefusals(const std::string& limit);
  prometheus::Gauge& LimitValue(const std::string& limit);
  prometheus::Gauge& LimitUsed(const std::string& limit);

  // result: "hit", "miss", "bypass" (skip_cache), "error".
  prometheus::Counter& CacheRequests(const std::string& result);
  // reason: the first component of the key without a match in the nearest
  // record: "module_fingerprint", "target", "task", "task_options",
  // "space_version"; "empty" if there is no record, and "corrupt" if the one
  // that was asked for cannot be read.
  prometheus::Counter& CacheMissReason(const std::string& reason);
  prometheus::Counter& TuningsFinished(const std::string& task,
                                       const std::string& state);
  prometheus::Counter& Candidates(const std::string& outcome);
  // reason: "not_started", "no_progress".
  prometheus::Counter& LeasesGivenUp(const std::string& reason);
  // fault: daemon::FaultName.
  prometheus::Counter& WorkerFaults(const std::string& fault);
  prometheus::Counter& Quarantines(const std::string& fault);
  // result: "passed", "noisy", "wrong".
  prometheus::Counter& Canaries(const std::string& result);
  // result: "agreed", "disagreed", "alone" (there was no second machine).
  prometheus::Counter& Confirmations(const std::string& result);

  // Calls `refresh` before every collection, to set gauges.
  void OnCollect(std::function<void()> refresh);

  // Prometheus text format 0.0.4.
  std::string Serialize();

 private:
  prometheus::Family<prometheus::Counter>& rpc_started_;
  prometheus::Family<prometheus::Counter>& rpc_handled_;
  prometheus::Family<prometheus::Histogram>& rpc_duration_;
  prometheus::Family<prometheus::Gauge>& rpc_in_flight_;
  prometheus::Family<prometheus::Counter>& rpc_bytes_;
  prometheus::Family<prometheus::Counter>& rpc_rejected_;
  prometheus::Family<prometheus::Counter>& limit_refusals_;
  prometheus::Family<prometheus::Gauge>& limit_values_;
  prometheus::Family<prometheus::Gauge>& limits_used_;
  prometheus::Family<prometheus::Counter>& cache_requests_;
  prometheus::Family<prometheus::Counter>& cache_miss_reason_;
  prometheus::Family<prometheus::Counter>& tunings_finished_;
  prometheus::Family<prometheus::Counter>& candidates_;
  prometheus::Family<prometheus::Counter>& leases_given_up_;
  prometheus::Family<prometheus::Counter>& worker_faults_;
  prometheus::Family<prometheus::Counter>& quarantines_;
  prometheus::Family<prometheus::Counter>& canaries_;
  prometheus::Family<prometheus::Counter>& confirmations_;

 public:
  prometheus::Gauge& schema_version;

  prometheus::Histogram& cache_lookup_duration;
  prometheus::Gauge& cache_entries;
  prometheus::Gauge& cache_bytes;
  prometheus::Counter& cache_invalidated;  // by a call
  prometheus::Counter& cache_expired;      // by age
  prometheus::Counter& cache_evicted;      // by the size of the store
  prometheus::Counter& cache_corrupt;

  prometheus::Counter& inflight_deduplications;
  prometheus::Gauge& queue_depth;
  prometheus::Gauge& queue_oldest_timestamp;
  prometheus::Histogram& queue_wait;

  prometheus::Gauge& tunings_pending;
  prometheus::Gauge& tunings_running;
  prometheus::Histogram& tuning_duration;
  prometheus::Histogram& tuning_speedup;

  // Processes that crashed, hung or ran out of memory at their work.
  prometheus::Counter& process_failures;
  // Modules that nothing is done with because of that.
  prometheus::Gauge& modules_quarantined;

  prometheus::Gauge& environments_open;
  prometheus::Counter& environments_opened;
  prometheus::Counter& environments_expired;
  prometheus::Histogram& environment_step_duration;

  prometheus::Gauge& workers;
  prometheus::Gauge& workers_waiting;
  prometheus::Gauge& workers_quarantined;
  prometheus::Gauge& machines_known;
  prometheus::Gauge& work_queue_depth;
  prometheus::Gauge& leases_active;
  prometheus::Counter& leases_expired;
  prometheus::Counter& fenced_results;

  prometheus::Histogram& db_commit_duration;
  prometheus::Counter& db_busy;
  prometheus::Gauge& db_wal_bytes;
  prometheus::Gauge& db_writable;
  prometheus::Gauge& db_last_backup;
  prometheus::Counter& db_tunings_removed;
  prometheus::Counter& db_blobs_removed;

 private:
  absl::Mutex mu_;
  std::map<std::string, std::atomic<int>> open_calls_ ABSL_GUARDED_BY(mu_);
  std::vector<std::function<void()>> refreshers_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_TELEMETRY_METRICS_H_
