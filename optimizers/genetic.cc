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

constexpr size_t kPopulation = 64;
constexpr size_t kElite = 12;
constexpr size_t kMutants = 8;
// The probability that a child takes a key from its elite parent.
constexpr double kEliteBias = 0.7;
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
  };

  void Begin(absl::Span<const space::Trial> known) override {
    population_.clear();
    offspring_.clear();
    first_ = true;
    for (const space::Trial& trial : known) {
      population_.push_back({KeysOf(trial.candidate.choices),
                             trial.candidate.choices,
                             space::RankOf(trial.measurement)});
    }
    Select();
  }

  void Learn(const space::Trial& trial) override {
    Individual& learned = offspring_[learned_++];
    learned.rank = space::RankOf(trial.measurement);
  }

  std::vector<space::Candidate> Plan() override {
    if (order_.empty()) return {};
    std::move(offspring_.begin(), offspring_.end(),
              std::back_inserter(population_));
    Select();
    for (int round = 0; round < kMaxFruitless && !stopped(); ++round) {
      Breed();
      if (offspring_.empty()) continue;
      std::vector<space::Candidate> batch;
      for (const Individual& child : offspring_) {
        batch.push_back({child.values});
      }
      return batch;
    }
    return {};
  }

  // Sorts the population, best first, and lets the rest die.
  void Select() {
    std::stable_sort(population_.begin(), population_.end(),
                     [](const Individual& a, const Individual& b) {
                       return a.rank < b.rank;
                     });
    if (population_.size() > kPopulation) population_.resize(kPopulation);
  }

  // Fills offspring_ with new individuals that are unlike the population.
  void Breed() {
    offspring_.clear();
    learned_ = 0;
    const size_t mutants =
        std::exchange(first_, false)
            ? kPopulation - std::min(population_.size(), kPopulation)
            : kMutants;
    for (size_t i = 0; i < mutants && !stopped(); ++i) Add(RandomKeys());
    // Two parents at least, and an elite of fewer than all.
    const size_t elite = std::min(kElite, population_.size() / 2);
    if (elite == 0) return;
    for (size_t i = 0; i + kElite + kMutants < kPopulation && !stopped(); ++i) {
      Add(Cross(
          population_[rng().Below(elite)].keys,
          population_[elite + rng().Below(population_.size() - elite)].keys));
    }
  }

  void Add(Keys keys) {
    Individual child{std::move(keys), {}, {}};
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

  // The keys that stand for the middle of each value.
  Keys KeysOf(absl::Span<const int32_t> values) const {
    Keys keys(values.size());
    for (size_t v = 0; v < keys.size(); ++v) {
      keys[v] =
          (static_cast<float>(values[v]) + 0.5F) /
          static_cast<float>(problem_.domain_size(static_cast<int32_t>(v)));
    }
    return keys;
  }

  std::optional<std::vector<int32_t>> Decode(const Keys& keys) {
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
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> MakeGenetic(
    const space::Problem& problem, const OptimizerOptions& options) {
  return std::make_unique<Genetic>(*problem.assignment(), options);
}

}  // namespace hone::optimizers
