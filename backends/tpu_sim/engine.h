#ifndef HONE_BACKENDS_TPU_SIM_ENGINE_H_
#define HONE_BACKENDS_TPU_SIM_ENGINE_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"

#include "backends/tpu_sim/tile_program.h"

namespace hone::backends {

// The cycles of a program, and where they go.
struct EngineResult {
  // From the start of the kernel to its last store; at most kMaxRunCycles.
  int64_t cycles = 0;
  // Cycles in which each unit works, in which the memory transfers, in which
  // the core waits for loads, for stores to leave a buffer, and for a free
  // transfer; in which latency is exposed.
  std::array<int64_t, kUnitCount> busy{};
  int64_t transfer = 0;
  int64_t load_wait = 0;
  int64_t store_wait = 0;
  int64_t issue_wait = 0;
  int64_t stall = 0;
  // Steps of the grid, and bytes between HBM and VMEM.
  int64_t steps = 0;
  double bytes = 0;
  // False if a grid was too large to find its steady state, the rest of which
  // was then taken to go on as before, or to find all of its unlike tiles
  // (TileClasses::is_exact).
  bool is_exact = true;
};

inline constexpr int64_t kMaxRunCycles = int64_t{1} << 61;

// The machine that both engines run (README.md):
//
// - At the start of step s the scalar core spends step_cycles, then issues the
//   loads of step s + buffers - 1 (before the first step those of all earlier
//   ones, too), each after its setup_cycles, waiting while as many transfers as
//   there may be are not done.
// - The memory does one transfer at a time in the order of issue, each not
//   before its latency after its issue has passed.
// - When the loads of step s, and the stores of the result tile whose buffer it
//   needs are done, the segments follow each other. While a transfer is in
//   progress, loads and stores of registers lose one cycle of each steal
//   period: the cycles in which the transfer takes the port of VMEM.
// - Then it issues the stores. The kernel ends when all transfers are done.
//
// Events happen at whole cycles, so that both engines agree exactly.

// Follows the events. Grids of any size: once a loop repeats itself exactly,
// the rest of its iterations is skipped.
EngineResult RunByEvents(TileProgram& program);

// Steps all units and the memory cycle by cycle: the reference.
// Errors: ResourceExhausted after `max_cycles`.
absl::StatusOr<EngineResult> RunByCycles(TileProgram& program,
                                         int64_t max_cycles);

// The cycles of a transfer in progress of which one is taken from loads and
// stores: those in which it moves as many bytes as a register has; at least 2.
int64_t StealPeriod(const Tpu& tpu);
// The cycles between the issue of a transfer and its first byte.
int64_t TransferLatency(const Tpu& tpu);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_TPU_SIM_ENGINE_H_
