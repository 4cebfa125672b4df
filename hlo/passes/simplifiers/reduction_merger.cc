// reduction-merger: sums of sums over arrays of the same sizes become sums of
// one array:
//
//   reduce(x) + reduce(y) - reduce(z) → reduce(x + y - z)
//
// over whole trees of additions, as where the norm of a gradient is taken over
// all parameters, and in the backward pass of a normalization, which has the
// sum of the arrays at hand. Reassociates. Only where that leaves fewer
// instructions. Hone's own: upstream has no such pass.

#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"

#include "hlo/passes/algsimp/rules.h"
#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/regions/reductions.h"
#include "hlo/rewrite/values.h"

namespace hone::hlo {
namespace {

// A summand.
struct Term {
  bool negative = false;
  InstructionId id = kNoInstruction;
};

bool IsSum(const Rewriter& r, InstructionId id) {
  return r.Is(id, Opcode::kAdd) || r.Is(id, Opcode::kSubtract) ||
         r.Is(id, Opcode::kNegate);
}

// Returns true if `id` sums one array up from nothing, and only `user` reads
// it.
bool IsMergeable(const Rewriter& r, InstructionId id, InstructionId user) {
  const Instruction& instruction = r[id];
  return instruction.opcode() == Opcode::kReduce &&
         instruction.operand_count() == 2 && r.DiesWith(id, user) &&
         r.MayReplace(id) && algsimp::MayReorder(r, id) &&
         IsUniform(r.computation(), instruction.operand(1), 0) &&
         ReductionOpcode(r.module().computation(instruction.called()[0])) ==
             Opcode::kAdd;
}

// The tree of additions under one instruction. It may be as deep as a module is
// long.
class Tree {
 public:
  Tree(const Rewriter& r, InstructionId root) : r_(r) {
    Open({.id = root});
    while (!open_.empty()) {
      const Edge edge = open_.back();
      open_.pop_back();
      const InstructionId id = edge.term.id;
      if (IsSum(r_, id) && !edge.is_read_twice && r_.DiesWith(id, edge.user) &&
          r_.MayReplace(id)) {
        Open(edge.term);
      } else {
        terms_.push_back(edge.term);
        users_.push_back(edge.user);
      }
    }
  }

  const std::vector<Term>& terms() const { return terms_; }
  // The user of each term.
  const std::vector<InstructionId>& users() const { return users_; }
  int size() const { return size_; }

 private:
  struct Edge {
    InstructionId user = kNoInstruction;
    Term term;
    // By the user. A chain of x + x would be a tree of 2^n terms.
    bool is_read_twice = false;
  };

  // Adds a sum; its first operand is the next to be looked at.
  void Open(const Term& sum) {
    ++size_;
    const InstructionIds& operands = r_[sum.id].operands();
    for (size_t i = operands.size(); i-- > 0;) {
      const bool flips = r_.Is(sum.id, Opcode::kNegate) ||
                         (r_.Is(sum.id, Opcode::kSubtract) && i > 0);
      const bool is_read_twice =
          operands.size() == 2 && operands[0] == operands[1];
      open_.push_back(
          {sum.id, {sum.negative != flips, operands[i]}, is_read_twice});
    }
  }

  const Rewriter& r_;
  std::vector<Edge> open_;
  std::vector<Term> terms_;
  std::vector<InstructionId> users_;
  int size_ = 0;
};

InstructionId FindBinary(const Rewriter& r, Opcode opcode, InstructionId a,
                         InstructionId b) {
  for (InstructionId user : r[a].users()) {
    if (!r.Is(user, opcode)) continue;
    const InstructionIds& operands = r[user].operands();
    if ((operands[0] == a && operands[1] == b) ||
        (opcode == Opcode::kAdd && operands[0] == b && operands[1] == a)) {
      return user;
    }
  }
  return kNoInstruction;
}

// The sum of `terms`, of which the first is not negative unless all are; counts
// in `made` what was not there.
InstructionId MakeSum(Rewriter& r, const std::vector<Term>& terms, int& made) {
  InstructionId sum = terms[0].id;
  for (size_t i = 1; i < terms.size(); ++i) {
    const Opcode opcode = terms[i].negative == terms[0].negative
                              ? Opcode::kAdd
                              : Opcode::kSubtract;
    const InstructionId known = FindBinary(r, opcode, sum, terms[i].id);
    made += known == kNoInstruction ? 1 : 0;
    sum = known != kNoInstruction ? known
                                  : MakeBinary(r, opcode, sum, terms[i].id);
  }
  return sum;
}

bool MergeReductions(Rewriter& r, InstructionId id) {
  if (!IsSum(r, id)) return false;
  // The root of its tree.
  const InstructionIds users = r[id].users();
  if (users.size() == 1 && IsSum(r, users[0]) && r.DiesWith(id, users[0]) &&
      r.MayReplace(users[0])) {
    return false;
  }
  const Tree tree(r, id);
  using Key = std::tuple<DimensionVector, ElementType, DimensionVector>;
  std::map<Key, std::vector<Term>> groups;
  std::vector<Term> rest;
  for (size_t i = 0; i < tree.terms().size(); ++i) {
    const Term& term = tree.terms()[i];
    if (!IsMergeable(r, term.id, tree.users()[i])) {
      rest.push_back(term);
      continue;
    }
    const Shape& shape = r.shape(r.operand(term.id, 0));
    groups[{shape.dimensions(), shape.element_type(), r[term.id].dimensions()}]
        .push_back(term);
  }
  // What goes, less what comes.
  int gain = tree.size();
  bool merges = false;
  for (auto& [key, terms] : groups) {
    if (terms.size() == 1) {
      rest.push_back(terms[0]);
      continue;
    }
    merges = true;
    gain += static_cast<int>(terms.size());
    absl::c_stable_sort(terms, [](const Term& a, const Term& b) {
      return a.negative < b.negative;
    });
    std::vector<Term> arrays;
    arrays.reserve(terms.size());
    for (const Term& term : terms) {
      arrays.push_back({term.negative, r.operand(term.id, 0)});
    }
    int made = 1;
    const InstructionId sum = MakeSum(r, arrays, made);
    const InstructionId first = terms[0].id;
    rest.push_back({terms[0].negative,
                    MakeReduce(r, sum, r.operand(first, 1),
                               r[first].dimensions(), r[first].called()[0])});
    gain -= made;
  }
  if (!merges) return false;
  absl::c_stable_sort(rest, [](const Term& a, const Term& b) {
    return a.negative < b.negative;
  });
  int made = 0;
  InstructionId sum = MakeSum(r, rest, made);
  if (rest[0].negative) {
    sum = MakeUnary(r, Opcode::kNegate, sum);
    ++made;
  }
  if (gain - made <= 0) return false;
  return r.Replace(id, sum);
}

}  // namespace

std::unique_ptr<Pass> MakeReductionMerger() {
  return MakeRulePass(
      {.name = "reduction-merger",
       .opcodes = {Opcode::kAdd, Opcode::kSubtract, Opcode::kNegate}},
      MergeReductions);
}

}  // namespace hone::hlo
