#ifndef HONE_HLO_IR_COMPUTATION_H_
#define HONE_HLO_IR_COMPUTATION_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"

#include "base/chunked_vector.h"
#include "hlo/ir/control_edges.h"
#include "hlo/ir/instruction.h"
#include "hlo/ir/live_range.h"
#include "hlo/ir/opcode_set.h"

namespace hone::hlo {

// A directed acyclic graph of instructions with one root.
//
// Instructions live in slots named by InstructionId. References to them stay
// valid while instructions are added. Slots of removed instructions are skipped
// by every accessor below.
class Computation {
 public:
  explicit Computation(std::string name = "") : name_(std::move(name)) {}

  // The id that Module::AddComputation gave it; kNoComputation before.
  ComputationId id() const { return id_; }

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  // Text behind the closing brace (`execution_thread="x"`), verbatim.
  const std::string& suffix() const { return suffix_; }
  void set_suffix(std::string suffix) { suffix_ = std::move(suffix); }

  const Instruction& operator[](InstructionId id) const {
    return instructions_[static_cast<size_t>(id)];
  }
  // For changing attributes, shape, name and the like.
  Instruction& mutable_instruction(InstructionId id) {
    return instructions_[static_cast<size_t>(id)];
  }
  // The live instructions in slot order:
  //
  //   for (const Instruction& i : computation.instructions()) …
  //
  // Instructions that are added in the loop are not visited; those that are
  // removed in it before their turn are skipped.
  LiveRange<ChunkedVector<Instruction>> instructions() const {
    return LiveRange(instructions_, instructions_.size());
  }
  // Returns true if `id` names a live instruction of this computation.
  bool Contains(InstructionId id) const {
    return id >= 0 && id < slot_count() && (*this)[id].is_live();
  }

  // Ids are 0 … slot_count()-1; a slot may be dead (Instruction::is_live). For
  // hlo/ir and hlo/rewrite: everybody else iterates over instructions() and
  // keeps tables in an IdMap.
  InstructionId slot_count() const {
    return static_cast<InstructionId>(instructions_.size());
  }
  int64_t live_count() const { return live_count_; }
  // The opcodes of all live instructions, and maybe some of removed ones: what
  // is not in it need not be looked for.
  const OpcodeSet& opcodes() const { return opcodes_; }

  InstructionId root() const { return root_; }
  void set_root(InstructionId root) { root_ = root; }
  // The parameters, in the order of their numbers.
  const std::vector<InstructionId>& parameters() const { return parameters_; }

  // Adds an instruction whose operands are in this computation. A parameter
  // takes its place in parameters() by its index().
  InstructionId AddInstruction(Instruction instruction);

  // Like AddInstruction, but operands may be forward references, which text
  // allows; users are filled in by FinishForwardReferences.
  InstructionId AddWithForwardReferences(Instruction instruction);
  // Sets an operand that was kNoInstruction when `user` was added so; before
  // FinishForwardReferences.
  void ResolveForwardReference(InstructionId user, size_t operand_index,
                               InstructionId operand) {
    mutable_instruction(user).operands_[operand_index] = operand;
  }
  void FinishForwardReferences();

  void ReplaceOperand(InstructionId user, size_t operand_index,
                      InstructionId replacement);
  void SetOperands(InstructionId user,
                   absl::Span<const InstructionId> operands);

  // Makes every user of `old` (control successors and the root included) use
  // `replacement`; `replacement` itself keeps using `old` if it does.
  void ReplaceAllUses(InstructionId old, InstructionId replacement);

  // Removes an instruction without users that is not the root. A parameter
  // leaves a gap that RenumberParameters closes.
  void Remove(InstructionId id);

  // Drops the parameters that were removed; the others keep their order and get
  // the numbers 0, 1, …
  void RenumberParameters();

  // Drops the dead slots: the live instructions keep their order and get the
  // ids 0, 1, … Ends the life of every InstructionId of this computation, and
  // its ids no longer agree with those of its forks.
  void Compact();

  // Control predecessors: must run before `id` though no data flows.
  absl::Span<const InstructionId> control_predecessors(InstructionId id) const {
    return control_.predecessors(id);
  }
  bool has_control_dependencies() const { return !control_.empty(); }
  void AddControlPredecessor(InstructionId id, InstructionId predecessor) {
    control_.Add(predecessor, id);
  }
  // Lets each control predecessor of `id` run before each of its successors
  // instead, so that `id` is no end of a control edge any more.
  void BypassControlDependencies(InstructionId id) { control_.Bypass(id); }
  // Returns true if `id` is an end of a control edge. Constant time.
  bool HasControlDependency(InstructionId id) const {
    return !control_.empty() && control_.Contains(id);
  }

  // Live instructions, operands and control predecessors before users. Stable:
  // depends on the graph and slot order only. Instructions that do not reach
  // the root come too. On a cyclic graph (which only an unverified one is) some
  // are missing.
  std::vector<InstructionId> PostOrder() const;

  // Live instructions in slot order, which is textual order for a module as
  // read: the schedule when is_scheduled.
  std::vector<InstructionId> LiveInstructions() const;

 private:
  void AddUser(InstructionId operand, InstructionId user);
  void RemoveUser(InstructionId operand, InstructionId user);
  bool Uses(InstructionId user, InstructionId operand) const;

  friend class Module;  // sets id_

  ComputationId id_ = kNoComputation;
  std::string name_;
  std::string suffix_;
  ChunkedVector<Instruction> instructions_;
  int64_t live_count_ = 0;
  OpcodeSet opcodes_;
  InstructionId root_ = kNoInstruction;
  std::vector<InstructionId> parameters_;
  // Rare, so beside the instructions.
  ControlEdges control_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_IR_COMPUTATION_H_
