#ifndef HONE_TUNING_RESUMED_LOG_H_
#define HONE_TUNING_RESUMED_LOG_H_

#include <cstdint>
#include <vector>

#include "space/trial.h"

namespace hone::tuning {

// Collects the trials that a search is resumed from, within a bound on memory:
// all of them, or else the first, the last and the best.
class ResumedLog {
 public:
  // 64 MiB of candidates.
  explicit ResumedLog(int64_t max_choices = int64_t{16} << 20)
      : max_choices_(max_choices) {}

  // Adds the next trial of a log.
  void Add(space::Trial trial);
  // Returns the trials kept, by id.
  std::vector<space::Trial> Take();

 private:
  // Drops the worst until half of the bound is free.
  void Thin();

  const int64_t max_choices_;
  int64_t choices_ = 0;
  std::vector<space::Trial> kept_;
};

}  // namespace hone::tuning

#endif  // HONE_TUNING_RESUMED_LOG_H_
