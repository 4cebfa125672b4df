#ifndef HONE_STORAGE_RECORD_H_
#define HONE_STORAGE_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

#include "space/trial.h"

namespace hone::storage {

// The identity of a problem: a result is valid for equal keys only. Every
// component is stored readably beside the digest, so that a miss can be
// explained.
struct CacheKey {
  std::string module_fingerprint;  // hlo::Fingerprint
  std::string target;              // a compiler ("xla-cpu") or a device
  std::string task;                // "pass_order"
  std::string task_options;        // "score=ops;numerics=reassociate"
  std::string space_version;       // of the task's search space

  // SHA-256 (hexadecimal) over the components, length-prefixed.
  std::string Digest() const;
  friend bool operator==(const CacheKey&, const CacheKey&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const CacheKey& key) {
    return H::combine(std::move(h), key.module_fingerprint, key.target,
                      key.task, key.task_options, key.space_version);
  }
};

// The check of a winner against the input, made before it was published.
struct Verification {
  std::string method;  // "evaluator: 2 random, 1 adversarial inputs"
  double max_rel_error = 0;
  // The machines of the workers that measured the winner; they have neither
  // control characters nor commas.
  std::vector<std::string> measured_by = {};
  friend bool operator==(const Verification&, const Verification&) = default;
};

// The published best decision for a key, with its provenance.
struct Record {
  CacheKey key;
  std::string module_name;
  std::string unit;  // of the costs
  double default_cost = 0;
  double best_cost = 0;
  // JSON, in the task's own form: {"passes": ["dce", …]}.
  std::string decision;
  // Digest of the blob with the rewritten module (HLO text); empty if the task
  // does not rewrite the module.
  std::string tuned_module_digest;
  std::string optimizer;
  uint64_t seed = 0;
  int64_t trials = 0;
  double seconds = 0;
  Verification verification;
  std::string tuning_id;
  std::string producer;  // version of Hone, and host
  absl::Time created;
};

enum class TuningState { kPending, kRunning, kSucceeded, kFailed, kCancelled };

// Stable names: "pending", "running", "succeeded", "failed", "cancelled".
absl::string_view TuningStateName(TuningState state);
std::optional<TuningState> ParseTuningState(absl::string_view name);
// Returns true if the state is final.
bool IsTerminal(TuningState state);

// One run of the loop for one task of one module.
struct Tuning {
  std::string id;  // UUID
  CacheKey key;
  std::string module_name;
  std::string module_digest;  // blob with the input module
  std::string optimizer;
  uint64_t seed = 0;
  space::Budget budget;
  TuningState state = TuningState::kPending;
  std::string error;  // the reason of a failure
  int64_t trials = 0;
  std::optional<double> default_cost;
  std::optional<double> best_cost;
  absl::Time created;
  absl::Time updated;
};

// A module that nothing is done with until it is released.
struct QuarantinedModule {
  std::string digest;
  std::string reason;
  absl::Time since;
};

}  // namespace hone::storage

#endif  // HONE_STORAGE_RECORD_H_
