#ifndef HONE_HLO_EQUIVALENCE_CONTROL_FLOW_H_
#define HONE_HLO_EQUIVALENCE_CONTROL_FLOW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"

#include "hlo/equivalence/cut_points.h"
#include "hlo/equivalence/deciding_values.h"
#include "hlo/equivalence/influence.h"
#include "hlo/equivalence/sharing.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"

namespace hone::hlo {

// The ways through the control flow that the entry of a merged module
// (MergedModule) reaches and inputs should take: branches, trip counts, both
// values of predicates that decide for whole arrays (DecidingPredicates), and
// the sides of boundaries (BoundariesOf) that one of the modules alone has; of
// the last two those in which a scalar parameter has a say.
class ControlFlow {
 public:
  // `merged` outlives this.
  explicit ControlFlow(const Module& merged);

  // Returns true if there is nothing to look for on any input.
  bool empty() const { return goals_.empty() && varied_ == 0; }
  // The scalar parameters to vary: one set for each way not taken yet, and
  // varied().
  std::vector<ScalarSet> Open(const Coverage& coverage) const;
  // Those of the ways alone, with or without sides of boundaries.
  std::vector<ScalarSet> OpenWays(const Coverage& coverage,
                                  bool with_sides) const;
  // How many ways not taken yet by `coverage` are by `other`.
  int CountNew(const Coverage& coverage, const Coverage& other,
               bool with_sides) const;
  // "3 of 4 branches, 4 of 4 trip counts, 2 of 2 predicate values, 6 of 6
  // boundary cases, values of 1 scalar"; empty if there are none. The trip
  // counts of a loop are none, one and many (where a scalar parameter decides,
  // also over 8); a loop that counts from a constant to a constant has one.
  std::string Describe(const Coverage& coverage) const;

  // The scalar parameters that have a say in outputs that the modules do not
  // compute by the same instructions.
  ScalarSet varied() const { return varied_; }
  const DecidingValues& values() const { return values_; }

  // The module reduced to what its control flow and the cut points depend on:
  // its computations and instructions have the ids of the module's.
  const Module& probe() const { return probe_; }
  const CutPoints& cut_points() const { return cut_points_; }
  // The value in a result of the probe of an instruction that cut_points()
  // reads.
  const Literal& ValueIn(const Literal& result, InstructionId id) const;
  // Adds to `coverage` the ways that only a result of the probe tells.
  void AddWays(const Literal& result, Coverage& coverage) const;

  // Elements of all results of instructions, bodies of loops once: how much
  // work an evaluation of the module is, roughly.
  int64_t elements() const { return elements_; }
  // Likewise, of the bodies of loops alone.
  int64_t loop_elements() const { return loop_elements_; }

 private:
  enum class Kind { kBranch, kTrips, kPredicate, kSide };
  // A way (Coverage) from `first` to `last` through the site: an instruction
  // that calls, a predicate, or, with the number of a boundary, a side of it.
  struct Goal {
    Kind kind;
    ComputationId computation;
    InstructionId site;
    int64_t first;
    int64_t last;
    ScalarSet scalars;
    size_t boundary = 0;
  };
  static bool IsTaken(const Goal& goal, const Coverage& coverage);
  static bool IsOpen(const Goal& goal, const Coverage& coverage) {
    return goal.scalars != 0 && !IsTaken(goal, coverage);
  }
  void AddGoals(ComputationId id, bool is_in_loop);
  void AddSides(ComputationId id, const Instruction& site, bool is_in_loop);
  std::vector<InstructionId> Sites() const;
  void MakeProbe();

  const Module& module_;
  const Influence influence_;
  const Sharing sharing_;
  const std::vector<bool> cheap_;
  const CutPoints cut_points_;
  const DecidingValues values_;
  ScalarSet varied_ = 0;
  std::vector<Goal> goals_;
  Module probe_;
  // By instruction of the entry: its place in the probe's result.
  absl::flat_hash_map<InstructionId, size_t> places_;
  // Slices of the entry: the probe has their indices, but not them.
  std::vector<InstructionId> slices_;
  int64_t elements_ = 0;
  int64_t loop_elements_ = 0;
};

// Looks for arguments on which the modules should be compared beside
// `arguments`, by setting scalar parameters to other values
// (DecidingValues): those by which control flow takes ways that are not in
// `coverage` yet, those on which cut points differ, and a few that stand for
// all. Adds the ways to `coverage` and returns the arguments, those first on
// which the modules seem to differ. Runs the probe a bounded number of times.
std::vector<std::vector<Literal>> FindWays(const Module& module,
                                           const ControlFlow& control_flow,
                                           absl::Span<const Literal> arguments,
                                           const EvaluateOptions& options,
                                           uint64_t seed, Coverage& coverage);

}  // namespace hone::hlo

#endif  // HONE_HLO_EQUIVALENCE_CONTROL_FLOW_H_
