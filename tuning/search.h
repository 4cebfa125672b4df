#ifndef HONE_TUNING_SEARCH_H_
#define HONE_TUNING_SEARCH_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "backends/kernel_measurer.h"
#include "base/clock.h"
#include "base/thread_pool.h"
#include "space/trial.h"
#include "storage/record.h"

// The part of a tuning that computes: it needs no store, so that it can run in
// another process.
namespace hone::tuning {

// The progress of a running tuning.
struct Progress {
  enum class Phase { kSearching, kVerifying, kDone };
  Phase phase = Phase::kSearching;
  int64_t trials = 0;
  int64_t budget_trials = 0;
  std::optional<double> default_cost;
  std::optional<double> best_cost;
  std::string unit;
  double seconds = 0;
};

// Adds a trial to the counts and costs of `progress`.
void AddTrial(const space::Trial& trial, Progress& progress);

using ProgressCallback = std::function<void(const Progress&)>;
// Called between trials; returns true to end the search at once (cancel,
// drain).
using StopPredicate = std::function<bool()>;

// A tuning, with all that a search for its winner needs.
struct SearchJob {
  // Its id, for messages; its key, optimizer, seed and budget decide.
  storage::Tuning tuning;
  std::string module;  // the bytes of its subject
  // The trials of earlier runs, by id, or the part of them that is kept
  // (resumed_log.h).
  std::vector<space::Trial> trials;
  // Decisions that the search starts from after the default
  // (Task::CandidateOf).
  std::vector<std::string> start;
};

// What a search hears and says on its way.
struct SearchEvents {
  ProgressCallback progress = nullptr;
  StopPredicate stop = nullptr;
  // Called for each new trial. An error ends the search.
  std::function<absl::Status(const space::Trial&)> on_trial = nullptr;
};

// The verified winner, as a record has it.
struct Found {
  std::string unit;
  double default_cost = 0;
  double best_cost = 0;
  std::string decision;      // JSON
  std::string tuned_module;  // HLO text; empty if the task makes no module
  int64_t trials = 0;
  double seconds = 0;
  storage::Verification verification;
};

class Searcher {
 public:
  virtual ~Searcher() = default;

  // Replays the trials of `job`, searches on, applies the winner and verifies
  // it against the input. Returns the winner, without the steps that make it
  // wrong (repair.h), or the default if that is no better. What is returned
  // never costs more than the default.
  // Errors: Cancelled after a stop; Unavailable if nothing can be measured now;
  // FailedPrecondition if not even the default can be verified; those of
  // `on_trial`; those of the task and the module.
  virtual absl::StatusOr<Found> Search(const SearchJob& job,
                                       const SearchEvents& events) = 0;
};

// Searches in this process. Nothing is owned.
class LocalSearcher final : public Searcher {
 public:
  // Null `pool`: evaluates on the caller's thread. Null `kernels`: no task that
  // measures kernels can run.
  LocalSearcher(const Clock& clock, ThreadPool* pool,
                backends::KernelMeasurer* kernels)
      : clock_(clock), pool_(pool), kernels_(kernels) {}

  absl::StatusOr<Found> Search(const SearchJob& job,
                               const SearchEvents& events) override;

 private:
  const Clock& clock_;
  ThreadPool* const pool_;
  backends::KernelMeasurer* const kernels_;
};

// Marks an error as the end of a process that worked on something, not the
// answer: a crash, too much memory or time. Work that fails so again and again
// is at fault itself.
absl::Status ProcessFailure(absl::Status status);
bool IsProcessFailure(const absl::Status& status);

}  // namespace hone::tuning

#endif  // HONE_TUNING_SEARCH_H_
