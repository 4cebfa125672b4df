#ifndef HONE_COSTMODELS_XLA_CPU_WORK_H_
#define HONE_COSTMODELS_XLA_CPU_WORK_H_

#include <vector>

#include "costmodels/xla_cpu_features.h"

namespace hone::costmodels {

// Reads that skip memory between neighbors of the inner loop.
struct StridedAccess {
  double count = 0;
  // Cache lines that are touched before the first is met again.
  double lines = 0;
  // Bytes between neighbors.
  double distance = 0;
  double array_bytes = 0;
};

// The work of a loop, before it is known how well it vectorizes.
struct LoopWork {
  double elements = 0;
  double rows = 0;  // runs of the innermost loop
  double flops = 0;
  double divisions = 0;
  double functions = 0;
  double slow_functions = 0;
  double branches = 0;
  double gathered = 0;
  double reduced = 0;
  double reduced_strided = 0;
  double bytes = 0;
  double far_bytes = 0;
  double memory_bytes = 0;
  std::vector<StridedAccess> strided;

  // Counts the bytes of one array.
  void AddBytes(double array_bytes);
};

// Adds the features of a loop that does this work.
void AddFeatures(const LoopWork& work, XlaCpuFeatures& features);

}  // namespace hone::costmodels

#endif  // HONE_COSTMODELS_XLA_CPU_WORK_H_
