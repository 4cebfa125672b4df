#ifndef HONE_TUNING_TASKS_TPU_PEAKS_H_
#define HONE_TUNING_TASKS_TPU_PEAKS_H_

#include "backends/tpu_sim/tpu.h"
#include "costmodels/tpu_analytical.h"

namespace hone::tuning {

// What the analytical model knows of a simulated TPU: its published peaks.
inline costmodels::TpuPeaks PeaksOf(const backends::Tpu& tpu) {
  return {.clock_hz = tpu.clock_hz,
          .hbm_bytes_per_second = tpu.hbm_bytes_per_second,
          .vmem_bytes = static_cast<double>(tpu.vmem_bytes),
          .matrix_units = static_cast<double>(tpu.matrix_units),
          .vector_slots = static_cast<double>(tpu.alu_slots)};
}

}  // namespace hone::tuning

#endif  // HONE_TUNING_TASKS_TPU_PEAKS_H_
