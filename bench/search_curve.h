#ifndef HONE_BENCH_SEARCH_CURVE_H_
#define HONE_BENCH_SEARCH_CURVE_H_

#include <cstdint>
#include <vector>

namespace hone::bench {

// What one search had found after each number of evaluations. Those of the
// default decision, which every search measures first, do not count: a compiler
// makes them anyway.
class SearchCurve {
 public:
  // `default_cost` is known without an evaluation.
  explicit SearchCurve(double default_cost) : default_cost_(default_cost) {}

  // A trial of this cost was known after so many evaluations, in ascending
  // order.
  void Add(int64_t evaluations, double cost);

  // The least cost known after `evaluations`.
  double BestAt(int64_t evaluations) const;

 private:
  struct Point {
    int64_t evaluations = 0;
    double cost = 0;
  };

  double default_cost_;
  std::vector<Point> points_;  // each cheaper than the one before
};

}  // namespace hone::bench

#endif  // HONE_BENCH_SEARCH_CURVE_H_
