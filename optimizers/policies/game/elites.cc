#include "optimizers/policies/game/elites.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hone::optimizers::policies {
namespace {

bool IsBetter(const Trajectory& a, const Trajectory& b) {
  return std::make_pair(a.cost, a.turns.size()) <
         std::make_pair(b.cost, b.turns.size());
}

}  // namespace

void Elites::Offer(const Trajectory& episode) {
  if (!std::isfinite(episode.cost)) return;
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

std::vector<const Turn*> Elites::Turns() const {
  std::vector<const Turn*> turns;
  for (const Trajectory& episode : episodes_) {
    for (const Turn& turn : episode.turns) turns.push_back(&turn);
  }
  return turns;
}

}  // namespace hone::optimizers::policies
