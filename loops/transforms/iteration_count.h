#ifndef HONE_LOOPS_TRANSFORMS_ITERATION_COUNT_H_
#define HONE_LOOPS_TRANSFORMS_ITERATION_COUNT_H_

#include "loops/program.h"

namespace hone::loops {

// How often the node at `path` is carried out, bounds of scopes left aside.
inline double IterationCount(const Program& program, const Path& path) {
  double count = 1;
  for (const Scope* scope : program.ScopesAbove(path)) {
    count *= static_cast<double>(scope->extent);
  }
  return count;
}

}  // namespace hone::loops

#endif  // HONE_LOOPS_TRANSFORMS_ITERATION_COUNT_H_
