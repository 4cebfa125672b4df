#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"

#include "base/rng.h"
#include "base/status_macros.h"
#include "learning/games/rollout.h"
#include "optimizers/batch_optimizer.h"
#include "optimizers/moves.h"
#include "optimizers/policies/assignment_sampling.h"
#include "optimizers/policies/factories.h"
#include "optimizers/policies/weights.h"

namespace hone::optimizers::policies {
namespace {

using learning::Game;
using learning::GameState;
using learning::MoveScores;
using learning::Scorer;
using learning::Trajectory;
using learning::View;

// Extensions tried per level and state kept, by the first beam; each later one
// tries one more, at most so many.
constexpr size_t kBranching = 2;
constexpr size_t kMaxBranching = 16;
// Moves that a step of the descent tries at most.
constexpr size_t kDescentTries = 16;
// Levels in a row without a new proposal after which the space counts as
// exhausted.
constexpr int kMaxFruitlessLevels = 400;

// Beam search that asks a policy which moves are worth a try.
//
// First the policy plays one game by itself, to the last move, and a descent
// goes on from the best of its states, which tries the likeliest moves first:
// where a state is large, that costs less time than the many evaluations of the
// policy that a beam asks for.
// Then a beam: a level tries the `width * branching` likeliest extensions of
// its positions (by the product of the probabilities along the way), and keeps
// `width` of the new states, half by cost and half by likelihood. The first
// beam starts from the start; each later one from somewhere on the way of one
// of the best games so far (and with more branching, as what is likeliest has
// been tried by then), with Gumbel noise on the logarithms, which samples ways
// without replacement (Kool, van Hoof and Welling, "Stochastic Beams and Where
// to Find Them", 2019).
class Guided final : public BatchOptimizer {
 public:
  Guided(const space::SequentialProblem& problem,
         std::unique_ptr<const Scorer> scorer, const OptimizerOptions& options)
      : BatchOptimizer(problem, options),
        game_(problem),
        scorer_(std::move(scorer)),
        width_(static_cast<size_t>(options.beam_width)) {}

  absl::string_view name() const override { return "guided"; }

 private:
  struct Node {
    GameState position;
    double log_probability = 0;
  };
  struct Extension {
    size_t parent = 0;
    int32_t move = 0;
    double log_probability = 0;
    double priority = 0;
  };
  struct Best {
    GameState position;
    space::Candidate proposal;
    double cost = 0;
  };

  void Begin(absl::Span<const space::Trial>) override {
    played_ = noisy_ = false;
    branching_ = kBranching;
    frontier_.clear();
    seen_.clear();
    proposed_.clear();
    best_.clear();
    descent_.reset();
  }

  void Learn(const space::Trial& trial) override {
    const double cost = space::EffectiveCost(trial.measurement);
    if (learned_ >= finished_.size()) return;
    GameState position = std::move(finished_[learned_++]);
    if (!std::isfinite(cost)) return;
    const auto better = [](const Best& a, const Best& b) {
      return std::make_pair(a.cost, a.proposal.choices.size()) <
             std::make_pair(b.cost, b.proposal.choices.size());
    };
    Best best{std::move(position), trial.candidate, cost};
    best_.insert(std::upper_bound(best_.begin(), best_.end(), best, better),
                 std::move(best));
    if (best_.size() > width_) best_.pop_back();
  }

  std::vector<space::Candidate> Plan() override {
    finished_.clear();
    learned_ = 0;
    std::vector<space::Candidate> batch;
    if (!std::exchange(played_, true)) {
      absl::StatusOr<std::vector<Trajectory>> episodes = learning::PlayEpisodes(
          game_, *scorer_, 1, learning::ChooseBestAndGoOn);
      if (episodes.ok()) {
        Propose((*episodes)[0].end, batch);
        descent_ = BestOf((*episodes)[0].end);
      }
      frontier_ = {{game_.Start(), 0}};
      if (!batch.empty()) return batch;
    }
    if (Descend(batch)) return batch;
    for (int level = 0; level < kMaxFruitlessLevels; ++level) {
      if (frontier_.empty()) Restart();
      batch = Extend();
      if (!batch.empty()) return batch;
    }
    return {};
  }

  // Adds what `position` proposes unless it was proposed before.
  void Propose(const GameState& position,
               std::vector<space::Candidate>& batch) {
    space::Candidate proposal = game_.Proposal(position);
    if (!proposed_.insert(HashOf(proposal.choices)).second) return;
    batch.push_back(std::move(proposal));
    finished_.push_back(position);
  }

  // The cheapest state that a sequential game has come through.
  std::optional<GameState> BestOf(const GameState& end) const {
    GameState position = game_.Start();
    for (size_t i = 0; i < end.best_length && !position.over(); ++i) {
      absl::StatusOr<GameState> next = game_.Play(position, end.choices[i]);
      if (!next.ok()) return std::nullopt;
      position = *std::move(next);
    }
    return position;
  }

  // One step of descent, proposed: the first move that lowers the cost among
  // the likeliest few. False where none does.
  bool Descend(std::vector<space::Candidate>& batch) {
    if (!descent_.has_value() || descent_->over()) return false;
    const GameState from = *std::exchange(descent_, std::nullopt);
    const View view = game_.Observe(from);
    const View* const views[] = {&view};
    const std::vector<float> scores = scorer_->Score(views)[0].scores;
    std::vector<std::pair<double, int32_t>> ranked;
    for (size_t m = 0; m < learning::MovesThatGoOn(view); ++m) {
      // Equal moves come in any order.
      ranked.emplace_back(
          -static_cast<double>(scores[m]) + 1e-6 * rng().Uniform(),
          view.moves[m]);
    }
    std::sort(ranked.begin(), ranked.end());
    if (ranked.size() > kDescentTries) ranked.resize(kDescentTries);
    for (const auto& [rank, move] : ranked) {
      absl::StatusOr<GameState> next = game_.Play(from, move);
      if (!next.ok() || next->cost >= from.cost) continue;
      descent_ = *std::move(next);
      Propose(*descent_, batch);
      return !batch.empty();
    }
    return false;
  }

  // A new beam from somewhere on the way of one of the best games.
  void Restart() {
    seen_.clear();
    noisy_ = true;
    branching_ = std::min(branching_ + 1, kMaxBranching);
    GameState position = game_.Start();
    if (!best_.empty()) {
      // The smaller of two ranks: better games come more often.
      const size_t rank =
          std::min(rng().Below(best_.size()), rng().Below(best_.size()));
      const std::vector<int32_t>& way = best_[rank].position.choices;
      const size_t length = rng().Below(way.size() + 1);
      for (size_t i = 0; i < length && !position.over(); ++i) {
        absl::StatusOr<GameState> next = game_.Play(position, way[i]);
        if (!next.ok()) break;
        position = *std::move(next);
      }
    }
    if (position.over()) position = game_.Start();
    if (!position.over()) frontier_ = {{std::move(position), 0}};
  }

  // All legal moves of the frontier, the likeliest first.
  std::vector<Extension> Extensions() {
    std::vector<View> views;
    views.reserve(frontier_.size());
    for (const Node& node : frontier_) {
      views.push_back(game_.Observe(node.position));
    }
    std::vector<const View*> pointers;
    pointers.reserve(views.size());
    for (const View& view : views) pointers.push_back(&view);
    const std::vector<MoveScores> scores = scorer_->Score(pointers);
    std::vector<Extension> extensions;
    for (size_t i = 0; i < frontier_.size(); ++i) {
      const size_t moves = learning::MovesThatGoOn(views[i]);
      const std::vector<float> log_probabilities = learning::LogSoftmax(
          absl::MakeConstSpan(scores[i].scores).first(moves));
      for (size_t m = 0; m < moves; ++m) {
        Extension extension;
        extension.parent = i;
        extension.move = views[i].moves[m];
        extension.log_probability = frontier_[i].log_probability +
                                    static_cast<double>(log_probabilities[m]);
        extension.priority = extension.log_probability;
        // Uniform noise at first, so that equal moves come in any order.
        extension.priority +=
            noisy_ ? -std::log(-std::log(Draw())) : 1e-6 * rng().Uniform();
        extensions.push_back(extension);
      }
    }
    std::sort(extensions.begin(), extensions.end(),
              [](const Extension& a, const Extension& b) {
                return a.priority > b.priority;
              });
    if (extensions.size() > width_ * branching_) {
      extensions.resize(width_ * branching_);
    }
    return extensions;
  }

  // In (0, 1).
  double Draw() { return std::clamp(rng().Uniform(), 1e-12, 1 - 1e-12); }

  // One level of the beam.
  std::vector<space::Candidate> Extend() {
    std::vector<space::Candidate> batch;
    std::vector<Node> children;
    for (const Extension& extension : Extensions()) {
      const GameState& parent = frontier_[extension.parent].position;
      absl::StatusOr<GameState> next = game_.Play(parent, extension.move);
      if (!next.ok()) continue;
      if (next->over()) {
        Propose(*next, batch);
        continue;
      }
      if (!seen_.insert(next->episode.state()->key()).second) continue;
      if (next->best_length == next->choices.size()) Propose(*next, batch);
      children.push_back({*std::move(next), extension.log_probability});
    }
    frontier_ = Select(std::move(children));
    return batch;
  }

  // Children come likeliest first.
  std::vector<Node> Select(std::vector<Node> children) const {
    if (children.size() <= width_) return children;
    std::vector<size_t> by_cost(children.size());
    std::iota(by_cost.begin(), by_cost.end(), size_t{0});
    std::stable_sort(by_cost.begin(), by_cost.end(), [&](size_t a, size_t b) {
      return children[a].position.cost < children[b].position.cost;
    });
    std::vector<bool> kept(children.size());
    for (size_t i = 0; i < (width_ + 1) / 2; ++i) kept[by_cost[i]] = true;
    size_t count = (width_ + 1) / 2;
    for (size_t i = 0; i < children.size() && count < width_; ++i) {
      if (!kept[i]) ++count;
      kept[i] = true;
    }
    std::vector<Node> selected;
    for (size_t i = 0; i < children.size(); ++i) {
      if (kept[i]) selected.push_back(std::move(children[i]));
    }
    return selected;
  }

  const Game game_;
  const std::unique_ptr<const Scorer> scorer_;
  const size_t width_;
  bool played_ = false;
  // The state of steepest descent; null after its end.
  std::optional<GameState> descent_;
  bool noisy_ = false;
  size_t branching_ = kBranching;
  std::vector<Node> frontier_;
  // Keys of the states of this beam.
  absl::flat_hash_set<Hash128> seen_;
  absl::flat_hash_set<Hash128> proposed_;
  // Positions behind the batch, and how many of them have been measured.
  std::vector<GameState> finished_;
  size_t learned_ = 0;
  // The cheapest, best first.
  std::vector<Best> best_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> CreateGuided(
    const space::Problem& problem, const OptimizerOptions& options) {
  if (problem.assignment() != nullptr) {
    return MakeAssignmentSampling("guided", *problem.assignment(),
                                  {.learn = false, .polish = true}, options);
  }
  const space::SequentialProblem& sequence = *problem.sequential();
  HONE_ASSIGN_OR_RETURN(auto prior, PriorOf(sequence, options));
  return std::make_unique<Guided>(sequence, std::move(prior), options);
}

}  // namespace hone::optimizers::policies
