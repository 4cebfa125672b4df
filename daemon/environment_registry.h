#ifndef HONE_DAEMON_ENVIRONMENT_REGISTRY_H_
#define HONE_DAEMON_ENVIRONMENT_REGISTRY_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

#include "base/clock.h"
#include "daemon/lru_map.h"
#include "daemon/telemetry/metrics.h"
#include "hone/internal/work.pb.h"
#include "work/work_process.h"

namespace hone::daemon {

// The open environments, which live in processes that work: environments on the
// same problem in the same one. Closes those that are idle for too long. If a
// process ends, its environments are lost, and so are the calls that wait for
// them.
//
// Half of `memory_bytes` limits the states of environments and the constants of
// their modules, the other half the caches of their problems.
// Threads: thread-safe; calls wait for the process of their environment, until
// they are to stop. A process that then does not stop, either, is killed.
class EnvironmentRegistry {
 public:
  struct Limits {
    int max_environments;
    int64_t memory_bytes;
    absl::Duration idle;
    // Processes that environments live in.
    int processes;
    // The time that a process has to end a call by itself once it is to stop.
    // It is not short, since the environments of others live in it, until
    // Drain.
    absl::Duration stop_grace = absl::Seconds(30);
  };
  using StopPredicate = std::function<bool()>;

  // `clock` measures idle time.
  EnvironmentRegistry(const Clock& clock, Metrics& metrics,
                      const work::WorkProcessOptions& process,
                      const Limits& limits);
  // Every call has returned.
  ~EnvironmentRegistry();

  // Checks that there is room for one more environment.
  // Errors: ResourceExhausted (TOO_MANY_ENVIRONMENTS, with RetryInfo).
  absl::Status CheckRoom();

  // Opens an environment: `open` without its name. The answer has one.
  // Errors: as CheckRoom; those of work::Environments; Aborted
  // (ENVIRONMENT_LOST) if its process ended; ResourceExhausted (OVERLOADED) if
  // too many calls wait for the process; Cancelled.
  absl::StatusOr<internal::EnvironmentAnswer> Open(
      internal::EnvironmentCall::Open open, const StopPredicate& stop);

  // Opens another environment at the state of this one. Errors: as Open;
  // NotFound; Aborted (ENVIRONMENT_BUSY) during another use of it.
  absl::StatusOr<internal::EnvironmentAnswer> Fork(absl::string_view id,
                                                   const StopPredicate& stop);

  // Takes steps in environments, each at most once in `requests`. Returns one
  // result for each: those of work::Environments, and the errors of Fork.
  std::vector<absl::StatusOr<v1::StepResponse>> Step(
      absl::Span<const v1::StepRequest* const> requests,
      const StopPredicate& stop);

  // Errors: NotFound, but not for an environment that is lost.
  absl::Status Close(absl::string_view id);

  // Closes environments that are idle for too long. Runs periodically by
  // itself.
  void Expire();

  // From now on a process that does not stop is killed at once: the daemon
  // ends, and nobody comes back to its environments.
  void Drain() { is_draining_ = true; }

 private:
  struct Host;
  struct Entry {
    std::string id;
    Host* host;
    int64_t state_bytes = 0;
    std::string problem;
    absl::Duration last_used;
    bool busy = false;
  };
  using Entries = std::list<Entry>;

  // A process at one time: its environments are lost with the next one.
  struct Place {
    Host* host;
    int64_t generation;
    bool operator==(const Place& other) const {
      return host == other.host && generation == other.generation;
    }
  };

  // Has a call done by a process, after closing what it still has to close.
  // `generation`: of the process that has the call's environments, if there are
  // any. Sets `place`, if not null, to where it was done, or begun and not
  // lost.
  absl::StatusOr<internal::EnvironmentAnswer> Call(
      Host& host, std::optional<int64_t> generation,
      const internal::EnvironmentCall& call, const StopPredicate& stop,
      std::optional<Place>* place = nullptr);
  // The part of Call between TakeTurn and EndTurn.
  absl::StatusOr<internal::EnvironmentAnswer> CallInTurn(
      Host& host, const internal::EnvironmentCall& call,
      const StopPredicate& stop);
  // Waits until no other call has the process.
  absl::Status TakeTurn(Host& host, std::optional<int64_t> generation,
                        const StopPredicate& stop);
  // The error of a call that waits for too long with too many others, and
  // keeps threads from the calls of other processes; OK if it may wait on.
  absl::Status CheckWait(const Host& host, absl::Duration began) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndTurn(Host& host);
  // `generation`: as for Call.
  absl::StatusOr<internal::EnvironmentAnswer> OpenOn(
      Host& host, std::optional<int64_t> generation,
      const internal::EnvironmentCall& call, const std::string& id,
      const StopPredicate& stop);
  // Marks an environment as in use and returns its process; Release ends that.
  absl::StatusOr<Place> Use(absl::string_view id);
  void Release(absl::string_view id);
  Host& HostOf(const std::string& problem);

  // Checks that there is room for one more environment of so many bytes.
  absl::Status CheckRoomLocked(int64_t bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Touch(Entries::iterator entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Remove(Entries::iterator entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Removes the environments of a process that has ended, and remembers why.
  void Forget(Host& host, absl::string_view why) ABSL_LOCKS_EXCLUDED(mu_);
  void RunReaper();

  const Clock& clock_;
  Metrics& metrics_;
  const Limits limits_;
  std::atomic<bool> is_draining_ = false;
  std::vector<std::unique_ptr<Host>> hosts_;

  absl::Mutex mu_;
  Entries entries_ ABSL_GUARDED_BY(mu_);  // Last used first.
  absl::flat_hash_map<std::string, Entries::iterator> index_
      ABSL_GUARDED_BY(mu_);
  // The problems of the environments, whose modules they share.
  struct Shared {
    int environments = 0;
    int64_t bytes = 0;
  };
  absl::flat_hash_map<std::string, Shared> problems_ ABSL_GUARDED_BY(mu_);
  // The memory of states and problems.
  int64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  // Why environments were lost, by their ids.
  LruMap<std::string> lost_;
  std::thread reaper_;
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_ENVIRONMENT_REGISTRY_H_
