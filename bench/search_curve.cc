#include "bench/search_curve.h"

namespace hone::bench {

void SearchCurve::Add(int64_t evaluations, double cost) {
  const double best = points_.empty() ? default_cost_ : points_.back().cost;
  if (cost < best) points_.push_back({evaluations, cost});
}

double SearchCurve::BestAt(int64_t evaluations) const {
  double best = default_cost_;
  for (const Point& point : points_) {
    if (point.evaluations > evaluations) break;
    best = point.cost;
  }
  return best;
}

}  // namespace hone::bench
