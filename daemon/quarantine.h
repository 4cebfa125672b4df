#ifndef HONE_DAEMON_QUARANTINE_H_
#define HONE_DAEMON_QUARANTINE_H_

#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"

#include "daemon/telemetry/metrics.h"
#include "storage/store.h"

namespace hone::daemon {

// Modules that processes fail on again and again. Nothing is done with such a
// module until it is released. Those set aside are stored; failures below the
// limit are forgotten at the end of the daemon.
// Threads: thread-safe; methods other than Check wait for the store.
class Quarantine {
 public:
  // A module is set aside after so many failures.
  static constexpr int kMaxFailures = 3;

  Quarantine(storage::Store& store, Metrics& metrics)
      : store_(store), metrics_(metrics) {}

  // Reads what is stored.
  absl::Status Load();

  // Errors: FailedPrecondition (MODULE_QUARANTINED) for a module set aside.
  absl::Status Check(absl::string_view digest) const;

  // Counts a failure of a process on the module with that digest; other errors
  // (tuning::IsProcessFailure) do not count.
  void Count(absl::string_view digest, const absl::Status& status);
  // Sets a module aside at once.
  void Add(absl::string_view digest, absl::string_view reason);

  absl::StatusOr<std::vector<storage::QuarantinedModule>> List();
  // Errors: NotFound.
  absl::Status Release(absl::string_view digest);

 private:
  struct Entry {
    int failures = 0;
    std::string reason;  // of the last one
  };
  void UpdateGauge() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  storage::Store& store_;
  Metrics& metrics_;
  mutable absl::Mutex mu_;
  absl::flat_hash_map<std::string, Entry> entries_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_QUARANTINE_H_
