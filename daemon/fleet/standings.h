#ifndef HONE_DAEMON_FLEET_STANDINGS_H_
#define HONE_DAEMON_FLEET_STANDINGS_H_

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "daemon/telemetry/metrics.h"

namespace hone::daemon {

// A fault of a machine.
enum class Fault {
  kFailure,          // its own error ended a piece of work
  kLostLease,        // work that it took was given up
  kMalformedReport,  // numbers that no measurement can have
  kDisagreement,     // another machine measured something else
  kNoise,            // equal schedules differ (canary)
  kLie,              // a canary's known answer was not given
};
// "failure", "lost_lease", …: stable, as in metrics and lists.
absl::string_view FaultName(Fault fault);

// How a machine did on a request whose answer is known.
enum class CanaryVerdict {
  kPassed,
  kNoisy,
  kFailed,  // it ended without a result, which a full disk does as well
  kWrong,
};

// The trust in each machine, by what its workers did: marks for faults, which
// fade with time, and quarantine for machines with too many. A machine outlives
// its workers, which get new ids at each start.
//
// A quarantine ends by time or by Release. If there are canaries, the machine
// is then on probation: it gets no work until it passes one. Each further
// quarantine is longer.
//
// Times are those of Clock::Monotonic. Threads: not thread-safe.
class Standings {
 public:
  struct Options {
    // The duration of the first quarantine; each further one is four times as
    // long as the last, up to the longest.
    absl::Duration first_quarantine = absl::Minutes(5);
    absl::Duration longest_quarantine = absl::Hours(24);
    // A canary is due after so many pieces of work, or the first one after so
    // long.
    int64_t canary_works = 64;
    absl::Duration canary_interval = absl::Minutes(15);
    // Without canaries there is no probation.
    bool has_canaries = false;
    // The number of machines to remember; those that did nothing wrong and
    // have been silent longest are forgotten first.
    size_t max_machines = 20'000;
  };
  struct Quarantine {
    Fault fault = Fault::kFailure;
    // One line.
    std::string detail;
    absl::Duration until;
  };

  // `metrics` outlives it.
  Standings(Metrics& metrics, Options options);

  // Returns false in quarantine and on probation.
  bool IsTrusted(absl::string_view machine, absl::Duration now) const;
  // Returns null outside of quarantine. Valid until the next call that changes
  // something.
  const Quarantine* FindQuarantine(absl::string_view machine,
                                   absl::Duration now) const;
  bool OnProbation(absl::string_view machine, absl::Duration now) const;

  // Tells of a machine at an address, which is a prefix of its name. A new name
  // at an address with a machine in quarantine starts on probation, so that a
  // bad worker gains nothing by another name.
  void Introduce(absl::string_view machine, absl::string_view address,
                 absl::Duration now);

  // Counts a fault; enough of them end in quarantine.
  void Mark(absl::string_view machine, Fault fault, absl::string_view detail,
            absl::Duration now);
  // Takes back a mark whose cause was not the machine.
  void Unmark(absl::string_view machine, Fault fault);
  // Counts a disagreement between two machines. It is not known who is right,
  // so both get a canary next, and a machine that disagrees with two others is
  // quarantined.
  void MarkDisagreement(absl::string_view a, absl::string_view b,
                        absl::string_view detail, absl::Duration now);
  // Counts a piece of work that the machine ended.
  void CountWork(absl::string_view machine, absl::Duration now);

  // Has the machine get a canary next.
  void WantCanary(absl::string_view machine, absl::Duration now);
  // Returns true if the machine is to get a canary before other work.
  bool IsCanaryDue(absl::string_view machine, absl::Duration now) const;
  void BeginCanary(absl::string_view machine, absl::Duration now);
  void EndCanary(absl::string_view machine, CanaryVerdict verdict,
                 absl::string_view detail, absl::Duration now);
  // Ends a canary without a verdict: its lease was lost.
  void AbandonCanary(absl::string_view machine);

  // Ends the quarantine of a machine. Returns false if there is none.
  bool Release(absl::string_view machine, absl::Duration now);

  size_t size() const { return standings_.size(); }

 private:
  struct Standing {
    // The sum of the weights of faults, fading since `scored`.
    double score = 0;
    absl::Duration scored;
    absl::flat_hash_set<std::string> disagrees_with;
    int quarantines = 0;
    // The last quarantine; `until` is in the past when it is over.
    Quarantine quarantine;
    bool probation = false;
    bool canary_running = false;
    bool canary_wanted = false;
    // Canaries in a row that were noisy or failed.
    int missed_canaries = 0;
    int64_t works = 0;  // since the last canary
    absl::Duration last_canary;
    absl::Duration last_seen;
  };

  const Standing* Find(absl::string_view machine) const;
  Standing& Get(absl::string_view machine, absl::Duration now);
  void AddScore(Standing& standing, Fault fault, absl::string_view detail,
                absl::Duration now);
  void BeginQuarantine(Standing& standing, Fault fault,
                       absl::string_view detail, absl::Duration now);
  // Counts a canary that is repeated before it is held against the machine.
  void MissCanary(Standing& standing, Fault fault, absl::string_view detail,
                  absl::Duration now);
  void ForgetOldest();

  Metrics& metrics_;
  const Options options_;
  absl::flat_hash_map<std::string, Standing> standings_;
};

}  // namespace hone::daemon

#endif  // HONE_DAEMON_FLEET_STANDINGS_H_
