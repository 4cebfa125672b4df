#include "hlo/rewrite/tuples/elements.h"

#include <algorithm>
#include <utility>

#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/tuples/attributes.h"

namespace hone::hlo {
namespace {

ShapePtr ChangedShape(const Shape& shape, const ElementChange& change) {
  std::vector<ShapePtr> elements;
  for (size_t i = 0; i < change.kept.size(); ++i) {
    if (change.kept[i]) elements.push_back(shape.tuple_elements()[i]);
  }
  elements.insert(elements.end(), change.added.begin(), change.added.end());
  return Shape::Tuple(std::move(elements));
}

bool Fits(Rewriter& r, InstructionId id, const ElementChange& change) {
  const Shape& shape = r.shape(id);
  if (!shape.IsTuple() || shape.tuple_elements().size() != change.kept.size()) {
    r.Fail("elements of something else than this tuple");
  } else if (!MayChangeElements(r[id], change)) {
    r.Fail("attributes that cannot follow the elements");
  } else {
    return true;
  }
  return false;
}

}  // namespace

bool UsesElementsOnly(const Computation& computation, InstructionId tuple) {
  const InstructionIds& users = computation[tuple].users();
  return tuple != computation.root() &&
         std::all_of(users.begin(), users.end(), [&](InstructionId user) {
           return computation[user].opcode() == Opcode::kGetTupleElement;
         });
}

std::vector<bool> ReadElements(const Computation& computation,
                               InstructionId tuple) {
  std::vector<bool> read(computation[tuple].shape().tuple_elements().size());
  for (InstructionId user : computation[tuple].users()) {
    read[static_cast<size_t>(computation[user].index())] = true;
  }
  return read;
}

bool MayChangeElements(const Instruction& tuple, const ElementChange& change) {
  return ChangedTupleAttributes(tuple, change) != nullptr;
}

InstructionId ElementOf(Rewriter& r, InstructionId tuple, size_t i) {
  if (r.Is(tuple, Opcode::kTuple)) return r.operand(tuple, i);
  return MakeGetTupleElement(r, tuple, static_cast<int32_t>(i));
}

void ChangeElements(Rewriter& r, InstructionId id,
                    const ElementChange& change) {
  if (!Fits(r, id, change)) return;
  r.SetShape(id, ChangedShape(r.shape(id), change),
             ChangedTupleAttributes(r[id], change));
  std::vector<int32_t> indices;
  int32_t next = 0;
  for (bool is_kept : change.kept) indices.push_back(is_kept ? next++ : -1);
  for (InstructionId user : InstructionIds(r[id].users())) {
    if (!r.Is(user, Opcode::kGetTupleElement)) continue;
    const int32_t index = r[user].index();
    if (!change.kept[static_cast<size_t>(index)]) {
      r.Fail("reads an element that goes");
      return;
    }
    r.SetIndex(user, indices[static_cast<size_t>(index)]);
  }
}

void ChangeTuple(Rewriter& r, InstructionId id, const ElementChange& change,
                 absl::Span<const InstructionId> added) {
  if (!Fits(r, id, change)) return;
  InstructionIds operands;
  for (size_t i = 0; i < change.kept.size(); ++i) {
    if (change.kept[i]) operands.push_back(r.operand(id, i));
  }
  operands.insert(operands.end(), added.begin(), added.end());
  r.SetOperands(id, operands);
  ChangeElements(r, id, change);
}

InstructionId MakeChangedTuple(Rewriter& r, InstructionId tuple,
                               const ElementChange& change,
                               absl::Span<const InstructionId> added) {
  if (!Fits(r, tuple, change)) return kNoInstruction;
  InstructionIds operands;
  for (size_t i = 0; i < change.kept.size(); ++i) {
    if (change.kept[i]) operands.push_back(ElementOf(r, tuple, i));
  }
  operands.insert(operands.end(), added.begin(), added.end());
  const Instruction& old = r[tuple];
  Instruction made(Opcode::kTuple, ChangedShape(old.shape(), change), operands);
  if (old.opcode() == Opcode::kTuple) {
    made.set_attributes(ChangedTupleAttributes(old, change));
    made.set_metadata(old.metadata());
  }
  return r.AddCopy(std::move(made));
}

}  // namespace hone::hlo
