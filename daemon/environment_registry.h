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

// A problem, what it is about, and what it remembers of its steps: shared by
// the environments on the same module and options.
struct EnvironmentProblem {
  hlo::Module module;
  std::string task;
  std::unique_ptr<space::Problem> problem;  // sequential
  double default_score = 0;
  // Estimate of a state.
  int64_t state_bytes = 0;
};

// One environment. Touched only by who holds its EnvironmentUse.
struct LiveEnvironment {
  std::string id;
  std::shared_ptr<EnvironmentProblem> problem;
  tuning::Episode episode;
  int32_t max_steps = 0;
  v1::ObservationParts parts;
  // Where the last step request with an id began, so that it can be repeated.
  std::string last_request_id;
  std::optional<tuning::Episode> before_last_request;
};

// Exclusive use of an environment until it is dropped, even if the environment
// is closed meanwhile.
using EnvironmentUse =
    std::unique_ptr<LiveEnvironment, std::function<void(LiveEnvironment*)>>;

// The environments that are open: finds them, and closes those that nobody has
// used for a while.
//
// Of `memory_bytes`, one half bounds the states that environments are in and
// the other what their problems remember, in equal shares. Threads:
// thread-safe.
class EnvironmentRegistry {
 public:
  struct Limits {
    int max_environments;
    int64_t memory_bytes;
    absl::Duration idle;
  };

  // `clock` says how long environments are idle.
  EnvironmentRegistry(const Clock& clock, Metrics& metrics,
                      const Limits& limits);
  // Every EnvironmentUse was dropped.
  ~EnvironmentRegistry();

  // The problem of that key if an open environment has it; else what `make`
  // returns. Errors: those of `make`.
  absl::StatusOr<std::shared_ptr<EnvironmentProblem>> ProblemOf(
      const std::string& key,
      const std::function<
          absl::StatusOr<std::shared_ptr<EnvironmentProblem>>()>& make);

  // Whether Open would take an environment with states of that size.
  // Errors: as Open.
  absl::Status CheckRoom(int64_t state_bytes);
  // Opens an environment under a new id, which it returns.
  // Errors: ResourceExhausted (TOO_MANY_ENVIRONMENTS, with RetryInfo).
  absl::StatusOr<std::string> Open(LiveEnvironment environment);

  // Errors: NotFound; Aborted (ENVIRONMENT_BUSY) while another use lasts.
  absl::StatusOr<EnvironmentUse> Use(absl::string_view id);

  // Errors: NotFound.
  absl::Status Close(absl::string_view id);

  // Closes what has been idle for too long. Called by itself, now and then.
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
  // Takes an entry out; what is returned is to be dropped without the lock, as
  // it may free much.
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
