// while-loop-trip-count-annotator: writes down how often loops run.
//
//   while(t), of which FindCountedLoop knows the trip count
//     →  while(t), backend_config={"known_trip_count":{"n":"12"}, …}
//   get-tuple-element(while(t)) of its counter, a progression
//     →  the constant it ends with
//
// Exact and legal always, and a cost model counts the body that often; but
// whatever changes a counter afterwards must look after the annotation, so this
// goes last (ChangedTupleAttributes follows it to another element). An
// annotation that is there already is replaced when it says something else; a
// backend_config about other matters, or more of them, stays. Ends of control
// dependencies keep reading the counter, and scheduled modules are left alone.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "hlo/passes/control_flow/while_trip_count.h"
#include "hlo/passes/registry.h"
#include "hlo/rewrite/driver.h"
#include "hlo/rewrite/loop_rewriter.h"
#include "hlo/rewrite/makers.h"

namespace hone::hlo {
namespace {

constexpr char kAttribute[] = "backend_config";
constexpr char kTripCount[] = "\"known_trip_count\"";

// Upstream's WhileLoopBackendConfig as JSON, where code generators look for
// what is known about a loop.
std::string Annotation(const CountedLoop& loop) {
  std::string text =
      absl::StrCat("{", kTripCount, R"(:{"n":")", loop.trip_count, R"("},)");
  if (loop.progression.has_value()) {
    absl::StrAppend(&text, R"("known_init_step":{"init":")",
                    loop.progression->init, R"(","step":")",
                    loop.progression->step, R"("},)");
  }
  absl::StrAppend(&text, R"("known_induction_variable":{"tuple_index":")",
                  loop.element, R"("},"dynamic_variables":[]})");
  return text;
}

// The number of keys in JSON text, nested ones included.
std::ptrdiff_t KeyCount(absl::string_view json) {
  return std::count(json.begin(), json.end(), ':');
}

bool Annotate(Rewriter& r, InstructionId id, const CountedLoop& loop) {
  const std::string annotation = Annotation(loop);
  auto attributes = std::make_shared<Attributes>(r[id].attributes());
  for (auto& [name, value] : attributes->others) {
    if (name != kAttribute) continue;
    // A config about other matters stays, and so does one about more.
    if (value == annotation || !absl::StrContains(value, kTripCount) ||
        KeyCount(value) > KeyCount(annotation)) {
      return false;
    }
    value = annotation;
    r.SetAttributes(id, std::move(attributes));
    return true;
  }
  attributes->others.emplace_back(kAttribute, annotation);
  r.SetAttributes(id, std::move(attributes));
  return true;
}

bool ForwardFinalValue(Rewriter& r, InstructionId id, const CountedLoop& loop) {
  if (!loop.progression.has_value()) return false;
  const auto& [init, step] = *loop.progression;
  const Shape& counter = *r.shape(id).tuple_element(loop.element);
  InstructionId value = kNoInstruction;
  bool changed = false;
  for (InstructionId read : LoopRewriter::Reads(r, id, loop.element)) {
    if (r.computation().HasControlDependency(read)) continue;
    if (value == kNoInstruction) {
      value =
          MakeConstant(r, Literal::ScalarInt(counter.element_type(),
                                             init + step * loop.trip_count));
    }
    changed |= r.Replace(read, value);
  }
  return changed;
}

class WhileLoopTripCountAnnotator final : public Pass {
 public:
  absl::string_view name() const override {
    return "while-loop-trip-count-annotator";
  }

  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& options) const override {
    const RewriteRule rule = {
        .name = name(), .opcodes = {Opcode::kWhile}, .checks_itself = true};
    return RewriteModule(
        module, rule, options, [](Rewriter& r, InstructionId id) {
          const auto counted = FindCountedLoop(r.module(), r.computation(), id);
          if (!counted.has_value()) return false;
          const bool annotated = Annotate(r, id, *counted);
          return ForwardFinalValue(r, id, *counted) || annotated;
        });
  }
};

}  // namespace

std::unique_ptr<Pass> MakeWhileLoopTripCountAnnotator() {
  return std::make_unique<WhileLoopTripCountAnnotator>();
}

}  // namespace hone::hlo
