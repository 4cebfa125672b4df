#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "optimizers/batch_optimizer.h"
#include "optimizers/registry.h"
#include "space/assignment_problem.h"
#include "space/complete.h"

namespace hone::optimizers {
namespace {

// The individuals of a generation: those that survive, the best among them, and
// those that are new.
struct Sizes {
  size_t population;
  size_t elite;
  size_t mutants;
  size_t children;
};
// Moves are small steps: many small generations get further than few large
// ones.
constexpr Sizes kByKeys = {64, 12, 8, 44};
constexpr Sizes kByMoves = {16, 4, 4, 4};
// The probability that a child takes a key from its elite parent.
constexpr double kEliteBias = 0.7;
// The mean number of runs of variables that CrossRuns takes from one parent
// each.
constexpr double kRuns = 8;
// Generations in a row with nothing new after which the space counts as
// exhausted.
constexpr int kMaxFruitless = 25;
// Times that keys are decoded, the last ones close to those of the best.
constexpr int kDecodes = 16;

// One number in [0, 1) for each variable.
using Keys = std::vector<float>;

// Biased random-key genetic algorithm: a generation is the elite of the last
// one, mutants with random keys, and children of an elite and another parent,
// key by key. Keys are decoded in the order of the variables: each takes the
// value nearest to its key times the number of its values that the constraints
// leave, so that every individual satisfies them. Keys that lead to conflicts
// only are moved towards those of the best individual until they do not.
// Source: Gonçalves and Resende, "Biased random-key genetic algorithms for
// combinatorial optimization", 2011.
//
// Differs from the paper: the best individuals of both generations survive, not
// the elite and what is new. And where the problem proposes moves (LocalState),
// which random keys for thousands of variables cannot rival, a mutant is the
// best individual after one move. A child takes runs of variables from each
// parent, as crossing key by key tears apart what belongs together, and then
// makes a move of its elite parent. Runs begin and end at the same places in
// all groups of variables.
//
// A problem that has a construction of its own (AssignmentProblem::Construct)
// decodes the keys itself.
class Genetic final : public BatchOptimizer {
 public:
  Genetic(const space::AssignmentProblem& problem,
          const OptimizerOptions& options)
      : BatchOptimizer(problem, options),
        problem_(problem),
        domains_(problem.MakeDomains()),
        order_(static_cast<size_t>(problem.variable_count())) {
    std::iota(order_.begin(), order_.end(), 0);
  }

  absl::string_view name() const override { return "genetic"; }

 private:
  struct Individual {
    Keys keys;
    std::vector<int32_t> values;
    space::Rank rank;
    // Proposes moves from the values; made when an elite is first asked for
    // one.
    std::unique_ptr<space::LocalState> state = nullptr;
  };

  void Begin(absl::Span<const space::Trial> known) override {
    population_.clear();
    offspring_.clear();
    first_ = true;
    has_moves_ = false;
    for (const space::Trial& trial : known) {
      population_.push_back({KeysOf(trial.candidate.choices),
                             trial.candidate.choices,
                             space::RankOf(trial.measurement)});
    }
    Select();
    if (problem_.constructs()) return;
    Individual& best = population_[0];
    best.state = problem_.MakeLocal({best.values});
    has_moves_ = best.state != nullptr;
  }

  void Learn(const space::Trial& trial) override {
    Individual& learned = offspring_[learned_++];
    learned.rank = space::RankOf(trial.measurement);
  }

  std::vector<space::Candidate> Plan() override {
    if (order_.empty()) return {};
    // Of equal ones the new come first, so that a plateau is crossed.
    std::move(population_.begin(), population_.end(),
              std::back_inserter(offspring_));
    population_ = std::exchange(offspring_, {});
    Select();
    for (int round = 0; round < kMaxFruitless && !stopped(); ++round) {
      if (has_moves_) {
        BreedByMoves(/*adds_random=*/round > 0);
      } else {
        BreedByKeys();
      }
      if (offspring_.empty()) continue;
      std::vector<space::Candidate> batch;
      for (const Individual& child : offspring_) {
        batch.push_back({child.values});
      }
      return batch;
    }
    return {};
  }

  const Sizes& sizes() const { return has_moves_ ? kByMoves : kByKeys; }

  // The number of elites: fewer than all, so that there are two parents at
  // least.
  size_t elite() const {
    return std::min(sizes().elite, population_.size() / 2);
  }

  // Sorts the population, best first, and lets the rest die.
  void Select() {
    std::stable_sort(population_.begin(), population_.end(),
                     [](const Individual& a, const Individual& b) {
                       return a.rank < b.rank;
                     });
    while (population_.size() > sizes().population) population_.pop_back();
    for (size_t i = sizes().elite; i < population_.size(); ++i) {
      population_[i].state = nullptr;
    }
  }

  // Fills offspring_ with new individuals that are unlike the population.
  void BreedByKeys() {
    offspring_.clear();
    learned_ = 0;
    const size_t mutants =
        std::exchange(first_, false)
            ? sizes().population -
                  std::min(population_.size(), sizes().population)
            : sizes().mutants;
    for (size_t i = 0; i < mutants && !stopped(); ++i) Add(RandomKeys());
    if (elite() == 0) return;
    for (size_t i = 0; i < sizes().children && !stopped(); ++i) {
      Add(Cross(population_[rng().Below(elite())].keys,
                population_[elite() + rng().Below(population_.size() - elite())]
                    .keys));
    }
  }

  // The same by moves. `adds_random`: with mutants of random keys, as
  // everything near may be known already.
  void BreedByMoves(bool adds_random) {
    offspring_.clear();
    learned_ = 0;
    for (size_t i = 0; i < sizes().mutants && !stopped(); ++i) {
      if (adds_random) Add(RandomKeys());
      Keys keys = population_[0].keys;
      Move(population_[0], keys);
      Add(std::move(keys));
    }
    if (elite() == 0) return;
    for (size_t i = 0; i < sizes().children && !stopped(); ++i) {
      Individual& parent = population_[rng().Below(elite())];
      Keys keys = CrossRuns(parent.keys,
                            population_[rng().Below(population_.size())].keys);
      Move(parent, keys);
      Add(std::move(keys));
    }
  }

  // Makes a move that is proposed from `parent` in `keys`.
  void Move(Individual& parent, Keys& keys) {
    if (parent.state == nullptr) {
      parent.state = problem_.MakeLocal({parent.values});
    }
    parent.state->Propose(rng(), changes_);
    for (const space::Change& change : changes_) {
      keys[static_cast<size_t>(change.variable)] =
          KeyOf(change.variable, change.value);
    }
  }

  void Add(Keys keys) {
    Individual child = {std::move(keys), {}, {}};
    auto values = Decode(child.keys);
    const Keys& best = population_[0].keys;
    for (int i = 1; i < kDecodes && !values && !stopped(); ++i) {
      for (size_t v = 0; v < best.size(); ++v) {
        if (rng().Below(2) == 0) child.keys[v] = best[v];
      }
      values = Decode(child.keys);
    }
    if (!values) return;
    child.values = *std::move(values);
    const auto equals = [&](const Individual& other) {
      return other.values == child.values;
    };
    if (std::any_of(population_.begin(), population_.end(), equals) ||
        std::any_of(offspring_.begin(), offspring_.end(), equals)) {
      return;
    }
    offspring_.push_back(std::move(child));
  }

  Keys RandomKeys() {
    Keys keys(order_.size());
    for (float& key : keys) key = static_cast<float>(rng().Uniform());
    return keys;
  }

  Keys Cross(const Keys& elite, const Keys& other) {
    Keys keys(elite.size());
    for (size_t v = 0; v < keys.size(); ++v) {
      keys[v] = rng().Uniform() < kEliteBias ? elite[v] : other[v];
    }
    return keys;
  }

  // The same by runs of variables, the same ones in each group: groups of a
  // problem often have one variable for each node.
  Keys CrossRuns(const Keys& elite, const Keys& other) {
    int32_t count = 0;
    for (const space::VariableGroup& group : problem_.groups()) {
      count = std::max(count, group.count);
    }
    std::vector<bool> from_elite(static_cast<size_t>(count));
    for (size_t i = 0; i < from_elite.size(); ++i) {
      from_elite[i] = i == 0 || rng().Uniform() * count < kRuns
                          ? rng().Uniform() < kEliteBias
                          : from_elite[i - 1];
    }
    Keys keys = other;
    size_t v = 0;
    for (const space::VariableGroup& group : problem_.groups()) {
      for (size_t i = 0; i < static_cast<size_t>(group.count); ++i, ++v) {
        if (from_elite[i]) keys[v] = elite[v];
      }
    }
    return keys;
  }

  // The key that stands for the middle of a value.
  float KeyOf(int32_t variable, int32_t value) const {
    return (static_cast<float>(value) + 0.5F) /
           static_cast<float>(problem_.domain_size(variable));
  }
  Keys KeysOf(absl::Span<const int32_t> values) const {
    Keys keys(values.size());
    for (size_t v = 0; v < keys.size(); ++v) {
      keys[v] = KeyOf(static_cast<int32_t>(v), values[v]);
    }
    return keys;
  }

  std::optional<std::vector<int32_t>> Decode(const Keys& keys) {
    if (problem_.constructs()) return problem_.Construct(keys);
    return space::Complete(
        *domains_, order_,
        [&](int32_t variable, uint64_t left) {
          const float wanted =
              keys[static_cast<size_t>(variable)] *
              static_cast<float>(problem_.domain_size(variable));
          return Nearest(left, static_cast<int32_t>(wanted));
        },
        [this] { return stopped(); });
  }

  // The member of a set nearest to `value`, the lower of two.
  static int32_t Nearest(uint64_t set, int32_t value) {
    const uint64_t below = value >= space::kMaxValues - 1
                               ? set
                               : set & ((uint64_t{2} << value) - 1);
    const uint64_t above = set & ~below;
    if (below == 0) return std::countr_zero(above);
    const int32_t lower = space::kMaxValues - 1 - std::countl_zero(below);
    if (above == 0) return lower;
    const int32_t upper = std::countr_zero(above);
    return upper - value < value - lower ? upper : lower;
  }

  const space::AssignmentProblem& problem_;
  const std::unique_ptr<space::Domains> domains_;
  std::vector<int32_t> order_;
  // Best first; measured.
  std::vector<Individual> population_;
  // The batch, of which so many are measured.
  std::vector<Individual> offspring_;
  size_t learned_ = 0;
  bool first_ = true;
  bool has_moves_ = false;
  std::vector<space::Change> changes_;  // room to work
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> MakeGenetic(
    const space::Problem& problem, const OptimizerOptions& options) {
  return std::make_unique<Genetic>(*problem.assignment(), options);
}

}  // namespace hone::optimizers
