#ifndef HONE_BACKENDS_TPU_SIM_UNIT_WORK_H_
#define HONE_BACKENDS_TPU_SIM_UNIT_WORK_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "backends/tpu_sim/tpu.h"

namespace hone::backends {

// The units of a core, which work at the same time.
enum class Unit : uint8_t {
  kAlu,             // arithmetic slots of the vector unit
  kLoad,            // loads of registers from VMEM
  kStore,           // stores of registers to VMEM
  kTranscendental,  // exponential, logarithm, reciprocal, …
  kCrossLane,       // transposes, reductions and broadcasts across lanes
  kMatrix,          // the systolic arrays
  kScalar,          // indices and addresses
};
inline constexpr size_t kUnitCount = 7;

// The operations that a piece of a kernel has for each unit: registers that it
// works on; of the matrix and the scalar unit cycles. Doubles, as kernels may
// be of any size.
struct UnitWork {
  std::array<double, kUnitCount> operations{};

  double& operator[](Unit unit) {
    return operations[static_cast<size_t>(unit)];
  }
  double operator[](Unit unit) const {
    return operations[static_cast<size_t>(unit)];
  }
  UnitWork& operator+=(const UnitWork& other) {
    for (size_t i = 0; i < kUnitCount; ++i) {
      operations[i] += other.operations[i];
    }
    return *this;
  }
};

// The longest time of a segment or transfer, so that sums of a few do not
// overflow.
inline constexpr int64_t kMaxCycles = int64_t{1} << 40;

// Rounds up, to at most kMaxCycles.
int64_t CyclesOf(double cycles);

// A piece of straight work: all units begin together, each is busy for its
// cycles, and when all are done `stall` cycles pass in which nothing is issued
// (latency that nothing hides).
struct Segment {
  std::array<int64_t, kUnitCount> busy{};
  int64_t stall = 0;

  int64_t operator[](Unit unit) const {
    return busy[static_cast<size_t>(unit)];
  }
  // Cycles without contention.
  int64_t cycles() const;
};

// Divides the work by slots and multiplies it by intervals.
Segment MakeSegment(const UnitWork& work, double stall, const Tpu& tpu);

}  // namespace hone::backends

#endif  // HONE_BACKENDS_TPU_SIM_UNIT_WORK_H_
