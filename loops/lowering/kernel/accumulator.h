#ifndef HONE_LOOPS_LOWERING_KERNEL_ACCUMULATOR_H_
#define HONE_LOOPS_LOWERING_KERNEL_ACCUMULATOR_H_

#include "loops/lowering/kernel/kernel_writer.h"
#include "loops/lowering/kernel/nest.h"

namespace hone::loops {

// Accumulates one element of a result: in place, or, for sums and products of
// 16-bit floats, in an f32 that is rounded once at the end.
class Accumulator {
 public:
  // Starts with `init`, of any type, in the current loop of the nest.
  Accumulator(KernelWriter& writer, Nest& nest, Access target,
              hlo::Opcode opcode, ExpressionPtr init);

  // Combines `value`, of any type, into the accumulator.
  void Combine(Nest& nest, ExpressionPtr value);
  // Stores the result. The nest must be back in the loop of the constructor.
  void Finish(KernelWriter& writer, Nest& nest);

 private:
  const Access target_;
  const hlo::Opcode opcode_;
  Access at_;
  hlo::ElementType type_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_KERNEL_ACCUMULATOR_H_
