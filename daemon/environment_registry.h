#ifndef HONE_DAEMON_ENVIRONMENT_REGISTRY_H_
#define HONE_DAEMON_ENVIRONMENT_REGISTRY_H_

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

#include "base/clock.h"
#include "daemon/telemetry/metrics.h"
#include "hlo/ir/module.h"
#include "hone/v1/environment_service.pb.h"
#include "space/problem.h"
#include "tuning/episode.h"

namespace hone::daemon {

// A problem with its module and its cached steps, shared by the environments on
// the same module and options.
struct EnvironmentProblem {
  hlo::Module module;
  std::string task;
  std::unique_ptr<space::Problem> problem;  // sequential
  double default_score = 0;
  // The estimated size of a state.
  int64_t state_bytes = 0;
};

// An open environment. Accessed only through its EnvironmentUse.
struct LiveEnvironment {
  std::string id;
  std::shared_ptr<EnvironmentProblem> problem;
  tuning::Episode episode;
  int32_t max_steps = 0;
  v1::ObservationParts parts;
  // The last step request with an id, and the episode before it, so that the
  // request can be repeated.
  std::string last_request_id;
  std::optional<tuning::Episode> before_last_request;
};

// Exclusive use of an environment while it exists, even if the environment is
// closed meanwhile.
using EnvironmentUse =
    std::unique_ptr<LiveEnvironment, std::function<void(LiveEnvironment*)>>;

// The open environments. Closes those that are idle for too long.
//
// Half of `memory_bytes` limits the states of environments, the other half the
// caches of their problems, in equal shares.
// Threads: thread-safe.
class EnvironmentRegistry {
 public:
  struct Limits {
    int max_environments;
    int64_t memory_bytes;
    absl::Duration idle;
  };

  // `clock` measures idle time.
  EnvironmentRegistry(const Clock& clock, Metrics& metrics,
                      const Limits& limits);
  // Every EnvironmentUse has ended.
  ~EnvironmentRegistry();

  // Returns the problem of that key if an open environment has it, else the
  // result of `make`. Errors: those of `make`.
  absl::StatusOr<std::shared_ptr<EnvironmentProblem>> ProblemOf(
      const std::string& key,
      const std::function<
          absl::StatusOr<std::shared_ptr<EnvironmentProblem>>()>& make);

  // Checks that Open has room for an environment with states of that size.
  // Errors: as Open.
  absl::Status CheckRoom(int64_t state_bytes);
  // Opens an environment and returns its new id.
  // Errors: ResourceExhausted (TOO_MANY_ENVIRONMENTS, with RetryInfo).
  absl::StatusOr<std::string> Open(LiveEnvironment environment);

  // Returns exclusive use of an environment.
  // Errors: NotFound; Aborted (ENVIRONMENT_BUSY) during another use.
  absl::StatusOr<EnvironmentUse> Use(absl::string_view id);

  // Errors: NotFound.
  absl::Status Close(absl::string_view id);

  // Closes environments that are idle for too long. Runs periodically by
  // itself.
  void Expire();

 private:
  struct Entry {
    std::shared_ptr<LiveEnvironment> environment;
    absl::Duration last_used;
    bool busy = false;
  };
  using Entries = std::list<Entry>;

  absl::Status CheckRoomLocked(int64_t state_bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Touch(Entries::iterator entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Removes an entry and returns its environment, to be destroyed without the
  // lock because that may free much memory.
  std::shared_ptr<LiveEnvironment> Remove(Entries::iterator entry)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Release(const std::string& id);
  void ShareMemory() ABSL_LOCKS_EXCLUDED(mu_);
  void RunReaper();

  const Clock& clock_;
  Metrics& metrics_;
  const Limits limits_;

  absl::Mutex mu_;
  Entries entries_ ABSL_GUARDED_BY(mu_);  // Last used first.
  absl::flat_hash_map<std::string, Entries::iterator> index_
      ABSL_GUARDED_BY(mu_);
  int64_t state_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;

  absl::Mutex problems_mu_;
  absl::flat_hash_map<std::string, std::weak_ptr<EnvironmentProblem>> problems_
      ABSL_GUARDED_BY(problems_mu_);
  std::thread reaper_;
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_ENVIRONMENT_REGISTRY_H_
