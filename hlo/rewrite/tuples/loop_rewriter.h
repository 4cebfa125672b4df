#ifndef HONE_HLO_REWRITE_TUPLES_LOOP_REWRITER_H_
#define HONE_HLO_REWRITE_TUPLES_LOOP_REWRITER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"

#include "hlo/rewrite/callees.h"
#include "hlo/rewrite/rewriter.h"
#include "hlo/rewrite/tuples/elements.h"

namespace hone::hlo {

// Changes a while together with its condition and body:
//
//   t = (A, B) tuple(a, b)                    the initial state
//   w = (A, B) while(t), condition=…, body=…
//
// where condition and body read the elements of the state, their parameter 0,
// and the body makes the next state.
//
// Everything is consistent again after each call. Instruction ids of condition
// and body stay what they are when the callees are copied.
class LoopRewriter {
 public:
  // `outside` rewrites the computation of the while `id`, whose state is a
  // tuple; all outlive this.
  LoopRewriter(Rewriter& outside, InstructionId id);

  Rewriter& outside() { return outside_; }
  Rewriter& condition() { return *condition_; }
  Rewriter& body() { return *body_; }
  const Rewriter& body() const { return *body_; }
  InstructionId id() const { return id_; }
  // The initial state; the state in condition and body.
  InstructionId init() const { return outside_.operand(id_, 0); }
  InstructionId condition_state() const { return StateOf(*condition_); }
  InstructionId body_state() const { return StateOf(*body_); }
  int32_t element_count() const;

  // Returns true if elements can be added and removed: condition and body use
  // the state by get-tuple-element only, and the root of the body is a tuple
  // instruction that nothing else uses.
  bool TakesStateApart() const;
  // Returns true if `id` is a get-tuple-element of the body's state.
  bool IsRead(InstructionId id) const;
  // Returns true if the body hands element `i` on unchanged.
  bool HandsOn(int32_t i) const;
  // The get-tuple-elements of element `i` of `tuple`.
  static InstructionIds Reads(const Rewriter& r, InstructionId tuple,
                              int32_t i);

  // Gives the loop a condition and body that nothing else calls. Returns false,
  // and changes nothing, beyond the budget. Needed before they are changed.
  bool OwnCallees(Callees& callees);

  // Returns true if the attributes of the state, wherever it stands, can follow
  // its elements: needed before these are changed.
  bool MayRemoveElements(const std::vector<bool>& kept) const;
  bool MayAddElements() const;

  // Where something uses the result of the loop whole, puts a tuple of its
  // elements in between.
  void TakeResultApart();

  // For loops that take their state apart and whose result is used by
  // get-tuple-element only:

  // Removes the elements that are not `kept`. Only what the body computes for
  // such elements may read them.
  void RemoveElements(const std::vector<bool>& kept);
  // Adds elements with these initial values, which the body hands on. Returns
  // the body's reads of them.
  InstructionIds AddElements(absl::Span<const InstructionId> initial);

  // Reports errors and changes in condition and body to the outside. Needed
  // after the last change of them.
  void Finish();

 private:
  static InstructionId StateOf(const Rewriter& r) {
    return r.computation().parameters()[0];
  }
  void OpenCallees();
  bool MayChange(const ElementChange& change) const;
  void ReplaceInit(InstructionId init);

  Rewriter& outside_;
  const InstructionId id_;
  std::optional<Rewriter> condition_;
  std::optional<Rewriter> body_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_REWRITE_TUPLES_LOOP_REWRITER_H_
