#ifndef HONE_HLO_REWRITE_TUPLES_ELEMENTS_H_
#define HONE_HLO_REWRITE_TUPLES_ELEMENTS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"

#include "hlo/rewrite/rewriter.h"

namespace hone::hlo {

// Removing elements from tuples and adding some, for passes that change the
// state of a loop or the operands and results of a conditional.

// The elements that a tuple has after a change: those of `kept`, in their
// order, then elements of the shapes `added`.
struct ElementChange {
  std::vector<bool> kept;
  std::vector<ShapePtr> added = {};
};

// Returns true if `tuple` is not the root and only get-tuple-element uses it.
bool UsesElementsOnly(const Computation& computation, InstructionId tuple);

// Marks the elements that get-tuple-element reads of `tuple`, of which
// UsesElementsOnly holds.
std::vector<bool> ReadElements(const Computation& computation,
                               InstructionId tuple);

// Element `i` of `tuple`: what it is made of, or a new get-tuple-element.
InstructionId ElementOf(Rewriter& r, InstructionId tuple, size_t i);

// Returns true if the attributes of `tuple`, an instruction of tuple shape, can
// follow the change (ChangedTupleAttributes). The functions below need that.
bool MayChangeElements(const Instruction& tuple, const ElementChange& change);

// Gives `id`, of tuple shape, the shape and the attributes of the changed tuple
// and the get-tuple-elements that use it their new indices. The elements that
// someone reads have to be kept.
void ChangeElements(Rewriter& r, InstructionId id, const ElementChange& change);

// Changes the tuple instruction `id` itself: ChangeElements, and its operands
// become those kept, then `added`.
void ChangeTuple(Rewriter& r, InstructionId id, const ElementChange& change,
                 absl::Span<const InstructionId> added = {});

// Makes a tuple of the elements of `tuple` that are kept, then `added`, with
// the attributes that follow the elements.
InstructionId MakeChangedTuple(Rewriter& r, InstructionId tuple,
                               const ElementChange& change,
                               absl::Span<const InstructionId> added = {});

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_TUPLES_ELEMENTS_H_
