#ifndef HONE_DAEMON_TELEMETRY_METRICS_H_
#define HONE_DAEMON_TELEMETRY_METRICS_H_

#include <functional>
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

namespace hone::daemon {

// The metrics of one RPC method.
struct MethodMetrics {
  std::string method;  // "hone.v1.CacheService/Lookup"
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

  MethodMetrics Method(absl::string_view method);
  // reason: "overload", "queue_full", "draining", "module_too_large",
  // "too_many_environments".
  prometheus::Counter& RpcRejected(const std::string& reason);

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
  prometheus::Family<prometheus::Counter>& cache_requests_;
  prometheus::Family<prometheus::Counter>& cache_miss_reason_;
  prometheus::Family<prometheus::Counter>& tunings_finished_;
  prometheus::Family<prometheus::Counter>& candidates_;

 public:
  prometheus::Gauge& schema_version;

  prometheus::Histogram& cache_lookup_duration;
  prometheus::Gauge& cache_entries;
  prometheus::Gauge& cache_bytes;
  prometheus::Counter& cache_evicted;
  prometheus::Counter& cache_corrupt;

  prometheus::Counter& inflight_deduplications;
  prometheus::Gauge& queue_depth;
  prometheus::Gauge& queue_oldest_timestamp;
  prometheus::Histogram& queue_wait;

  prometheus::Gauge& tunings_pending;
  prometheus::Gauge& tunings_running;
  prometheus::Histogram& tuning_duration;
  prometheus::Histogram& tuning_speedup;

  prometheus::Gauge& environments_open;
  prometheus::Counter& environments_opened;
  prometheus::Counter& environments_expired;
  prometheus::Histogram& environment_step_duration;

  prometheus::Gauge& workers;
  prometheus::Gauge& work_queue_depth;
  prometheus::Gauge& leases_active;
  prometheus::Counter& leases_expired;
  prometheus::Counter& fenced_results;

  prometheus::Histogram& db_commit_duration;
  prometheus::Counter& db_busy;
  prometheus::Gauge& db_wal_bytes;

 private:
  absl::Mutex mu_;
  std::vector<std::function<void()>> refreshers_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_TELEMETRY_METRICS_H_
