#include "optimizers/policies/move_walk.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/mix_bits.h"

namespace hone::optimizers::policies {
namespace {

using learning::DescribedMove;

// Proposals where all are equally likely, so that more are of no use: so many
// that there are some that were not tried before.
constexpr int kBlindProposals = 24;
// The scale of gains: below a quarter of a thousandth of the cost they are in
// proportion, above it logarithmic, as a search makes large gains first and
// small ones later. A loss is hardly worse than nothing: a search that refuses
// it has lost one try.
constexpr double kGainUnit = 0.25e-3;
constexpr double kMostGain = 6;
constexpr double kLeastGain = -0.3;
constexpr double kLossUnit = 1e-3;
// Draws for each move of a try: those that overlap are left out.
constexpr int kDrawsPerMove = 4;
// The weight of violations, which are shares, against costs.
constexpr double kViolationWeight = 10;

// By how much a move worsens the score: the energy, and violations.
double Worsening(const space::LocalScore& from, const space::LocalScore& to) {
  const double unit =
      kViolationWeight * std::max({from.rank.cost, to.rank.cost, 1e-300});
  return to.energy - from.energy +
         unit * (to.rank.violation - from.rank.violation);
}

float GainOf(double worsening, const space::LocalScore& before) {
  const double saved = -worsening / std::max(before.energy, 1e-300);
  return static_cast<float>(
      saved > 0 ? std::min(std::log1p(saved / kGainUnit), kMostGain)
                : std::max(saved / kLossUnit, kLeastGain));
}

// Of the changes, in any order.
uint64_t KeyOf(const std::vector<space::Change>& changes) {
  uint64_t key = changes.size();
  for (const space::Change& change : changes) {
    const uint64_t word = static_cast<uint64_t>(change.variable) << 8 |
                          static_cast<uint64_t>(change.value);
    key += MixBits(word + 0x9e3779b97f4a7c15);
  }
  return key;
}

}  // namespace

MoveWalk::MoveWalk(const space::AssignmentProblem& problem,
                   const learning::ValueView& view, uint64_t seed,
                   MoveWalkOptions options)
    : problem_(problem),
      view_(view),
      options_(options),
      rng_(seed),
      schedule_(kFirstMoveCycle) {}

void MoveWalk::Restart(absl::Span<const int32_t> values) {
  schedule_ = CoolingSchedule(kFirstMoveCycle, /*alternates=*/true);
  best_.assign(values.begin(), values.end());
  state_ = problem_.MakeLocal({best_});
  best_rank_ = state_->score().rank;
  has_found_ = false;
  joined_ = options_.moves_per_try;
  refused_.clear();
}

size_t MoveWalk::Draw(absl::Span<const float> scores,
                      const std::vector<bool>& taken, float& log_probability) {
  float highest = -std::numeric_limits<float>::infinity();
  for (size_t i = 0; i < scores.size(); ++i) {
    if (!taken[i]) highest = std::max(highest, scores[i]);
  }
  double sum = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (!taken[i]) sum += std::exp(static_cast<double>(scores[i] - highest));
  }
  double rest = rng_.Uniform() * sum;
  size_t drawn = scores.size();
  for (size_t i = 0; i < scores.size(); ++i) {
    if (taken[i]) continue;
    drawn = i;
    rest -= std::exp(static_cast<double>(scores[i] - highest));
    if (rest < 0) break;
  }
  log_probability = scores[drawn] - highest - static_cast<float>(std::log(sum));
  return drawn;
}

std::vector<float> MoveWalk::Score(absl::Span<const DescribedMove> moves,
                                   const learning::AssignmentModel* model) {
  std::vector<float> scores(moves.size());
  if (model != nullptr) scores = model->ScoreMoves(view_, moves, memory_);
  for (size_t i = 0; i < moves.size(); ++i) {
    scores[i] = learning::kMoveSharpness * scores[i] + moves[i].estimate;
  }
  return scores;
}

int MoveWalk::Round(const learning::AssignmentModel* model, double uniform) {
  std::vector<DescribedMove> moves;
  const bool is_described = model != nullptr || !options_.uniform;
  const int proposals = is_described ? kProposals : kBlindProposals;
  const auto propose = [&] {
    seen_ = refused_;
    for (int i = 0; i < proposals; ++i) {
      DescribedMove move;
      state_->Propose(rng_, move.changes);
      if (move.changes.empty()) continue;
      if (!seen_.insert(KeyOf(move.changes)).second) continue;
      if (is_described) {
        state_->DescribeMove(move.changes, move.features);
        if (!options_.without_estimate) {
          move.estimate = problem_.EstimateMove(move.features);
        }
      }
      moves.push_back(std::move(move));
    }
  };
  propose();
  if (moves.empty() && !refused_.empty()) {
    // Everything near was tried: it has another chance to be accepted.
    refused_.clear();
    propose();
  }
  if (moves.empty()) return 0;
  std::vector<float> scores(moves.size());
  if (is_described && !(rng_.Uniform() < uniform)) scores = Score(moves, model);
  std::vector<bool> taken(moves.size());
  std::optional<learning::MoveChoice> first;
  int tries = 0;
  for (size_t left = moves.size(); tries < kTriesPerRound && left > 0;) {
    std::vector<space::Change> changes;
    absl::flat_hash_set<int32_t> changed;  // variables, if there may be overlap
    float log_probability = 0;
    size_t chosen = 0;
    int joined = 0;
    for (int i = 0; i < kDrawsPerMove * joined_ && joined < joined_ && left > 0;
         ++i, --left) {
      const size_t drawn = Draw(scores, taken, log_probability);
      taken[drawn] = true;
      const std::vector<space::Change>& of = moves[drawn].changes;
      if (joined > 0 && std::any_of(of.begin(), of.end(), [&](const auto& one) {
            return changed.contains(one.variable);
          })) {
        continue;
      }
      changes.insert(changes.end(), of.begin(), of.end());
      if (joined_ > 1) {
        for (const space::Change& one : of) changed.insert(one.variable);
      }
      chosen = drawn;
      ++joined;
    }
    const space::LocalScore before = state_->score();
    const space::LocalScore after = state_->Try(changes);
    const double worsening = Worsening(before, after);
    // What several gain together says little about each.
    if (joined == 1) {
      const float gain = GainOf(worsening, before);
      tried_.push_back({moves[chosen], gain});
      if (tries == 0) first = {{}, chosen, log_probability, gain};
    }
    ++tries;
    joined_ = worsening < 0 ? std::min(2 * joined, options_.moves_per_try)
                            : std::max(joined / 2, 1);
    const bool accepted = schedule_.Accepts(worsening, rng_);
    refused_.insert(KeyOf(changes));
    if (accepted) Commit(after.rank);
    if (schedule_.Advance()) {
      state_ = problem_.MakeLocal({best_});
      refused_.clear();
      break;
    }
    if (accepted) break;
  }
  if (first) {
    first->moves = std::move(moves);
    choices_.push_back(*std::move(first));
  }
  return tries;
}

void MoveWalk::Commit(const space::Rank& rank) {
  state_->Commit();
  refused_.clear();
  if (has_found_ && !(rank < found_rank_)) return;
  has_found_ = true;
  found_.assign(state_->values().begin(), state_->values().end());
  found_rank_ = rank;
  if (!(found_rank_ < best_rank_)) return;
  best_ = found_;
  best_rank_ = found_rank_;
}

std::vector<learning::TriedMove> MoveWalk::TakeTried() {
  return std::exchange(tried_, {});
}

std::vector<learning::MoveChoice> MoveWalk::TakeChoices() {
  return std::exchange(choices_, {});
}

}  // namespace hone::optimizers::policies
