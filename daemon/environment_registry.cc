#include "daemon/environment_registry.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/hash.h"
#include "base/status_macros.h"
#include "daemon/errors.h"
#include "daemon/names.h"
#include "tuning/search.h"
#include "work/messages.h"

namespace hone::daemon {
namespace {

// What an environment holds: the state that it is in, and the one before its
// last request.
constexpr int64_t kStatesOfEnvironment = 2;
// The rest of an environment.
constexpr int64_t kEnvironmentBytes = 1 << 10;
// The longest time of one call: thousands of steps on a large module.
constexpr absl::Duration kCallLimit = absl::Minutes(10);

int64_t BytesOf(int64_t state_bytes) {
  return kStatesOfEnvironment * state_bytes + kEnvironmentBytes;
}

absl::Status Lost(absl::string_view why) {
  return WithReason(
      absl::AbortedError(absl::StrCat("the environment is lost: ", why)),
      "ENVIRONMENT_LOST");
}

// A process that is asked to stop is not killed soon, since the environments of
// others live in it.
work::WorkProcessOptions Patient(work::WorkProcessOptions options) {
  options.stop_grace = kCallLimit;
  options.max_idle_bytes =
      options.memory_bytes > 0 ? options.memory_bytes : int64_t{1} << 62;
  return options;
}

}  // namespace

struct EnvironmentRegistry::Host {
  explicit Host(const work::WorkProcessOptions& options) : process(options) {}

  // Held during a call: a process does one after the other.
  absl::Mutex calls;
  work::WorkProcess process ABSL_GUARDED_BY(calls);

  // Guarded by the registry's mutex.
  int environments = 0;
  // Names of environments to be closed before the next call.
  internal::EnvironmentCall::Names to_close;
};

EnvironmentRegistry::EnvironmentRegistry(
    const Clock& clock, Metrics& metrics,
    const work::WorkProcessOptions& process, const Limits& limits)
    : clock_(clock), metrics_(metrics), limits_(limits) {
  for (int i = 0; i < limits.processes; ++i) {
    hosts_.push_back(std::make_unique<Host>(Patient(process)));
  }
  reaper_ = std::thread([this] { RunReaper(); });
}

EnvironmentRegistry::~EnvironmentRegistry() {
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
  }
  reaper_.join();
}

EnvironmentRegistry::Host& EnvironmentRegistry::HostOf(
    const std::string& problem) {
  return *hosts_[FastHash(problem).low % hosts_.size()];
}

absl::StatusOr<internal::EnvironmentAnswer> EnvironmentRegistry::Call(
    Host& host, const internal::EnvironmentCall& call,
    const StopPredicate& stop) {
  absl::MutexLock lock(&host.calls);
  const auto run =
      [&](const internal::EnvironmentCall& one, const StopPredicate& may_stop)
          ABSL_EXCLUSIVE_LOCKS_REQUIRED(host.calls) {
            internal::Job job;
            *job.mutable_environment() = one;
            return host.process.Run(job, {.search = {.stop = may_stop}},
                                    kCallLimit);
          };
  internal::EnvironmentCall close;
  {
    absl::MutexLock registry(&mu_);
    close.mutable_close()->Swap(&host.to_close);
    host.to_close.Clear();
  }
  absl::StatusOr<internal::Result> result = internal::Result();
  if (host.process.running() && !host.process.IsAlive()) {
    Forget(host);
    if (!call.has_open()) return Lost("its process has ended");
  }
  if (!host.process.running()) {
    internal::EnvironmentCall limit;
    limit.set_limit_memory(limits_.memory_bytes / 2 / limits_.processes);
    result = run(limit, nullptr);
  }
  if (result.ok() && close.close().names_size() > 0) {
    result = run(close, nullptr);
  }
  if (result.ok()) result = run(call, stop);
  if (tuning::IsProcessFailure(result.status())) {
    metrics_.process_failures.Increment();
    Forget(host);
    return Lost(result.status().message());
  }
  HONE_RETURN_IF_ERROR(result.status());
  return std::move(*result->mutable_environment());
}

absl::Status EnvironmentRegistry::CheckRoomLocked(int64_t bytes) {
  std::string what;
  absl::string_view limit = "max_environments";
  if (entries_.size() >= static_cast<size_t>(limits_.max_environments)) {
    what = absl::StrCat(entries_.size(), " environments are open");
  } else if (bytes_ + bytes > limits_.memory_bytes / 2) {
    what = absl::StrCat("the states and modules of ", entries_.size(),
                        " environments take all of their ",
                        limits_.memory_bytes / 2, " bytes");
    limit = "environment_memory_bytes";
  } else {
    return absl::OkStatus();
  }
  metrics_.RpcRejected("too_many_environments").Increment();
  return WithRetryDelay(
      AtLimit(limit, absl::StrCat(what, ", expected some to be closed first")),
      absl::Seconds(10));
}

absl::Status EnvironmentRegistry::CheckRoom() {
  Expire();
  absl::MutexLock lock(&mu_);
  return CheckRoomLocked(BytesOf(0));
}

absl::StatusOr<internal::EnvironmentAnswer> EnvironmentRegistry::OpenOn(
    Host& host, const internal::EnvironmentCall& call, const std::string& id,
    const StopPredicate& stop) {
  {
    absl::MutexLock lock(&mu_);
    ++host.environments;  // From now on, so that the process is kept.
  }
  absl::StatusOr<internal::EnvironmentAnswer> answer = Call(host, call, stop);
  absl::MutexLock lock(&mu_);
  absl::Status status = answer.status();
  if (status.ok()) {
    const int64_t shared =
        problems_.contains(answer->problem()) ? 0 : answer->problem_bytes();
    status = CheckRoomLocked(BytesOf(answer->state_bytes()) + shared);
    if (!status.ok()) host.to_close.add_names(EnvironmentName(id));
  }
  if (!status.ok()) {
    --host.environments;
    return status;
  }
  Shared& problem = problems_[answer->problem()];
  if (problem.environments++ == 0) {
    problem.bytes = answer->problem_bytes();
    bytes_ += problem.bytes;
  }
  bytes_ += BytesOf(answer->state_bytes());
  entries_.push_front({.id = id,
                       .host = &host,
                       .state_bytes = answer->state_bytes(),
                       .problem = answer->problem(),
                       .last_used = clock_.Monotonic()});
  index_[id] = entries_.begin();
  metrics_.environments_opened.Increment();
  metrics_.environments_open.Set(static_cast<double>(entries_.size()));
  return answer;
}

absl::StatusOr<internal::EnvironmentAnswer> EnvironmentRegistry::Open(
    internal::EnvironmentCall::Open open, const StopPredicate& stop) {
  HONE_RETURN_IF_ERROR(CheckRoom());
  const std::string id = RandomUuid();
  Host& host = HostOf(open.problem());
  internal::EnvironmentCall call;
  open.set_name(EnvironmentName(id));
  *call.mutable_open() = std::move(open);
  return OpenOn(host, call, id, stop);
}

absl::StatusOr<internal::EnvironmentAnswer> EnvironmentRegistry::Fork(
    absl::string_view id, const StopPredicate& stop) {
  HONE_ASSIGN_OR_RETURN(Host* const host, Use(id));
  const std::string forked = RandomUuid();
  internal::EnvironmentCall call;
  call.mutable_fork()->set_name(EnvironmentName(forked));
  call.mutable_fork()->set_parent(EnvironmentName(id));
  const absl::Status room = CheckRoom();
  absl::StatusOr<internal::EnvironmentAnswer> answer =
      room.ok() ? OpenOn(*host, call, forked, stop)
                : absl::StatusOr<internal::EnvironmentAnswer>(room);
  Release(id);
  return answer;
}

std::vector<absl::StatusOr<v1::StepResponse>> EnvironmentRegistry::Step(
    absl::Span<const v1::StepRequest* const> requests,
    const StopPredicate& stop) {
  std::vector<absl::StatusOr<v1::StepResponse>> results(
      requests.size(), absl::InternalError("no result"));
  // The requests of each process, by their indices.
  std::vector<std::pair<Host*, std::vector<size_t>>> parts;
  for (size_t i = 0; i < requests.size(); ++i) {
    const absl::StatusOr<std::string> id = EnvironmentId(requests[i]->name());
    absl::StatusOr<Host*> host =
        id.ok() ? Use(*id) : absl::StatusOr<Host*>(id.status());
    if (!host.ok()) {
      results[i] = host.status();
      continue;
    }
    auto part = std::find_if(parts.begin(), parts.end(),
                             [&](const auto& p) { return p.first == *host; });
    if (part == parts.end()) part = parts.insert(part, {*host, {}});
    part->second.push_back(i);
  }
  const auto run = [&](Host& host, const std::vector<size_t>& indices) {
    internal::EnvironmentCall call;
    for (const size_t i : indices) {
      *call.mutable_step()->add_requests() = *requests[i];
    }
    absl::StatusOr<internal::EnvironmentAnswer> answer = Call(host, call, stop);
    for (size_t k = 0; k < indices.size(); ++k) {
      if (!answer.ok()) {
        results[indices[k]] = answer.status();
        continue;
      }
      auto& result =
          *answer->mutable_stepped()->mutable_results(static_cast<int>(k));
      if (result.has_error()) {
        results[indices[k]] = work::FromProto(result.error());
      } else {
        results[indices[k]] = std::move(*result.mutable_response());
      }
    }
    for (const size_t i : indices) Release(*EnvironmentId(requests[i]->name()));
  };
  // Each process takes its steps at the same time as the others.
  std::vector<std::thread> threads;
  for (size_t i = 1; i < parts.size(); ++i) {
    threads.emplace_back([&, i] { run(*parts[i].first, parts[i].second); });
  }
  if (!parts.empty()) run(*parts[0].first, parts[0].second);
  for (std::thread& thread : threads) thread.join();
  return results;
}

void EnvironmentRegistry::Touch(Entries::iterator entry) {
  entry->last_used = clock_.Monotonic();
  entries_.splice(entries_.begin(), entries_, entry);
}

absl::StatusOr<EnvironmentRegistry::Host*> EnvironmentRegistry::Use(
    absl::string_view id) {
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
  return entry.host;
}

void EnvironmentRegistry::Release(absl::string_view id) {
  absl::MutexLock lock(&mu_);
  const auto it = index_.find(id);
  if (it == index_.end()) return;  // Closed meanwhile.
  it->second->busy = false;
  Touch(it->second);
}

void EnvironmentRegistry::Remove(Entries::iterator entry) {
  bytes_ -= BytesOf(entry->state_bytes);
  const auto problem = problems_.find(entry->problem);
  if (--problem->second.environments == 0) {
    bytes_ -= problem->second.bytes;
    problems_.erase(problem);
  }
  --entry->host->environments;
  entry->host->to_close.add_names(EnvironmentName(entry->id));
  index_.erase(entry->id);
  entries_.erase(entry);
  metrics_.environments_open.Set(static_cast<double>(entries_.size()));
}

void EnvironmentRegistry::Forget(Host& host) {
  absl::MutexLock lock(&mu_);
  for (auto it = entries_.begin(); it != entries_.end();) {
    const auto entry = it++;
    if (entry->host == &host) Remove(entry);
  }
  host.to_close.Clear();
}

absl::Status EnvironmentRegistry::Close(absl::string_view id) {
  Expire();
  absl::MutexLock lock(&mu_);
  const auto it = index_.find(id);
  if (it == index_.end()) {
    return ResourceNotFound("environment", EnvironmentName(id));
  }
  Remove(it->second);
  return absl::OkStatus();
}

void EnvironmentRegistry::Expire() {
  absl::MutexLock lock(&mu_);
  const absl::Duration now = clock_.Monotonic();
  while (!entries_.empty() && now - entries_.back().last_used >= limits_.idle) {
    const auto oldest = std::prev(entries_.end());
    if (oldest->busy) {
      Touch(oldest);
      continue;
    }
    Remove(oldest);
    metrics_.environments_expired.Increment();
  }
}

void EnvironmentRegistry::RunReaper() {
  const absl::Duration period = std::min(limits_.idle / 4, absl::Seconds(30));
  const auto stopping = [this]() ABSL_SHARED_LOCKS_REQUIRED(mu_) {
    return stopping_;
  };
  while (true) {
    // Processes without environments have nothing to keep.
    std::vector<Host*> unused;
    {
      absl::MutexLock lock(&mu_);
      if (mu_.AwaitWithTimeout(absl::Condition(&stopping), period)) return;
      for (const auto& host : hosts_) {
        if (host->environments == 0 && host->to_close.names_size() > 0) {
          unused.push_back(host.get());
        }
      }
    }
    Expire();
    for (Host* const host : unused) {
      if (!host->calls.TryLock()) continue;
      {
        absl::MutexLock lock(&mu_);
        if (host->environments == 0) host->process.Kill();
      }
      host->calls.Unlock();
    }
  }
}

}  // namespace hone::daemon
