#include "learning/games/elites.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/status_macros.h"

namespace hone::learning {
namespace {

bool IsBetter(const Trajectory& a, const Trajectory& b) {
  const auto rank = [](const Trajectory& episode) {
    return std::make_pair(space::EffectiveCost(episode.measurement),
                          episode.proposal.choices.size());
  };
  return rank(a) < rank(b);
}

}  // namespace

void Elites::Offer(const Trajectory& episode) {
  if (!std::isfinite(space::EffectiveCost(episode.measurement))) return;
  const auto same = std::find_if(episodes_.begin(), episodes_.end(),
                                 [&](const Trajectory& other) {
                                   return other.proposal == episode.proposal;
                                 });
  if (same != episodes_.end()) {
    if (!IsBetter(episode, *same)) return;
    episodes_.erase(same);
  }
  episodes_.insert(
      std::upper_bound(episodes_.begin(), episodes_.end(), episode, IsBetter),
      episode);
  if (episodes_.size() > capacity_) episodes_.pop_back();
}

absl::StatusOr<Trajectory> Elites::DrawStart(const Game& game, Rng& rng) const {
  std::vector<int32_t> way;
  if (!episodes_.empty()) {
    way = episodes_[rng.Below(episodes_.size())].proposal.choices;
    const uint64_t ends = way.size() + 1;
    way.resize(std::max(rng.Below(ends), rng.Below(ends)));
  }
  HONE_ASSIGN_OR_RETURN(Trajectory start, ReplayMoves(game, way));
  return start.end.over() ? Trajectory(game.Start()) : std::move(start);
}

std::vector<Turn> Elites::Turns() const {
  std::vector<Turn> turns;
  for (const Trajectory& episode : episodes_) {
    std::vector<Turn> useful = UsefulTurns(episode);
    std::move(useful.begin(), useful.end(), std::back_inserter(turns));
  }
  return turns;
}

}  // namespace hone::learning
