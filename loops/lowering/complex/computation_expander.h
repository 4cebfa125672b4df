#ifndef HONE_LOOPS_LOWERING_COMPLEX_COMPUTATION_EXPANDER_H_
#define HONE_LOOPS_LOWERING_COMPLEX_COMPUTATION_EXPANDER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

#include "hlo/ir/id_map.h"
#include "hlo/ir/module.h"
#include "loops/lowering/complex/complex_arithmetic.h"

namespace hone::loops {

// The interface of a computation.
enum class Interface : uint8_t {
  kEntry,
  // A complex parameter or result is a tuple of two.
  kTuples,
  // A complex parameter is two parameters, and likewise for results: the
  // region of a reduction or scatter.
  kParameters,
  // The same, where parameters come in pairs of which each belongs to one
  // operand: a comparator.
  kPairs,
};

// The computations of a module with complex arrays, written anew.
class ModuleExpander {
 public:
  explicit ModuleExpander(hlo::Module& module) : module_(module) {}

  const hlo::Module& module() const { return module_; }

  // Returns a computation of the same meaning without complex arrays.
  absl::StatusOr<hlo::ComputationId> Expanded(hlo::ComputationId id,
                                              Interface interface);
  // Returns a region that adds two scalars.
  hlo::ComputationId Sum(hlo::ElementType type);

 private:
  hlo::Module& module_;
  absl::flat_hash_map<std::pair<hlo::ComputationId, Interface>,
                      hlo::ComputationId>
      done_;
  absl::flat_hash_map<hlo::ElementType, hlo::ComputationId> sums_;
};

// Writes one computation of it.
class ComputationExpander {
 public:
  ComputationExpander(ModuleExpander& expander, const hlo::Computation& from,
                      Interface interface)
      : expander_(expander), from_(from), interface_(interface) {}

  absl::StatusOr<hlo::Computation> Run();

 private:
  hlo::InstructionId Add(hlo::Instruction instruction) {
    instruction.set_name(name_);
    return to_.AddInstruction(std::move(instruction));
  }
  bool IsComplex(hlo::InstructionId id) const {
    return hlo::IsComplex(from_[id].shape().element_type());
  }
  // The value as one instruction: a tuple of two if it is complex.
  hlo::InstructionId Whole(hlo::InstructionId id);
  ComplexParts Parts(hlo::InstructionId id);
  // Either both parts or the only instruction, once for each part.
  ComplexParts PartsOrBoth(hlo::InstructionId id);
  hlo::InstructionId Element(hlo::InstructionId tuple, int32_t index) {
    return Add(hlo::Instruction::GetTupleElement(
        to_[tuple].shape().tuple_element(index), tuple, index));
  }
  hlo::InstructionId Tuple(const std::vector<hlo::InstructionId>& elements);
  ComplexParts FromBytes(hlo::InstructionId bytes);
  hlo::InstructionId ToBytes(ComplexParts parts);
  // The same for values with tuples, from and to the entry's interface.
  hlo::InstructionId WholeFromBytes(const hlo::ShapePtr& shape,
                                    hlo::InstructionId bytes);
  hlo::InstructionId WholeToBytes(const hlo::ShapePtr& shape,
                                  hlo::InstructionId whole);
  // Instructions of operands or results, two for each that is complex.
  std::vector<hlo::InstructionId> Flat(
      absl::Span<const hlo::InstructionId> ids);
  void SetFlatResult(const hlo::Instruction& instruction,
                     hlo::InstructionId made);

  void AddParameters();

  // instruction_rules.cc
  absl::Status Write(const hlo::Instruction& instruction);
  absl::Status WriteArithmetic(const hlo::Instruction& instruction);
  absl::Status WriteRegion(const hlo::Instruction& instruction);
  absl::Status WriteSum(const hlo::Instruction& instruction);
  absl::Status WriteProduct(const hlo::Instruction& instruction);
  absl::Status WriteLibraryCall(const hlo::Instruction& instruction);
  absl::Status WriteUnchanged(const hlo::Instruction& instruction);
  void WriteEachPart(const hlo::Instruction& instruction);

  absl::StatusOr<hlo::InstructionId> Root();

  ModuleExpander& expander_;
  const hlo::Computation& from_;
  const Interface interface_;
  hlo::Computation to_;
  std::string name_;  // of the instruction that is written
  hlo::IdMap<hlo::InstructionId> wholes_{hlo::kNoInstruction};
  hlo::IdMap<ComplexParts> parts_;
};

}  // namespace hone::loops

#endif  // HONE_LOOPS_LOWERING_COMPLEX_COMPUTATION_EXPANDER_H_
