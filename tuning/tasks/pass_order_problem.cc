#include "tuning/tasks/pass_order_problem.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

#include "base/status_macros.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/passes/pipeline.h"
#include "tuning/tasks/module_observation.h"

namespace hone::tuning {
namespace {

// The size of an instruction with its operands, users and share of attributes.
// An upper bound for most states, which share computations with others.
constexpr int64_t kBytesPerInstruction = 400;
// The size of an entry of the table of steps, at its usual load.
constexpr size_t kBytesPerStep = 64;

PassOrderOptions WithLegalActions(PassOrderOptions options) {
  if (options.legal.empty()) {
    options.legal.resize(options.passes.size());
    std::iota(options.legal.begin(), options.legal.end(), 0);
  }
  return options;
}

}  // namespace

absl::StatusOr<bool> RunPass(absl::string_view pass, hlo::Numerics numerics,
                             hlo::Module& module) {
  hlo::PipelineOptions options;
  options.rewrite.numerics = numerics;
  const std::string name(pass);
  HONE_ASSIGN_OR_RETURN(
      const hlo::PipelineReport report,
      hlo::RunPasses(module, absl::MakeConstSpan(&name, 1), options));
  return report.changed;
}

class PassOrderProblem::ModuleState final : public space::State {
 public:
  ModuleState(hlo::Module module, const Hash128& key, double cost)
      : module_(std::move(module)),
        key_(key),
        cost_(cost),
        bytes_(module_.instruction_count() * kBytesPerInstruction) {}

  Hash128 key() const override { return key_; }
  const hlo::Module& module() const { return module_; }
  double cost() const { return cost_; }
  int64_t bytes() const { return bytes_; }

 private:
  const hlo::Module module_;
  const Hash128 key_;
  const double cost_;
  const int64_t bytes_;
};

PassOrderProblem::PassOrderProblem(const hlo::Module& module,
                                   PassOrderOptions options)
    : options_(WithLegalActions(std::move(options))),
      initial_(MakeState(module)),
      max_cached_bytes_(options_.max_cached_bytes) {}

const hlo::Module& PassOrderProblem::ModuleOf(const space::State& state) {
  return static_cast<const ModuleState&>(state).module();
}

double PassOrderProblem::Cost(const space::StatePtr& state) const {
  return static_cast<const ModuleState&>(*state).cost();
}

PassOrderProblem::ModuleStatePtr PassOrderProblem::MakeState(
    hlo::Module module) const {
  const Hash128 key = hlo::FastFingerprint(module);
  const double cost = options_.score(module);
  return std::make_shared<const ModuleState>(std::move(module), key, cost);
}

PassOrderProblem::ModuleStatePtr PassOrderProblem::Recall(
    const Hash128& key) const {
  auto it = cache_.find(key);
  if (it == cache_.end()) return nullptr;
  ages_.splice(ages_.begin(), ages_, it->second.age);
  return it->second.state;
}

PassOrderProblem::ModuleStatePtr PassOrderProblem::Remember(
    ModuleStatePtr state) const {
  if (ModuleStatePtr known = Recall(state->key())) return known;
  ages_.push_front(state->key());
  cache_[state->key()] = {state, ages_.begin()};
  cached_bytes_ += state->bytes();
  Evict();
  return state;
}

void PassOrderProblem::Evict() const {
  // The table has no ages; a lost entry is found again by running its pass.
  if (static_cast<int64_t>(steps_.size() * kBytesPerStep) >
      max_cached_bytes_ / 8) {
    steps_.clear();
  }
  while (cached_bytes_ > max_cached_bytes_ && ages_.size() > 1) {
    auto oldest = cache_.find(ages_.back());
    cached_bytes_ -= oldest->second.state->bytes();
    cache_.erase(oldest);
    ages_.pop_back();
  }
}

void PassOrderProblem::LimitMemory(int64_t bytes) {
  absl::MutexLock lock(&mu_);
  max_cached_bytes_ = bytes;
  Evict();
}

absl::StatusOr<space::StatePtr> PassOrderProblem::Step(
    const space::StatePtr& state, int32_t action) const {
  if (action < 0 || action >= action_count()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "action ", action, ", expected 0 to ", action_count() - 1));
  }
  if (!std::binary_search(options_.legal.begin(), options_.legal.end(),
                          action)) {
    return absl::InvalidArgumentError(
        absl::StrCat("action ", action, " (", ActionName(action),
                     ") is not legal, expected a pass of the set"));
  }
  const std::pair<Hash128, int32_t> step(state->key(), action);
  {
    absl::MutexLock lock(&mu_);
    if (auto it = steps_.find(step); it != steps_.end()) {
      if (it->second == state->key()) return state;
      if (ModuleStatePtr known = Recall(it->second)) return known;
    }
  }

  hlo::Module module = ModuleOf(*state);
  HONE_ASSIGN_OR_RETURN(const bool changed,
                        RunPass(options_.passes[static_cast<size_t>(action)],
                                options_.numerics, module));
  ModuleStatePtr next;
  if (changed) next = MakeState(std::move(module));
  const bool is_same = next == nullptr || next->key() == state->key();

  absl::MutexLock lock(&mu_);
  ++steps_taken_;
  steps_[step] = is_same ? state->key() : next->key();
  if (is_same) return state;
  return Remember(std::move(next));
}

std::vector<int32_t> PassOrderProblem::LegalActions(
    const space::StatePtr&) const {
  return options_.legal;
}

space::ObservationSpec PassOrderProblem::observation_spec() const {
  return ModuleObservationSpec();
}

space::Observation PassOrderProblem::Observe(
    const space::StatePtr& state) const {
  return ObserveModule(ModuleOf(*state));
}

std::vector<int32_t> PassOrderProblem::CountNodeKinds(
    const space::StatePtr& state) const {
  return CountOpcodes(ModuleOf(*state));
}

int64_t PassOrderProblem::evaluations() const {
  absl::MutexLock lock(&mu_);
  return steps_taken_;
}

}  // namespace hone::tuning
