#include "daemon/telemetry/metrics.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include <prometheus/text_serializer.h>

#include "base/check.h"
#include "daemon/limits.h"
#include "space/measurement.h"
#include "storage/record.h"
#include "tuning/registry.h"
#include "tuning/task.h"

namespace hone::daemon {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using Buckets = Histogram::BucketBoundaries;

Family<Counter>& Counters(prometheus::Registry& registry, const char* name,
                          const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
}

Family<Gauge>& Gauges(prometheus::Registry& registry, const char* name,
                      const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
}

Family<Histogram>& Histograms(prometheus::Registry& registry, const char* name,
                              const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
}

// From a cached answer to a call that waits for a tuning.
const Buckets& RpcSeconds() {
  static const auto& buckets =
      *new Buckets{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                   0.05,   0.1,     0.25,   0.5,   1,      2.5,   10,   60};
  return buckets;
}

const Buckets& TuningSeconds() {
  static const auto& buckets =
      *new Buckets{0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600};
  return buckets;
}

// From a step that is remembered to a slow pass on a large module.
const Buckets& StepSeconds() {
  static const auto& buckets =
      *new Buckets{0.00001, 0.000025, 0.0001, 0.00025, 0.001, 0.0025,
                   0.01,    0.025,    0.1,    0.25,    1,     10};
  return buckets;
}

// default cost / best cost.
const Buckets& Speedups() {
  static const auto& buckets =
      *new Buckets{1, 1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2, 4};
  return buckets;
}

}  // namespace

Metrics::Metrics()
    : rpc_started_(
          Counters(registry_, "hone_rpcs_started_total", "RPCs started.")),
      rpc_handled_(Counters(registry_, "hone_rpcs_handled_total",
                            "RPCs ended, by status code.")),
      rpc_duration_(Histograms(registry_, "hone_rpc_duration_seconds",
                               "Time from the start of an RPC to its end.")),
      rpc_in_flight_(
          Gauges(registry_, "hone_rpc_in_flight", "RPCs under way.")),
      rpc_bytes_(Counters(registry_, "hone_rpc_message_bytes_total",
                          "Bytes of messages received and sent.")),
      rpc_rejected_(Counters(registry_, "hone_rpcs_rejected_total",
                             "RPCs refused before any work was done.")),
      limit_refusals_(Counters(registry_, "hone_limit_refusals_total",
                               "Calls that a limit has refused.")),
      limit_values_(Gauges(registry_, "hone_limit_value",
                           "The limits of the configuration and the others.")),
      limits_used_(Gauges(registry_, "hone_limit_used",
                          "How much of a limit is used now.")),
      cache_requests_(Counters(registry_, "hone_cache_requests_total",
                               "Lookups of results, by result.")),
      cache_miss_reason_(
          Counters(registry_, "hone_cache_misses_total",
                   "Misses, by the first key component that matched nothing.")),
      tunings_finished_(Counters(registry_, "hone_tunings_finished_total",
                                 "Tunings ended, by state.")),
      candidates_(Counters(registry_, "hone_candidates_total",
                           "Candidates measured, by outcome.")),
      leases_given_up_(
          Counters(registry_, "hone_leases_given_up_total",
                   "Leases of workers that call but make no progress.")),
      worker_faults_(Counters(registry_, "hone_worker_faults_total",
                              "Faults of workers.")),
      quarantines_(Counters(registry_, "hone_worker_quarantines_total",
                            "Machines quarantined, by their last fault.")),
      canaries_(Counters(registry_, "hone_worker_canaries_total",
                         "Known kernels measured, by result.")),
      confirmations_(Counters(registry_, "hone_winner_confirmations_total",
                              "Winners to be measured by a second machine.")),
      schema_version(Gauges(registry_, "hone_schema_version",
                            "Version of the store's schema.")
                         .Add({})),
      cache_lookup_duration(
          Histograms(registry_, "hone_cache_lookup_duration_seconds",
                     "Time of a lookup in cache and store.")
              .Add({},
                   Buckets{0.000001, 0.00001, 0.0001, 0.001, 0.01, 0.1, 1})),
      cache_entries(
          Gauges(registry_, "hone_cache_entries", "Results stored.").Add({})),
      cache_bytes(
          Gauges(registry_, "hone_cache_bytes", "Size of the store on disk.")
              .Add({})),
      cache_invalidated(Counters(registry_, "hone_cache_evictions_total",
                                 "Results removed, by reason.")
                            .Add({{"reason", "invalidated"}})),
      cache_expired(Counters(registry_, "hone_cache_evictions_total",
                             "Results removed, by reason.")
                        .Add({{"reason", "age"}})),
      cache_evicted(Counters(registry_, "hone_cache_evictions_total",
                             "Results removed, by reason.")
                        .Add({{"reason", "size"}})),
      cache_corrupt(Counters(registry_, "hone_cache_corrupt_items_total",
                             "Stored items found corrupt when read.")
                        .Add({})),
      inflight_deduplications(
          Counters(registry_, "hone_inflight_deduplications_total",
                   "Requests that joined a tuning under way.")
              .Add({})),
      queue_depth(
          Gauges(registry_, "hone_queue_depth", "Tunings that wait.").Add({})),
      queue_oldest_timestamp(
          Gauges(registry_, "hone_queue_oldest_timestamp_seconds",
                 "When the longest waiting tuning was queued; 0 if none waits.")
              .Add({})),
      queue_wait(Histograms(registry_, "hone_queue_wait_seconds",
                            "Time that tunings waited.")
                     .Add({}, TuningSeconds())),
      tunings_pending(
          Gauges(registry_, "hone_tunings_active", "Tunings that wait or run.")
              .Add({{"state", "pending"}})),
      tunings_running(
          Gauges(registry_, "hone_tunings_active", "Tunings that wait or run.")
              .Add({{"state", "running"}})),
      tuning_duration(Histograms(registry_, "hone_tuning_duration_seconds",
                                 "Time that a tuning ran.")
                          .Add({}, TuningSeconds())),
      tuning_speedup(
          Histograms(registry_, "hone_tuning_speedup_ratio",
                     "Default cost over published cost of tunings that "
                     "succeeded.")
              .Add({}, Speedups())),
      process_failures(
          Counters(registry_, "hone_process_failures_total",
                   "Processes that crashed, hung or ran out of memory at their "
                   "work.")
              .Add({})),
      modules_quarantined(
          Gauges(registry_, "hone_modules_quarantined",
                 "Modules that are set aside because they ended processes.")
              .Add({})),
      environments_open(Gauges(registry_, "hone_environments_open",
                               "Environments that are open.")
                            .Add({})),
      environments_opened(Counters(registry_, "hone_environments_opened_total",
                                   "Environments opened, forks included.")
                              .Add({})),
      environments_expired(
          Counters(registry_, "hone_environments_expired_total",
                   "Environments closed because nobody used them.")
              .Add({})),
      environment_step_duration(
          Histograms(registry_, "hone_environment_step_duration_seconds",
                     "Time of a step of an environment, observation included.")
              .Add({}, StepSeconds())),
      workers(
          Gauges(registry_, "hone_workers", "Workers that have called lately.")
              .Add({})),
      workers_waiting(Gauges(registry_, "hone_workers_waiting",
                             "Idle workers whose call waits for work.")
                          .Add({})),
      workers_quarantined(Gauges(registry_, "hone_workers_quarantined",
                                 "Workers connected that get no work.")
                              .Add({})),
      machines_known(Gauges(registry_, "hone_worker_machines_known",
                            "Machines whose standing is remembered.")
                         .Add({})),
      work_queue_depth(Gauges(registry_, "hone_work_queue_depth",
                              "Pieces of work that wait for a worker.")
                           .Add({})),
      leases_active(Gauges(registry_, "hone_leases_active",
                           "Pieces of work that workers have.")
                        .Add({})),
      leases_expired(Counters(registry_, "hone_leases_expired_total",
                              "Leases of workers that fell silent.")
                         .Add({})),
      fenced_results(
          Counters(registry_, "hone_fenced_writes_total",
                   "Results refused because their lease had been lost.")
              .Add({})),
      db_commit_duration(
          Histograms(registry_, "hone_db_commit_duration_seconds",
                     "Time of writes to the store until they are durable.")
              .Add({}, Buckets{0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1,
                               0.5, 1, 5})),
      db_busy(Counters(registry_, "hone_db_busy_errors_total",
                       "Calls of the store that failed because it was locked.")
                  .Add({})),
      db_wal_bytes(Gauges(registry_, "hone_db_wal_bytes",
                          "Size of the store's write-ahead log.")
                       .Add({})),
      db_writable(Gauges(registry_, "hone_db_writable",
                         "1 if the last change could be stored, else 0.")
                      .Add({})),
      db_last_backup(
          Gauges(registry_, "hone_db_last_backup_timestamp_seconds",
                 "When the last backup was made; 0 if none was since the start "
                 "of the daemon.")
              .Add({})),
      db_tunings_removed(Counters(registry_, "hone_db_tunings_removed_total",
                                  "Finished tunings removed for age or size.")
                             .Add({})),
      db_blobs_removed(Counters(registry_, "hone_db_blobs_removed_total",
                                "Modules removed because nothing needed them.")
                           .Add({})) {
  // Series exist from the start, so that rates see the first event.
  for (const char* result : {"hit", "miss", "bypass", "error"}) {
    CacheRequests(result);
  }
  for (const char* reason :
       {"overload", "queue_full", "draining", "module_too_large",
        "too_many_environments", "too_many_workers", "unauthenticated",
        "permission_denied"}) {
    RpcRejected(reason);
  }
  for (const Limit& limit : Limits()) {
    if (!limit.code.empty()) LimitRefusals(std::string(limit.name));
  }
  for (absl::string_view task : tuning::Tasks().ids()) {
    for (storage::TuningState state :
         {storage::TuningState::kSucceeded, storage::TuningState::kFailed,
          storage::TuningState::kCancelled}) {
      TuningsFinished(std::string(task),
                      std::string(storage::TuningStateName(state)));
    }
  }
  for (space::Outcome outcome :
       {space::Outcome::kOk, space::Outcome::kInvalid,
        space::Outcome::kCompileError, space::Outcome::kTimeout,
        space::Outcome::kCrashed, space::Outcome::kWrongResult}) {
    Candidates(std::string(space::OutcomeName(outcome)));
  }
  for (const char* reason : {"not_started", "no_progress"}) {
    LeasesGivenUp(reason);
  }
  // As daemon::FaultName has them.
  for (const char* fault : {"failure", "lost_lease", "malformed_report",
                            "disagreement", "noise", "lie"}) {
    WorkerFaults(fault);
    Quarantines(fault);
  }
  for (const char* result : {"passed", "noisy", "wrong"}) Canaries(result);
  for (const char* result : {"agreed", "disagreed", "alone"}) {
    Confirmations(result);
  }
  Gauges(registry_, "hone_build_info", "What is running; always 1.")
      .Add({{"version", HONE_VERSION}, {"compiler", "gcc " __VERSION__}})
      .Set(1);
}

MethodMetrics Metrics::Method(absl::string_view method) {
  const prometheus::Labels labels = {{"method", std::string(method)}};
  const auto bytes = [&](const char* direction) -> Counter& {
    return rpc_bytes_.Add(
        {{"method", std::string(method)}, {"direction", direction}});
  };
  const daemon::Method* rule = FindMethod(method);
  HONE_CHECK(rule != nullptr && "it is in daemon/access/methods.cc");
  absl::MutexLock lock(&mu_);
  return {std::string(method),
          *rule,
          open_calls_[std::string(method)],
          rpc_started_.Add(labels),
          rpc_in_flight_.Add(labels),
          rpc_duration_.Add(labels, RpcSeconds()),
          bytes("received"),
          bytes("sent"),
          rpc_handled_.Add({{"method", std::string(method)}, {"code", "OK"}}),
          rpc_handled_};
}

Counter& Metrics::RpcRejected(const std::string& reason) {
  return rpc_rejected_.Add({{"reason", reason}});
}

Counter& Metrics::LimitRefusals(const std::string& limit) {
  return limit_refusals_.Add({{"limit", limit}});
}

Gauge& Metrics::LimitValue(const std::string& limit) {
  return limit_values_.Add({{"limit", limit}});
}

Gauge& Metrics::LimitUsed(const std::string& limit) {
  return limits_used_.Add({{"limit", limit}});
}

Counter& Metrics::CacheRequests(const std::string& result) {
  return cache_requests_.Add({{"result", result}});
}

Counter& Metrics::CacheMissReason(const std::string& reason) {
  return cache_miss_reason_.Add({{"reason", reason}});
}

Counter& Metrics::TuningsFinished(const std::string& task,
                                  const std::string& state) {
  return tunings_finished_.Add({{"task", task}, {"state", state}});
}

Counter& Metrics::Candidates(const std::string& outcome) {
  return candidates_.Add({{"outcome", outcome}});
}

Counter& Metrics::LeasesGivenUp(const std::string& reason) {
  return leases_given_up_.Add({{"reason", reason}});
}

Counter& Metrics::WorkerFaults(const std::string& fault) {
  return worker_faults_.Add({{"fault", fault}});
}

Counter& Metrics::Quarantines(const std::string& fault) {
  return quarantines_.Add({{"fault", fault}});
}

Counter& Metrics::Canaries(const std::string& result) {
  return canaries_.Add({{"result", result}});
}

Counter& Metrics::Confirmations(const std::string& result) {
  return confirmations_.Add({{"result", result}});
}

void Metrics::OnCollect(std::function<void()> refresh) {
  absl::MutexLock lock(&mu_);
  refreshers_.push_back(std::move(refresh));
}

std::string Metrics::Serialize() {
  absl::MutexLock lock(&mu_);
  for (const auto& refresh : refreshers_) refresh();
  return prometheus::TextSerializer().Serialize(registry_.Collect());
}

}  // namespace hone::daemon
