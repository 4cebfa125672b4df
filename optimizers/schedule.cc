#include "optimizers/schedule.h"

#include <cmath>

namespace hone::optimizers {
namespace {

constexpr double kHot = 0.5;
constexpr double kCold = 0.02;

}  // namespace

bool CoolingSchedule::Accepts(double worsening, Rng& rng) {
  if (worsening <= 0) return true;
  if (!std::isfinite(worsening)) return false;
  sum_ += worsening;
  ++count_;
  const double progress =
      static_cast<double>(step_) / static_cast<double>(cycle_);
  const double temperature = sum_ / static_cast<double>(count_) * kHot *
                             std::pow(kCold / kHot, progress);
  return rng.Uniform() < std::exp(-worsening / temperature);
}

bool CoolingSchedule::Advance() {
  if (++step_ < cycle_) return false;
  step_ = 0;
  cycle_ *= 2;
  return true;
}

}  // namespace hone::optimizers
