#include "hlo/equivalence/pair_comparison.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "base/status_macros.h"

namespace hone::hlo {
namespace {

// Runs with other rounding, to see how far it moves a result. In f64 nothing
// else tells.
constexpr uint64_t kMovedRuns = 3;
constexpr uint64_t kMovedRunsInDouble = 12;

// Values in double precision that are kept for later runs may take this part of
// the memory: one in so many bytes.
constexpr int64_t kTruthShare = 4;

// More than a share of NaN can be: no limit.
constexpr double kAnyShare = 2;

const Shape& ResultOf(const Module& module) {
  const Computation& entry = module.entry_computation();
  return entry[entry.root()].shape();
}

int64_t BytesOf(const Literal& value) {
  int64_t bytes = 0;
  for (const Literal& leaf : Leaves(value)) bytes += leaf.byte_size();
  return bytes;
}

bool HasDouble(const Shape& shape) {
  if (shape.IsTuple()) {
    return absl::c_any_of(shape.tuple_elements(), [](const ShapePtr& element) {
      return HasDouble(*element);
    });
  }
  return shape.element_type() == ElementType::kF64 ||
         shape.element_type() == ElementType::kC128;
}

bool IsWrong(absl::Span<const ArrayVerdict> verdicts) {
  return absl::c_any_of(
      verdicts, [](const ArrayVerdict& verdict) { return verdict.wrong > 0; });
}

bool IsWrongBeyondRounding(absl::Span<const ArrayVerdict> verdicts) {
  return absl::c_any_of(verdicts, [](const ArrayVerdict& verdict) {
    return verdict.is_beyond_rounding;
  });
}

}  // namespace

PairComparison::PairComparison(const Module& a, const Module& b,
                               const EvaluateOptions& options)
    : runs_(a, b, options),
      floats_(FloatsOf(ResultOf(a))),
      moved_runs_(HasDouble(ResultOf(a)) ? kMovedRunsInDouble : kMovedRuns),
      shares_(static_cast<size_t>(runs_.merged().output_count()), 1),
      nan_shares_(shares_.size()) {}

EquivalenceReport PairComparison::Report() const {
  EquivalenceReport report = report_;
  for (double share : shares_) {
    report.unverifiable = std::max(report.unverifiable, share);
  }
  return report;
}

absl::Status PairComparison::Compare(absl::string_view input,
                                     absl::Span<const Literal> arguments,
                                     FloatCounts* counts) {
  FloatCounts own_counts;
  return Run(input, arguments, kAnyShare,
             counts == nullptr ? own_counts : *counts)
      .status();
}

absl::StatusOr<bool> PairComparison::CompareUnlessNan(
    absl::string_view input, absl::Span<const Literal> arguments,
    double max_nan) {
  FloatCounts counts;
  return Run(input, arguments, max_nan, counts);
}

absl::Status PairComparison::CompareSpecial(
    absl::string_view input, absl::Span<const Literal> arguments) {
  is_ordinary_ = false;
  const absl::Status status = Compare(input, arguments);
  is_ordinary_ = true;
  return status;
}

absl::Status PairComparison::CompareMeaning(
    absl::string_view input, absl::Span<const Literal> arguments) {
  judges_rounding_ = runs_.is_b_narrower();
  const absl::Status status = CompareSpecial(input, arguments);
  judges_rounding_ = true;
  return status;
}

absl::StatusOr<bool> PairComparison::Run(absl::string_view input,
                                         absl::Span<const Literal> arguments,
                                         double max_nan, FloatCounts& counts) {
  DifferingOutputs differing;
  const absl::Status status =
      RunInOwnTypes(arguments, max_nan, counts, differing);
  if (IsTooMuchNan(counts, max_nan)) return false;
  HONE_RETURN_IF_ERROR(status);
  // Equal bits need no excuse, but NaN shows nothing.
  for (size_t i = 0; i < shares_.size() && is_ordinary_; ++i) {
    if (differing.contains(static_cast<int64_t>(i))) continue;
    shares_[i] = std::min(shares_[i], nan_shares_[i]);
  }
  if (differing.empty()) return true;
  HONE_RETURN_IF_ERROR(JudgeByTruth(input, arguments, differing));
  HONE_RETURN_IF_ERROR(
      JudgeWithOtherRounding(input, arguments, std::move(differing)));
  return true;
}

absl::StatusOr<bool> PairComparison::IsMuchNan(
    absl::Span<const Literal> arguments, double share) {
  FloatCounts counts;
  const absl::Status status =
      runs_.OfAInOwnTypes(arguments, [&](int64_t, const Literal& a) {
        counts.Add(a, runs_.options().pool);
        return IsTooMuchNan(counts, share)
                   ? absl::CancelledError("too much of a result is NaN")
                   : absl::OkStatus();
      });
  if (IsTooMuchNan(counts, share)) return true;
  HONE_RETURN_IF_ERROR(status);
  return false;
}

bool PairComparison::IsTooMuchNan(const FloatCounts& counts,
                                  double max_nan) const {
  return static_cast<double>(counts.nan) >
         max_nan * static_cast<double>(floats_);
}

absl::Status PairComparison::RunInOwnTypes(absl::Span<const Literal> arguments,
                                           double max_nan, FloatCounts& floats,
                                           DifferingOutputs& differing) {
  return runs_.InOwnTypes(
      arguments, coverage_,
      [&](int64_t output, Literal a, Literal b) -> absl::Status {
        const int64_t nan = floats.nan;
        floats.Add(a, runs_.options().pool);
        if (IsTooMuchNan(floats, max_nan)) {
          return absl::CancelledError("too much of a result is NaN");
        }
        if (runs_.merged().IsShared(output)) return absl::OkStatus();
        nan_shares_[static_cast<size_t>(output)] =
            static_cast<double>(floats.nan - nan) /
            static_cast<double>(std::max<int64_t>(1, FloatsOf(a.shape())));
        if (HaveSameNumbers(a, b, runs_.options().pool)) {
          return absl::OkStatus();
        }
        Evidence& evidence = differing[output].evidence;
        evidence.judges_rounding = judges_rounding_;
        evidence.original = std::move(a);
        evidence.rewritten = std::move(b);
        return absl::OkStatus();
      });
}

absl::Status PairComparison::JudgeByTruth(absl::string_view input,
                                          absl::Span<const Literal> arguments,
                                          DifferingOutputs& differing) {
  int64_t kept_bytes = 0;
  const absl::Status status = runs_.InDoublePrecision(
      arguments, NumbersOf(differing),
      [&](int64_t output, Literal truth, Literal rewritten_truth) {
        const auto it = differing.find(output);
        Differing& one = it->second;
        one.evidence.truth = std::move(truth);
        one.evidence.rewritten_truth = std::move(rewritten_truth);
        const std::vector<ArrayVerdict> verdicts = Judge(output, one);
        if (!IsWrong(verdicts)) {
          Record(input, output, verdicts);
          differing.erase(it);
          return absl::OkStatus();
        }
        if (IsWrongBeyondRounding(verdicts)) {
          Record(input, output, verdicts);
          return absl::CancelledError("the modules differ");
        }
        Keep(one, kept_bytes);
        return absl::OkStatus();
      });
  return report_.equal ? status : absl::OkStatus();
}

absl::Status PairComparison::JudgeWithOtherRounding(
    absl::string_view input, absl::Span<const Literal> arguments,
    DifferingOutputs failed) {
  HONE_RETURN_IF_ERROR(JudgeWithNoiseOfA(input, arguments, failed));
  while (!failed.empty() && report_.equal) {
    DifferingOutputs group = TakeGroup(failed);
    HONE_RETURN_IF_ERROR(CompleteTruth(arguments, group));
    for (uint64_t run = 1; run <= moved_runs_; ++run) {
      if (run > 1) {
        HONE_RETURN_IF_ERROR(MoveRounding(Partner::kA, arguments, run, group));
        RecordRight(input, group);
      }
      // Its own rounding is no excuse for what computes in a narrower type.
      if (!runs_.is_b_narrower()) {
        HONE_RETURN_IF_ERROR(MoveRounding(Partner::kB, arguments, run, group));
        RecordRight(input, group);
      }
    }
    for (const auto& [output, one] : group) {
      Record(input, output, Judge(output, one));
    }
  }
  return absl::OkStatus();
}

absl::Status PairComparison::MoveRounding(Partner partner,
                                          absl::Span<const Literal> arguments,
                                          uint64_t run,
                                          DifferingOutputs& group) const {
  if (group.empty()) return absl::OkStatus();
  return runs_.WithRoundingNoise(
      partner, arguments, NumbersOf(group), run,
      [&](int64_t output, Literal value) {
        Evidence& evidence = group[output].evidence;
        (partner == Partner::kA ? evidence.moved : evidence.moved_rewritten)
            .push_back(std::move(value));
        return absl::OkStatus();
      });
}

absl::Status PairComparison::JudgeWithNoiseOfA(
    absl::string_view input, absl::Span<const Literal> arguments,
    DifferingOutputs& failed) {
  if (failed.empty()) return absl::OkStatus();
  int64_t kept_bytes = 0;
  const auto judge = [&](int64_t output) {
    const auto it = failed.find(output);
    Differing& one = it->second;
    const std::vector<ArrayVerdict> verdicts = Judge(output, one);
    if (!IsWrong(verdicts)) {
      Record(input, output, verdicts);
      failed.erase(it);
      return;
    }
    Keep(one, kept_bytes);
  };
  std::vector<int64_t> without_truth;
  HONE_RETURN_IF_ERROR(
      runs_.WithRoundingNoise(Partner::kA, arguments, NumbersOf(failed), 1,
                              [&](int64_t output, Literal a) {
                                Differing& one = failed[output];
                                one.evidence.moved.push_back(std::move(a));
                                if (one.has_truth) {
                                  judge(output);
                                } else {
                                  without_truth.push_back(output);
                                }
                                return absl::OkStatus();
                              }));
  if (without_truth.empty()) return absl::OkStatus();
  absl::c_sort(without_truth);
  return runs_.InDoublePrecision(
      arguments, without_truth,
      [&](int64_t output, Literal truth, Literal rewritten) {
        Evidence& evidence = failed[output].evidence;
        evidence.truth = std::move(truth);
        evidence.rewritten_truth = std::move(rewritten);
        judge(output);
        return absl::OkStatus();
      });
}

void PairComparison::Keep(Differing& one, int64_t& kept_bytes) const {
  const int64_t bytes =
      BytesOf(one.evidence.truth) + BytesOf(one.evidence.rewritten_truth);
  one.has_truth =
      kept_bytes + bytes <= runs_.options().max_live_bytes / kTruthShare;
  if (one.has_truth) {
    kept_bytes += bytes;
  } else {
    one.evidence.truth = Literal();
    one.evidence.rewritten_truth = Literal();
  }
}

PairComparison::DifferingOutputs PairComparison::TakeGroup(
    DifferingOutputs& outputs) const {
  DifferingOutputs group;
  int64_t bytes = 0;
  while (!outputs.empty()) {
    // The truths, in f64 each, and moved runs of both.
    bytes += BytesOf(outputs.begin()->second.evidence.original) *
             static_cast<int64_t>(4 + 2 * moved_runs_);
    if (!group.empty() &&
        bytes > runs_.options().max_live_bytes / kTruthShare) {
      break;
    }
    group.insert(outputs.extract(outputs.begin()));
  }
  return group;
}

void PairComparison::RecordRight(absl::string_view input,
                                 DifferingOutputs& outputs) {
  for (auto it = outputs.begin(); it != outputs.end();) {
    const std::vector<ArrayVerdict> verdicts = Judge(it->first, it->second);
    if (IsWrong(verdicts)) {
      ++it;
      continue;
    }
    Record(input, it->first, verdicts);
    it = outputs.erase(it);
  }
}

absl::Status PairComparison::CompleteTruth(absl::Span<const Literal> arguments,
                                           DifferingOutputs& group) {
  if (absl::c_all_of(group,
                     [](const auto& one) { return one.second.has_truth; })) {
    return absl::OkStatus();
  }
  return runs_.InDoublePrecision(
      arguments, NumbersOf(group),
      [&](int64_t output, Literal truth, Literal rewritten) {
        Evidence& evidence = group[output].evidence;
        evidence.truth = std::move(truth);
        evidence.rewritten_truth = std::move(rewritten);
        return absl::OkStatus();
      });
}

std::vector<ArrayVerdict> PairComparison::Judge(int64_t output,
                                                const Differing& one) const {
  return JudgeArrays(one.evidence,
                     runs_.merged().has_tuple() ? absl::StrCat(output) : "",
                     runs_.options().pool);
}

void PairComparison::Record(absl::string_view input, int64_t output,
                            absl::Span<const ArrayVerdict> verdicts) {
  double unverifiable = 0;
  const auto at = static_cast<size_t>(output);
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
  if (is_ordinary_) {
    shares_[at] = std::min(shares_[at], unverifiable + nan_shares_[at]);
  }
}

std::vector<int64_t> PairComparison::NumbersOf(
    const DifferingOutputs& outputs) {
  std::vector<int64_t> numbers;
  numbers.reserve(outputs.size());
  for (const auto& [number, unused] : outputs) numbers.push_back(number);
  return numbers;
}

}  // namespace hone::hlo
