#include "optimizers/schedule.h"

#include <cmath>

namespace hone::optimizers {
namespace {

// Temperatures at the ends of a cycle, in its units.
constexpr double kHot = 0.5;
constexpr double kCold = 0.02;
constexpr double kCoolHot = 0.1;
constexpr double kCoolCold = 0.01;

}  // namespace

bool CoolingSchedule::Accepts(double worsening, Rng& rng) {
  if (worsening <= 0) return true;
  if (!std::isfinite(worsening)) return false;
  sum_ += worsening;
  logarithms_ += std::log(worsening);
  ++count_;
  const double progress =
      static_cast<double>(step_) / static_cast<double>(cycle_);
  const auto count = static_cast<double>(count_);
  const double unit = cool_ ? std::exp(logarithms_ / count) : sum_ / count;
  const double hot = cool_ ? kCoolHot : kHot;
  const double cold = cool_ ? kCoolCold : kCold;
  const double temperature = unit * hot * std::pow(cold / hot, progress);
  return rng.Uniform() < std::exp(-worsening / temperature);
}

bool CoolingSchedule::Advance() {
  if (++step_ < cycle_) return false;
  step_ = 0;
  cycle_ *= 2;
  cool_ = alternates_ && !cool_;
  return true;
}

}  // namespace hone::optimizers
