#ifndef HONE_HLO_REWRITE_REWRITER_H_
#define HONE_HLO_REWRITE_REWRITER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <source_location>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"

#include "hlo/ir/id_map.h"
#include "hlo/ir/module.h"
#include "hlo/rewrite/options.h"

namespace hone::hlo {

// The source location of a rewrite's request, which errors name.
using Place = std::source_location;

// Returns true if the layout of `id` is part of what some user means.
bool LayoutIsSeen(const Computation& computation, InstructionId id);

// Reads and changes one computation on behalf of a pass.
//
// Reading never copies the computation; the first change does if another module
// shares it. References to instructions stay valid until Replace, so a rewrite
// matches, then makes instructions (makers.h), and calls Replace last.
//
// A request that does not fit (operands of the wrong shape, a replacement of
// another shape, an instruction that must stay) changes nothing and is kept in
// status(), which ends the pass: rewrites need not check each step. What a
// maker returns then may be read and used further.
class Rewriter {
 public:
  // `module` and `options` outlive the rewriter.
  Rewriter(Module& module, ComputationId id, const RewriteOptions& options);
  // Rewrites `id`, a callee of the caller's computation, under its options.
  Rewriter(const Rewriter& caller, ComputationId id)
      : Rewriter(*caller.module_, id, *caller.options_) {}
  Rewriter(const Rewriter&) = delete;
  Rewriter& operator=(const Rewriter&) = delete;
  // Gives the copy of the computation back if nothing was changed for good.
  ~Rewriter();

  // The first request that did not fit.
  const absl::Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }
  // Records an error of the pass itself, with its place.
  void Fail(absl::string_view what, Place place = Place::current());

  // Returns true if the caller's options allow rewrites of that class. Every
  // rewrite that is not exact asks first.
  bool Permits(NumericClass numeric_class) const {
    return hlo::Permits(options_->numerics, numeric_class);
  }

  const Module& module() const { return *module_; }
  const Computation& computation() const { return *current_; }
  const Instruction& operator[](InstructionId id) const {
    return id == kNoInstruction ? Misfit() : (*current_)[id];
  }
  const Shape& shape(InstructionId id) const { return (*this)[id].shape(); }
  const DimensionVector& dimensions_of(InstructionId id) const {
    return shape(id).dimensions();
  }
  // Operand `i` of `id`.
  InstructionId operand(InstructionId id, size_t i) const {
    return (*this)[id].operand(i);
  }
  bool Is(InstructionId id, Opcode opcode) const {
    return (*this)[id].opcode() == opcode;
  }
  // Returns true if `id` has the form of `pattern` (matchers.h), whose captures
  // are then set; otherwise some of them may be.
  template <typename Pattern>
  bool Match(InstructionId id, const Pattern& pattern) const {
    return id != kNoInstruction && pattern.Matches(*current_, id);
  }

  // Returns true if `user` is the only user of `id`, which nothing else keeps
  // alive: it is no root, parameter or end of a control dependency.
  bool DiesWith(InstructionId id, InstructionId user) const;
  // The number of instructions that go when `id` loses the use by `user`: `id`
  // itself and what it alone uses, through chains of broadcasts and reshapes
  // only. For rewrites that must not raise the count.
  int FreedWith(InstructionId id, InstructionId user) const;
  // Returns true if the death of `id` would be that of something with
  // annotations (IsAnnotated) that this rewrite made no other of. `kept` stay,
  // and what they use. Replace asks it.
  bool LosesAnnotation(InstructionId id,
                       absl::Span<const InstructionId> kept) const;
  bool LayoutIsSeen(InstructionId id) const {
    return hlo::LayoutIsSeen(*current_, id);
  }
  // Returns true if something else may compute the value of `id`: it is no
  // parameter, has no side effect, control dependency, attribute that Hone does
  // not know or layout that a user sees and, unless `dynamic`, neither it nor
  // an operand has a dynamic dimension.
  bool MayReplace(InstructionId id, bool dynamic = false) const;

  // Adds an instruction on live operands, with the shape that InferShape gives
  // it (a shape that is set already has to agree). Attributes that belong to a
  // place in a program (carried_attributes.h) are dropped.
  InstructionId Add(Instruction instruction, Place place = Place::current());
  // Likewise, where operands and attributes tell all of the shape but its
  // element type.
  InstructionId AddOfType(Instruction instruction, ElementType type,
                          Place place = Place::current());
  // Likewise, and keeps these attributes: a copy of what stands elsewhere, as
  // when a call is inlined.
  InstructionId AddCopy(Instruction instruction,
                        Place place = Place::current());

  // Moves all uses of `old` to `replacement`, an instruction of the same shape,
  // carries attributes over (carried_attributes.h) and removes what that leaves
  // dead. Where layouts differ and a user sees that, a copy goes in between.
  // Returns false, and changes nothing, where attributes cannot be carried, or
  // something with annotations of its own would die with `old`, be it in a
  // region that nothing of this rewrite applies too.
  bool Replace(InstructionId old, InstructionId replacement,
               Place place = Place::current());
  // Adds the instruction, which must compute the same value, and replaces `old`
  // by it.
  bool ReplaceWith(InstructionId old, Instruction instruction,
                   Place place = Place::current());

  // The changes below are for passes that change several computations together
  // (loops, branches, calls), which leave them consistent in the end.

  // Makes operand `i` of `user` another instruction of the same shape.
  void SetOperand(InstructionId user, size_t i, InstructionId operand,
                  Place place = Place::current());
  // Replaces all operands; their shapes are for the pass to get right.
  void SetOperands(InstructionId user, absl::Span<const InstructionId> operands,
                   Place place = Place::current());
  // Moves all uses, the root included, whatever the shapes.
  void ReplaceUses(InstructionId old, InstructionId replacement,
                   Place place = Place::current());
  // Changes the shape of `id` and, as their form may follow it, its attributes.
  void SetShape(InstructionId id, ShapePtr shape,
                std::shared_ptr<const Attributes> attributes,
                Place place = Place::current());
  void SetAttributes(InstructionId id,
                     std::shared_ptr<const Attributes> attributes,
                     Place place = Place::current());
  void SetCalled(InstructionId id, ComputationIds called,
                 Place place = Place::current());
  // Sets the index of a parameter or get-tuple-element.
  void SetIndex(InstructionId id, int32_t index,
                Place place = Place::current());
  void SetRoot(InstructionId id, Place place = Place::current());
  // Closes the gaps that removed parameters left.
  void RenumberParameters();
  // Lets `successor` run after `predecessor`.
  void AddControlPredecessor(InstructionId successor, InstructionId predecessor,
                             Place place = Place::current());
  // Removes `id` if nothing needs it, and then its operands likewise. Unused
  // parameters go too if `parameters`.
  void RemoveDead(InstructionId id, bool parameters = false);
  // Moves the control dependencies of `id` to its operands' and users' side:
  // each predecessor runs before each successor, and `id` has none any more.
  void BypassControlDependencies(InstructionId id,
                                 Place place = Place::current());

  // For the driver: the next instruction to look at again (what was added, what
  // uses something new, and what may die with its operand now) in the order of
  // the changes since the first TouchAll; kNoInstruction if there is none.
  InstructionId NextTouched();
  // Puts every live instruction in that queue.
  void TouchAll();
  // Removes what this rewrite added and does not use; the next one begins. For
  // the driver and for passes that make several rewrites of a computation.
  void EndRewrite();
  // Returns true once something was changed that stays, here or in a callee.
  bool changed() const { return changed_; }
  // Takes over the error and the change that `callee` met, the rewriter of a
  // computation that an instruction here calls.
  void Include(const Rewriter& callee);

 private:
  // Returns true if something that can die has annotations, or a region that it
  // applies.
  bool HasAnnotations() const;
  // Returns true if a region that `old` applies has annotations, and nothing
  // else of this rewrite, nor `replacement`, applies it.
  bool LosesRegion(InstructionId old, InstructionId replacement) const;
  // Returns true if `id` can be removed once nothing uses it.
  bool DiesWithoutUsers(InstructionId id, bool parameters = false) const;
  static const Instruction& Misfit();
  Computation& Mutable();
  // If `of_type`, the shape that is set stands for its element type alone.
  InstructionId Insert(Instruction instruction, Place place,
                       bool of_type = false);
  bool CheckLive(InstructionId id, Place place);
  void Touch(InstructionId id);

  Module* module_;
  const ComputationId id_;
  const RewriteOptions* options_;
  const Computation* current_;
  Computation* mutable_ = nullptr;
  std::shared_ptr<const Computation> replaced_;
  absl::Status status_;
  bool changed_ = false;
  InstructionId mark_;           // the first id of this rewrite's own
  InstructionId replaced_mark_;  // likewise, since the last Replace
  // Replacements of this rewrite that took over annotations: each stands for
  // the instruction that it replaced and for no other that dies.
  absl::InlinedVector<InstructionId, 4> heirs_;
  // False if nothing in the computation can lose an annotation; empty where
  // that has to be found out (again).
  mutable std::optional<bool> is_annotated_;
  // True once the driver uses NextTouched.
  bool queues_ = false;
  std::vector<InstructionId> touched_;
  size_t next_touched_ = 0;
  IdMap<bool> is_touched_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_REWRITER_H_
