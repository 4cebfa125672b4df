#include "daemon/fleet/standings.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace hone::daemon {
namespace {

// The score from which a machine is quarantined: 6 faults of weight 1 within
// two minutes or so. And the time in which it falls by one.
constexpr double kQuarantineScore = 5.5;
constexpr absl::Duration kFading = absl::Minutes(5);
// A machine that was good for so long is quarantined as if for the first time.
constexpr absl::Duration kForgiven = absl::Hours(24 * 7);
// An honest machine misses a canary now and then, by chance or since it was
// busy; three in a row are a fault.
constexpr int kMissedCanaries = 3;
// Machines that a machine must disagree with.
constexpr size_t kDisagreements = 2;
constexpr size_t kMaxDetail = 300;

double Weight(Fault fault) {
  switch (fault) {
    case Fault::kFailure:
    case Fault::kLostLease:
      return 1;
    case Fault::kMalformedReport:
      return 3;
    // These have rules of their own.
    case Fault::kDisagreement:
    case Fault::kNoise:
    case Fault::kLie:
      return 0;
  }
  return 0;
}

}  // namespace

absl::string_view FaultName(Fault fault) {
  switch (fault) {
    case Fault::kFailure:
      return "failure";
    case Fault::kLostLease:
      return "lost_lease";
    case Fault::kMalformedReport:
      return "malformed_report";
    case Fault::kDisagreement:
      return "disagreement";
    case Fault::kNoise:
      return "noise";
    case Fault::kLie:
      return "lie";
  }
  return "";
}

Standings::Standings(Metrics& metrics, Options options)
    : metrics_(metrics), options_(options) {}

const Standings::Standing* Standings::Find(absl::string_view machine) const {
  const auto it = standings_.find(machine);
  return it == standings_.end() ? nullptr : &it->second;
}

Standings::Standing& Standings::Get(absl::string_view machine,
                                    absl::Duration now) {
  auto it = standings_.find(machine);
  if (it == standings_.end()) {
    if (standings_.size() >= options_.max_machines) ForgetOldest();
    Standing fresh;
    fresh.scored = fresh.last_canary = now;
    fresh.quarantine.until = -absl::InfiniteDuration();
    it = standings_.emplace(machine, std::move(fresh)).first;
    metrics_.machines_known.Set(static_cast<double>(standings_.size()));
  }
  it->second.last_seen = now;
  return it->second;
}

void Standings::ForgetOldest() {
  // By guilt, then by age: a flood of names does not wash away a quarantine.
  const auto oldest = std::min_element(
      standings_.begin(), standings_.end(), [](const auto& a, const auto& b) {
        return std::pair(a.second.quarantines, a.second.last_seen) <
               std::pair(b.second.quarantines, b.second.last_seen);
      });
  standings_.erase(oldest);
}

const Standings::Quarantine* Standings::FindQuarantine(
    absl::string_view machine, absl::Duration now) const {
  const Standing* const standing = Find(machine);
  if (standing == nullptr || standing->quarantine.until <= now) return nullptr;
  return &standing->quarantine;
}

bool Standings::OnProbation(absl::string_view machine,
                            absl::Duration now) const {
  const Standing* const standing = Find(machine);
  return standing != nullptr && standing->probation &&
         standing->quarantine.until <= now;
}

bool Standings::IsTrusted(absl::string_view machine, absl::Duration now) const {
  const Standing* const standing = Find(machine);
  return standing == nullptr ||
         (standing->quarantine.until <= now && !standing->probation);
}

void Standings::Introduce(absl::string_view machine, absl::string_view address,
                          absl::Duration now) {
  if (!options_.has_canaries || Find(machine) != nullptr) return;
  const bool is_suspect = absl::c_any_of(standings_, [&](const auto& known) {
    return known.second.quarantine.until > now &&
           absl::StartsWith(known.first, absl::StrCat(address, "/"));
  });
  if (is_suspect) Get(machine, now).probation = true;
}

void Standings::AddScore(Standing& standing, Fault fault,
                         absl::string_view detail, absl::Duration now) {
  const double faded = absl::FDivDuration(now - standing.scored, kFading);
  standing.score = std::max(0.0, standing.score - faded) + Weight(fault);
  standing.scored = now;
  if (standing.score >= kQuarantineScore) {
    BeginQuarantine(standing, fault, detail, now);
  }
}

void Standings::Mark(absl::string_view machine, Fault fault,
                     absl::string_view detail, absl::Duration now) {
  metrics_.WorkerFaults(std::string(FaultName(fault))).Increment();
  AddScore(Get(machine, now), fault, detail, now);
}

void Standings::Unmark(absl::string_view machine, Fault fault) {
  const auto it = standings_.find(machine);
  if (it == standings_.end()) return;
  it->second.score = std::max(0.0, it->second.score - Weight(fault));
}

void Standings::MarkDisagreement(absl::string_view a, absl::string_view b,
                                 absl::string_view detail, absl::Duration now) {
  for (const auto& [machine, other] : {std::pair(a, b), std::pair(b, a)}) {
    metrics_.WorkerFaults(std::string(FaultName(Fault::kDisagreement)))
        .Increment();
    Standing& standing = Get(machine, now);
    standing.canary_wanted = true;
    standing.disagrees_with.emplace(other);
  }
  // Once both are marked, since the guilt of one clears the other.
  for (const absl::string_view machine : {a, b}) {
    Standing& standing = Get(machine, now);
    if (standing.disagrees_with.size() < kDisagreements) continue;
    BeginQuarantine(standing, Fault::kDisagreement, detail, now);
    // The others were right, or at least not more wrong.
    for (auto& [name, innocent] : standings_) {
      innocent.disagrees_with.erase(machine);
    }
  }
}

void Standings::BeginQuarantine(Standing& standing, Fault fault,
                                absl::string_view detail, absl::Duration now) {
  if (standing.quarantine.until > now) return;
  if (now - standing.quarantine.until > kForgiven) standing.quarantines = 0;
  absl::Duration duration = options_.first_quarantine;
  for (int i = 0; i < standing.quarantines; ++i) {
    duration = std::min(4 * duration, options_.longest_quarantine);
  }
  // The count ends where it makes no difference.
  standing.quarantines = std::min(standing.quarantines + 1, 32);
  standing.quarantine = {fault, std::string(detail.substr(0, kMaxDetail)),
                         now + duration};
  standing.probation = options_.has_canaries;
  standing.score = 0;
  standing.missed_canaries = 0;
  standing.disagrees_with.clear();
  metrics_.Quarantines(std::string(FaultName(fault))).Increment();
}

void Standings::CountWork(absl::string_view machine, absl::Duration now) {
  ++Get(machine, now).works;
}

void Standings::WantCanary(absl::string_view machine, absl::Duration now) {
  Get(machine, now).canary_wanted = true;
}

bool Standings::IsCanaryDue(absl::string_view machine,
                            absl::Duration now) const {
  const Standing* const standing = Find(machine);
  if (!options_.has_canaries || standing == nullptr ||
      standing->canary_running || standing->quarantine.until > now) {
    return false;
  }
  return standing->probation || standing->canary_wanted ||
         standing->works >= options_.canary_works ||
         (standing->works > 0 &&
          now - standing->last_canary >= options_.canary_interval);
}

void Standings::BeginCanary(absl::string_view machine, absl::Duration now) {
  Standing& standing = Get(machine, now);
  standing.canary_running = true;
  // What happens from now on asks for another one.
  standing.canary_wanted = false;
}

void Standings::AbandonCanary(absl::string_view machine) {
  const auto it = standings_.find(machine);
  if (it == standings_.end()) return;
  it->second.canary_running = false;
  it->second.canary_wanted = true;
}

void Standings::EndCanary(absl::string_view machine, CanaryVerdict verdict,
                          absl::string_view detail, absl::Duration now) {
  Standing& standing = Get(machine, now);
  standing.canary_running = false;
  standing.works = 0;
  standing.last_canary = now;
  switch (verdict) {
    case CanaryVerdict::kPassed:
      metrics_.Canaries("passed").Increment();
      // A quarantine that began meanwhile asks for another one.
      if (standing.quarantine.until <= now) standing.probation = false;
      standing.missed_canaries = 0;
      return;
    case CanaryVerdict::kNoisy:
      metrics_.Canaries("noisy").Increment();
      MissCanary(standing, Fault::kNoise, detail, now);
      return;
    case CanaryVerdict::kFailed:
      metrics_.Canaries("failed").Increment();
      MissCanary(standing, Fault::kFailure, detail, now);
      return;
    case CanaryVerdict::kWrong:
      metrics_.Canaries("wrong").Increment();
      metrics_.WorkerFaults(std::string(FaultName(Fault::kLie))).Increment();
      BeginQuarantine(standing, Fault::kLie, detail, now);
      return;
  }
}

void Standings::MissCanary(Standing& standing, Fault fault,
                           absl::string_view detail, absl::Duration now) {
  metrics_.WorkerFaults(std::string(FaultName(fault))).Increment();
  standing.canary_wanted = true;
  if (++standing.missed_canaries >= kMissedCanaries) {
    BeginQuarantine(standing, fault, detail, now);
  }
}

bool Standings::Release(absl::string_view machine, absl::Duration now) {
  const auto it = standings_.find(machine);
  if (it == standings_.end() || it->second.quarantine.until <= now) {
    return false;
  }
  it->second.quarantine.until = now;
  it->second.quarantines = 0;
  return true;
}

}  // namespace hone::daemon
