#include "hlo/equivalence/equivalence.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "base/clock.h"
#include "base/rng.h"
#include "base/status_macros.h"
#include "hlo/equivalence/control_flow.h"
#include "hlo/equivalence/influence.h"
#include "hlo/equivalence/internal.h"
#include "hlo/equivalence/pair_comparison.h"
#include "hlo/equivalence/signs.h"
#include "hlo/equivalence/stress.h"

namespace hone::hlo {
namespace {

// Share of NaN in a result above which its input is taken for outside of what
// the module is meant for (a negative second moment under a square root).
constexpr double kMaxNanShare = 0.01;

// The share of the elements of an output that may be unverifiable.
constexpr double kMaxUnverifiable = 0.01;

// Runs to find the arguments that have to be non-negative.
constexpr int kSignRuns = 16;

class Check final : public EquivalenceCheck {
 public:
  Check(const Module& a, const Module& b, const EvaluateOptions& options)
      : comparison_(a, b, options),
        control_flow_(comparison_.merged().module()),
        signature_(a),
        under_roots_(ParametersUnderRoots(a)),
        has_roots_(absl::c_linear_search(under_roots_, true)) {}

  absl::Status CheckInput(ArgumentKind kind, uint64_t seed) override {
    const int number = counts_[kind]++;
    switch (kind) {
      case ArgumentKind::kRandom:
        return CheckRandom(absl::StrCat("random input ", number), kind, seed,
                           number % 2 == 0);
      case ArgumentKind::kMixed:
        return CheckRandom(
            absl::StrCat("random input of mixed magnitudes ", number), kind,
            seed, number % 2 == 0);
      case ArgumentKind::kAdversarial:
        return CheckAdversarial(absl::StrCat("adversarial input ", number),
                                seed);
      case ArgumentKind::kExtreme:
        break;
    }
    HONE_ASSIGN_OR_RETURN(std::vector<Literal> arguments,
                          // Both ends of the range in turns.
                          Make(kind, number % 2 == 0, seed));
    Adapt(arguments);
    return comparison_.CompareSpecial(
        absl::StrCat("input of extreme scalars ", number), arguments);
  }

  absl::Status CheckControlFlow(uint64_t seed) override {
    if (!comparison_.equal() ||
        control_flow_.Open(comparison_.coverage()).empty()) {
      return absl::OkStatus();
    }
    HONE_ASSIGN_OR_RETURN(std::vector<Literal> base,
                          Make(ArgumentKind::kRandom, false, seed));
    Adapt(base);
    for (const std::vector<Literal>& arguments :
         FindWays(comparison_.merged().module(), control_flow_, base,
                  comparison_.options(), seed, comparison_.coverage())) {
      HONE_RETURN_IF_ERROR(comparison_.CompareSpecial(
          absl::StrCat("input for control flow ", ways_), arguments));
      ++ways_;
      if (!comparison_.equal()) break;
    }
    return absl::OkStatus();
  }

  bool IsUseful(ArgumentKind kind) const override {
    if (kind != ArgumentKind::kExtreme) return true;
    const Computation& entry = signature_.entry_computation();
    const std::vector<size_t> scalars = ScalarParameters(signature_);
    return std::any_of(scalars.begin(), scalars.end(), [&](size_t i) {
      return IsFloat(entry[entry.parameters()[i]].shape().element_type());
    });
  }

  void SetTimeLimit(absl::Duration limit) override {
    comparison_.set_time_limit(limit);
  }

  EquivalenceReport Report() const override {
    EquivalenceReport report = comparison_.Report();
    if (!control_flow_.empty()) {
      report.control_flow =
          absl::StrCat(", ", ways_, " for control flow (",
                       control_flow_.Describe(comparison_.coverage()), ")");
    }
    const auto count = [&](ArgumentKind kind) {
      const auto it = counts_.find(kind);
      return it == counts_.end() ? 0 : it->second;
    };
    report.method = absl::StrCat(
        "evaluator: ",
        count(ArgumentKind::kRandom) + count(ArgumentKind::kMixed), " random, ",
        count(ArgumentKind::kAdversarial) + count(ArgumentKind::kExtreme),
        " adversarial inputs", report.control_flow);
    return report;
  }

 private:
  // `adapts` where a's result would be NaN to a large part: takes the absolute
  // values instead.
  absl::Status CheckRandom(const std::string& name, ArgumentKind kind,
                           uint64_t seed, bool adapts) {
    HONE_ASSIGN_OR_RETURN(std::vector<Literal> arguments,
                          Make(kind, true, seed));
    if (!adapts) return comparison_.Compare(name, arguments);
    if (!prefers_non_negative_) {
      bool is_nan = false;
      if (has_roots_) {
        // Likely; the original alone tells sooner than both.
        HONE_ASSIGN_OR_RETURN(is_nan,
                              comparison_.IsMuchNan(arguments, kMaxNanShare));
      }
      if (!is_nan) {
        HONE_ASSIGN_OR_RETURN(
            const bool done,
            comparison_.CompareUnlessNan(name, arguments, kMaxNanShare));
        if (done) return absl::OkStatus();
      }
      HONE_RETURN_IF_ERROR(FindNonNegative(kind, seed));
    }
    Adapt(arguments);
    return comparison_.Compare(name, arguments);
  }

  absl::StatusOr<std::vector<Literal>> Make(ArgumentKind kind, bool special,
                                            uint64_t seed) const {
    return Arguments(signature_, kind, special, seed,
                     comparison_.options().pool, buffers_.get());
  }

  void Adapt(std::vector<Literal>& arguments) const {
    for (size_t i = 0; i < non_negative_.size(); ++i) {
      if (non_negative_[i]) MakeNonNegative(arguments[i]);
    }
  }

  // Finds which arguments have to be non-negative, so that the others still
  // show what a module makes of negative numbers: those under roots, if that
  // does. Otherwise leaves groups of them as they are, smaller ones where that
  // makes too much NaN, for as long as there is time.
  absl::Status FindNonNegative(ArgumentKind kind, uint64_t seed) {
    prefers_non_negative_ = true;
    const auto is_nan = [&]() -> absl::StatusOr<bool> {
      HONE_ASSIGN_OR_RETURN(std::vector<Literal> arguments,
                            Make(kind, true, seed));
      Adapt(arguments);
      return comparison_.IsMuchNan(arguments, kMaxNanShare);
    };
    if (has_roots_) {
      non_negative_ = under_roots_;
      HONE_ASSIGN_OR_RETURN(const bool fails, is_nan());
      if (!fails) return absl::OkStatus();
    }
    const size_t count = under_roots_.size();
    non_negative_.assign(count, true);
    const Clock& clock = SystemClock();
    const absl::Duration end =
        clock.Monotonic() +
        std::min(absl::Seconds(2), 0.05 * comparison_.options().time_limit);
    std::deque<std::pair<size_t, size_t>> groups = {
        {0, count / 2}, {count / 2, count - count / 2}};
    for (int run = 0; run < kSignRuns && !groups.empty() && count > 1; ++run) {
      const auto [begin, size] = groups.front();
      groups.pop_front();
      std::fill_n(non_negative_.begin() + static_cast<std::ptrdiff_t>(begin),
                  size, false);
      HONE_ASSIGN_OR_RETURN(const bool fails, is_nan());
      if (fails) {
        std::fill_n(non_negative_.begin() + static_cast<std::ptrdiff_t>(begin),
                    size, true);
        if (size > 1) {
          groups.emplace_back(begin, size / 2);
          groups.emplace_back(begin + size / 2, size - size / 2);
        }
      }
      if (clock.Monotonic() > end) break;
    }
    return absl::OkStatus();
  }

  // Infinities and NaN must come out the same too. Where they drown the result,
  // the same input with finite special values only is checked as well.
  absl::Status CheckAdversarial(const std::string& name, uint64_t seed) {
    HONE_ASSIGN_OR_RETURN(std::vector<Literal> arguments,
                          Make(ArgumentKind::kAdversarial, true, seed));
    FloatCounts counts;
    HONE_RETURN_IF_ERROR(comparison_.Compare(name, arguments, &counts));
    if (comparison_.equal() && 2 * counts.non_finite > counts.floats) {
      HONE_ASSIGN_OR_RETURN(arguments,
                            Make(ArgumentKind::kAdversarial, false, seed));
      Adapt(arguments);
      HONE_RETURN_IF_ERROR(comparison_.Compare(
          absl::StrCat(name, " without infinities and NaN"), arguments));
    }
    return CheckStresses(name, seed);
  }

  absl::Status CheckStresses(const std::string& name, uint64_t seed) {
    const std::vector<double> constants =
        ScalarConstants(comparison_.merged().module());
    Rng rng(seed);
    for (const Stress& stress : StressesFor(signature_)) {
      if (!comparison_.equal()) break;
      HONE_ASSIGN_OR_RETURN(std::vector<Literal> arguments,
                            Make(ArgumentKind::kRandom, true, rng.Next()));
      Apply(stress, constants, rng, arguments);
      // What is negative or no number is so on purpose.
      if (stress.kind != Stress::Kind::kNegative &&
          stress.kind != Stress::Kind::kNonFinite) {
        Adapt(arguments);
      }
      HONE_RETURN_IF_ERROR(comparison_.CompareMeaning(
          absl::StrCat(name, " ", stress.Describe()), arguments));
    }
    return absl::OkStatus();
  }

  PairComparison comparison_;
  const ControlFlow control_flow_;
  // Has the parameters.
  const Module signature_;
  const std::vector<bool> under_roots_;
  const bool has_roots_;
  std::map<ArgumentKind, int> counts_;
  // The arguments' memory, so that one input has that of the last.
  const std::shared_ptr<evaluator::BufferPool> buffers_ =
      evaluator::BufferPool::Create(EvaluateOptions().max_live_bytes);
  // Inputs for control flow.
  int ways_ = 0;
  bool prefers_non_negative_ = false;
  // By argument; empty before it is known that there are such.
  std::vector<bool> non_negative_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<EquivalenceCheck>> EquivalenceCheck::Create(
    const Module& a, const Module& b, const EvaluateOptions& options) {
  HONE_RETURN_IF_ERROR(CheckSignatures(a, b));
  return std::make_unique<Check>(a, b, options);
}

absl::Status CheckEvidence(double unverifiable) {
  if (unverifiable <= kMaxUnverifiable) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrFormat(
      "%.3g %% of an output are rounding errors or NaN on every input, "
      "expected at most %.3g %%",
      100 * unverifiable, 100 * kMaxUnverifiable));
}

absl::StatusOr<EquivalenceReport> CheckEquivalent(
    const Module& a, const Module& b, const EquivalenceOptions& options) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<EquivalenceCheck> check,
                        EquivalenceCheck::Create(a, b, options.evaluate));
  Rng seeds(options.seed);
  const auto inputs = [&](ArgumentKind kind, int count) -> absl::Status {
    for (int i = 0; i < count && check->Report().equal; ++i) {
      HONE_RETURN_IF_ERROR(check->CheckInput(kind, seeds.Next()));
    }
    return absl::OkStatus();
  };
  HONE_RETURN_IF_ERROR(inputs(ArgumentKind::kRandom, options.random_inputs));
  HONE_RETURN_IF_ERROR(inputs(ArgumentKind::kMixed, options.mixed_inputs));
  HONE_RETURN_IF_ERROR(
      inputs(ArgumentKind::kAdversarial, options.adversarial_inputs));
  if (options.adversarial_inputs > 0 && options.extreme_scalars &&
      check->IsUseful(ArgumentKind::kExtreme)) {
    HONE_RETURN_IF_ERROR(inputs(ArgumentKind::kExtreme, 2));
  }
  if (options.covers_control_flow) {
    HONE_RETURN_IF_ERROR(check->CheckControlFlow(seeds.Next()));
  }
  return check->Report();
}

}  // namespace hone::hlo
