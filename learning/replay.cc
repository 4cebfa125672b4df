#include "learning/replay.h"

#include <utility>
#include <vector>

#include "learning/advantage.h"

namespace hone::learning {

void Replay::Remember(const Trajectory& episode) {
  const std::vector<Turn>& turns = episode.turns;
  std::vector<float> rewards;
  std::vector<bool> greedy;
  for (const Turn& turn : turns) {
    rewards.push_back(turn.reward);
    greedy.push_back(turn.greedy);
  }
  const std::vector<StepTarget> targets =
      LookaheadTargets(rewards, greedy, lookahead_, discount_);
  for (size_t t = 0; t < turns.size(); ++t) {
    Transition transition{turns[t].view, turns[t].chosen, targets[t].reward,
                          nullptr, targets[t].discount};
    if (targets[t].next >= 0) {
      transition.next = turns[static_cast<size_t>(targets[t].next)].view;
    }
    transitions_.push_back(std::move(transition));
  }
  while (transitions_.size() > capacity_) transitions_.pop_front();
}

}  // namespace hone::learning
