#ifndef HONE_OPTIMIZERS_POLICIES_ELITES_H_
#define HONE_OPTIMIZERS_POLICIES_ELITES_H_

#include <cstddef>
#include <vector>

#include "optimizers/policies/rollout.h"

namespace hone::optimizers::policies {

// The best few episodes of one game, each with another proposal.
class Elites {
 public:
  explicit Elites(size_t capacity) : capacity_(capacity) {}

  // Keeps the episode if it is among the best: by cost, then by the number of
  // moves.
  void Offer(const Episode& episode);

  // Best first.
  const std::vector<Episode>& episodes() const { return episodes_; }
  // All turns of all of them; valid until the next Offer.
  std::vector<const Turn*> Turns() const;

 private:
  const size_t capacity_;
  std::vector<Episode> episodes_;
};

}  // namespace hone::optimizers::policies

#endif  // HONE_OPTIMIZERS_POLICIES_ELITES_H_
