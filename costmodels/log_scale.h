#ifndef HONE_COSTMODELS_LOG_SCALE_H_
#define HONE_COSTMODELS_LOG_SCALE_H_

#include <algorithm>
#include <cmath>

namespace hone::costmodels {

// Scales a magnitude that spans orders: ±log2(1+|value|) / doublings, within
// -2 … 2.
inline float LogScale(double value, double doublings) {
  const double scaled = std::log2(1 + std::abs(value)) / doublings;
  return static_cast<float>(std::copysign(std::min(scaled, 2.0), value));
}

}  // namespace hone::costmodels

#endif  // HONE_COSTMODELS_LOG_SCALE_H_
