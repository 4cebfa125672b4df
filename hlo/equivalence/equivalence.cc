#include "hlo/equivalence/equivalence.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "base/hash.h"
#include "base/rng.h"
#include "base/status_macros.h"
#include "hlo/equivalence/control_flow.h"
#include "hlo/equivalence/double_precision.h"
#include "hlo/equivalence/influence.h"
#include "hlo/equivalence/internal.h"
#include "hlo/equivalence/judge.h"
#include "hlo/equivalence/literal_scan.h"
#include "hlo/equivalence/merged_module.h"
#include "hlo/evaluator/buffer_pool.h"

namespace hone::hlo {
namespace {

// Share of NaN in a result above which its input is taken for outside of what
// the module is meant for (a negative second moment under a square root).
constexpr double kMaxNanShare = 0.01;

// Runs with other rounding, to see how far it moves a result.
constexpr uint64_t kMovedRuns = 3;

// The part of the memory that values kept for them may take is one in this.
constexpr int64_t kTruthShare = 4;

// An output that the modules compute differently, and what else is known of it.
struct Differing {
  int64_t output = 0;
  Evidence evidence;
  // False where there was no memory to keep it.
  bool has_truth = false;
};

absl::Status CheckSignatures(const Module& a, const Module& b) {
  const Computation& x = a.entry_computation();
  const Computation& y = b.entry_computation();
  if (x.parameters().size() != y.parameters().size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the modules take ", x.parameters().size(), " and ",
        y.parameters().size(), " parameters, expected the same number"));
  }
  for (size_t i = 0; i < x.parameters().size(); ++i) {
    const Shape& p = x[x.parameters()[i]].shape();
    const Shape& q = y[y.parameters()[i]].shape();
    if (!Shape::Equal(p, q)) {
      return absl::InvalidArgumentError(
          absl::StrCat("parameter ", i, " has shape ", p.ToString(), " and ",
                       q.ToString(), ", expected the same"));
    }
  }
  const Shape& p = x[x.root()].shape();
  const Shape& q = y[y.root()].shape();
  if (!Shape::Equal(p, q)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the results have shape ", p.ToString(), " and ",
                     q.ToString(), ", expected the same"));
  }
  return absl::OkStatus();
}

class Check final : public EquivalenceCheck {
 public:
  Check(const Module& a, const Module& b, const EvaluateOptions& options)
      : merged_(a, b),
        control_flow_(merged_.module()),
        signature_(a),
        options_(options),
        floats_(FloatsOf(
            a.entry_computation()[a.entry_computation().root()].shape())),
        shares_(static_cast<size_t>(merged_.output_count()), 1) {
    options_.buffers = evaluator::BufferPool::Create(options.max_live_bytes);
  }

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
    HONE_ASSIGN_OR_RETURN(
        std::vector<Literal> arguments,
        // Both ends of the range in turns.
        Arguments(signature_, kind, number % 2 == 0, seed, options_.pool));
    Adapt(arguments);
    return Compare(absl::StrCat("input of extreme scalars ", number), arguments)
        .status();
  }

  absl::Status CheckControlFlow(uint64_t seed) override {
    if (!report_.equal || control_flow_.Open(coverage_).empty()) {
      return absl::OkStatus();
    }
    HONE_ASSIGN_OR_RETURN(std::vector<Literal> base,
                          Arguments(signature_, ArgumentKind::kRandom, false,
                                    seed, options_.pool));
    Adapt(base);
    for (const std::vector<Literal>& arguments :
         FindWays(merged_.module(), control_flow_, base, options_, seed,
                  coverage_)) {
      HONE_RETURN_IF_ERROR(
          Compare(absl::StrCat("input for control flow ", ways_), arguments)
              .status());
      ++ways_;
      if (!report_.equal) break;
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
    options_.time_limit = limit;
  }

  EquivalenceReport Report() const override {
    EquivalenceReport report = report_;
    if (!control_flow_.empty()) {
      report.control_flow =
          absl::StrCat(", ", ways_, " for control flow (",
                       control_flow_.Describe(coverage_), ")");
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
    for (double share : shares_) {
      report.unverifiable = std::max(report.unverifiable, share);
    }
    return report;
  }

 private:
  using OnOutput =
      std::function<absl::Status(int64_t position, Literal a, Literal b)>;

  // `adapts` where a's result would be NaN to a large part: takes the absolute
  // values instead.
  absl::Status CheckRandom(const std::string& name, ArgumentKind kind,
                           uint64_t seed, bool adapts) {
    HONE_ASSIGN_OR_RETURN(
        std::vector<Literal> arguments,
        Arguments(signature_, kind, true, seed, options_.pool));
    if (!adapts) return Compare(name, arguments).status();
    if (!prefers_non_negative_) {
      HONE_ASSIGN_OR_RETURN(const bool done,
                            Compare(name, arguments, kMaxNanShare));
      if (done) return absl::OkStatus();
      prefers_non_negative_ = true;
    }
    Adapt(arguments);
    return Compare(name, arguments).status();
  }

  void Adapt(std::vector<Literal>& arguments) const {
    if (!prefers_non_negative_) return;
    for (Literal& argument : arguments) MakeNonNegative(argument);
  }

  // Infinities and NaN must come out the same too. Where they drown the result,
  // the same input with finite special values only is checked as well.
  absl::Status CheckAdversarial(const std::string& name, uint64_t seed) {
    HONE_ASSIGN_OR_RETURN(std::vector<Literal> arguments,
                          Arguments(signature_, ArgumentKind::kAdversarial,
                                    true, seed, options_.pool));
    FloatCounts counts;
    HONE_RETURN_IF_ERROR(Compare(name, arguments, 2, &counts).status());
    if (!report_.equal || 2 * counts.non_finite <= counts.floats) {
      return absl::OkStatus();
    }
    HONE_ASSIGN_OR_RETURN(
        arguments, Arguments(signature_, ArgumentKind::kAdversarial, false,
                             seed, options_.pool));
    Adapt(arguments);
    return Compare(absl::StrCat(name, " without infinities and NaN"), arguments)
        .status();
  }

  // Compares the modules on one input. Returns false, and judges nothing, where
  // more than `max_nan` of a's result is NaN. Counts into `counts`, if not
  // null.
  absl::StatusOr<bool> Compare(absl::string_view input,
                               absl::Span<const Literal> arguments,
                               double max_nan = 2,
                               FloatCounts* counts = nullptr) {
    FloatCounts own_counts;
    if (counts == nullptr) counts = &own_counts;
    std::vector<Differing> differing;
    const absl::Status status =
        RunInOwnTypes(arguments, max_nan, *counts, differing);
    if (IsTooMuchNan(*counts, max_nan)) return false;
    HONE_RETURN_IF_ERROR(status);
    // Equal bits need no excuse.
    std::vector<bool> differs(shares_.size());
    for (const Differing& one : differing) {
      differs[static_cast<size_t>(one.output)] = true;
    }
    for (size_t i = 0; i < shares_.size(); ++i) {
      if (!differs[i]) shares_[i] = 0;
    }
    if (differing.empty()) return true;
    HONE_ASSIGN_OR_RETURN(std::vector<Differing> failed,
                          JudgeByTruth(input, arguments, std::move(differing)));
    HONE_RETURN_IF_ERROR(
        JudgeWithOtherRounding(input, arguments, std::move(failed)));
    return true;
  }

  bool IsTooMuchNan(const FloatCounts& counts, double max_nan) const {
    return static_cast<double>(counts.nan) >
           max_nan * static_cast<double>(floats_);
  }

  // Runs the merged module. Finds the outputs that differ, and values of b that
  // have the bits of one of a. Fails as soon as there is too much NaN.
  absl::Status RunInOwnTypes(absl::Span<const Literal> arguments,
                             double max_nan, FloatCounts& floats,
                             std::vector<Differing>& differing) {
    EvaluateOptions options = options_;
    options.coverage = &coverage_;
    absl::flat_hash_map<Hash128, InstructionId> of_a;
    replacements_.clear();
    options.on_value = [&](InstructionId id, const Literal& value) {
      if (!value.shape().IsArray()) return;
      const Hash128 hash = HashArray(value, options_.pool);
      if (merged_.IsOfA(id)) {
        of_a.try_emplace(hash, id);
      } else if (const auto it = of_a.find(hash); it != of_a.end()) {
        replacements_.emplace_back(id, it->second);
      }
    };
    return Run(merged_.module(), arguments, std::move(options),
               [&](int64_t output, Literal a, Literal b) -> absl::Status {
                 floats.Add(a, options_.pool);
                 if (IsTooMuchNan(floats, max_nan)) {
                   return absl::CancelledError("too much of a result is NaN");
                 }
                 if (merged_.IsShared(output) || a == b) {
                   return absl::OkStatus();
                 }
                 Differing one;
                 one.output = output;
                 one.evidence.original = std::move(a);
                 one.evidence.rewritten = std::move(b);
                 differing.push_back(std::move(one));
                 return absl::OkStatus();
               });
  }

  // Judges the outputs beside what double precision makes of them. Returns
  // those that are wrong, as far as that can tell.
  absl::StatusOr<std::vector<Differing>> JudgeByTruth(
      absl::string_view input, absl::Span<const Literal> arguments,
      std::vector<Differing> differing) {
    std::vector<Differing> failed;
    int64_t kept_bytes = 0;
    HONE_RETURN_IF_ERROR(RunTruth(
        arguments, differing,
        [&](int64_t position, Literal truth, Literal rewritten_truth) {
          Differing& one = differing[static_cast<size_t>(position)];
          one.evidence.truth = std::move(truth);
          one.evidence.rewritten_truth = std::move(rewritten_truth);
          const std::vector<ArrayVerdict> verdicts = Judge(one);
          if (!IsWrong(verdicts)) {
            Record(input, one.output, verdicts);
            one.evidence = Evidence();
            return absl::OkStatus();
          }
          const int64_t bytes = BytesOf(one.evidence.truth) +
                                BytesOf(one.evidence.rewritten_truth);
          if (kept_bytes + bytes > options_.max_live_bytes / kTruthShare) {
            one.evidence.truth = Literal();
            one.evidence.rewritten_truth = Literal();
          } else {
            one.has_truth = true;
            kept_bytes += bytes;
          }
          failed.push_back(std::move(one));
          return absl::OkStatus();
        }));
    return failed;
  }

  // Judges outputs again beside runs with other rounding: one output first,
  // which may be wrong by more than that, then as many at once as fit.
  absl::Status JudgeWithOtherRounding(absl::string_view input,
                                      absl::Span<const Literal> arguments,
                                      std::vector<Differing> failed) {
    size_t at = 0;
    while (at < failed.size() && report_.equal) {
      std::vector<Differing> group;
      int64_t bytes = 0;
      const size_t limit = at == 0 ? 1 : failed.size();
      for (; at < failed.size() && group.size() < limit; ++at) {
        // The truths, in f64 each, and moved runs of both.
        bytes += BytesOf(failed[at].evidence.original) *
                 static_cast<int64_t>(4 + 2 * kMovedRuns);
        if (!group.empty() && bytes > options_.max_live_bytes / kTruthShare) {
          break;
        }
        group.push_back(std::move(failed[at]));
      }
      HONE_RETURN_IF_ERROR(CompleteTruth(arguments, group));
      HONE_RETURN_IF_ERROR(Move(arguments, group));
      for (const Differing& one : group) Record(input, one.output, Judge(one));
    }
    return absl::OkStatus();
  }

  absl::Status CompleteTruth(absl::Span<const Literal> arguments,
                             std::vector<Differing>& group) {
    if (std::all_of(group.begin(), group.end(),
                    [](const Differing& one) { return one.has_truth; })) {
      return absl::OkStatus();
    }
    return RunTruth(arguments, group,
                    [&](int64_t position, Literal truth, Literal rewritten) {
                      Evidence& evidence =
                          group[static_cast<size_t>(position)].evidence;
                      evidence.truth = std::move(truth);
                      evidence.rewritten_truth = std::move(rewritten);
                      return absl::OkStatus();
                    });
  }

  // Runs what makes the outputs with other rounding.
  absl::Status Move(absl::Span<const Literal> arguments,
                    std::vector<Differing>& group) {
    EvaluateOptions options = options_;
    const Module slice = merged_.Slice(OutputsOf(group), {});
    for (uint64_t i = 1; i <= kMovedRuns; ++i) {
      options.rounding_noise = i;
      HONE_RETURN_IF_ERROR(Run(
          slice, arguments, options,
          [&](int64_t position, Literal a, Literal b) {
            Evidence& evidence = group[static_cast<size_t>(position)].evidence;
            evidence.moved.push_back(std::move(a));
            evidence.moved_rewritten.push_back(std::move(b));
            return absl::OkStatus();
          }));
    }
    return absl::OkStatus();
  }

  // Runs what makes the outputs in double precision.
  absl::Status RunTruth(absl::Span<const Literal> arguments,
                        absl::Span<const Differing> outputs,
                        const OnOutput& on_output) {
    return Run(InDoublePrecisionInside(
                   merged_.Slice(OutputsOf(outputs), replacements_)),
               arguments, options_, on_output);
  }

  static std::vector<int64_t> OutputsOf(absl::Span<const Differing> group) {
    std::vector<int64_t> outputs;
    for (const Differing& one : group) outputs.push_back(one.output);
    return outputs;
  }

  // Runs a slice of the merged module and hands over its outputs in pairs.
  static absl::Status Run(const Module& module,
                          absl::Span<const Literal> arguments,
                          EvaluateOptions options, const OnOutput& on_output) {
    struct Pair {
      Literal values[2];
      int count = 0;
    };
    const Computation& entry = module.entry_computation();
    std::vector<Pair> pairs(entry[entry.root()].operand_count() / 2);
    options.take_output = [&](int64_t number, Literal value) {
      Pair& pair = pairs[static_cast<size_t>(number / 2)];
      pair.values[number % 2] = std::move(value);
      if (++pair.count < 2) return absl::OkStatus();
      return on_output(number / 2, std::move(pair.values[0]),
                       std::move(pair.values[1]));
    };
    return Evaluate(module, arguments, options).status();
  }

  static int64_t BytesOf(const Literal& value) {
    int64_t bytes = 0;
    for (const Literal& leaf : Leaves(value)) bytes += leaf.byte_size();
    return bytes;
  }

  std::vector<ArrayVerdict> Judge(const Differing& one) const {
    return JudgeArrays(one.evidence,
                       merged_.has_tuple() ? absl::StrCat(one.output) : "",
                       options_.pool);
  }

  static bool IsWrong(absl::Span<const ArrayVerdict> verdicts) {
    return std::any_of(
        verdicts.begin(), verdicts.end(),
        [](const ArrayVerdict& verdict) { return verdict.wrong > 0; });
  }

  void Record(absl::string_view input, int64_t output,
              absl::Span<const ArrayVerdict> verdicts) {
    double unverifiable = 0;
    for (const ArrayVerdict& verdict : verdicts) {
      report_.max_rel_error =
          std::max(report_.max_rel_error, verdict.max_rel_error);
      if (verdict.elements > 0) {
        unverifiable =
            std::max(unverifiable, static_cast<double>(verdict.unverifiable) /
                                       static_cast<double>(verdict.elements));
      }
      if (verdict.wrong == 0 || !report_.equal) continue;
      report_.equal = false;
      const Difference& worst = verdict.worst;
      report_.explanation = absl::StrCat(
          "on ", input, ", ",
          worst.output.empty() ? "the result"
                               : absl::StrCat("output ", worst.output),
          " differs at ", worst.element,
          absl::StrFormat(": %.9g became %.9g (in double precision %.9g; ",
                          worst.a, worst.b, *worst.truth),
          verdict.wrong, " of ", verdict.elements, " elements)");
    }
    double& share = shares_[static_cast<size_t>(output)];
    share = std::min(share, unverifiable);
  }

  const MergedModule merged_;
  const ControlFlow control_flow_;
  // Has the parameters.
  const Module signature_;
  EvaluateOptions options_;
  // Floating-point elements of the result.
  const int64_t floats_;
  Coverage coverage_;
  EquivalenceReport report_;
  std::map<ArgumentKind, int> counts_;
  // Inputs for control flow.
  int ways_ = 0;
  bool prefers_non_negative_ = false;
  // On the input at hand: values of b and values of a with the same bits.
  std::vector<std::pair<InstructionId, InstructionId>> replacements_;
  // The smallest share of unverifiable elements of each output over the inputs.
  std::vector<double> shares_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<EquivalenceCheck>> EquivalenceCheck::Create(
    const Module& a, const Module& b, const EvaluateOptions& options) {
  HONE_RETURN_IF_ERROR(CheckSignatures(a, b));
  return std::make_unique<Check>(a, b, options);
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
