#include "hlo/equivalence/merged_module.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"

#include "hlo/analysis/structural_equality.h"

namespace hone::hlo {
namespace {

using Replacement = std::pair<InstructionId, InstructionId>;

// Adds the computations of `from` other than its entry to `to`. Returns their
// new ids by the old ones.
std::vector<ComputationId> Import(const Module& from, Module& to) {
  std::vector<ComputationId> ids(static_cast<size_t>(from.computation_slots()),
                                 kNoComputation);
  for (ComputationId id : from.ComputationPostOrder()) {
    if (id == from.entry()) continue;
    Computation copy = from.computation(id);
    for (const Instruction& instruction : copy.instructions()) {
      if (instruction.called().empty()) continue;
      ComputationIds called;
      for (ComputationId callee : instruction.called()) {
        called.push_back(ids[static_cast<size_t>(callee)]);
      }
      copy.mutable_instruction(instruction.id()).set_called(std::move(called));
    }
    ids[static_cast<size_t>(id)] = to.AddComputation(std::move(copy));
  }
  return ids;
}

// The entry under construction.
class Merger {
 public:
  explicit Merger(const ComputationClasses& classes) : classes_(classes) {}

  // Adds what `source` computes; `ids` are the new ids of the computations that
  // it calls, empty if they have not changed. Returns its outputs.
  std::vector<InstructionId> Add(const Computation& source,
                                 absl::Span<const ComputationId> ids) {
    if (parameters_.empty()) {
      for (InstructionId parameter : source.parameters()) {
        Instruction copy = source[parameter].WithOperands({});
        copy.set_name(source[parameter].name());
        names_.insert(copy.name());
        parameters_.push_back(entry_.AddInstruction(std::move(copy)));
      }
    }
    std::vector<InstructionId> copies(static_cast<size_t>(source.slot_count()),
                                      kNoInstruction);
    for (InstructionId id : source.PostOrder()) {
      const Instruction& instruction = source[id];
      InstructionId& copied = copies[static_cast<size_t>(id)];
      if (instruction.opcode() == Opcode::kParameter) {
        copied = parameters_[static_cast<size_t>(instruction.index())];
        continue;
      }
      InstructionIds operands;
      for (InstructionId operand : instruction.operands()) {
        operands.push_back(copies[static_cast<size_t>(operand)]);
      }
      Instruction copy = instruction.WithOperands(operands);
      // For errors that name it.
      if (names_.insert(instruction.name()).second) {
        copy.set_name(instruction.name());
      }
      if (!ids.empty()) {
        ComputationIds called;
        for (ComputationId callee : instruction.called()) {
          called.push_back(ids[static_cast<size_t>(callee)]);
        }
        copy.set_called(std::move(called));
      }
      copied = FindOrAdd(std::move(copy), ids.empty());
    }
    const InstructionId root = copies[static_cast<size_t>(source.root())];
    if (!entry_[root].shape().IsTuple()) return {root};
    std::vector<InstructionId> outputs;
    if (entry_[root].opcode() == Opcode::kTuple) {
      outputs.assign(entry_[root].operands().begin(),
                     entry_[root].operands().end());
      return outputs;
    }
    const Shape shape = entry_[root].shape();
    for (int64_t i = 0; i < static_cast<int64_t>(shape.tuple_elements().size());
         ++i) {
      outputs.push_back(
          FindOrAdd(Instruction::GetTupleElement(shape.tuple_element(i), root,
                                                 static_cast<int32_t>(i)),
                    ids.empty()));
    }
    return outputs;
  }

  Computation& entry() { return entry_; }

 private:
  // Finds an equal instruction of the first module for one of the second. Those
  // of one module stay apart even where they are equal: what a pass takes for
  // equal is not believed here.
  InstructionId FindOrAdd(Instruction instruction, bool is_of_first) {
    size_t hash = HashOperation(instruction);
    for (InstructionId operand : instruction.operands()) {
      hash = absl::HashOf(hash, operand);
    }
    std::vector<InstructionId>& candidates = known_[hash];
    if (!is_of_first) {
      for (InstructionId id : candidates) {
        const Instruction& other = entry_[id];
        if (other.operands() == instruction.operands() &&
            classes_.SameCalled(other, instruction) &&
            SameOperation(other, instruction, /*ignore_layout=*/false)) {
          return id;
        }
      }
    }
    const InstructionId id = entry_.AddInstruction(std::move(instruction));
    if (is_of_first) candidates.push_back(id);
    return id;
  }

  const ComputationClasses& classes_;
  Computation entry_;
  std::vector<InstructionId> parameters_;
  absl::flat_hash_set<std::string> names_;
  absl::flat_hash_map<size_t, std::vector<InstructionId>> known_;
};

// Makes the tuple of `elements` the root.
void SetRoot(Computation& computation,
             absl::Span<const InstructionId> elements) {
  std::vector<ShapePtr> shapes;
  for (InstructionId element : elements) {
    shapes.push_back(computation[element].shape_ptr());
  }
  computation.set_root(computation.AddInstruction(
      Instruction(Opcode::kTuple, Shape::Tuple(std::move(shapes)), elements)));
}

// Lets the module's result be that of its root.
void SetResultShape(Module& module) {
  const Computation& entry = module.entry_computation();
  module.set_entry_shapes(module.entry_parameter_shapes(),
                          entry[entry.root()].shape_ptr());
}

// Makes the tuple of some elements of the module's root the root.
void SelectElements(Module& module, absl::Span<const size_t> numbers) {
  Computation& entry = module.mutable_computation(module.entry());
  std::vector<InstructionId> elements;
  elements.reserve(numbers.size());
  for (size_t number : numbers) {
    elements.push_back(entry[entry.root()].operand(number));
  }
  SetRoot(entry, elements);
  SetResultShape(module);
}

}  // namespace

MergedModule::MergedModule(const Module& a, const Module& b) : module_(a) {
  const std::vector<ComputationId> ids = Import(b, module_);
  const ComputationClasses classes(module_);
  Merger merger(classes);
  const std::vector<InstructionId> of_a = merger.Add(a.entry_computation(), {});
  end_of_a_ = merger.entry().slot_count();
  const std::vector<InstructionId> of_b =
      merger.Add(b.entry_computation(), ids);
  std::vector<InstructionId> outputs;
  for (size_t i = 0; i < of_a.size(); ++i) {
    outputs.push_back(of_a[i]);
    outputs.push_back(of_b[i]);
  }
  SetRoot(merger.entry(), outputs);
  output_count_ = static_cast<int64_t>(of_a.size());
  has_tuple_ =
      a.entry_computation()[a.entry_computation().root()].shape().IsTuple();
  module_.set_entry(module_.AddComputation(std::move(merger.entry())));
  module_.RemoveUnreachableComputations();
  SetResultShape(module_);
}

bool MergedModule::IsShared(int64_t output) const {
  const Computation& entry = module_.entry_computation();
  const Instruction& root = entry[entry.root()];
  return root.operand(static_cast<size_t>(2 * output)) ==
         root.operand(static_cast<size_t>(2 * output + 1));
}

Module MergedModule::Slice(absl::Span<const int64_t> outputs,
                           absl::Span<const Replacement> replacements) const {
  Module slice = module_;
  Computation& entry = slice.mutable_computation(slice.entry());
  for (const auto& [replaced, replacing] : replacements) {
    entry.ReplaceAllUses(replaced, replacing);
  }
  std::vector<size_t> numbers;
  for (int64_t output : outputs) {
    numbers.push_back(static_cast<size_t>(2 * output));
    numbers.push_back(static_cast<size_t>(2 * output + 1));
  }
  SelectElements(slice, numbers);
  return slice;
}

Module MergedModule::SliceOf(Partner partner,
                             absl::Span<const int64_t> outputs) const {
  Module slice = module_;
  std::vector<size_t> numbers;
  for (int64_t output : outputs) {
    numbers.push_back(static_cast<size_t>(2 * output) +
                      (partner == Partner::kB));
  }
  SelectElements(slice, numbers);
  return slice;
}

absl::Status CheckSignatures(const Module& a, const Module& b) {
  const Computation& x = a.entry_computation();
  const Computation& y = b.entry_computation();
  if (x.parameters().size() != y.parameters().size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the modules take ", x.parameters().size(), " and ",
        y.parameters().size(), " parameters, expected the same number"));
  }
  for (size_t i = 0; i < x.parameters().size(); ++i) {
    const Shape& p = x[x.parameters()[i]].shape();
    const Shape& q = y[y.parameters()[i]].shape();
    if (!Shape::Equal(p, q)) {
      return absl::InvalidArgumentError(
          absl::StrCat("parameter ", i, " has shape ", p.ToString(), " and ",
                       q.ToString(), ", expected the same"));
    }
  }
  const Shape& p = x[x.root()].shape();
  const Shape& q = y[y.root()].shape();
  if (!Shape::Equal(p, q)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the results have shape ", p.ToString(), " and ",
                     q.ToString(), ", expected the same"));
  }
  return absl::OkStatus();
}

}  // namespace hone::hlo
