#include "hlo/rewrite/tuples/loop_rewriter.h"

#include "hlo/rewrite/dead_code.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/tuples/elements.h"

namespace hone::hlo {

LoopRewriter::LoopRewriter(Rewriter& outside, InstructionId id)
    : outside_(outside), id_(id) {
  OpenCallees();
}

void LoopRewriter::OpenCallees() {
  const ComputationIds& called = outside_[id_].called();
  condition_.emplace(outside_, called[0]);
  body_.emplace(outside_, called[1]);
}

int32_t LoopRewriter::element_count() const {
  return static_cast<int32_t>(outside_.shape(id_).tuple_elements().size());
}

bool LoopRewriter::TakesStateApart() const {
  const InstructionId root = body_->computation().root();
  return outside_.shape(id_).IsTuple() && body_->Is(root, Opcode::kTuple) &&
         (*body_)[root].users().empty() &&
         UsesElementsOnly(body_->computation(), body_state()) &&
         UsesElementsOnly(condition_->computation(), condition_state());
}

bool LoopRewriter::IsRead(InstructionId id) const {
  return body_->Is(id, Opcode::kGetTupleElement) &&
         body_->operand(id, 0) == body_state();
}

bool LoopRewriter::HandsOn(int32_t i) const {
  const InstructionId root = body_->computation().root();
  if (!body_->Is(root, Opcode::kTuple)) return false;
  const InstructionId result = body_->operand(root, static_cast<size_t>(i));
  return IsRead(result) && (*body_)[result].index() == i;
}

InstructionIds LoopRewriter::Reads(const Rewriter& r, InstructionId tuple,
                                   int32_t i) {
  InstructionIds reads;
  for (InstructionId user : r[tuple].users()) {
    if (r.Is(user, Opcode::kGetTupleElement) && r[user].index() == i) {
      reads.push_back(user);
    }
  }
  return reads;
}

bool LoopRewriter::OwnCallees(Callees& callees) {
  if (callees.AreOwn(outside_[id_])) return true;
  if (!callees.MakeOwn(outside_, id_)) return false;
  OpenCallees();
  return true;
}

void LoopRewriter::ReplaceInit(InstructionId init) {
  const InstructionId old = this->init();
  outside_.SetOperands(id_, {init});
  outside_.RemoveDead(old);
}

bool LoopRewriter::MayChange(const ElementChange& change) const {
  const InstructionId root = body_->computation().root();
  const Instruction& init = outside_[this->init()];
  return MayChangeElements(outside_[id_], change) &&
         MayChangeElements((*body_)[body_state()], change) &&
         MayChangeElements((*body_)[root], change) &&
         MayChangeElements((*condition_)[condition_state()], change) &&
         // What is no tuple instruction stays, and its elements are taken.
         (init.opcode() != Opcode::kTuple || MayChangeElements(init, change));
}

bool LoopRewriter::MayRemoveElements(const std::vector<bool>& kept) const {
  return MayChange({kept});
}

bool LoopRewriter::MayAddElements() const {
  const std::vector<bool> kept(static_cast<size_t>(element_count()), true);
  return MayChange({kept, {Shape::Scalar(ElementType::kPred)}});
}

void LoopRewriter::TakeResultApart() {
  if (UsesElementsOnly(outside_.computation(), id_)) return;
  const InstructionIds users = outside_[id_].users();
  InstructionIds elements;
  for (int32_t i = 0; i < element_count(); ++i) {
    elements.push_back(MakeGetTupleElement(outside_, id_, i));
  }
  const InstructionId whole = MakeTuple(outside_, elements);
  for (InstructionId user : users) {
    if (outside_.Is(user, Opcode::kGetTupleElement)) continue;
    for (size_t i = 0; i < outside_[user].operand_count(); ++i) {
      if (outside_.operand(user, i) == id_) outside_.SetOperand(user, i, whole);
    }
  }
  if (outside_.computation().root() == id_) outside_.SetRoot(whole);
}

void LoopRewriter::RemoveElements(const std::vector<bool>& kept) {
  const ElementChange change = {kept};
  const InstructionId root = body_->computation().root();
  ChangeTuple(*body_, root, change);
  // Now nothing reads an element that goes.
  RemoveDeadInstructions(*body_);
  ChangeElements(*body_, body_state(), change);
  ChangeElements(*condition_, condition_state(), change);
  ReplaceInit(MakeChangedTuple(outside_, init(), change));
  ChangeElements(outside_, id_, change);
}

InstructionIds LoopRewriter::AddElements(
    absl::Span<const InstructionId> initial) {
  if (initial.empty()) return {};
  const int32_t count = element_count();
  ElementChange change = {std::vector<bool>(static_cast<size_t>(count), true)};
  for (InstructionId value : initial) {
    change.added.push_back(outside_[value].shape_ptr());
  }
  ChangeElements(*condition_, condition_state(), change);
  ChangeElements(*body_, body_state(), change);
  InstructionIds reads;
  for (size_t i = 0; i < initial.size(); ++i) {
    reads.push_back(MakeGetTupleElement(*body_, body_state(),
                                        count + static_cast<int32_t>(i)));
  }
  ChangeTuple(*body_, body_->computation().root(), change, reads);
  ReplaceInit(MakeChangedTuple(outside_, init(), change, initial));
  ChangeElements(outside_, id_, change);
  return reads;
}

void LoopRewriter::Finish() {
  outside_.Include(*condition_);
  outside_.Include(*body_);
}

}  // namespace hone::hlo
