#include "loops/lowering/rewrites/widen_sums.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"

#include "hlo/rewrite/regions/reductions.h"
#include "loops/lowering/kernel/window.h"

namespace hone::loops {
namespace {

using hlo::ElementType;
using hlo::Opcode;

bool IsNarrowFloat(const hlo::Shape& shape) {
  return !shape.IsTuple() && (shape.element_type() == ElementType::kF16 ||
                              shape.element_type() == ElementType::kBf16);
}

// Changes one computation.
class Widener {
 public:
  Widener(hlo::Module& module, hlo::ComputationId id,
          absl::flat_hash_map<Opcode, hlo::ComputationId>& regions)
      : module_(module), id_(id), regions_(regions) {}

  void Run() {
    std::vector<hlo::InstructionId> sums;
    for (const hlo::Instruction& i : module_.computation(id_).instructions()) {
      if (IsSum(i)) sums.push_back(i.id());
    }
    for (hlo::InstructionId sum : sums) Widen(sum);
  }

 private:
  static bool IsContraction(const hlo::Instruction& instruction) {
    return instruction.opcode() == Opcode::kDot ||
           instruction.opcode() == Opcode::kConvolution;
  }

  // Each phase of a convolution adds up in f32 and rounds, instead.
  static bool HasPhases(const hlo::Instruction& instruction) {
    const hlo::Window* const window = instruction.attributes().window.get();
    if (instruction.opcode() != Opcode::kConvolution || window == nullptr) {
      return false;
    }
    const double phases = CountPhases(*window);
    return phases > 1 && phases <= kManyPhases;
  }

  std::optional<Opcode> RegionOpcode(const hlo::Instruction& reduction) const {
    return hlo::ReductionOpcode(module_.computation(reduction.called()[0]));
  }

  bool IsSum(const hlo::Instruction& instruction) const {
    if (!IsNarrowFloat(instruction.shape())) return false;
    if (IsContraction(instruction)) return !HasPhases(instruction);
    if (instruction.opcode() != Opcode::kReduce &&
        instruction.opcode() != Opcode::kReduceWindow) {
      return false;
    }
    const std::optional<Opcode> opcode = RegionOpcode(instruction);
    return opcode == Opcode::kAdd || opcode == Opcode::kMultiply;
  }

  // Returns a region that combines two f32 with `opcode`.
  hlo::ComputationId WideRegion(Opcode opcode) {
    const auto [known, is_new] = regions_.try_emplace(opcode);
    if (is_new) {
      const hlo::ShapePtr scalar = hlo::Shape::Scalar(ElementType::kF32);
      hlo::Computation region(absl::StrCat("wide_", hlo::OpcodeName(opcode)));
      const hlo::InstructionId a =
          region.AddInstruction(hlo::Instruction::Parameter(0, scalar));
      const hlo::InstructionId b =
          region.AddInstruction(hlo::Instruction::Parameter(1, scalar));
      region.set_root(
          region.AddInstruction(hlo::Instruction(opcode, scalar, {a, b})));
      known->second = module_.AddComputation(std::move(region));
    }
    return known->second;
  }

  hlo::InstructionId AddConvert(hlo::InstructionId operand, ElementType type) {
    hlo::Computation& computation = module_.mutable_computation(id_);
    return computation.AddInstruction(hlo::Instruction(
        Opcode::kConvert,
        hlo::WithElementType(computation[operand].shape(), type), {operand}));
  }

  void WidenOperands(hlo::InstructionId reduction) {
    const hlo::ComputationId region =
        WideRegion(*RegionOpcode(module_.computation(id_)[reduction]));
    const hlo::InstructionIds operands =
        module_.computation(id_)[reduction].operands();
    for (size_t i = 0; i < operands.size(); ++i) {
      const hlo::InstructionId wide =
          AddConvert(operands[i], ElementType::kF32);
      module_.mutable_computation(id_).ReplaceOperand(reduction, i, wide);
    }
    module_.mutable_computation(id_).mutable_instruction(reduction).set_called(
        {region});
  }

  void Widen(hlo::InstructionId sum) {
    const ElementType type =
        module_.computation(id_)[sum].shape().element_type();
    if (!IsContraction(module_.computation(id_)[sum])) WidenOperands(sum);
    hlo::Computation& computation = module_.mutable_computation(id_);
    const auto widen = [&](hlo::InstructionId id) {
      hlo::Instruction& instruction = computation.mutable_instruction(id);
      instruction.set_shape(
          hlo::WithElementType(instruction.shape(), ElementType::kF32));
    };
    widen(sum);
    hlo::InstructionId last = sum;
    const hlo::InstructionIds& users = computation[sum].users();
    if (computation[sum].opcode() == Opcode::kDot && users.size() == 1 &&
        computation.root() != sum &&
        computation[users[0]].opcode() == Opcode::kTranspose) {
      last = users[0];
      widen(last);
    }
    const hlo::InstructionId narrow = AddConvert(last, type);
    computation.ReplaceAllUses(last, narrow);
    // The conversion gives the array its old name.
    const std::string name = computation[last].name();
    if (name.empty()) return;
    computation.mutable_instruction(narrow).set_name(name);
    computation.mutable_instruction(last).set_name(absl::StrCat(name, ".f32"));
  }

  hlo::Module& module_;
  const hlo::ComputationId id_;
  // The regions made so far.
  absl::flat_hash_map<Opcode, hlo::ComputationId>& regions_;
};

}  // namespace

void WidenSums(hlo::Module& module) {
  absl::flat_hash_map<Opcode, hlo::ComputationId> regions;
  for (hlo::ComputationId id : module.ComputationIds()) {
    Widener(module, id, regions).Run();
  }
  module.RemoveUnreachableComputations();
}

}  // namespace hone::loops
