#include "learning/games/rollout.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

#include "base/status_macros.h"

namespace hone::learning {
namespace {

absl::Status Advance(const Game& game, Turn turn, Trajectory& episode) {
  const int32_t move = turn.view->moves[static_cast<size_t>(turn.chosen)];
  HONE_ASSIGN_OR_RETURN(episode.end, game.Play(episode.end, move));
  turn.reward = static_cast<float>(episode.end.reward);
  turn.changed = move != kStopMove && episode.end.no_ops == 0;
  episode.turns.push_back(std::move(turn));
  return absl::OkStatus();
}

}  // namespace

size_t MovesThatGoOn(const View& view) {
  return std::max<size_t>(view.moves.size() - 1, 1);
}

double Trajectory::TotalReward() const {
  double total = 0;
  for (const Turn& turn : turns) total += turn.reward;
  return total;
}

int32_t ChooseBest(const View&, const MoveScores& scores) {
  return static_cast<int32_t>(
      std::max_element(scores.scores.begin(), scores.scores.end()) -
      scores.scores.begin());
}

int32_t ChooseBestAndGoOn(const View& view, const MoveScores& scores) {
  const auto begin = scores.scores.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(MovesThatGoOn(view));
  return static_cast<int32_t>(std::max_element(begin, end) - begin);
}

Chooser ChooseBySoftmax(Rng& rng) {
  return [&rng](const View&, const MoveScores& scores) {
    const std::vector<float> log_probabilities = LogSoftmax(scores.scores);
    double left = rng.Uniform();
    for (size_t i = 0; i < log_probabilities.size(); ++i) {
      left -= std::exp(static_cast<double>(log_probabilities[i]));
      if (left < 0) return static_cast<int32_t>(i);
    }
    return static_cast<int32_t>(log_probabilities.size() - 1);
  };
}

Chooser ChooseAny(Rng& rng) {
  return [&rng](const View& view, const MoveScores&) {
    return static_cast<int32_t>(rng.Below(MovesThatGoOn(view)));
  };
}

Chooser ChooseEpsilonGreedy(Rng& rng, double epsilon) {
  return [&rng, epsilon](const View& view, const MoveScores& scores) {
    return rng.Uniform() < epsilon ? ChooseAny(rng)(view, scores)
                                   : ChooseBest(view, scores);
  };
}

absl::Status PlayOn(const Game& game, const Scorer& scorer,
                    const Chooser& choose, int32_t moves,
                    absl::Span<Trajectory> episodes) {
  for (int32_t move = 0;; ++move) {
    std::vector<Trajectory*> playing;
    std::vector<std::shared_ptr<const View>> views;
    std::vector<const View*> batch;
    for (Trajectory& episode : episodes) {
      if (episode.end.over()) continue;
      playing.push_back(&episode);
      views.push_back(std::make_shared<const View>(game.Observe(episode.end)));
      batch.push_back(views.back().get());
    }
    if (playing.empty()) break;
    const std::vector<MoveScores> scores = scorer.Score(batch);
    if (move == moves) {
      for (size_t i = 0; i < playing.size(); ++i) {
        playing[i]->value_after = scores[i].value;
      }
      break;
    }
    for (size_t i = 0; i < playing.size(); ++i) {
      Turn turn;
      turn.view = std::move(views[i]);
      turn.chosen = choose(*turn.view, scores[i]);
      turn.greedy = turn.chosen == ChooseBest(*turn.view, scores[i]);
      turn.log_probability =
          LogSoftmax(scores[i].scores)[static_cast<size_t>(turn.chosen)];
      turn.value = scores[i].value;
      HONE_RETURN_IF_ERROR(Advance(game, std::move(turn), *playing[i]));
    }
  }
  for (Trajectory& episode : episodes) {
    if (episode.end.over()) episode.value_after = 0;
    episode.proposal = game.Proposal(episode.end);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Trajectory>> PlayEpisodes(const Game& game,
                                                     const Scorer& scorer,
                                                     int32_t count,
                                                     const Chooser& choose) {
  std::vector<Trajectory> episodes(static_cast<size_t>(count),
                                   Trajectory(game.Start()));
  HONE_RETURN_IF_ERROR(PlayOn(game, scorer, choose,
                              std::numeric_limits<int32_t>::max(),
                              absl::MakeSpan(episodes)));
  return episodes;
}

absl::StatusOr<Trajectory> ReplayMoves(const Game& game,
                                       absl::Span<const int32_t> moves) {
  Trajectory episode(game.Start());
  for (const int32_t move : moves) {
    if (episode.end.over()) break;
    Turn turn;
    turn.view = std::make_shared<const View>(game.Observe(episode.end));
    const auto it =
        std::find(turn.view->moves.begin(), turn.view->moves.end(), move);
    if (it == turn.view->moves.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("move ", move, " is not legal after ",
                       episode.turns.size(), " moves"));
    }
    turn.chosen = static_cast<int32_t>(it - turn.view->moves.begin());
    HONE_RETURN_IF_ERROR(Advance(game, std::move(turn), episode));
  }
  episode.proposal = game.Proposal(episode.end);
  return episode;
}

std::vector<Turn> UsefulTurns(const Trajectory& trajectory) {
  std::vector<Turn> useful;
  const GameState& end = trajectory.end;
  const std::vector<Turn>& turns = trajectory.turns;
  if (end.best_length == 0) return useful;
  for (size_t t = 0; t < end.best_moves; ++t) {
    if (turns[t].changed) useful.push_back(turns[t]);
  }
  if (end.best_moves < turns.size()) {
    Turn stop = turns[end.best_moves];
    stop.chosen = static_cast<int32_t>(stop.view->moves.size()) - 1;
    stop.reward = 0;
    useful.push_back(std::move(stop));
  }
  return useful;
}

}  // namespace hone::learning
