#include "daemon/environment_registry.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/hash.h"
#include "base/status_macros.h"
#include "daemon/errors.h"
#include "daemon/services/convert.h"

namespace hone::daemon {
namespace {

// What an environment holds: the state that it is in, and the one before its
// last request.
constexpr int64_t kStatesOfEnvironment = 2;
// The rest of an environment.
constexpr int64_t kEnvironmentBytes = 1 << 10;

int64_t BytesOf(int64_t state_bytes) {
  return kStatesOfEnvironment * state_bytes + kEnvironmentBytes;
}

}  // namespace

EnvironmentRegistry::EnvironmentRegistry(const Clock& clock, Metrics& metrics,
                                         const Limits& limits)
    : clock_(clock),
      metrics_(metrics),
      limits_(limits),
      reaper_([this] { RunReaper(); }) {}

EnvironmentRegistry::~EnvironmentRegistry() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  reaper_.join();
}

absl::StatusOr<std::shared_ptr<EnvironmentProblem>>
EnvironmentRegistry::ProblemOf(
    const std::string& key,
    const std::function<absl::StatusOr<std::shared_ptr<EnvironmentProblem>>()>&
        make) {
  const auto find = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(problems_mu_) {
    const auto it = problems_.find(key);
    return it == problems_.end() ? nullptr : it->second.lock();
  };
  {
    absl::MutexLock lock(&problems_mu_);
    if (std::shared_ptr<EnvironmentProblem> known = find()) return known;
  }
  HONE_ASSIGN_OR_RETURN(std::shared_ptr<EnvironmentProblem> made, make());
  {
    absl::MutexLock lock(&problems_mu_);
    // Two may have made it at the same time.
    if (std::shared_ptr<EnvironmentProblem> known = find()) return known;
    problems_[key] = made;
  }
  ShareMemory();
  return made;
}

void EnvironmentRegistry::ShareMemory() {
  absl::MutexLock lock(&problems_mu_);
  std::vector<std::shared_ptr<EnvironmentProblem>> live;
  for (auto it = problems_.begin(); it != problems_.end();) {
    if (auto problem = it->second.lock()) {
      live.push_back(std::move(problem));
      ++it;
    } else {
      problems_.erase(it++);
    }
  }
  if (live.empty()) return;
  const int64_t share =
      limits_.memory_bytes / 2 / static_cast<int64_t>(live.size());
  for (const auto& problem : live) problem->problem->LimitMemory(share);
}

absl::Status EnvironmentRegistry::CheckRoomLocked(int64_t state_bytes) {
  std::string what;
  if (entries_.size() >= static_cast<size_t>(limits_.max_environments)) {
    what = absl::StrCat(entries_.size(), " environments are open");
  } else if (state_bytes_ + BytesOf(state_bytes) > limits_.memory_bytes / 2) {
    what = absl::StrCat("the states of ", entries_.size(),
                        " environments take all of their ",
                        limits_.memory_bytes / 2, " bytes");
  } else {
    return absl::OkStatus();
  }
  metrics_.RpcRejected("too_many_environments").Increment();
  return WithRetryDelay(
      WithReason(absl::ResourceExhaustedError(
                     absl::StrCat(what, ", expected some to be closed first")),
                 "TOO_MANY_ENVIRONMENTS"),
      absl::Seconds(10));
}

absl::Status EnvironmentRegistry::CheckRoom(int64_t state_bytes) {
  Expire();
  absl::MutexLock lock(&mu_);
  return CheckRoomLocked(state_bytes);
}

absl::StatusOr<std::string> EnvironmentRegistry::Open(
    LiveEnvironment environment) {
  Expire();
  environment.id = RandomUuid();
  absl::MutexLock lock(&mu_);
  HONE_RETURN_IF_ERROR(CheckRoomLocked(environment.problem->state_bytes));
  state_bytes_ += BytesOf(environment.problem->state_bytes);
  std::string id = environment.id;
  entries_.push_front(
      {std::make_shared<LiveEnvironment>(std::move(environment)),
       clock_.Monotonic()});
  index_[id] = entries_.begin();
  metrics_.environments_opened.Increment();
  metrics_.environments_open.Set(static_cast<double>(entries_.size()));
  return id;
}

void EnvironmentRegistry::Touch(Entries::iterator entry) {
  entry->last_used = clock_.Monotonic();
  entries_.splice(entries_.begin(), entries_, entry);
}

absl::StatusOr<EnvironmentUse> EnvironmentRegistry::Use(absl::string_view id) {
  Expire();
  absl::MutexLock lock(&mu_);
  const auto it = index_.find(id);
  if (it == index_.end()) {
    return ResourceNotFound("environment", EnvironmentName(id));
  }
  Entry& entry = *it->second;
  if (entry.busy) {
    return WithReason(
        absl::AbortedError(absl::StrCat(
            "environment \"", EnvironmentName(id),
            "\" is in use by another call, expected one at a time")),
        "ENVIRONMENT_BUSY", {{"name", EnvironmentName(id)}});
  }
  entry.busy = true;
  Touch(it->second);
  return EnvironmentUse(entry.environment.get(),
                        [this, kept = entry.environment](LiveEnvironment*) {
                          Release(kept->id);
                        });
}

void EnvironmentRegistry::Release(const std::string& id) {
  absl::MutexLock lock(&mu_);
  const auto it = index_.find(id);
  if (it == index_.end()) return;  // Closed meanwhile.
  it->second->busy = false;
  Touch(it->second);
}

std::shared_ptr<LiveEnvironment> EnvironmentRegistry::Remove(
    Entries::iterator entry) {
  std::shared_ptr<LiveEnvironment> environment = std::move(entry->environment);
  state_bytes_ -= BytesOf(environment->problem->state_bytes);
  index_.erase(environment->id);
  entries_.erase(entry);
  metrics_.environments_open.Set(static_cast<double>(entries_.size()));
  return environment;
}

absl::Status EnvironmentRegistry::Close(absl::string_view id) {
  Expire();
  std::shared_ptr<LiveEnvironment> closed;
  {
    absl::MutexLock lock(&mu_);
    const auto it = index_.find(id);
    if (it == index_.end()) {
      return ResourceNotFound("environment", EnvironmentName(id));
    }
    closed = Remove(it->second);
  }
  // The last one on its problem.
  if (closed->problem.use_count() == 1) {
    closed.reset();
    ShareMemory();
  }
  return absl::OkStatus();
}

void EnvironmentRegistry::Expire() {
  std::vector<std::shared_ptr<LiveEnvironment>> expired;
  {
    absl::MutexLock lock(&mu_);
    const absl::Duration now = clock_.Monotonic();
    while (!entries_.empty() &&
           now - entries_.back().last_used >= limits_.idle) {
      const auto oldest = std::prev(entries_.end());
      if (oldest->busy) {
        Touch(oldest);
        continue;
      }
      expired.push_back(Remove(oldest));
      metrics_.environments_expired.Increment();
    }
  }
  if (expired.empty()) return;
  expired.clear();
  ShareMemory();
}

void EnvironmentRegistry::RunReaper() {
  const absl::Duration period = std::min(limits_.idle / 4, absl::Seconds(30));
  const auto stopping = [this]() ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return stopping_;
  };
  while (true) {
    {
      absl::MutexLock lock(&mu_);
      if (mu_.AwaitWithTimeout(absl::Condition(&stopping), period)) return;
    }
    Expire();
  }
}

}  // namespace hone::daemon
