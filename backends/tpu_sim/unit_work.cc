#include "backends/tpu_sim/unit_work.h"

#include <algorithm>
#include <cmath>

namespace hone::backends {
namespace {

// Cycles per operation.
double CostOf(Unit unit, const Tpu& tpu) {
  switch (unit) {
    case Unit::kAlu:
      return 1.0 / static_cast<double>(tpu.alu_slots);
    case Unit::kLoad:
      return 1.0 / static_cast<double>(tpu.load_slots);
    case Unit::kStore:
      return 1.0 / static_cast<double>(tpu.store_slots);
    case Unit::kTranscendental:
      return static_cast<double>(tpu.transcendental_interval);
    case Unit::kCrossLane:
      return static_cast<double>(tpu.cross_lane_interval) /
             static_cast<double>(tpu.cross_lane_units);
    case Unit::kMatrix:
    case Unit::kScalar:
      break;
  }
  return 1;
}

}  // namespace

int64_t CyclesOf(double cycles) {
  if (!(cycles < static_cast<double>(kMaxCycles))) return kMaxCycles;
  return static_cast<int64_t>(std::ceil(std::max(cycles, 0.0)));
}

int64_t Segment::cycles() const {
  return *std::max_element(busy.begin(), busy.end()) + stall;
}

Segment MakeSegment(const UnitWork& work, double stall, const Tpu& tpu) {
  Segment segment;
  for (size_t i = 0; i < kUnitCount; ++i) {
    segment.busy[i] =
        CyclesOf(work.operations[i] * CostOf(static_cast<Unit>(i), tpu));
  }
  segment.stall = CyclesOf(stall);
  return segment;
}

}  // namespace hone::backends
