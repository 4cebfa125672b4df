#ifndef HONE_LOOPS_LOWERING_ACCUMULATOR_H_
#define HONE_LOOPS_LOWERING_ACCUMULATOR_H_

#include "loops/lowering/kernel_writer.h"
#include "loops/lowering/nest.h"

namespace hone::loops {

// One element of a result while it is added up: in place, or, for sums and
// products of 16-bit floats, in an f32 that is rounded once at the end.
class Accumulator {
 public:
  // Begins with `init`, of any type, in the nest's current scope.
  Accumulator(KernelWriter& writer, Nest& nest, Access target,
              hlo::Opcode opcode, ExpressionPtr init);

  // Takes in `value`, of any type.
  void Combine(Nest& nest, ExpressionPtr value);
  // Stores the outcome, back in the scope of the beginning.
  void Finish(KernelWriter& writer, Nest& nest);

 private:
  const Access target_;
  const hlo::Opcode opcode_;
  Access at_;
  hlo::ElementType type_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_ACCUMULATOR_H_
