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
// annotation that is there already is updated, and other keys beside it stay; a
// backend_config without one is another code generator's, and stays. Ends of
// control dependencies keep reading the counter, and scheduled modules are left
// alone.

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

#include "hlo/analysis/backend_config.h"
#include "hlo/passes/control_flow/while_trip_count.h"
#include "hlo/passes/registry.h"
#include "hlo/passes/rule_pass.h"
#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/tuples/loop_rewriter.h"

namespace hone::hlo {
namespace {

constexpr char kAttribute[] = "backend_config";
constexpr char kTripCount[] = "known_trip_count";

using Json = nlohmann::ordered_json;

// An int64 as Protocol Buffers write it into JSON.
std::string Number(int64_t value) { return absl::StrCat(value); }

// Upstream's WhileLoopBackendConfig as JSON, where code generators look for
// what is known about a loop.
Json Annotation(const CountedLoop& loop) {
  Json json;
  json[kTripCount]["n"] = Number(loop.trip_count);
  if (loop.progression.has_value()) {
    json["known_init_step"] = {{"init", Number(loop.progression->init)},
                               {"step", Number(loop.progression->step)}};
  }
  json["known_induction_variable"]["tuple_index"] = Number(loop.element);
  json["dynamic_variables"] = Json::array();
  return json;
}

// `config` with `annotation`; nullopt if it stays as it is.
std::optional<std::string> Annotated(const std::string& config,
                                     const Json& annotation) {
  const Json before = ParseBackendConfig(config);
  if (!before.contains(kTripCount)) return std::nullopt;
  Json after = before;
  after.update(annotation);
  if (after == before) return std::nullopt;
  return after.dump();
}

bool Annotate(Rewriter& r, InstructionId id, const CountedLoop& loop) {
  const Json annotation = Annotation(loop);
  auto attributes = std::make_shared<Attributes>(r[id].attributes());
  for (auto& [name, value] : attributes->others) {
    if (name != kAttribute) continue;
    std::optional<std::string> config = Annotated(value, annotation);
    if (!config.has_value()) return false;
    value = *std::move(config);
    r.SetAttributes(id, std::move(attributes));
    return true;
  }
  attributes->others.emplace_back(kAttribute, annotation.dump());
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
    if (!r.MayReplace(read, /*dynamic=*/true)) continue;
    if (value == kNoInstruction) {
      value =
          MakeConstant(r, Literal::ScalarInt(counter.element_type(),
                                             init + step * loop.trip_count));
    }
    changed |= r.Replace(read, value);
  }
  return changed;
}

bool AnnotateCountedLoop(Rewriter& r, InstructionId id) {
  const auto counted = FindCountedLoop(r.module(), r.computation(), id);
  if (!counted.has_value()) return false;
  const bool annotated = Annotate(r, id, *counted);
  return ForwardFinalValue(r, id, *counted) || annotated;
}

}  // namespace

std::unique_ptr<Pass> MakeWhileLoopTripCountAnnotator() {
  return MakeRulePass({.name = "while-loop-trip-count-annotator",
                       .opcodes = {Opcode::kWhile},
                       .checks_itself = true},
                      AnnotateCountedLoop);
}

}  // namespace hone::hlo
