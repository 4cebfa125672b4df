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
#include "hlo/passes/pipeline.h"
#include "hlo/rewrite/numerics.h"
#include "space/sequential_problem.h"

namespace hone::tuning {

// The score of a module; lower is better. Thread-safe.
using ModuleScore = std::function<double(const hlo::Module&)>;

struct PassOrderOptions {
  std::string unit;
  ModuleScore score;
  // The mandatory lowering of the target; published modules are lowered.
  const hlo::Pipeline* lowering = nullptr;
  // Action i runs passes[i].
  std::vector<std::string> passes;
  // The legal actions, ascending; empty for all.
  std::vector<int32_t> legal;
  // How far passes may change the results of the module.
  hlo::Numerics numerics = hlo::Numerics::kReassociate;
  // The compiler's default.
  space::Candidate default_candidate;
  int32_t max_steps = 128;
  // Limit on the estimated bytes of cached states. A state that was evicted is
  // rebuilt by running its pass.
  int64_t max_cached_bytes = int64_t{2} << 30;
};

// Runs the pass of that name on `module`, under `numerics`. Returns true if it
// changed anything.
// Errors: NotFound for an unknown pass; Internal if the pass fails. `module` is
// then in an unspecified state.
absl::StatusOr<bool> RunPass(absl::string_view pass, hlo::Numerics numerics,
                             hlo::Module& module);

// Chooses which passes to run on a module, and in which order. A state is a
// module; an action runs one pass.
//
// States are identified by fingerprint. The result of each step is cached, so
// measuring a sequence costs no more than its last steps.
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
  // Returns `state` itself if the pass changes nothing.
  // Errors: also Internal if the pass fails.
  absl::StatusOr<space::StatePtr> Step(const space::StatePtr& state,
                                       int32_t action) const override;
  bool costs_are_free() const override { return true; }
  double Cost(const space::StatePtr& state) const override;

  absl::string_view policy_name() const override { return "pass_order"; }
  space::ObservationSpec observation_spec() const override;
  space::Observation Observe(const space::StatePtr& state) const override;
  std::vector<int32_t> CountNodeKinds(
      const space::StatePtr& state) const override;
  // The number of passes run so far.
  int64_t evaluations() const override;
  void LimitMemory(int64_t bytes) override;

  hlo::Numerics numerics() const { return options_.numerics; }
  const hlo::Pipeline& lowering() const { return *options_.lowering; }

  // Returns the module of a state of this problem.
  static const hlo::Module& ModuleOf(const space::State& state);

 private:
  class ModuleState;
  using ModuleStatePtr = std::shared_ptr<const ModuleState>;

  struct CacheEntry {
    ModuleStatePtr state;
    std::list<Hash128>::iterator age;
  };

  // Returns the cached state of that key, now the youngest, or null.
  ModuleStatePtr Recall(const Hash128& key) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Caches and returns `state`, or returns the equal one that is cached.
  ModuleStatePtr Remember(ModuleStatePtr state) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Evicts states, the oldest first, and steps until the rest fits.
  void Evict() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  ModuleStatePtr MakeState(hlo::Module module) const;

  const PassOrderOptions options_;
  space::StatePtr initial_;

  mutable absl::Mutex mu_;
  int64_t max_cached_bytes_ ABSL_GUARDED_BY(mu_);
  // (state, action) → next state. Small, so kept longer than states.
  mutable absl::flat_hash_map<std::pair<Hash128, int32_t>, Hash128> steps_
      ABSL_GUARDED_BY(mu_);
  // States by key, and their keys, the most recently used first.
  mutable absl::flat_hash_map<Hash128, CacheEntry> cache_ ABSL_GUARDED_BY(mu_);
  mutable std::list<Hash128> ages_ ABSL_GUARDED_BY(mu_);
  mutable int64_t cached_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  mutable int64_t steps_taken_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_PASS_ORDER_PROBLEM_H_
