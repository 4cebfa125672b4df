#include "hlo/passes/control_flow/loop_annotation.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace hone::hlo {
namespace {

constexpr char kAttribute[] = "backend_config";
constexpr absl::string_view kTupleIndex =
    R"("known_induction_variable":{"tuple_index":")";

const std::string* FindAnnotation(const Instruction& loop) {
  for (const auto& [name, value] : loop.attributes().others) {
    if (name == kAttribute) return &value;
  }
  return nullptr;
}

}  // namespace

std::string LoopAnnotation(const CountedLoop& loop) {
  std::string text =
      absl::StrCat(R"({"known_trip_count":{"n":")", loop.trip_count, R"("},)");
  if (loop.progression.has_value()) {
    absl::StrAppend(&text, R"("known_init_step":{"init":")",
                    loop.progression->init, R"(","step":")",
                    loop.progression->step, R"("},)");
  }
  absl::StrAppend(&text, kTupleIndex, loop.element,
                  R"("},"dynamic_variables":[]})");
  return text;
}

bool SetLoopAnnotation(Instruction& loop, const std::string& annotation) {
  const std::string* current = FindAnnotation(loop);
  if (current != nullptr && *current == annotation) return false;
  auto attributes = std::make_shared<Attributes>(loop.attributes());
  if (current == nullptr) {
    attributes->others.emplace_back(kAttribute, annotation);
  } else {
    for (auto& [name, value] : attributes->others) {
      if (name == kAttribute) value = annotation;
    }
  }
  loop.set_attributes(std::move(attributes));
  return true;
}

void MoveInductionVariable(Instruction& loop, const std::vector<bool>& needed) {
  const std::string* annotation = FindAnnotation(loop);
  if (annotation == nullptr) return;
  size_t begin = absl::string_view(*annotation).find(kTupleIndex);
  if (begin == absl::string_view::npos) return;
  begin += kTupleIndex.size();
  const size_t end = annotation->find('"', begin);
  size_t index = 0;
  if (end == std::string::npos ||
      !absl::SimpleAtoi(
          absl::string_view(*annotation).substr(begin, end - begin), &index) ||
      index >= needed.size()) {
    return;
  }
  const auto before = needed.begin() + static_cast<int64_t>(index);
  std::string moved = *annotation;
  moved.replace(begin, end - begin,
                absl::StrCat(std::count(needed.begin(), before, true)));
  SetLoopAnnotation(loop, moved);
}

}  // namespace hone::hlo
