// slice-hoister: slices before computing instead of after.
//
//   slice(add(a, b)) → add(slice(a), slice(b))
//   slice(transpose(a)) → transpose(slice(a))
//
// for every elementwise operation of two operands of its type. Legal always.
// What only the slice needed is computed on less; what others need too is
// computed twice, and there are more instructions: for when memory traffic
// matters. slice-sinker goes the other way. Equal slices are made once, so
// that no chain of operations grows exponentially.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "hlo/passes/registry.h"
#include "hlo/rewrite/rewrite_each.h"

namespace hone::hlo {
namespace {

class Hoister {
 public:
  explicit Hoister(Rewriter& r) : r_(r) {}

  bool Hoist(InstructionId id) {
    const InstructionId operand = r_.operand(id, 0);
    if (!MayRewrite(r_, operand)) return false;
    if (r_.Is(operand, Opcode::kTranspose)) return HoistTranspose(id, operand);
    return HoistElementwise(id, operand);
  }

  bool HoistTranspose(InstructionId id, InstructionId transpose) {
    const DimensionVector& permutation = r_[transpose].dimensions();
    const std::vector<SliceDimension>& old = r_[id].attributes().slice;
    std::vector<SliceDimension> slice(old.size());
    for (size_t i = 0; i < old.size(); ++i) {
      slice[static_cast<size_t>(permutation[i])] = old[i];
    }
    const InstructionId source = AddSlice(r_.operand(transpose, 0), slice);
    return r_.Replace(id, MakeTranspose(r_, source, permutation));
  }

  bool HoistElementwise(InstructionId id, InstructionId operation) {
    const Instruction& instruction = r_[operation];
    if (!IsElementwise(instruction.opcode()) ||
        instruction.operand_count() != 2 ||
        std::any_of(instruction.operands().begin(),
                    instruction.operands().end(), [&](InstructionId operand) {
                      return !Shape::Equal(r_.shape(operand),
                                           r_.shape(operation));
                    })) {
      return false;
    }
    const std::vector<SliceDimension>& slice = r_[id].attributes().slice;
    InstructionIds operands;
    for (InstructionId operand : instruction.operands()) {
      operands.push_back(AddSlice(operand, slice));
    }
    return Replace(id, Instruction(instruction.opcode(), r_[id].shape_ptr(),
                                   operands, instruction.attributes_ptr()));
  }

  bool Replace(InstructionId id, Instruction instruction) {
    instruction.set_metadata(r_[r_.operand(id, 0)].metadata());
    const InstructionId replacement = r_.Add(std::move(instruction));
    Sliced(r_.operand(id, 0), r_[id].attributes().slice) = replacement;
    return r_.Replace(id, replacement);
  }

  InstructionId AddSlice(InstructionId operand,
                         const std::vector<SliceDimension>& slice) {
    InstructionId& id = Sliced(operand, slice);
    if (id == kNoInstruction || !r_[id].is_live()) {
      id = r_.Add(MakeSlice(r_.computation(), operand, slice));
    }
    return id;
  }

  // What has the value of that slice of the operand, as far as the pass knows.
  InstructionId& Sliced(InstructionId operand,
                        const std::vector<SliceDimension>& slice) {
    std::vector<SlicedValue>& values = sliced_[operand];
    for (SlicedValue& value : values) {
      if (value.slice == slice) return value.id;
    }
    values.push_back({slice, kNoInstruction});
    return values.back().id;
  }

  struct SlicedValue {
    std::vector<SliceDimension> slice;
    InstructionId id;
  };

  Rewriter& r_;
  absl::flat_hash_map<InstructionId, std::vector<SlicedValue>> sliced_;
};

class SliceHoister final : public Pass {
 public:
  absl::string_view name() const override { return "slice-hoister"; }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& options) const override {
    return RewriteModule(module,
                         {.name = name(),
                          .opcodes = {Opcode::kSlice},
                          .visit = Visit::kFixedPoint},
                         options, [](Rewriter& r, InstructionId id) {
                           return Hoister(r).Hoist(id);
                         });
  }
};

}  // namespace

std::unique_ptr<Pass> MakeSliceHoister() {
  return std::make_unique<SliceHoister>();
}

}  // namespace hone::hlo
