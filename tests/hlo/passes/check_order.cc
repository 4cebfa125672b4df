#include "tests/hlo/passes/check_order.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

#include "base/status_macros.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "tests/hlo/passes/compare_results.h"
#include "tests/hlo/passes/effects.h"

namespace hone::hlo {
namespace {

constexpr absl::string_view kPassesLine = "// passes: ";

// Many times what a random module loops; what shrinking makes of a loop's
// condition may well never end.
constexpr int64_t kMaxLoopSteps = 10'000;

using Kind = OrderFailure::Kind;

bool SharesEverything(const Module& a, const Module& b) {
  if (a.ComputationIds() != b.ComputationIds()) return false;
  for (ComputationId id : a.ComputationIds()) {
    if (!Module::SharesComputation(a, b, id)) return false;
  }
  return true;
}

std::optional<std::string> DifferenceInText(const Module& module) {
  const std::string text = PrintModule(module);
  const absl::StatusOr<Module> read = ParseHloText(text);
  if (!read.ok()) return absl::StrCat(read.status().ToString(), "\n", text);
  if (FastFingerprint(*read) != FastFingerprint(module)) {
    return absl::StrCat("the text reads back as another module:\n", text);
  }
  return std::nullopt;
}

std::optional<std::string> DifferenceInSignature(const Module& a,
                                                 const Module& b) {
  const auto same = [](const Shape& x, const Shape& y) {
    return Shape::Equal(x, y, /*ignore_layout=*/false);
  };
  const auto& before = a.entry_parameter_shapes();
  const auto& after = b.entry_parameter_shapes();
  if (before.size() != after.size()) {
    return absl::StrCat(after.size(), " parameters, expected ", before.size());
  }
  for (size_t i = 0; i < before.size(); ++i) {
    const Computation& entry = b.entry_computation();
    if (!same(*before[i], *after[i]) ||
        !Shape::Equal(*before[i], entry[entry.parameters()[i]].shape())) {
      return absl::StrCat("parameter ", i, " is ", after[i]->ToString(true),
                          ", expected ", before[i]->ToString(true));
    }
  }
  if (!same(*a.entry_result_shape(), *b.entry_result_shape())) {
    return absl::StrCat("the result is ",
                        b.entry_result_shape()->ToString(true), ", expected ",
                        a.entry_result_shape()->ToString(true));
  }
  return std::nullopt;
}

// Compares the results on arguments that the options ask for.
std::optional<OrderFailure> CompareOn(const Module& before, const Module& after,
                                      absl::Span<const Literal> arguments,
                                      bool exact, absl::string_view kind) {
  EvaluateOptions options;
  options.max_loop_steps = kMaxLoopSteps;
  const absl::StatusOr<Literal> a = Evaluate(before, arguments, options);
  if (!a.ok()) return std::nullopt;
  const absl::StatusOr<Literal> b = Evaluate(after, arguments, options);
  if (!b.ok()) {
    return OrderFailure{absl::IsResourceExhausted(b.status()) ? Kind::kRunsAway
                                                              : Kind::kUnequal,
                        "", b.status().ToString()};
  }
  const std::optional<std::string> difference =
      exact ? DifferenceInBits(*a, *b) : DifferenceInNonFinite(*a, *b);
  if (!difference.has_value() ||
      (!exact && OverflowDependsOnOrder(before, arguments))) {
    return std::nullopt;
  }
  return OrderFailure{Kind::kUnequal, "",
                      absl::StrCat("on ", kind, " arguments, ", *difference)};
}

std::optional<OrderFailure> CompareByTolerance(const Module& before,
                                               const Module& after,
                                               Numerics numerics) {
  EquivalenceOptions options;
  options.extreme_scalars = numerics != Numerics::kFast;
  options.covers_control_flow = false;
  options.evaluate.max_loop_steps = kMaxLoopSteps;
  const absl::StatusOr<EquivalenceReport> report =
      CheckEquivalent(before, after, options);
  if (absl::IsUnimplemented(report.status())) return std::nullopt;
  if (absl::IsResourceExhausted(report.status())) {
    return OrderFailure{Kind::kRunsAway, "", report.status().ToString()};
  }
  if (!report.ok()) {
    return OrderFailure{Kind::kUnequal, "", report.status().ToString()};
  }
  if (report->equal) return std::nullopt;
  return OrderFailure{Kind::kUnequal, "", report->explanation};
}

std::optional<OrderFailure> CompareModules(const Module& before,
                                           const Module& after,
                                           const CheckOptions& options) {
  if (auto difference = DifferenceInSignature(before, after)) {
    return OrderFailure{Kind::kSignature, "", *std::move(difference)};
  }
  if (auto difference = DifferenceInEffects(before, after)) {
    return OrderFailure{Kind::kEffects, "", *std::move(difference)};
  }
  const bool exact = options.rewrite.numerics == Numerics::kExact;
  if (exact) {
    for (const ArgumentKind kind :
         {ArgumentKind::kRandom, ArgumentKind::kAdversarial}) {
      if (auto failure = CompareOn(
              before, after, MakeArguments(before, kind, 0).value(), true,
              kind == ArgumentKind::kRandom ? "random" : "adversarial")) {
        return failure;
      }
    }
  } else if (auto failure =
                 CompareByTolerance(before, after, options.rewrite.numerics)) {
    return failure;
  }
  if (options.extremes) {
    for (uint64_t seed = 0; seed < 2; ++seed) {
      if (auto failure =
              CompareOn(before, after, ExtremeArguments(before, seed), exact,
                        "extreme")) {
        return failure;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<OrderFailure> CheckOrder(const FailingCase& order,
                                       const PassLookup& find_pass,
                                       std::set<std::string>* changing,
                                       const CheckOptions& options) {
  Module module = order.module;
  bool any = false;
  for (const std::string& name : order.passes) {
    const absl::StatusOr<const Pass*> pass = find_pass(name);
    if (!pass.ok()) {
      return OrderFailure{Kind::kPassFailed, name, pass.status().ToString()};
    }
    const Module before = module;
    const absl::StatusOr<bool> changed = (*pass)->Run(module, options.rewrite);
    if (!changed.ok()) {
      return OrderFailure{Kind::kPassFailed, name, changed.status().ToString()};
    }
    if (!*changed) {
      if (SharesEverything(before, module)) continue;
      return OrderFailure{Kind::kUntruthful, name,
                          "the pass reports no change but made one"};
    }
    any = true;
    if (changing != nullptr) changing->insert(name);
    if (PrintModule(before) == PrintModule(module)) {
      return OrderFailure{Kind::kUntruthful, name,
                          "the pass reports a change but made none"};
    }
    if (const absl::Status status = VerifyModule(module); !status.ok()) {
      return OrderFailure{Kind::kDoesNotVerify, name, status.ToString()};
    }
    if (auto difference = DifferenceInText(module)) {
      return OrderFailure{Kind::kText, name, *std::move(difference)};
    }
  }
  if (!any) return std::nullopt;
  return CompareModules(order.module, module, options);
}

FailingCase ShrinkFailure(const FailingCase& failing, Kind kind,
                          const PassLookup& find_pass,
                          const CheckOptions& options) {
  return Shrink(failing, [&](const FailingCase& candidate) {
    const std::optional<OrderFailure> failure =
        CheckOrder(candidate, find_pass, nullptr, options);
    return failure.has_value() && failure->kind == kind;
  });
}

std::string PrintCase(const FailingCase& failing) {
  return absl::StrCat(kPassesLine, absl::StrJoin(failing.passes, ","), "\n",
                      PrintModule(failing.module));
}

absl::StatusOr<FailingCase> ParseCase(absl::string_view text) {
  absl::string_view line = text.substr(0, text.find('\n'));
  if (!absl::ConsumePrefix(&line, kPassesLine)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the first line is '", line, "', expected '", kPassesLine, "a,b'"));
  }
  FailingCase result;
  result.passes = absl::StrSplit(line, ',');
  HONE_ASSIGN_OR_RETURN(result.module, ParseHloText(text));
  HONE_RETURN_IF_ERROR(VerifyModule(result.module));
  return result;
}

}  // namespace hone::hlo
