#ifndef HONE_TUNING_TUNER_H_
#define HONE_TUNING_TUNER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

#include "base/clock.h"
#include "base/thread_pool.h"
#include "hlo/ir/module.h"
#include "space/trial.h"
#include "storage/store.h"
#include "tuning/task.h"

namespace hone::tuning {

// What a user asks for, for one task.
struct TuneRequest {
  std::string task = "pass_order";
  std::string target;  // empty: the task's default
  std::string optimizer = "beam";
  TaskOptions options;
  space::Budget budget{.trials = 500};
  uint64_t seed = 0;
};

// What the loop tells while it runs.
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

using ProgressCallback = std::function<void(const Progress&)>;
// Asked between trials; true ends the search at once (cancel, drain).
using StopPredicate = std::function<bool()>;

// What the loop needs of the world. Nothing is owned.
struct TunerContext {
  storage::Store* store = nullptr;
  const Clock* clock = nullptr;
  // For evaluation; null runs on the caller's thread.
  ThreadPool* pool = nullptr;
  // Null: no task that measures kernels can run.
  backends::KernelMeasurer* kernels = nullptr;
};

// The cache key of a module under `request`.
// Errors: NotFound for an unknown task; InvalidArgument for bad options; those
// of Task::ResolveTarget.
absl::StatusOr<storage::CacheKey> MakeCacheKey(
    absl::string_view module_fingerprint, const TuneRequest& request,
    backends::KernelMeasurer* kernels);

// Checks a request before anything is stored: known task, optimizer that
// supports it, options, budget.
absl::Status ValidateRequest(const TuneRequest& request);

// Stores the module and creates the tuning (state pending); or returns the
// unfinished one with the same key, optimizer and seed, so that a killed tuning
// goes on. Does not run it.
absl::StatusOr<storage::Tuning> CreateTuning(const TunerContext& context,
                                             const hlo::Module& module,
                                             const TuneRequest& request);

// Runs a tuning to its end in the caller's thread: replays the trials that are
// stored, searches on, storing trials as they happen, applies the winner,
// verifies it against the input, and publishes the winner, or the default where
// the winner could not be verified, or the module as it is where that could not
// either. The result is what this tuning found; the cache keeps an older record
// that is better. A stop leaves the tuning pending in the store, to be resumed.
// Errors: Cancelled after a stop, Unavailable where there is nobody to measure
// now: the tuning stays to be resumed; NotFound for an unknown tuning;
// otherwise the tuning is marked failed with the error.
absl::StatusOr<storage::Record> RunTuning(const TunerContext& context,
                                          absl::string_view tuning_id,
                                          const ProgressCallback& progress,
                                          const StopPredicate& stop);

// The module that a record's decision makes of its input, from the store.
absl::StatusOr<hlo::Module> TunedModule(const TunerContext& context,
                                        const storage::Record& record);

// One line per key component: what was asked, what the nearest record has.
struct LookupExplanation {
  bool hit = false;
  struct Component {
    std::string name;
    std::string asked;
    std::string found;
    bool matches = false;
  };
  std::vector<Component> components;
  std::string summary;
};
absl::StatusOr<LookupExplanation> ExplainLookup(storage::Store& store,
                                                const storage::CacheKey& key);

}  // namespace hone::tuning

#endif  // HONE_TUNING_TUNER_H_
