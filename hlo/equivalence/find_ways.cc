#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "absl/status/status.h"

#include "base/clock.h"
#include "base/rng.h"
#include "hlo/equivalence/control_flow.h"

namespace hone::hlo {
namespace {

// Runs of the probe, those among them for values of one parameter or of all at
// once, and the part of the time limit that they may take.
constexpr int kMaxRuns = 512;
constexpr int kMaxCandidates = 256;
constexpr double kTimeShare = 0.2;
constexpr double kCandidatesTimeShare = 0.05;

// A loop that runs longer than this has run often; one whose body is large runs
// less, as the modules are run as often. Elements are those that the passes
// through loops compute.
constexpr int64_t kMaxLoopSteps = 100'000;
constexpr int64_t kMinLoopSteps = 64;
constexpr int64_t kMaxLoopElements = 2'000'000;

// Arguments on which cut points differ that are worth a comparison: where that
// shows nothing, the cut points are equal by chance on ordinary arguments.
constexpr int kMaxDiffering = 3;

// Arguments on which the modules are compared whatever ways they take: the
// values that all scalar parameters get that are integers and floats. Of the
// floats none by which products overflow. The first two are wanted most.
struct Standard {
  double integer;
  double real;
};
constexpr std::array<Standard, 6> kStandards = {{{100'000, 1000},
                                                 {-9, -1},
                                                 {2147483647, 100'000},
                                                 {0, 0},
                                                 {9, 9},
                                                 {-2147483648, -1000}}};

// Floats beyond this decide on ways only.
constexpr double kExtremeFloat = 1e6;

// Comparisons that no branch, trip count or predicate asks for: as many as
// there are standards where they take milliseconds.
int ComparisonsFor(int64_t elements) {
  if (elements <= 10'000'000) return static_cast<int>(kStandards.size());
  return elements <= 1'000'000'000 ? 2 : 1;
}

// The value of an integer parameter. In place of the ends of s32, parameters of
// 64 bits get values that do not fit 32.
double IntegerFor(ElementType type, double integer) {
  const bool is_end = integer >= std::numeric_limits<int32_t>::max() ||
                      integer <= std::numeric_limits<int32_t>::min();
  return is_end && IsIntegral(type) && BitWidth(type) == 64
             ? std::copysign(0x1p32 + 1, integer)
             : integer;
}

// The bit of a scalar parameter, by its position among them.
ScalarSet Bit(size_t scalar) {
  return ScalarSet{1} << std::min<size_t>(scalar, 63);
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
        cut_points_(control_flow.cut_points()),
        rng_(seed),
        candidates_end_(SystemClock().Monotonic() +
                        options.time_limit * kCandidatesTimeShare),
        end_(SystemClock().Monotonic() + options.time_limit * kTimeShare),
        max_loop_steps_(options.max_loop_steps),
        scalars_(ScalarParameters(module)),
        comparisons_left_(ComparisonsFor(control_flow.elements())) {
    LimitLoopSteps(std::clamp(
        kMaxLoopElements / std::max<int64_t>(control_flow.loop_elements(), 1),
        kMinLoopSteps, kMaxLoopSteps));
  }

  std::vector<std::vector<Literal>> Run() {
    LearnCutPoints();
    AddCandidates();
    ChooseDiffering();
    ChooseForWays(/*with_sides=*/false);
    ChooseStandards(2);
    ChooseForWays(/*with_sides=*/true);
    ChooseStandards(kStandards.size());
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
  struct Candidate {
    std::vector<Literal> arguments;
    Coverage coverage;
    // By cut point.
    std::vector<bool> differs;
    bool is_extreme = false;
    bool is_chosen = false;
  };

  std::vector<size_t> Members(ScalarSet set) const {
    std::vector<size_t> members;
    for (size_t i = 0; i < scalars_.size(); ++i) {
      if ((set & Bit(i)) != 0) members.push_back(i);
    }
    return members;
  }

  // Sides of boundaries count as long as they may be compared.
  std::vector<ScalarSet> Open() const {
    return control_flow_.OpenWays(coverage_, comparisons_left_ > 0);
  }

  void LimitLoopSteps(int64_t steps) {
    options_.max_loop_steps = std::min(max_loop_steps_, steps);
  }

  ElementType TypeOf(size_t scalar) const {
    return arguments_[scalars_[scalar]].shape().element_type();
  }

  void Set(std::vector<Literal>& arguments, size_t scalar, double value) const {
    Literal& argument = arguments[scalars_[scalar]];
    argument = ScalarArgument(argument.shape_ptr(), value);
  }

  // An evaluation that fails shows nothing.
  absl::StatusOr<Literal> RunProbe(const std::vector<Literal>& arguments,
                                   Coverage& coverage) {
    ++runs_;
    options_.coverage = &coverage;
    options_.time_limit = end_ - SystemClock().Monotonic();
    absl::StatusOr<Literal> result =
        Evaluate(control_flow_.probe(), arguments, options_);
    if (result.ok()) control_flow_.AddWays(*result, coverage);
    return result;
  }

  // Finds what is equal on the arguments at hand and on other ordinary ones.
  void LearnCutPoints() {
    std::vector<Literal> arguments = arguments_;
    for (int i = 0; i < 4; ++i) {
      Coverage coverage;
      absl::StatusOr<Literal> result = RunProbe(arguments, coverage);
      if (absl::IsResourceExhausted(result.status()) &&
          options_.max_loop_steps < kMaxLoopSteps) {
        // So many steps are ordinary here.
        LimitLoopSteps(kMaxLoopSteps);
        result = RunProbe(arguments, coverage);
      }
      if (result.ok()) {
        cut_points_.Learn([&](InstructionId id) -> const Literal& {
          return control_flow_.ValueIn(*result, id);
        });
      }
      for (size_t scalar = 0; scalar < scalars_.size(); ++scalar) {
        Set(arguments, scalar,
            IsFloat(TypeOf(scalar)) ? 0.05 + rng_.Uniform()
                                    : 2 + static_cast<double>(rng_.Below(6)));
      }
    }
  }

  // The standards, then each value for all parameters at once, then for each
  // parameter alone.
  void AddCandidates() {
    ScalarSet searched = control_flow_.varied();
    for (ScalarSet way : Open()) searched |= way;
    const std::vector<size_t> members = Members(searched);
    const bool has_floats =
        std::any_of(members.begin(), members.end(),
                    [&](size_t scalar) { return IsFloat(TypeOf(scalar)); });
    // Where a loop runs too long, it does so for larger values, too.
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    double largest = kInfinity;
    std::set<std::pair<double, double>> added;
    const auto add_joint = [&](double integer, double real) {
      // Without floats, their values make no difference.
      if (!has_floats) real = 0;
      if (integer > largest || !added.emplace(integer, real).second) return;
      std::vector<Literal> arguments = arguments_;
      for (size_t scalar : members) {
        const ElementType type = TypeOf(scalar);
        Set(arguments, scalar,
            IsFloat(type) ? real : IntegerFor(type, integer));
      }
      if (!AddCandidate(std::move(arguments),
                        std::fabs(real) > kExtremeFloat) &&
          integer > 0) {
        largest = integer;
      }
    };
    if (control_flow_.varied() != 0) {
      for (const Standard& standard : kStandards) {
        add_joint(standard.integer, standard.real);
      }
      standard_count_ = candidates_.size();
    }
    for (double value : control_flow_.values().All()) {
      if (has_floats || value == std::floor(value)) add_joint(value, value);
    }
    if (members.size() < 2) return;
    for (size_t scalar : members) {
      largest = kInfinity;
      for (double value : control_flow_.values().For(TypeOf(scalar))) {
        if (value > largest) continue;
        std::vector<Literal> arguments = arguments_;
        Set(arguments, scalar, value);
        const bool is_extreme =
            IsFloat(TypeOf(scalar)) && std::fabs(value) > kExtremeFloat;
        if (!AddCandidate(std::move(arguments), is_extreme) && value > 0) {
          largest = value;
        }
      }
    }
  }

  // Returns false if a loop runs too long.
  bool AddCandidate(std::vector<Literal> arguments, bool is_extreme) {
    if (runs_ >= kMaxCandidates ||
        SystemClock().Monotonic() > candidates_end_) {
      return true;
    }
    Candidate candidate;
    const absl::StatusOr<Literal> result =
        RunProbe(arguments, candidate.coverage);
    if (!result.ok()) return !absl::IsResourceExhausted(result.status());
    candidate.arguments = std::move(arguments);
    candidate.differs =
        cut_points_.Differing([&](InstructionId id) -> const Literal& {
          return control_flow_.ValueIn(*result, id);
        });
    candidate.is_extreme = is_extreme;
    candidates_.push_back(std::move(candidate));
    return true;
  }

  void Choose(Candidate& candidate) {
    candidate.is_chosen = true;
    coverage_.Merge(candidate.coverage);
    found_.push_back(candidate.arguments);
  }

  // Chooses candidates on which cut points differ, of the most first.
  void ChooseDiffering() {
    std::vector<bool> seen;
    for (int i = 0; i < kMaxDiffering && comparisons_left_ > 0; ++i) {
      Candidate* best = nullptr;
      int64_t most = 0;
      for (Candidate& candidate : candidates_) {
        seen.resize(candidate.differs.size());
        if (candidate.is_extreme || candidate.is_chosen) continue;
        int64_t count = 0;
        for (size_t pair = 0; pair < seen.size(); ++pair) {
          if (candidate.differs[pair] && !seen[pair]) ++count;
        }
        if (count > most) {
          most = count;
          best = &candidate;
        }
      }
      if (best == nullptr) return;
      for (size_t pair = 0; pair < seen.size(); ++pair) {
        if (best->differs[pair]) seen[pair] = true;
      }
      Choose(*best);
      --comparisons_left_;
    }
  }

  // Chooses candidates that take ways not taken yet, of the most first.
  void ChooseForWays(bool with_sides) {
    while (!with_sides || comparisons_left_ > 0) {
      Candidate* best = nullptr;
      int most = 0;
      for (Candidate& candidate : candidates_) {
        if (candidate.is_chosen) continue;
        const int count =
            control_flow_.CountNew(coverage_, candidate.coverage, with_sides);
        if (count > most) {
          most = count;
          best = &candidate;
        }
      }
      if (best == nullptr) return;
      Choose(*best);
      if (with_sides) --comparisons_left_;
    }
  }

  void ChooseStandards(size_t count) {
    for (size_t i = 0; i < std::min(count, standard_count_); ++i) {
      if (comparisons_left_ <= 0) return;
      if (candidates_[i].is_chosen) continue;
      Choose(candidates_[i]);
      --comparisons_left_;
    }
  }

  bool IsDone() const {
    return runs_ >= kMaxRuns || SystemClock().Monotonic() > end_;
  }

  // All combinations of values of the parameters, as many as there may be runs,
  // otherwise random ones; until no way that they decide on is open.
  void TryCombinations(ScalarSet way) {
    const std::vector<size_t> members = Members(way);
    std::vector<std::vector<double>> values;
    double count = 1;
    for (size_t scalar : members) {
      values.push_back(control_flow_.values().For(TypeOf(scalar)));
      count *= static_cast<double>(values.back().size());
    }
    const bool enumerates = count <= kMaxRuns - runs_;
    for (uint64_t i = 0; !IsDone(); ++i) {
      if (enumerates && static_cast<double>(i) >= count) return;
      const std::vector<ScalarSet> open = Open();
      if (std::find(open.begin(), open.end(), way) == open.end()) return;
      Candidate candidate;
      candidate.arguments = arguments_;
      uint64_t rest = i;
      for (size_t j = 0; j < members.size(); ++j) {
        const uint64_t size = values[j].size();
        const uint64_t at = enumerates ? rest % size : rng_.Below(size);
        rest /= size;
        Set(candidate.arguments, members[j], values[j][at]);
      }
      if (!RunProbe(candidate.arguments, candidate.coverage).ok()) continue;
      if (control_flow_.CountNew(coverage_, candidate.coverage, false) > 0) {
        Choose(candidate);
      } else if (comparisons_left_ > 0 &&
                 control_flow_.CountNew(coverage_, candidate.coverage, true) >
                     0) {
        Choose(candidate);
        --comparisons_left_;
      }
    }
  }

  const ControlFlow& control_flow_;
  Coverage& coverage_;
  const std::vector<Literal> arguments_;
  EvaluateOptions options_;
  CutPoints cut_points_;
  Rng rng_;
  const absl::Duration candidates_end_;
  const absl::Duration end_;
  const int64_t max_loop_steps_;
  const std::vector<size_t> scalars_;
  // Those that nothing but values and sides of boundaries ask for.
  int comparisons_left_;
  int runs_ = 0;
  std::vector<Candidate> candidates_;
  // The first candidates.
  size_t standard_count_ = 0;
  std::vector<std::vector<Literal>> found_;
};

}  // namespace

std::vector<std::vector<Literal>> FindWays(const Module& module,
                                           const ControlFlow& control_flow,
                                           absl::Span<const Literal> arguments,
                                           const EvaluateOptions& options,
                                           uint64_t seed, Coverage& coverage) {
  return Search(module, control_flow, arguments, options, seed, coverage).Run();
}

}  // namespace hone::hlo
