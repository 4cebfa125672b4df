#include "loops/lowering/kernel/accumulator.h"

#include <utility>

#include "loops/lowering/kernel/scalar.h"

namespace hone::loops {

using hlo::Opcode;

Accumulator::Accumulator(KernelWriter& writer, Nest& nest, Access target,
                         Opcode opcode, ExpressionPtr init)
    : target_(std::move(target)), opcode_(opcode), at_(target_) {
  const hlo::ElementType type = writer.program().buffer(target_.buffer).type;
  type_ = type;
  if (opcode == Opcode::kAdd || opcode == Opcode::kMultiply) {
    type_ = AccumulationType(type);
  }
  if (type_ != type) at_ = {nest.Temporary("sum", type_), {}};
  nest.Store(at_, Converted(type_, std::move(init)));
}

void Accumulator::Combine(Nest& nest, ExpressionPtr value) {
  nest.Store(at_, Converted(type_, std::move(value)), opcode_);
}

void Accumulator::Finish(KernelWriter& writer, Nest& nest) {
  if (at_.buffer == target_.buffer) return;
  nest.Store(target_, Converted(writer.program().buffer(target_.buffer).type,
                                writer.Load(at_)));
}

}  // namespace hone::loops
