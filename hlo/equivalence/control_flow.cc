#include "hlo/equivalence/control_flow.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace hone::hlo {
namespace {

// Returns true if what the condition of a loop reads begins with constants: its
// trip count is the same for every input, as a rule.
bool CountsByConstants(const Module& module, const Computation& computation,
                       const Instruction& loop) {
  const Instruction& init = computation[loop.operand(0)];
  if (init.opcode() != Opcode::kTuple) {
    return ScalarConstant(computation, loop.operand(0)) != nullptr;
  }
  const Computation& condition = module.computation(loop.called()[0]);
  const std::vector<bool> needed = NeededBy(condition, condition.root());
  for (InstructionId user : condition[condition.parameters()[0]].users()) {
    const Instruction& read = condition[user];
    if (!needed[static_cast<size_t>(user)]) continue;
    if (read.opcode() != Opcode::kGetTupleElement ||
        ScalarConstant(computation, init.operand(static_cast<size_t>(
                                        read.index()))) == nullptr) {
      return false;
    }
  }
  return true;
}

// A computation that evaluation takes step by step: not one that is applied to
// elements.
struct Stepped {
  ComputationId id;
  bool is_in_loop;
};

std::vector<Stepped> SteppedComputations(const Module& module) {
  std::vector<Stepped> stepped = {{module.entry(), false}};
  for (size_t i = 0; i < stepped.size(); ++i) {
    for (const Instruction& site :
         module.computation(stepped[i].id).instructions()) {
      switch (site.opcode()) {
        case Opcode::kCall:
        case Opcode::kConditional:
        case Opcode::kFusion:
        case Opcode::kWhile:
          break;
        default:
          continue;
      }
      const bool loops = site.opcode() == Opcode::kWhile;
      for (ComputationId callee : site.called()) {
        // The predicates of a condition are trip counts.
        if (loops && callee == site.called()[0]) continue;
        if (std::none_of(
                stepped.begin(), stepped.end(),
                [&](const Stepped& other) { return other.id == callee; })) {
          stepped.push_back({callee, loops || stepped[i].is_in_loop});
        }
      }
    }
  }
  return stepped;
}

bool IsSlice(const Instruction& instruction) {
  return instruction.opcode() == Opcode::kDynamicSlice ||
         instruction.opcode() == Opcode::kDynamicUpdateSlice;
}

int64_t ElementsOf(const Computation& computation) {
  int64_t elements = 0;
  for (const Instruction& instruction : computation.instructions()) {
    if (instruction.shape().IsArray()) {
      elements += instruction.shape().num_elements();
    }
  }
  return elements;
}

}  // namespace

ControlFlow::ControlFlow(const Module& merged)
    : module_(merged),
      influence_(merged, ScalarParameters(merged)),
      sharing_(merged),
      cheap_(FindCheap(merged)),
      cut_points_(merged, influence_, sharing_, cheap_),
      values_(merged, influence_),
      probe_(merged) {
  for (const auto& [a, b] : sharing_.differing()) {
    varied_ |= influence_.Of(merged.entry(), a);
    varied_ |= influence_.Of(merged.entry(), b);
  }
  for (const Stepped& stepped : SteppedComputations(merged)) {
    AddGoals(stepped.id, stepped.is_in_loop);
    elements_ += ElementsOf(merged.computation(stepped.id));
    if (stepped.is_in_loop) {
      loop_elements_ += ElementsOf(merged.computation(stepped.id));
    }
  }
  MakeProbe();
}

void ControlFlow::AddGoals(ComputationId id, bool is_in_loop) {
  const Computation& computation = module_.computation(id);
  for (const Instruction& site : computation.instructions()) {
    if (site.opcode() == Opcode::kWhile) {
      const Computation& condition = module_.computation(site.called()[0]);
      const ScalarSet scalars =
          influence_.Of(site.called()[0], condition.root());
      const auto add = [&](int64_t first, int64_t last) {
        goals_.push_back({Kind::kTrips, id, site.id(), first, last, scalars});
      };
      const int64_t most = Coverage::WayOfTrips(1000);
      if (CountsByConstants(module_, computation, site)) {
        add(0, most);
        continue;
      }
      add(0, 0);
      add(1, 1);
      add(2, most);
      if (scalars != 0) add(most, most);
    } else if (site.opcode() == Opcode::kConditional) {
      const auto count = static_cast<int64_t>(site.called().size());
      for (int64_t i = 0; i < count; ++i) {
        goals_.push_back({Kind::kBranch, id, site.id(), i, i,
                          influence_.Of(id, site.operand(0))});
      }
    }
    AddSides(id, site, is_in_loop);
  }
  for (InstructionId predicate : DecidingPredicates(computation)) {
    const ScalarSet scalars = influence_.Of(id, predicate);
    if (scalars == 0) continue;
    for (int64_t value = 0; value <= 1; ++value) {
      goals_.push_back(
          {Kind::kPredicate, id, predicate, value, value, scalars});
    }
  }
}

void ControlFlow::AddSides(ComputationId id, const Instruction& site,
                           bool is_in_loop) {
  // What both modules do at the same boundary is the same; indices of a loop's
  // body leave their ranges only where the loop runs too long.
  if (!sharing_.IsOfOne(id, site.id()) || (is_in_loop && IsSlice(site))) return;
  const Computation& computation = module_.computation(id);
  const std::vector<Boundary> boundaries = BoundariesOf(computation, site);
  for (size_t i = 0; i < boundaries.size(); ++i) {
    const Boundary& boundary = boundaries[i];
    ScalarSet scalars = 0;
    bool is_cheap = true;
    const auto add_operand = [&](size_t number) {
      const InstructionId operand = site.operand(number);
      scalars |= influence_.Of(id, operand);
      is_cheap &= id != module_.entry() || cheap_[static_cast<size_t>(operand)];
    };
    add_operand(boundary.value);
    if (boundary.bound) add_operand(*boundary.bound);
    if (scalars == 0 || !is_cheap) continue;
    const auto add = [&](Side side) {
      const auto way = static_cast<int64_t>(side);
      goals_.push_back({Kind::kSide, id, site.id(), way, way, scalars, i});
    };
    if (boundary.bound) {
      add(Side::kBelow);
      add(Side::kAt);
      add(Side::kAbove);
    } else {
      // An index out of its range, whose ends are boundaries in turns.
      add(i % 2 == 0 ? Side::kBelow : Side::kAbove);
    }
  }
}

std::vector<InstructionId> ControlFlow::Sites() const {
  const Computation& entry = module_.entry_computation();
  std::vector<InstructionId> sites;
  for (const Goal& goal : goals_) {
    if (goal.computation == module_.entry() &&
        (goal.kind == Kind::kPredicate ||
         (goal.kind == Kind::kSide && !IsSlice(entry[goal.site]) &&
          entry[goal.site].opcode() != Opcode::kConditional))) {
      sites.push_back(goal.site);
    }
  }
  for (const Instruction& site : entry.instructions()) {
    const bool steps = site.opcode() == Opcode::kCall ||
                       site.opcode() == Opcode::kConditional ||
                       site.opcode() == Opcode::kFusion ||
                       site.opcode() == Opcode::kWhile;
    // Where no scalar has a say, no other way is found.
    if (!steps || std::none_of(site.operands().begin(), site.operands().end(),
                               [&](InstructionId operand) {
                                 return influence_.Of(module_.entry(),
                                                      operand) != 0;
                               })) {
      continue;
    }
    std::vector<ComputationId> reached(site.called().begin(),
                                       site.called().end());
    bool has_goal = site.opcode() == Opcode::kConditional ||
                    site.opcode() == Opcode::kWhile;
    for (size_t i = 0; i < reached.size() && !has_goal; ++i) {
      has_goal = std::any_of(
          goals_.begin(), goals_.end(),
          [&](const Goal& goal) { return goal.computation == reached[i]; });
      for (const Instruction& inner :
           module_.computation(reached[i]).instructions()) {
        reached.insert(reached.end(), inner.called().begin(),
                       inner.called().end());
      }
    }
    if (has_goal) sites.push_back(site.id());
  }
  return sites;
}

void ControlFlow::MakeProbe() {
  const Computation& entry = module_.entry_computation();
  InstructionIds elements;
  std::vector<ShapePtr> shapes;
  const auto add = [&](InstructionId id) {
    if (!places_.try_emplace(id, elements.size()).second) return;
    elements.push_back(id);
    shapes.push_back(entry[id].shape_ptr());
  };
  for (InstructionId site : Sites()) add(site);
  for (const Goal& goal : goals_) {
    if (goal.kind != Kind::kSide || goal.computation != module_.entry() ||
        !IsSlice(entry[goal.site])) {
      continue;
    }
    slices_.push_back(goal.site);
    const Boundary boundary =
        BoundariesOf(entry, entry[goal.site])[goal.boundary];
    add(entry[goal.site].operand(boundary.value));
  }
  for (InstructionId id : cut_points_.instructions()) add(id);
  Computation& probe = probe_.mutable_computation(probe_.entry());
  probe.set_root(probe.AddInstruction(Instruction(
      Opcode::kTuple, Shape::Tuple(std::move(shapes)), std::move(elements))));
}

const Literal& ControlFlow::ValueIn(const Literal& result,
                                    InstructionId id) const {
  return result.elements()[places_.at(id)];
}

void ControlFlow::AddWays(const Literal& result, Coverage& coverage) const {
  const Computation& entry = module_.entry_computation();
  for (InstructionId slice : slices_) {
    const std::vector<Boundary> boundaries = BoundariesOf(entry, entry[slice]);
    for (size_t i = 0; i < boundaries.size(); ++i) {
      const InstructionId index = entry[slice].operand(boundaries[i].value);
      if (!places_.contains(index)) continue;
      coverage.AddSide(module_.entry(), slice, i,
                       ValueIn(result, index).AsDouble(0),
                       boundaries[i].constant);
    }
  }
}

bool ControlFlow::IsTaken(const Goal& goal, const Coverage& coverage) {
  for (int64_t way = goal.first; way <= goal.last; ++way) {
    bool is_taken = false;
    switch (goal.kind) {
      case Kind::kBranch:
      case Kind::kTrips:
        is_taken = coverage.Has(goal.computation, goal.site, way);
        break;
      case Kind::kPredicate:
        is_taken = coverage.HasPredicate(goal.computation, goal.site, way != 0);
        break;
      case Kind::kSide:
        is_taken = coverage.HasSide(goal.computation, goal.site, goal.boundary,
                                    static_cast<Side>(way));
        break;
    }
    if (is_taken) return true;
  }
  return false;
}

std::vector<ScalarSet> ControlFlow::OpenWays(const Coverage& coverage,
                                             bool with_sides) const {
  std::vector<ScalarSet> open;
  for (const Goal& goal : goals_) {
    if (!with_sides && goal.kind == Kind::kSide) continue;
    if (IsOpen(goal, coverage)) open.push_back(goal.scalars);
  }
  return open;
}

int ControlFlow::CountNew(const Coverage& coverage, const Coverage& other,
                          bool with_sides) const {
  int count = 0;
  for (const Goal& goal : goals_) {
    if (!with_sides && goal.kind == Kind::kSide) continue;
    if (IsOpen(goal, coverage) && IsTaken(goal, other)) ++count;
  }
  return count;
}

std::vector<ScalarSet> ControlFlow::Open(const Coverage& coverage) const {
  std::vector<ScalarSet> open = OpenWays(coverage, true);
  if (varied_ != 0) open.push_back(varied_);
  return open;
}

std::string ControlFlow::Describe(const Coverage& coverage) const {
  std::vector<std::string> parts;
  const auto describe = [&](Kind kind, absl::string_view name) {
    int64_t count = 0;
    int64_t taken = 0;
    for (const Goal& goal : goals_) {
      if (goal.kind != kind) continue;
      ++count;
      taken += IsTaken(goal, coverage) ? 1 : 0;
    }
    if (count == 0) return;
    parts.push_back(absl::StrCat(taken, " of ", count, " ", name));
  };
  describe(Kind::kBranch, "branches");
  describe(Kind::kTrips, "trip counts");
  describe(Kind::kPredicate, "predicate values");
  describe(Kind::kSide, "boundary cases");
  if (const int scalars = std::popcount(varied_); scalars > 0) {
    parts.push_back(absl::StrCat("values of ", scalars,
                                 scalars == 1 ? " scalar" : " scalars"));
  }
  return absl::StrJoin(parts, ", ");
}

}  // namespace hone::hlo
