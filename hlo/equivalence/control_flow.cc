#include "hlo/equivalence/control_flow.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/clock.h"
#include "base/rng.h"

namespace hone::hlo {
namespace {

// Runs of the module in search of ways, and the part of the time limit that
// they may take.
constexpr int kMaxRuns = 512;
constexpr double kTimeShare = 0.2;
// A loop that runs longer than this has run often.
constexpr int64_t kMaxLoopSteps = 100'000;

// The scalar constant that `id` repeats or converts; null if it is none.
const Literal* ScalarConstant(const Computation& computation,
                              InstructionId id) {
  for (;;) {
    const Instruction& instruction = computation[id];
    switch (instruction.opcode()) {
      case Opcode::kBroadcast:
      case Opcode::kConvert:
      case Opcode::kCopy:
      case Opcode::kReshape:
        id = instruction.operand(0);
        continue;
      case Opcode::kConstant:
        return instruction.shape().IsScalar() &&
                       !IsComplex(instruction.shape().element_type()) &&
                       !instruction.literal()->is_elided()
                   ? instruction.literal().get()
                   : nullptr;
      default:
        return nullptr;
    }
  }
}

// Returns for each instruction whether the value of `root` depends on it.
std::vector<bool> NeededBy(const Computation& computation, InstructionId root) {
  std::vector<bool> needed(static_cast<size_t>(computation.slot_count()));
  std::vector<InstructionId> open = {root};
  while (!open.empty()) {
    const InstructionId id = open.back();
    open.pop_back();
    if (needed[static_cast<size_t>(id)]) continue;
    needed[static_cast<size_t>(id)] = true;
    const auto operands = computation[id].operands();
    open.insert(open.end(), operands.begin(), operands.end());
  }
  return needed;
}

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

// Returns true if constants of the instruction decide on ways: where they are
// compared with, or what they wrap around at.
bool Decides(Opcode opcode) {
  return opcode == Opcode::kCompare || opcode == Opcode::kRemainder ||
         opcode == Opcode::kMinimum || opcode == Opcode::kMaximum ||
         opcode == Opcode::kClamp;
}

// Values that scalar parameters get: those that something is compared with,
// their neighbours and extremes.
class DecidingValues {
 public:
  explicit DecidingValues(const Module& module)
      : integers_{0, 1, -1, 2, 1000, std::numeric_limits<int32_t>::max()},
        floats_{0, 1, -1, 2, 1000, 1e30, -1e30} {
    for (const Computation& computation : module.computations()) {
      for (const Instruction& instruction : computation.instructions()) {
        Add(computation, instruction);
      }
    }
  }

  std::vector<double> For(ElementType type) const {
    if (type == ElementType::kPred) return {0, 1};
    const std::set<double>& values = IsFloat(type) ? floats_ : integers_;
    return {values.begin(), values.end()};
  }

 private:
  void Add(const Computation& computation, const Instruction& instruction) {
    if (instruction.opcode() == Opcode::kConditional) {
      for (size_t i = 0; i < instruction.called().size(); ++i) {
        integers_.insert(static_cast<double>(i));
      }
    }
    if (!Decides(instruction.opcode())) return;
    for (InstructionId operand : instruction.operands()) {
      const Literal* constant = ScalarConstant(computation, operand);
      if (constant == nullptr) continue;
      const double value = constant->AsDouble(0);
      if (!std::isfinite(value)) continue;
      // A parameter may be converted before it is compared.
      for (double integer : {std::floor(value), std::ceil(value)}) {
        integers_.insert({integer - 1, integer, integer + 1});
      }
      const double step = 0.001 * std::fabs(value);
      floats_.insert({value - step, value, value + step});
      if (!IsFloat(constant->shape().element_type())) {
        floats_.insert({value - 1, value + 1});
      }
    }
  }

  std::set<double> integers_;
  std::set<double> floats_;
};

// `value` as an argument of that shape.
Literal Argument(const ShapePtr& shape, double value) {
  Literal literal(shape);
  if (KindOf(shape->element_type()) == ElementKind::kPred) {
    literal.SetInt(0, value > 0 ? 1 : 0);
  } else {
    literal.SetDouble(0, value);
  }
  return literal;
}

class Search {
 public:
  Search(const Module& module, const ControlFlow& control_flow,
         absl::Span<const Literal> arguments, const EvaluateOptions& options,
         uint64_t seed, Coverage& coverage)
      : control_flow_(control_flow),
        coverage_(coverage),
        arguments_(arguments.begin(), arguments.end()),
        options_(options),
        values_(module),
        rng_(seed),
        end_(SystemClock().Monotonic() + options.time_limit * kTimeShare),
        scalars_(ScalarParameters(module)) {
    options_.max_loop_steps = std::min(options.max_loop_steps, kMaxLoopSteps);
  }

  std::vector<std::vector<Literal>> Run() {
    // A way that several parameters decide on may need only one of them.
    for (size_t scalar : Members(AllOpen())) {
      for (double value : ValuesOf(scalar)) {
        if (IsDone() || (AllOpen() & Bit(scalar)) == 0) break;
        std::vector<Literal> arguments = arguments_;
        Set(arguments, scalar, value);
        Try(std::move(arguments));
      }
    }
    // What is found for one way may take others, too.
    std::set<ScalarSet> tried;
    for (bool more = true; more;) {
      more = false;
      for (ScalarSet way : Open()) {
        if (std::popcount(way) < 2 || !tried.insert(way).second) continue;
        TryCombinations(way);
        more = true;
        break;
      }
    }
    return std::move(found_);
  }

 private:
  // Positions in scalars_.
  ScalarSet Bit(size_t scalar) const {
    return ScalarSet{1} << std::min<size_t>(scalar, 63);
  }
  std::vector<size_t> Members(ScalarSet set) const {
    std::vector<size_t> members;
    for (size_t i = 0; i < scalars_.size(); ++i) {
      if ((set & Bit(i)) != 0) members.push_back(i);
    }
    return members;
  }

  std::vector<ScalarSet> Open() const { return control_flow_.Open(coverage_); }
  ScalarSet AllOpen() const {
    ScalarSet all = 0;
    for (ScalarSet way : Open()) all |= way;
    return all;
  }

  bool IsDone() const {
    return runs_ >= kMaxRuns || SystemClock().Monotonic() > end_;
  }

  // All combinations of values of the parameters, as many as there may be runs,
  // otherwise random ones; until no way that they decide on is open.
  void TryCombinations(ScalarSet way) {
    const std::vector<size_t> members = Members(way);
    double count = 1;
    for (size_t scalar : members) {
      count *= static_cast<double>(ValuesOf(scalar).size());
    }
    const bool enumerates = count <= kMaxRuns;
    for (uint64_t i = 0; !IsDone(); ++i) {
      if (enumerates && static_cast<double>(i) >= count) return;
      const std::vector<ScalarSet> open = Open();
      if (std::find(open.begin(), open.end(), way) == open.end()) return;
      std::vector<Literal> arguments = arguments_;
      uint64_t rest = i;
      for (size_t scalar : members) {
        const std::vector<double> values = ValuesOf(scalar);
        const uint64_t at =
            enumerates ? rest % values.size() : rng_.Below(values.size());
        rest /= values.size();
        Set(arguments, scalar, values[at]);
      }
      Try(std::move(arguments));
    }
  }

  std::vector<double> ValuesOf(size_t scalar) const {
    return values_.For(arguments_[scalars_[scalar]].shape().element_type());
  }

  void Set(std::vector<Literal>& arguments, size_t scalar, double value) const {
    Literal& argument = arguments[scalars_[scalar]];
    argument = Argument(argument.shape_ptr(), value);
  }

  void Try(std::vector<Literal> arguments) {
    ++runs_;
    Coverage coverage = coverage_;
    options_.coverage = &coverage;
    // An evaluation that fails shows nothing.
    if (!Evaluate(control_flow_.probe(), arguments, options_).ok() ||
        coverage.size() == coverage_.size()) {
      return;
    }
    coverage_ = std::move(coverage);
    found_.push_back(std::move(arguments));
  }

  const ControlFlow& control_flow_;
  Coverage& coverage_;
  const std::vector<Literal> arguments_;
  EvaluateOptions options_;
  const DecidingValues values_;
  Rng rng_;
  const absl::Duration end_;
  const std::vector<size_t> scalars_;
  int runs_ = 0;
  std::vector<std::vector<Literal>> found_;
};

// The computations that evaluation takes step by step: not those that are
// applied to elements.
std::vector<ComputationId> SteppedComputations(const Module& module) {
  std::vector<ComputationId> stepped = {module.entry()};
  for (size_t i = 0; i < stepped.size(); ++i) {
    for (const Instruction& site :
         module.computation(stepped[i]).instructions()) {
      switch (site.opcode()) {
        case Opcode::kCall:
        case Opcode::kConditional:
        case Opcode::kFusion:
        case Opcode::kWhile:
          break;
        default:
          continue;
      }
      for (ComputationId callee : site.called()) {
        // The predicates of a condition are trip counts.
        if (site.opcode() == Opcode::kWhile && callee == site.called()[0]) {
          continue;
        }
        if (std::find(stepped.begin(), stepped.end(), callee) ==
            stepped.end()) {
          stepped.push_back(callee);
        }
      }
    }
  }
  return stepped;
}

}  // namespace

ControlFlow::ControlFlow(const Module& module) : probe_(module) {
  const Influence influence(module, ScalarParameters(module));
  for (ComputationId id : SteppedComputations(module)) {
    AddGoals(module, id, influence);
  }
  MakeProbe(module, influence);
}

void ControlFlow::Add(Goal goal) {
  // Sites that call the same are one (Coverage).
  for (Goal& other : goals_) {
    if (goal.kind == Kind::kPredicate || other.kind != goal.kind ||
        other.first != goal.first || other.last != goal.last ||
        other.site->called() != goal.site->called()) {
      continue;
    }
    other.scalars |= goal.scalars;
    return;
  }
  goals_.push_back(goal);
}

void ControlFlow::AddGoals(const Module& module, ComputationId id,
                           const Influence& influence) {
  const Computation& computation = module.computation(id);
  for (const Instruction& site : computation.instructions()) {
    if (site.opcode() == Opcode::kWhile) {
      const Computation& condition = module.computation(site.called()[0]);
      const ScalarSet scalars =
          influence.Of(site.called()[0], condition.root());
      if (CountsByConstants(module, computation, site)) {
        Add({Kind::kTrips, id, &site, 0, 2, scalars});
        continue;
      }
      for (int64_t way = 0; way <= 2; ++way) {
        Add({Kind::kTrips, id, &site, way, way, scalars});
      }
    } else if (site.opcode() == Opcode::kConditional) {
      const auto count = static_cast<int64_t>(site.called().size());
      for (int64_t i = 0; i < count; ++i) {
        Add({Kind::kBranch, id, &site, i, i,
             influence.Of(id, site.operand(0))});
      }
    }
  }
  for (InstructionId predicate : DecidingPredicates(computation)) {
    const ScalarSet scalars = influence.Of(id, predicate);
    if (scalars == 0) continue;
    for (int64_t value = 0; value <= 1; ++value) {
      Add({Kind::kPredicate, id, &computation[predicate], value, value,
           scalars});
    }
  }
}

void ControlFlow::MakeProbe(const Module& module, const Influence& influence) {
  std::vector<InstructionId> sites;
  std::vector<ShapePtr> shapes;
  const auto add = [&](const Instruction& instruction) {
    sites.push_back(instruction.id());
    shapes.push_back(instruction.shape_ptr());
  };
  const Computation& entry = module.entry_computation();
  for (const Goal& goal : goals_) {
    if (goal.kind == Kind::kPredicate && goal.first == 0 &&
        goal.computation == module.entry()) {
      add(*goal.site);
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
                                 return influence.Of(module.entry(), operand) !=
                                        0;
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
           module.computation(reached[i]).instructions()) {
        reached.insert(reached.end(), inner.called().begin(),
                       inner.called().end());
      }
    }
    if (has_goal) add(site);
  }
  Computation& probe = probe_.mutable_computation(probe_.entry());
  probe.set_root(probe.AddInstruction(
      Instruction(Opcode::kTuple, Shape::Tuple(std::move(shapes)),
                  InstructionIds(sites.begin(), sites.end()))));
}

bool ControlFlow::IsTaken(const Goal& goal, const Coverage& coverage) {
  for (int64_t way = goal.first; way <= goal.last; ++way) {
    if (goal.kind == Kind::kPredicate
            ? coverage.HasPredicate(goal.computation, goal.site->id(), way != 0)
            : coverage.Has(*goal.site, way)) {
      return true;
    }
  }
  return false;
}

std::vector<ScalarSet> ControlFlow::Open(const Coverage& coverage) const {
  std::vector<ScalarSet> open;
  for (const Goal& goal : goals_) {
    if (goal.scalars != 0 && !IsTaken(goal, coverage)) {
      open.push_back(goal.scalars);
    }
  }
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
  return absl::StrJoin(parts, ", ");
}

std::vector<std::vector<Literal>> FindWays(const Module& module,
                                           const ControlFlow& control_flow,
                                           absl::Span<const Literal> arguments,
                                           const EvaluateOptions& options,
                                           uint64_t seed, Coverage& coverage) {
  return Search(module, control_flow, arguments, options, seed, coverage).Run();
}

}  // namespace hone::hlo
