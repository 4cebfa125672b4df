#include "space/reward.h"

#include <algorithm>
#include <cmath>

namespace hone::space {
namespace {

constexpr double kLeast = 1e-4;
constexpr double kMost = 1e4;

double Bounded(double cost, double reference) {
  if (std::isnan(cost)) return kMost * reference;
  return std::clamp(cost, kLeast * reference, kMost * reference);
}

}  // namespace

double StepReward(double before, double after, double reference) {
  return std::log(Bounded(before, reference) / Bounded(after, reference));
}

double RewardOf(const Measurement& measurement, double reference) {
  const Rank rank = RankOf(measurement);
  if (rank.violation == 0) {
    return StepReward(reference, rank.cost, reference);
  }
  const double share =
      std::isinf(rank.violation) ? 1 : rank.violation / (1 + rank.violation);
  return std::log(kLeast) - share;
}

}  // namespace hone::space
