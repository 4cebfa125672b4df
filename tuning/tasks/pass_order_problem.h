#ifndef HONE_TUNING_TASKS_PASS_ORDER_PROBLEM_H_
#define HONE_TUNING_TASKS_PASS_ORDER_PROBLEM_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

#include "base/hash.h"
#include "hlo/ir/module.h"
#include "space/problem.h"

namespace hone::tuning {

// The score of a module; lower is better. Thread-safe.
using ModuleScore = std::function<double(const hlo::Module&)>;

struct PassOrderOptions {
  std::string unit;
  ModuleScore score;
  // Action i runs passes[i].
  std::vector<std::string> passes;
  // The legal actions, ascending; empty for all.
  std::vector<int32_t> legal;
  // What the compiler does by itself.
  space::Candidate default_candidate;
  int32_t max_steps = 128;
  // Estimated bytes of what is kept of states seen before. A state that was
  // dropped is made again by running its pass.
  int64_t max_cached_bytes = int64_t{2} << 30;
};

// In which order to run which passes on a module. A state is a module; an
// action runs one pass.
//
// States are told apart by fingerprint. What a pass makes of a state is
// remembered, so that a sequence is measured at the cost of its last steps.
class PassOrderProblem final : public space::SequentialProblem {
 public:
  PassOrderProblem(const hlo::Module& module, PassOrderOptions options);

  absl::string_view unit() const override { return options_.unit; }
  space::Candidate DefaultCandidate() const override {
    return options_.default_candidate;
  }
  space::StatePtr InitialState() const override { return initial_; }
  int32_t action_count() const override {
    return static_cast<int32_t>(options_.passes.size());
  }
  std::string ActionName(int32_t action) const override {
    return options_.passes[static_cast<size_t>(action)];
  }
  int32_t max_steps() const override { return options_.max_steps; }

  // The same in every state: which passes change the module is known only by
  // running them, and that has to count against the budget.
  std::vector<int32_t> LegalActions(
      const space::StatePtr& state) const override;
  bool legal_everywhere() const override { return true; }
  // A pass that changes nothing leads to the state itself.
  absl::StatusOr<space::StatePtr> Step(const space::StatePtr& state,
                                       int32_t action) const override;
  double Cost(const space::StatePtr& state) const override;

  absl::string_view policy_name() const override { return "pass_order"; }
  space::ObservationSpec observation_spec() const override;
  space::Observation Observe(const space::StatePtr& state) const override;
  std::vector<int32_t> CountNodeKinds(
      const space::StatePtr& state) const override;
  // Passes run so far.
  int64_t steps_taken() const override;
  void LimitMemory(int64_t bytes) override;

  // The module of a state of this problem.
  static const hlo::Module& ModuleOf(const space::State& state);

 private:
  class ModuleState;
  using ModuleStatePtr = std::shared_ptr<const ModuleState>;

  struct CacheEntry {
    ModuleStatePtr state;
    std::list<Hash128>::iterator age;
  };

  // The state that `key` is remembered as, or null; makes it the youngest.
  ModuleStatePtr Recall(const Hash128& key) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Remembers `state` and returns it, or the equal one remembered before.
  ModuleStatePtr Remember(ModuleStatePtr state) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Forgets states, the oldest first, and steps until the rest fits.
  void Evict() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  ModuleStatePtr MakeState(hlo::Module module) const;

  const PassOrderOptions options_;
  space::StatePtr initial_;

  mutable absl::Mutex mu_;
  int64_t max_cached_bytes_ ABSL_GUARDED_BY(mu_);
  // (state, action) → where it leads. Small, so kept for longer than states.
  mutable absl::flat_hash_map<std::pair<Hash128, int32_t>, Hash128> steps_
      ABSL_GUARDED_BY(mu_);
  // States by key, and their keys from the one used last to the first.
  mutable absl::flat_hash_map<Hash128, CacheEntry> cache_ ABSL_GUARDED_BY(mu_);
  mutable std::list<Hash128> ages_ ABSL_GUARDED_BY(mu_);
  mutable int64_t cached_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  mutable int64_t steps_taken_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_PASS_ORDER_PROBLEM_H_
