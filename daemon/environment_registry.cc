#include "daemon/environment_registry.h"

#include <algorithm>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include <spdlog/spdlog.h>

#include "base/hash.h"
#include "base/status_macros.h"
#include "daemon/errors.h"
#include "daemon/limits.h"
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
// How often a call that waits for a process asks whether it is to stop.
constexpr absl::Duration kPatrol = absl::Milliseconds(50);
// A process whose call takes longer may be stuck: few others then wait for it.
constexpr absl::Duration kLongTurn = absl::Seconds(1);
// Lost environments whose users are told so.
constexpr size_t kMaxLost = 10'000;

int64_t BytesOf(int64_t state_bytes) {
  return kStatesOfEnvironment * state_bytes + kEnvironmentBytes;
}

absl::Status Lost(absl::string_view why) {
  return WithReason(
      absl::AbortedError(absl::StrCat("the environment is lost: ", why)),
      "ENVIRONMENT_LOST");
}

work::WorkProcessOptions ForEnvironments(work::WorkProcessOptions options,
                                         absl::Duration stop_grace,
                                         const std::atomic<bool>& is_draining) {
  options.stop_grace = [short_grace = options.stop_grace, stop_grace,
                        &is_draining] {
    const absl::Duration grace = stop_grace;
    return is_draining ? std::min(short_grace(), grace) : grace;
  };
  // What it holds is not the last call's.
  options.max_idle_bytes =
      options.memory_bytes > 0 ? options.memory_bytes : int64_t{1} << 62;
  return options;
}

}  // namespace

struct EnvironmentRegistry::Host {
  explicit Host(const work::WorkProcessOptions& options) : process(options) {}

  // Belongs to the call that has its turn: it does one after the other.
  work::WorkProcess process;

  // All below: guarded by the registry's mutex.
  bool has_turn = false;
  absl::Duration turn_began;
  // Calls that have their turn or wait for it.
  int calls = 0;
  // How many processes have ended.
  int64_t generation = 0;
  std::string last_end;
  int environments = 0;
  // Names of environments to be closed before the next call.
  internal::EnvironmentCall::Names to_close;
};

EnvironmentRegistry::EnvironmentRegistry(
    const Clock& clock, Metrics& metrics,
    const work::WorkProcessOptions& process, const Limits& limits)
    : clock_(clock), metrics_(metrics), limits_(limits), lost_(kMaxLost) {
  for (int i = 0; i < limits.processes; ++i) {
    hosts_.push_back(std::make_unique<Host>(
        ForEnvironments(process, limits.stop_grace, is_draining_)));
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

absl::Status EnvironmentRegistry::CheckWait(const Host& host,
                                            absl::Duration began) const {
  const absl::Duration now = SystemClock().Monotonic();
  if (host.calls <= kMaxEnvironmentCalls ||
      (now - began <= kLongTurn && now - host.turn_began <= kLongTurn)) {
    return absl::OkStatus();
  }
  metrics_.RpcRejected("overload").Increment();
  return OverloadedAt(
      "environment_calls",
      absl::StrCat(host.calls,
                   " calls are with the process of this environment, and take "
                   "a second or more"));
}

absl::Status EnvironmentRegistry::TakeTurn(Host& host,
                                           std::optional<int64_t> generation,
                                           const StopPredicate& stop) {
  const absl::Duration began = SystemClock().Monotonic();
  absl::MutexLock lock(&mu_);
  ++host.calls;
  absl::Status status;
  const auto is_free = [&] { return !host.has_turn; };
  if (host.has_turn) status = CheckWait(host, began);
  while (status.ok() &&
         !mu_.AwaitWithTimeout(absl::Condition(&is_free), kPatrol)) {
    status = stop() ? absl::CancelledError("stopped") : CheckWait(host, began);
  }
  if (status.ok() && generation.value_or(host.generation) != host.generation) {
    status = Lost(host.last_end);
  }
  if (status.ok()) {
    host.has_turn = true;
    host.turn_began = SystemClock().Monotonic();
  } else {
    --host.calls;
  }
  return status;
}

void EnvironmentRegistry::EndTurn(Host& host) {
  absl::MutexLock lock(&mu_);
  host.has_turn = false;
  --host.calls;
}

absl::StatusOr<internal::EnvironmentAnswer> EnvironmentRegistry::Call(
    Host& host, std::optional<int64_t> generation,
    const internal::EnvironmentCall& call, const StopPredicate& stop,
    std::optional<Place>* place) {
  HONE_RETURN_IF_ERROR(TakeTurn(host, generation, stop));
  const absl::Cleanup turn = [&] { EndTurn(host); };
  if (host.process.running() && !host.process.IsAlive()) {
    Forget(host, "its process has ended");
    if (generation.has_value()) return Lost("its process has ended");
  }
  absl::StatusOr<internal::EnvironmentAnswer> answer =
      CallInTurn(host, call, stop);
  if (tuning::IsProcessFailure(answer.status())) {
    // Those of an opening are its module's, and counted there.
    if (!call.has_open()) metrics_.process_failures.Increment();
    answer = tuning::ProcessFailure(Lost(answer.status().message()));
  }
  if (!host.process.running()) {
    // It did not stop, which its module is to blame for.
    if (absl::IsCancelled(answer.status()) && call.has_open()) {
      answer = tuning::ProcessFailure(answer.status());
    }
    Forget(host,
           answer.ok() ? "its process has ended" : answer.status().message());
    if (answer.ok()) return Lost("its process has ended");
  }
  if (place != nullptr) {
    absl::MutexLock lock(&mu_);
    *place = Place{&host, host.generation};
  }
  return answer;
}

absl::StatusOr<internal::EnvironmentAnswer> EnvironmentRegistry::CallInTurn(
    Host& host, const internal::EnvironmentCall& call,
    const StopPredicate& stop) {
  const auto run = [&](const internal::EnvironmentCall& one) {
    internal::Job job;
    *job.mutable_environment() = one;
    return host.process.Run(job, {.search = {.stop = stop}}, kCallLimit);
  };
  internal::EnvironmentCall close;
  {
    absl::MutexLock lock(&mu_);
    close.mutable_close()->Swap(&host.to_close);
    host.to_close.Clear();
  }
  if (!host.process.running()) {
    internal::EnvironmentCall limit;
    limit.set_limit_memory(limits_.memory_bytes / 2 / limits_.processes);
    const absl::Status limited = run(limit).status();
    // Without its limit it must not serve.
    if (!limited.ok()) {
      host.process.Kill();
      return limited;
    }
  } else if (close.close().names_size() > 0) {
    const absl::Status closed = run(close).status();
    if (!closed.ok()) {
      absl::MutexLock lock(&mu_);
      host.to_close.MergeFrom(close.close());
      return closed;
    }
  }
  HONE_ASSIGN_OR_RETURN(internal::Result result, run(call));
  return std::move(*result.mutable_environment());
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
    Host& host, std::optional<int64_t> generation,
    const internal::EnvironmentCall& call, const std::string& id,
    const StopPredicate& stop) {
  {
    absl::MutexLock lock(&mu_);
    ++host.environments;  // From now on, so that the process is kept.
  }
  std::optional<Place> place;
  absl::StatusOr<internal::EnvironmentAnswer> answer =
      Call(host, generation, call, stop, &place);
  absl::MutexLock lock(&mu_);
  absl::Status status = answer.status();
  // Another call may have seen its end meanwhile.
  if (status.ok() && place->generation != host.generation) {
    status = Lost(host.last_end);
  }
  if (status.ok()) {
    const int64_t shared =
        problems_.contains(answer->problem()) ? 0 : answer->problem_bytes();
    status = CheckRoomLocked(BytesOf(answer->state_bytes()) + shared);
  }
  if (!status.ok()) {
    --host.environments;
    // A process that was asked may have opened it, or do so even if it is to
    // stop.
    if (place.has_value()) host.to_close.add_names(EnvironmentName(id));
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
  return OpenOn(host, std::nullopt, call, id, stop);
}

absl::StatusOr<internal::EnvironmentAnswer> EnvironmentRegistry::Fork(
    absl::string_view id, const StopPredicate& stop) {
  HONE_ASSIGN_OR_RETURN(const Place place, Use(id));
  const std::string forked = RandomUuid();
  internal::EnvironmentCall call;
  call.mutable_fork()->set_name(EnvironmentName(forked));
  call.mutable_fork()->set_parent(EnvironmentName(id));
  const absl::Status room = CheckRoom();
  absl::StatusOr<internal::EnvironmentAnswer> answer =
      room.ok() ? OpenOn(*place.host, place.generation, call, forked, stop)
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
  std::vector<std::pair<Place, std::vector<size_t>>> parts;
  for (size_t i = 0; i < requests.size(); ++i) {
    const absl::StatusOr<std::string> id = EnvironmentId(requests[i]->name());
    const absl::StatusOr<Place> place =
        id.ok() ? Use(*id) : absl::StatusOr<Place>(id.status());
    if (!place.ok()) {
      results[i] = place.status();
      continue;
    }
    auto part = std::find_if(parts.begin(), parts.end(),
                             [&](const auto& p) { return p.first == *place; });
    if (part == parts.end()) part = parts.insert(part, {*place, {}});
    part->second.push_back(i);
  }
  const auto run = [&](const Place& place, const std::vector<size_t>& indices) {
    internal::EnvironmentCall call;
    for (const size_t i : indices) {
      *call.mutable_step()->add_requests() = *requests[i];
    }
    absl::StatusOr<internal::EnvironmentAnswer> answer =
        Call(*place.host, place.generation, call, stop);
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
    threads.emplace_back([&, i] { run(parts[i].first, parts[i].second); });
  }
  if (!parts.empty()) run(parts[0].first, parts[0].second);
  for (std::thread& thread : threads) thread.join();
  return results;
}

void EnvironmentRegistry::Touch(Entries::iterator entry) {
  entry->last_used = clock_.Monotonic();
  entries_.splice(entries_.begin(), entries_, entry);
}

absl::StatusOr<EnvironmentRegistry::Place> EnvironmentRegistry::Use(
    absl::string_view id) {
  Expire();
  absl::MutexLock lock(&mu_);
  const auto it = index_.find(id);
  if (it == index_.end()) {
    if (const auto why = lost_.Find(id); why.has_value()) return Lost(*why);
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
  return Place{entry.host, entry.host->generation};
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

void EnvironmentRegistry::Forget(Host& host, absl::string_view why) {
  absl::MutexLock lock(&mu_);
  ++host.generation;
  host.last_end = std::string(why);
  int lost = 0;
  for (auto it = entries_.begin(); it != entries_.end();) {
    const auto entry = it++;
    if (entry->host != &host) continue;
    lost_.Insert(entry->id, host.last_end);
    Remove(entry);
    ++lost;
  }
  host.to_close.Clear();
  if (lost > 0) {
    spdlog::warn("{} environments are lost: {}", lost, host.last_end);
  }
}

absl::Status EnvironmentRegistry::Close(absl::string_view id) {
  Expire();
  absl::MutexLock lock(&mu_);
  const auto it = index_.find(id);
  if (it == index_.end()) {
    if (lost_.Find(id).has_value()) return absl::OkStatus();
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
        if (host->environments == 0 && host->calls == 0 &&
            host->to_close.names_size() > 0) {
          host->has_turn = true;
          ++host->calls;
          unused.push_back(host.get());
        }
      }
    }
    for (Host* const host : unused) {
      host->process.Kill();
      EndTurn(*host);
    }
    Expire();
  }
}

}  // namespace hone::daemon
