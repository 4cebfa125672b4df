#include "tests/hlo/passes/check_order.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

#include "base/status_macros.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"

namespace hone::hlo {
namespace {

constexpr absl::string_view kPassesLine = "// passes: ";

// Many times what a random module loops; what shrinking makes of a loop's
// condition may well never end.
constexpr int64_t kMaxLoopSteps = 10'000;

using Kind = OrderFailure::Kind;

bool SharesEverything(const Module& a, const Module& b) {
  if (a.computation_slots() != b.computation_slots()) return false;
  for (ComputationId id = 0; id < a.computation_slots(); ++id) {
    if (!Module::SharesComputation(a, b, id)) return false;
  }
  return true;
}

}  // namespace

std::optional<OrderFailure> CheckOrder(const FailingCase& order,
                                       const PassLookup& find_pass,
                                       std::set<std::string>* changing) {
  Module module = order.module;
  bool any = false;
  for (const std::string& name : order.passes) {
    const absl::StatusOr<const Pass*> pass = find_pass(name);
    if (!pass.ok()) {
      return OrderFailure{Kind::kPassFailed, name, pass.status().ToString()};
    }
    const Module before = module;
    const absl::StatusOr<bool> changed = (*pass)->Run(module);
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
    if (const absl::Status status = VerifyModule(module); !status.ok()) {
      return OrderFailure{Kind::kDoesNotVerify, name, status.ToString()};
    }
  }
  if (!any) return std::nullopt;
  EquivalenceOptions options;
  options.random_inputs = 1;
  options.adversarial_inputs = 1;
  options.evaluate.max_loop_steps = kMaxLoopSteps;
  const absl::StatusOr<EquivalenceReport> report =
      CheckEquivalent(order.module, module, options);
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

FailingCase ShrinkFailure(const FailingCase& failing, Kind kind,
                          const PassLookup& find_pass) {
  return Shrink(failing, [&](const FailingCase& candidate) {
    const std::optional<OrderFailure> failure =
        CheckOrder(candidate, find_pass, nullptr);
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
