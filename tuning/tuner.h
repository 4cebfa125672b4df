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
#include "space/trial.h"
#include "storage/store.h"
#include "tuning/search.h"
#include "tuning/subject.h"
#include "tuning/task.h"

namespace hone::tuning {

// The specification of a tuning: one task of one subject, and how to search.
struct TuningSpec {
  std::string task = "pass_order";
  std::string target;     // empty: the task's default
  std::string optimizer;  // empty: the task's default
  TaskOptions options;
  space::Budget budget{.trials = 500};
  uint64_t seed = 0;
};

// The environment of the loop. Nothing is owned.
struct TunerContext {
  storage::Store* store = nullptr;
  const Clock* clock = nullptr;
  // For evaluation; null runs on the caller's thread.
  ThreadPool* pool = nullptr;
  // Null: no task that measures kernels can run.
  backends::KernelMeasurer* kernels = nullptr;
  // Searches elsewhere; null: in this process.
  Searcher* searcher = nullptr;
};

// Returns spec.optimizer, or its task's default; empty for an unknown task.
std::string OptimizerOf(const TuningSpec& spec);

// Checks a specification before anything is read or stored: known task, an
// optimizer that supports it, options, budget.
absl::Status ValidateSpec(const TuningSpec& spec);

// Returns the cache key of a subject under `spec`; optimizer, budget and seed
// are not part of it.
// Errors: NotFound for an unknown task; InvalidArgument for bad options; those
// of Task::ResolveTarget.
absl::StatusOr<storage::CacheKey> MakeCacheKey(
    absl::string_view module_fingerprint, const TuningSpec& spec,
    backends::KernelMeasurer* kernels);

// The same for a tuning that has to wait for a device of the kind that `spec`
// names: the target is that kind until then.
absl::StatusOr<storage::CacheKey> MakeWaitingKey(
    absl::string_view module_fingerprint, const TuningSpec& spec);

// A subject as the store has it.
struct StoredModule {
  std::string name;
  std::string digest;  // of the blob with its bytes, which ParseSubject reads
};

// Stores a pending tuning of `module` for `key`, which MakeCacheKey returned
// for `spec`, a valid specification. Returns the unfinished tuning of the same
// key, optimizer and seed if one is stored, so that a killed tuning goes on.
absl::StatusOr<storage::Tuning> CreateTuning(const TunerContext& context,
                                             const TuningSpec& spec,
                                             const storage::CacheKey& key,
                                             const StoredModule& module);
// Validates `spec`, stores `subject` as text and does the same, for callers
// that have nothing but the subject. Errors: also those of Task::CheckSubject.
absl::StatusOr<storage::Tuning> CreateTuning(const TunerContext& context,
                                             const TuningSpec& spec,
                                             const Subject& subject);

struct RunOptions {
  // Gets trials once they are stored; called by one thread at a time, not
  // always the same.
  ProgressCallback progress = nullptr;
  StopPredicate stop = nullptr;
};

// Runs a tuning to its end: searches on from the stored trials, storing further
// ones as they happen, and publishes the verified winner (search.h). Returns
// what this tuning found; Store::Publish keeps a better record that is already
// published. A stop leaves the tuning pending, to be resumed.
// Errors: Cancelled after a stop, Unavailable if nothing can be measured now,
// and those that IsProcessFailure tells: the tuning stays to be resumed;
// NotFound for an unknown tuning; otherwise the tuning is marked failed with
// the error.
absl::StatusOr<storage::Record> RunTuning(const TunerContext& context,
                                          absl::string_view tuning_id,
                                          const RunOptions& options = {});

// A lookup compared with the nearest record, component by component of the key.
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
