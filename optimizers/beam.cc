#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

#include "base/hash.h"
#include "optimizers/batch_optimizer.h"
#include "optimizers/moves.h"
#include "optimizers/registry.h"

namespace hone::optimizers {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// States, or prefixes of an assignment, kept per depth.
constexpr size_t kWidth = 8;
// The most candidates of a level whose costs are measured.
constexpr size_t kMeasuredPerLevel = 3 * kWidth;
// The ratio of costs by which an action that was not tried yet is expected to
// be worse than the legal action before it.
constexpr double kPerRank = 0.002;
// Levels without a new best after which a beam is given up.
constexpr int kPatience = 3;
// Perturbations in a row that gave nothing new after which the space counts as
// exhausted.
constexpr size_t kMaxFruitless = 32;

// Beam search over states, then iterated local search.
//
// A level extends the kWidth best new states of the last one by every legal
// action; each extension is a trial. States are told apart by key and none is
// extended twice. Where costs are measured, which takes longer than a step, a
// level is short: only actions that lead to new states, those first that are
// likely to pay by what they did to other states. A state that costs more than
// its parent stays in the beam
// when its rank allows, and a quarter of the beam is kept for states whose last
// action the others do not end with: so an action that pays only later is not
// crowded out. The first beam starts from the initial state and from where the
// candidates known before end. Once `kPatience` levels brought no new best, the
// best sequences are perturbed by random edits; what comes out as good as the
// best starts the next beam.
class BeamOverStates final : public BatchOptimizer {
 public:
  BeamOverStates(const space::SequentialProblem& problem,
                 const OptimizerOptions& options)
      : BatchOptimizer(problem, options),
        problem_(problem),
        editor_(problem),
        salt_(rng().Next()) {}

  absl::string_view name() const override { return "beam"; }

 private:
  struct Node {
    Path path;
    double cost = kInfinity;
    // Orders states of equal cost; random, so that they come from many parents.
    uint64_t tie = 0;
  };
  struct Elite {
    std::vector<int32_t> actions;
    double cost = kInfinity;
  };
  enum class Phase { kKnown, kInitial, kExpand, kPerturb };

  void Begin(absl::Span<const space::Trial> known) override {
    phase_ = Phase::kKnown;
    seen_.clear();
    ratios_.clear();
    proposed_.clear();
    found_.clear();
    elites_.clear();
    best_ = kInfinity;
    stale_ = 0;
    fruitless_ = 0;
    for (const space::Trial& trial : known) Learn(trial);
  }

  void Learn(const space::Trial& trial) override {
    const double cost = space::EffectiveCost(trial.measurement);
    Path path = Arrive(trial.candidate.choices, cost);
    if (path.state == nullptr) return;
    const Hash128 key = path.state->key();
    if (!seen_.insert(key).second || std::isinf(cost)) return;
    AddElite({path.actions, cost});
    found_.push_back({std::move(path), cost, key.low ^ salt_});
  }

  // Returns the path to the state that the next candidate of the batch reaches.
  Path Arrive(const std::vector<int32_t>& choices, double cost) {
    if (phase_ != Phase::kExpand) return Follow(problem_, choices);
    const Node& parent = frontier_[parents_[learned_++]];
    double& ratio =
        ratios_.try_emplace(choices.back(), kInfinity).first->second;
    ratio = std::min(ratio, cost / parent.cost);
    absl::StatusOr<space::StatePtr> next =
        problem_.Step(parent.path.state, choices.back());
    if (!next.ok()) return {};
    return {*std::move(next), choices};
  }

  void AddElite(Elite elite) {
    const auto better = [](const Elite& a, const Elite& b) {
      return std::make_pair(a.cost, a.actions.size()) <
             std::make_pair(b.cost, b.actions.size());
    };
    elites_.insert(
        std::upper_bound(elites_.begin(), elites_.end(), elite, better),
        std::move(elite));
    if (elites_.size() > kWidth) elites_.pop_back();
  }

  std::vector<space::Candidate> Plan() override {
    const double best = elites_.empty() ? kInfinity : elites_.front().cost;
    const bool improved = best < best_;
    switch (phase_) {
      case Phase::kKnown:
        phase_ = Phase::kInitial;
        if (!seen_.contains(problem_.InitialState()->key())) {
          best_ = best;
          return {space::Candidate{}};
        }
        break;
      case Phase::kInitial:
        break;
      case Phase::kExpand:
        stale_ = improved ? 0 : stale_ + 1;
        if (stale_ >= kPatience) found_.clear();
        break;
      case Phase::kPerturb:
        fruitless_ = found_.empty() ? fruitless_ + 1 : 0;
        // A plateau is worth one level; progress is worth a whole beam.
        stale_ = improved ? 0 : kPatience - 1;
        std::erase_if(found_,
                      [&](const Node& node) { return node.cost > best_; });
        break;
    }
    best_ = best;
    SelectFrontier();
    std::vector<space::Candidate> batch = Extensions();
    if (!batch.empty()) {
      phase_ = Phase::kExpand;
      return batch;
    }
    phase_ = Phase::kPerturb;
    return Perturbations();
  }

  // Moves the best of found_ into frontier_.
  void SelectFrontier() {
    std::sort(found_.begin(), found_.end(), [](const Node& a, const Node& b) {
      return std::make_pair(a.cost, a.tie) < std::make_pair(b.cost, b.tie);
    });
    const size_t by_cost = std::min(found_.size(), kWidth - kWidth / 4);
    const auto rest = found_.begin() + static_cast<std::ptrdiff_t>(by_cost);
    absl::flat_hash_set<int32_t> endings;
    for (auto it = found_.begin(); it != rest; ++it) {
      if (!it->path.actions.empty()) {
        endings.insert(it->path.actions.back());
      }
    }
    // Stable: both the first of each new ending and the others keep the order
    // of cost.
    std::stable_partition(rest, found_.end(), [&](const Node& node) {
      return !node.path.actions.empty() &&
             endings.insert(node.path.actions.back()).second;
    });
    if (found_.size() > kWidth) found_.resize(kWidth);
    frontier_ = std::move(found_);
    found_.clear();
  }

  struct Extension {
    size_t parent = 0;
    int32_t action = 0;
    double expected_cost = 0;
  };

  std::vector<space::Candidate> Extensions() {
    std::vector<Extension> extensions;
    for (size_t i = 0; i < frontier_.size() && !stopped(); ++i) {
      const Path& path = frontier_[i].path;
      if (path.actions.size() >= static_cast<size_t>(problem_.max_steps())) {
        continue;
      }
      double untried = 1;
      for (int32_t action : problem_.LegalActions(path.state)) {
        const auto ratio = ratios_.find(action);
        extensions.push_back(
            {i, action,
             frontier_[i].cost *
                 (ratio == ratios_.end() ? untried : ratio->second)});
        untried += kPerRank;
      }
    }
    if (!problem_.costs_are_free()) KeepPromising(extensions);
    std::vector<space::Candidate> batch;
    parents_.clear();
    learned_ = 0;
    for (const Extension& extension : extensions) {
      batch.push_back({frontier_[extension.parent].path.actions});
      batch.back().choices.push_back(extension.action);
      parents_.push_back(extension.parent);
    }
    return batch;
  }

  // Keeps kMeasuredPerLevel extensions that lead to new states, those of the
  // least expected cost, in the order of these.
  void KeepPromising(std::vector<Extension>& extensions) const {
    std::stable_sort(extensions.begin(), extensions.end(),
                     [](const Extension& a, const Extension& b) {
                       return a.expected_cost < b.expected_cost;
                     });
    absl::flat_hash_set<Hash128> reached;
    size_t kept = 0;
    for (const Extension& extension : extensions) {
      if (kept == kMeasuredPerLevel || stopped()) break;
      const auto next = problem_.Step(frontier_[extension.parent].path.state,
                                      extension.action);
      // A failure is for the trial to report.
      if (next.ok() && (seen_.contains((*next)->key()) ||
                        !reached.insert((*next)->key()).second)) {
        continue;
      }
      extensions[kept++] = extension;
    }
    extensions.resize(kept);
  }

  std::vector<space::Candidate> Perturbations() {
    std::vector<space::Candidate> batch;
    if (elites_.empty() || fruitless_ >= kMaxFruitless) return batch;
    // Draws are bounded, as a small space has few distinct sequences.
    const size_t draws = kWidth * kMaxFruitless;
    for (size_t draw = 0; draw < draws && batch.size() < kWidth && !stopped();
         ++draw) {
      // The smaller of two ranks: better sequences come more often.
      const size_t rank =
          std::min(rng().Below(elites_.size()), rng().Below(elites_.size()));
      space::Candidate candidate{editor_.Perturb(elites_[rank].actions, rng())};
      if (proposed_.insert(HashOf(candidate.choices)).second) {
        batch.push_back(std::move(candidate));
      }
    }
    return batch;
  }

  const space::SequentialProblem& problem_;
  Editor editor_;
  const uint64_t salt_;
  Phase phase_ = Phase::kKnown;
  // Keys of all states met.
  absl::flat_hash_set<Hash128> seen_;
  // For each action the least cost after it, relative to the one before.
  absl::flat_hash_map<int32_t, double> ratios_;
  // Perturbed sequences proposed before.
  absl::flat_hash_set<Hash128> proposed_;
  // The states being extended, and for each candidate of the batch its parent.
  std::vector<Node> frontier_;
  std::vector<size_t> parents_;
  size_t learned_ = 0;
  // New states that the batch led to.
  std::vector<Node> found_;
  // The best states ever, best first; at most kWidth.
  std::vector<Elite> elites_;
  // The best cost before the batch.
  double best_ = kInfinity;
  int stale_ = 0;
  size_t fruitless_ = 0;
};

// Beam search over the variables in order: a prefix is judged by the rank of
// completing it with the values of a base assignment, at first the best known,
// as far as the constraints allow them. The best assignment found is the base
// of the next sweep; when a sweep improves nothing, a perturbation of it is.
class BeamOverVariables final : public BatchOptimizer {
 public:
  BeamOverVariables(const space::AssignmentProblem& problem,
                    const OptimizerOptions& options)
      : BatchOptimizer(problem, options),
        problem_(problem),
        editor_(problem),
        salt_(rng().Next()) {}

  absl::string_view name() const override { return "beam"; }

 private:
  // A prefix, completed.
  struct Node {
    std::vector<int32_t> values;
    space::Rank rank = kWorst;
    uint64_t tie = 0;
  };

  void Begin(absl::Span<const space::Trial> known) override {
    ranks_.clear();
    best_ = {};
    base_chosen_ = extended_ = false;
    swept_ = false;
    variable_ = 0;
    prefixes_.clear();
    fruitless_ = 0;
    for (const space::Trial& trial : known) Learn(trial);
  }

  void Learn(const space::Trial& trial) override {
    const space::Rank rank = space::RankOf(trial.measurement);
    const std::vector<int32_t>& values = trial.candidate.choices;
    if (best_.values.empty() || rank < best_.rank) best_ = {values, rank, 0};
    ranks_[HashOf(values)] = rank;
  }

  std::vector<space::Candidate> Plan() override {
    if (problem_.variable_count() == 0) return {};
    while (fruitless_ < kMaxFruitless && !stopped()) {
      if (variable_ == problem_.variable_count() || prefixes_.empty()) {
        if (std::vector<space::Candidate> base = StartSweep(); !base.empty()) {
          return base;
        }
      }
      if (!extended_) {
        extended_ = true;
        std::vector<space::Candidate> batch = Extend();
        if (!batch.empty()) {
          fruitless_ = 0;
          return batch;
        }
      }
      Select();
    }
    return {};
  }

  // Chooses the next base. Returns it when it is still to be measured; the
  // sweep then begins at the next call.
  std::vector<space::Candidate> StartSweep() {
    if (!base_chosen_) {
      ++fruitless_;
      const bool improved = !swept_ || best_.rank < swept_rank_;
      swept_ = true;
      swept_rank_ = best_.rank;
      base_ = improved ? best_.values : Perturbed(best_.values);
      if (!ranks_.contains(HashOf(base_))) {
        base_chosen_ = true;
        fruitless_ = 0;
        return {space::Candidate{base_}};
      }
    }
    base_chosen_ = false;
    variable_ = 0;
    extended_ = false;
    prefixes_ = {MakeNode(base_)};
    return {};
  }

  Node MakeNode(std::vector<int32_t> values) const {
    const Hash128 hash = HashOf(values);
    auto it = ranks_.find(hash);
    return {std::move(values), it == ranks_.end() ? kWorst : it->second,
            hash.low ^ salt_};
  }

  // Edits once, and each further time with probability 1/2.
  std::vector<int32_t> Perturbed(std::vector<int32_t> values) {
    do {
      values = editor_.Edit(values, rng());
    } while (rng().Below(2) == 0);
    return values;
  }

  // Fills extensions_ with the prefixes one longer, completed; returns those
  // whose rank is not known yet.
  std::vector<space::Candidate> Extend() {
    std::vector<space::Candidate> unknown;
    extensions_.clear();
    const auto length = static_cast<size_t>(variable_) + 1;
    for (const Node& prefix : prefixes_) {
      for (int32_t value = 0; value < problem_.domain_size(variable_);
           ++value) {
        std::vector<int32_t> values = prefix.values;
        values[length - 1] = value;
        if (stopped()) return unknown;
        auto extended =
            editor_.Extend(values, static_cast<int32_t>(length), rng());
        if (!extended) continue;
        if (!ranks_.contains(HashOf(*extended))) unknown.push_back({*extended});
        extensions_.push_back(*std::move(extended));
      }
    }
    return unknown;
  }

  // Keeps the best extensions as the prefixes of the next variable.
  void Select() {
    prefixes_.clear();
    for (std::vector<int32_t>& values : extensions_) {
      prefixes_.push_back(MakeNode(std::move(values)));
    }
    extensions_.clear();
    std::sort(prefixes_.begin(), prefixes_.end(),
              [](const Node& a, const Node& b) {
                return std::make_tuple(a.rank.violation, a.rank.cost, a.tie) <
                       std::make_tuple(b.rank.violation, b.rank.cost, b.tie);
              });
    if (prefixes_.size() > kWidth) prefixes_.resize(kWidth);
    ++variable_;
    extended_ = false;
  }

  static constexpr space::Rank kWorst = {kInfinity, kInfinity};

  const space::AssignmentProblem& problem_;
  AssignmentEditor editor_;
  const uint64_t salt_;
  // Every measured assignment.
  absl::flat_hash_map<Hash128, space::Rank> ranks_;
  Node best_;
  std::vector<int32_t> base_;
  bool base_chosen_ = false;
  // The best rank when the last sweep began, once one did.
  bool swept_ = false;
  space::Rank swept_rank_;
  // The sweep: prefixes up to variable_ excluded, their extensions by it once
  // extended_.
  int32_t variable_ = 0;
  bool extended_ = false;
  std::vector<Node> prefixes_;
  std::vector<std::vector<int32_t>> extensions_;
  // Sweeps in a row without anything new to measure.
  size_t fruitless_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> MakeBeam(
    const space::Problem& problem, const OptimizerOptions& options) {
  if (const auto* sequential = problem.sequential()) {
    return std::make_unique<BeamOverStates>(*sequential, options);
  }
  return std::make_unique<BeamOverVariables>(*problem.assignment(), options);
}

}  // namespace hone::optimizers
