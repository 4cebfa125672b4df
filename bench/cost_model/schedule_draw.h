#ifndef HONE_BENCH_COST_MODEL_SCHEDULE_DRAW_H_
#define HONE_BENCH_COST_MODEL_SCHEDULE_DRAW_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_set.h"

#include "base/rng.h"
#include "space/sequential_problem.h"
#include "tuning/tasks/kernel_problem.h"

namespace hone::bench {

// Draws schedules of a kernel for a cost model to learn from: random choices,
// random transformations after them, and edits of the best schedules so far, so
// that a model sees what a search will ask it about. No program is drawn twice,
// nor is that of the default schedule.
class ScheduleDraw {
 public:
  // `problem` outlives this.
  ScheduleDraw(const tuning::KernelProblem& problem, uint64_t seed);

  struct Drawn {
    std::vector<int32_t> actions;
    space::StatePtr state;
  };
  // Returns at most `count` schedules; fewer if the kernel has hardly more.
  std::vector<Drawn> Draw(size_t count);

  // Tells the cost of a drawn schedule, for edits of the best.
  void Learn(const Drawn& drawn, double cost);

 private:
  // Each returns the actions of a candidate, which may be illegal or known.
  std::vector<int32_t> DrawChoices(uint64_t most);
  std::vector<int32_t> DrawSteps();
  std::vector<int32_t> EditBest();

  struct Judged {
    double cost = 0;
    std::vector<int32_t> actions;
  };

  const tuning::KernelProblem& problem_;
  Rng rng_;
  // The choices that change the default schedule: the actions of each value, by
  // choice and time.
  std::vector<std::vector<int32_t>> choices_;
  absl::flat_hash_set<Hash128> known_;
  // The best so far, best first.
  std::vector<Judged> best_;
};

}  // namespace hone::bench

#endif  // HONE_BENCH_COST_MODEL_SCHEDULE_DRAW_H_
