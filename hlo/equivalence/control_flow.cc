#include "hlo/equivalence/control_flow.h"

#include <algorithm>
#include <cmath>
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

// Returns true if what the condition of a loop reads begins with constants: its
// trip count is the same for every input, as a rule.
bool CountsByConstants(const Module& module, const Computation& computation,
                       const Instruction& loop) {
  const Instruction& init = computation[loop.operand(0)];
  if (init.opcode() != Opcode::kTuple) {
    return ScalarConstant(computation, loop.operand(0)) != nullptr;
  }
  const Computation& condition = module.computation(loop.called()[0]);
  for (InstructionId user : condition[condition.parameters()[0]].users()) {
    const Instruction& read = condition[user];
    if (read.opcode() != Opcode::kGetTupleElement ||
        ScalarConstant(computation, init.operand(static_cast<size_t>(
                                        read.index()))) == nullptr) {
      return false;
    }
  }
  return true;
}

// Floats, or integers, that something is compared with, their neighbours and
// extremes.
std::vector<double> DecidingValues(const Module& module, bool floats) {
  std::set<double> values = {0, 1, -1, 2, 1000};
  if (floats) values.insert({1e30, -1e30});
  for (const Computation& computation : module.computations()) {
    for (const Instruction& instruction : computation.instructions()) {
      if (instruction.opcode() == Opcode::kConditional) {
        for (size_t i = 0; i < instruction.called().size(); ++i) {
          values.insert(static_cast<double>(i));
        }
      }
      if (instruction.opcode() != Opcode::kCompare) continue;
      for (InstructionId operand : instruction.operands()) {
        const Literal* constant = ScalarConstant(computation, operand);
        if (constant == nullptr) continue;
        const double value = constant->AsDouble(0);
        if (!std::isfinite(value) ||
            IsFloat(constant->shape().element_type()) != floats) {
          continue;
        }
        const double step = floats ? 0.001 * std::fabs(value) : 1;
        values.insert({value, value - step, value + step});
      }
    }
  }
  return {values.begin(), values.end()};
}

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
      : module_(module),
        control_flow_(control_flow),
        arguments_(arguments.begin(), arguments.end()),
        options_(options),
        floats_(DecidingValues(module, true)),
        integers_(DecidingValues(module, false)),
        rng_(seed),
        coverage_(coverage),
        end_(SystemClock().Monotonic() + options.time_limit * kTimeShare) {
    options_.max_loop_steps = std::min(options.max_loop_steps, kMaxLoopSteps);
    const Computation& entry = module.entry_computation();
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Shape& shape = entry[entry.parameters()[i]].shape();
      if (shape.IsArray() && shape.num_elements() == 1 &&
          !IsComplex(shape.element_type())) {
        scalars_.push_back(i);
      }
    }
  }

  std::vector<std::vector<Literal>> Run() {
    if (scalars_.empty()) return {};
    for (size_t scalar : scalars_) {
      for (double value : ValuesOf(scalar)) {
        if (IsDone()) return std::move(found_);
        std::vector<Literal> arguments = arguments_;
        Set(arguments, scalar, value);
        Try(std::move(arguments));
      }
    }
    TryCombinations();
    return std::move(found_);
  }

 private:
  bool IsDone() const {
    return runs_ >= kMaxRuns || control_flow_.IsCovered(coverage_) ||
           SystemClock().Monotonic() > end_;
  }

  // All combinations of values, as many as there may be runs, otherwise random
  // ones.
  void TryCombinations() {
    double count = 1;
    for (size_t scalar : scalars_) {
      count *= static_cast<double>(ValuesOf(scalar).size());
    }
    const bool enumerates = count <= kMaxRuns;
    for (uint64_t i = 0; scalars_.size() > 1 && !IsDone(); ++i) {
      if (enumerates && static_cast<double>(i) >= count) return;
      std::vector<Literal> arguments = arguments_;
      uint64_t rest = i;
      for (size_t scalar : scalars_) {
        const std::vector<double>& values = ValuesOf(scalar);
        const uint64_t at =
            enumerates ? rest % values.size() : rng_.Below(values.size());
        rest /= values.size();
        Set(arguments, scalar, values[at]);
      }
      Try(std::move(arguments));
    }
  }

  const std::vector<double>& ValuesOf(size_t scalar) const {
    return IsFloat(arguments_[scalar].shape().element_type()) ? floats_
                                                              : integers_;
  }

  static void Set(std::vector<Literal>& arguments, size_t i, double value) {
    arguments[i] = Argument(arguments[i].shape_ptr(), value);
  }

  void Try(std::vector<Literal> arguments) {
    ++runs_;
    Coverage coverage = coverage_;
    options_.coverage = &coverage;
    // An evaluation that fails shows nothing.
    if (!Evaluate(module_, arguments, options_).ok() ||
        coverage.size() == coverage_.size()) {
      return;
    }
    coverage_ = std::move(coverage);
    found_.push_back(std::move(arguments));
  }

  const Module& module_;
  const ControlFlow& control_flow_;
  const std::vector<Literal> arguments_;
  EvaluateOptions options_;
  const std::vector<double> floats_;
  const std::vector<double> integers_;
  Rng rng_;
  Coverage& coverage_;
  const absl::Duration end_;
  std::vector<size_t> scalars_;
  int runs_ = 0;
  std::vector<std::vector<Literal>> found_;
};

}  // namespace

ControlFlow::ControlFlow(const Module& module) {
  for (ComputationId id : module.ComputationPostOrder()) {
    const Computation& computation = module.computation(id);
    for (const Instruction& site : computation.instructions()) {
      if (site.opcode() == Opcode::kWhile) {
        if (CountsByConstants(module, computation, site)) {
          trips_.push_back({&site, 0, 2});
          continue;
        }
        for (int64_t way = 0; way <= 2; ++way)
          trips_.push_back({&site, way, way});
      } else if (site.opcode() == Opcode::kConditional) {
        const auto count = static_cast<int64_t>(site.called().size());
        for (int64_t i = 0; i < count; ++i) branches_.push_back({&site, i, i});
      }
    }
  }
}

int64_t ControlFlow::CountTaken(absl::Span<const Goal> goals,
                                const Coverage& coverage) {
  return std::count_if(goals.begin(), goals.end(), [&](const Goal& goal) {
    for (int64_t way = goal.first; way <= goal.last; ++way) {
      if (coverage.Has(*goal.site, way)) return true;
    }
    return false;
  });
}

bool ControlFlow::IsCovered(const Coverage& coverage) const {
  return CountTaken(branches_, coverage) ==
             static_cast<int64_t>(branches_.size()) &&
         CountTaken(trips_, coverage) == static_cast<int64_t>(trips_.size());
}

std::string ControlFlow::Describe(const Coverage& coverage) const {
  std::vector<std::string> parts;
  if (!branches_.empty()) {
    parts.push_back(absl::StrCat(CountTaken(branches_, coverage), " of ",
                                 branches_.size(), " branches"));
  }
  if (!trips_.empty()) {
    parts.push_back(absl::StrCat(CountTaken(trips_, coverage), " of ",
                                 trips_.size(), " trip counts"));
  }
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
