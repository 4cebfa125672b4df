// tuple-simplifier: removes tuples that are made to be taken apart, and tuples
// that are taken apart to be made.
//
//   get-tuple-element(tuple(a, b)), index=1                          →  b
//   tuple(get-tuple-element(t), index=0, …, get-tuple-element(t), index=n-1)
//     for all n elements of t                                        →  t
//
// Legal always, with dynamic shapes too. Numeric class: exact. The root may
// become the producer of the tuple, a while for example.

#include <memory>

#include "hlo/passes/registry.h"
#include "hlo/rewrite/driver.h"

namespace hone::hlo {
namespace {

// The tuple that `tuple` takes apart and puts together again unchanged;
// kNoInstruction when it does something else.
InstructionId RebuiltTuple(const Rewriter& r, InstructionId tuple) {
  InstructionId source = kNoInstruction;
  for (size_t i = 0; i < r[tuple].operand_count(); ++i) {
    const Instruction& element = r[r.operand(tuple, i)];
    if (element.opcode() != Opcode::kGetTupleElement ||
        static_cast<size_t>(element.index()) != i ||
        (i > 0 && element.operand(0) != source)) {
      return kNoInstruction;
    }
    source = element.operand(0);
  }
  if (source == kNoInstruction ||
      !Shape::Equal(r.shape(source), r.shape(tuple))) {
    return kNoInstruction;
  }
  return source;
}

bool Simplify(Rewriter& r, InstructionId id) {
  if (r.Is(id, Opcode::kTuple)) {
    const InstructionId source = RebuiltTuple(r, id);
    return source != kNoInstruction && r.Replace(id, source);
  }
  const InstructionId tuple = r.operand(id, 0);
  return r.Is(tuple, Opcode::kTuple) &&
         r.Replace(id, r.operand(tuple, static_cast<size_t>(r[id].index())));
}

class TupleSimplifier final : public Pass {
 public:
  absl::string_view name() const override { return "tuple-simplifier"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& options) const override {
    return RewriteModule(module,
                         {.name = name(),
                          .opcodes = {Opcode::kGetTupleElement, Opcode::kTuple},
                          .visit = Visit::kFixedPoint,
                          .dynamic = true},
                         options, Simplify);
  }
};

}  // namespace

std::unique_ptr<Pass> MakeTupleSimplifier() {
  return std::make_unique<TupleSimplifier>();
}

}  // namespace hone::hlo
