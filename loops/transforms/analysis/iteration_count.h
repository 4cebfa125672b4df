#ifndef HONE_LOOPS_TRANSFORMS_ANALYSIS_ITERATION_COUNT_H_
#define HONE_LOOPS_TRANSFORMS_ANALYSIS_ITERATION_COUNT_H_

#include "loops/ir/program.h"

namespace hone::loops {

// Returns how often the node at `path` runs, ignoring the bounds of loops.
inline double IterationCount(const Program& program, const Path& path) {
  double count = 1;
  for (const Loop* loop : program.LoopsAbove(path)) {
    count *= static_cast<double>(loop->extent);
  }
  return count;
}

}  // namespace hone::loops

#endif  // HONE_LOOPS_TRANSFORMS_ANALYSIS_ITERATION_COUNT_H_
