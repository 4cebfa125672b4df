#ifndef HONE_COSTMODELS_LOG_SCALE_H_
#define HONE_COSTMODELS_LOG_SCALE_H_

#include <algorithm>
#include <cmath>

namespace hone::costmodels {

// Scales a magnitude that spans orders: ±log2(1+|value|) / doublings, within
// -1 … 1. What is no number, by infinite windows, is as large as can be.
inline float LogScale(double value, float doublings) {
  if (std::isnan(value)) return 1;
  const auto scaled =
      static_cast<float>(std::log2(1 + std::abs(value))) / doublings;
  return std::copysign(std::min(scaled, 1.0F), static_cast<float>(value));
}

}  // namespace hone::costmodels

#endif  // HONE_COSTMODELS_LOG_SCALE_H_
