#ifndef HONE_HLO_ANALYSIS_COST_ANALYSIS_H_
#define HONE_HLO_ANALYSIS_COST_ANALYSIS_H_

#include <cstdint>
#include <vector>

#include "hlo/ir/module.h"

namespace hone::hlo {

// The costs of executing something once, independent of the machine. Counts are
// doubles: loops multiply them beyond what integers hold.
struct Costs {
  // Arithmetic operations, integer and comparisons included; a multiply-add is
  // two.
  double flops = 0;
  // Elements that a transcendental function (exponential, tanh, power, …) or a
  // random generator is applied to. Not part of flops.
  double transcendentals = 0;
  // Memory traffic with no value kept in a cache between instructions.
  double bytes_read = 0;
  double bytes_written = 0;

  double bytes() const { return bytes_read + bytes_written; }

  Costs& operator+=(const Costs& other);
  friend Costs operator+(Costs a, const Costs& b) { return a += b; }
  friend Costs operator*(const Costs& costs, double times);
  friend bool operator==(const Costs&, const Costs&) = default;
};

// Counts costs by the rules of XLA's HloCostAnalysis, so that figures compare:
// - dot and convolution: two flops per multiply-add that meets real input
//   (padding and the holes of dilation are not counted);
// - elementwise: one per element; reduce, reduce-window, map, scatter and
//   select-and-scatter: the region's flops per application;
// - sort n ceil(log2 n); data movement, batch-norm-* and unknown opcodes none;
// - slice and gather read only what they return, dynamic-update-slice touches
//   only the update, scatter three times its updates; parameters, constants,
//   get-tuple-element, bitcast and transposes that only change the layout touch
//   nothing, a tuple only its pointers;
// - a fusion touches its operands and results only, and computes all inside;
// - a conditional costs the maximum over its branches, field by field.
// We differ in this: a while counts trip count times where its backend_config
// has known_trip_count, else once as XLA does; a custom call counts the bytes
// of operands and results (XLA: -1); a fusion reads each operand whole.
//
// Costs of called computations are found once per object, so analyze a module
// with one object. The module must verify, outlive the object and not change.
// Threads: not thread-safe.
class CostAnalysis {
 public:
  explicit CostAnalysis(const Module& module);

  // One instruction of `computation`, with everything it calls.
  Costs InstructionCosts(const Computation& computation,
                         InstructionId id) const;
  // A computation executed once.
  const Costs& ComputationCosts(ComputationId id) const {
    return computations_[static_cast<size_t>(id)];
  }
  // The entry computation executed once.
  const Costs& ModuleCosts() const { return ComputationCosts(module_.entry()); }

 private:
  const Module& module_;
  std::vector<Costs> computations_;
};

// Returns the trip count of a `while` from
// backend_config={"known_trip_count":{"n":"10"}}; 1 if it is not stated.
double KnownTripCount(const Instruction& instruction);

}  // namespace hone::hlo

#endif  // HONE_HLO_ANALYSIS_COST_ANALYSIS_H_
