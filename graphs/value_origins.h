#ifndef HONE_GRAPHS_VALUE_ORIGINS_H_
#define HONE_GRAPHS_VALUE_ORIGINS_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"

#include "hlo/ir/computation.h"

namespace hone::graphs {

// A part of the result of `origin` that is no tuple: an array, a token or the
// like. The leaves of a result are numbered in the order of its shape.
struct Leaf {
  // Stands for a result without leaves, an empty tuple.
  static constexpr int64_t kNone = -1;

  hlo::InstructionId origin = hlo::kNoInstruction;
  int64_t index = 0;
  double bytes = 0;
};

// Returns true for tuple, get-tuple-element, bitcast, opt-barrier and domain,
// which make no values.
bool OnlyPassesValues(hlo::Opcode opcode);

// Where the values of a computation come from, through the instructions that
// only pass them on. The computation must outlive this and not change.
class ValueOrigins {
 public:
  explicit ValueOrigins(const hlo::Computation& computation);

  // Adds the leaves of an instruction's result to `leaves`, by the instructions
  // that make them. Errors: InvalidArgument once 2^24 leaves were asked for: a
  // few tuples that many instructions read would fill the memory.
  absl::Status AddLeaves(hlo::InstructionId id, std::vector<Leaf>& leaves);

  // Of the result of an instruction.
  int64_t LeafCount(hlo::InstructionId id) const;
  double LeafBytes(hlo::InstructionId id, int64_t leaf) const;

 private:
  // The leaves of a tuple's shape.
  struct Table {
    std::vector<double> bytes;   // [leaves]
    std::vector<int64_t> first;  // of each element
  };
  // Successive leaves of the result of `origin`, or the operands of `tuple`.
  struct Value {
    hlo::InstructionId origin = hlo::kNoInstruction;
    int64_t first = 0;
    int64_t count = 0;
    hlo::InstructionId tuple = hlo::kNoInstruction;
  };

  void Trace(const hlo::Instruction& instruction);
  void MakeTable(const hlo::Shape& shape);
  const Value& value(hlo::InstructionId id) const {
    return values_[static_cast<size_t>(id)];
  }

  const hlo::Computation& computation_;
  // Of the shapes of instructions that are tuples.
  absl::flat_hash_map<const hlo::Shape*, Table> tables_;
  std::vector<Value> values_;  // by instruction
  std::vector<Value> stack_;
  int64_t asked_ = 0;
};

}  // namespace hone::graphs

#endif  // HONE_GRAPHS_VALUE_ORIGINS_H_
