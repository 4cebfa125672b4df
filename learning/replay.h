#ifndef HONE_LEARNING_REPLAY_H_
#define HONE_LEARNING_REPLAY_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "base/rng.h"
#include "learning/games/rollout.h"

namespace hone::learning {

// A turn, what it and the turns after it earned, and where they led.
struct Transition {
  std::shared_ptr<const View> view;
  int32_t chosen = 0;
  float reward = 0;
  // Null when the game was over.
  std::shared_ptr<const View> next;
  float discount = 1;  // of the value of `next`
};

// The most recent transitions of the episodes remembered.
class Replay {
 public:
  Replay(size_t capacity, int32_t lookahead, float discount)
      : capacity_(capacity), lookahead_(lookahead), discount_(discount) {}

  // Adds the transitions of an episode (LookaheadTargets).
  void Remember(const Trajectory& episode);
  size_t size() const { return transitions_.size(); }
  const Transition& operator[](size_t i) const { return transitions_[i]; }
  // Draws one uniformly; there must be one.
  const Transition& Draw(Rng& rng) const {
    return transitions_[rng.Below(transitions_.size())];
  }

 private:
  const size_t capacity_;
  const int32_t lookahead_;
  const float discount_;
  std::deque<Transition> transitions_;
};

}  // namespace hone::learning

#endif  // HONE_LEARNING_REPLAY_H_
