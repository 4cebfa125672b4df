#include "loops/transforms/script.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

#include "base/status_macros.h"
#include "loops/transforms/registry.h"

namespace hone::loops {
namespace {

bool IsName(absl::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// Texts in messages are cut to this length.
constexpr size_t kLongestQuote = 60;

// Returns `text` in quotes for a message: printable, whatever the file holds.
std::string Quoted(absl::string_view text) {
  return absl::StrCat("'", absl::CHexEscape(text.substr(0, kLongestQuote)),
                      text.size() > kLongestQuote ? "…" : "", "'");
}

absl::StatusOr<std::vector<int32_t>> ParsePath(absl::string_view text) {
  std::vector<int32_t> path;
  if (text == "-") return path;
  for (absl::string_view part : absl::StrSplit(text, '.')) {
    int32_t number = 0;
    if (!absl::SimpleAtoi(part, &number) || number < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "path ", Quoted(text), ", expected numbers with dots, or -"));
    }
    path.push_back(number);
  }
  return path;
}

}  // namespace

std::string PrintStep(const Step& step) {
  std::string text = absl::StrCat(step.transform, " ", PathText(step.path));
  for (int64_t parameter : step.parameters) {
    absl::StrAppend(&text, " ", parameter);
  }
  return text;
}

absl::StatusOr<Step> ParseStep(absl::string_view text) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(text, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
  if (words.size() < 2 || !IsName(words[0])) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quoted(text), ", expected a step such as 'split 0.1 16'"));
  }
  Step step;
  step.transform = std::string(words[0]);
  HONE_ASSIGN_OR_RETURN(const std::vector<int32_t> path, ParsePath(words[1]));
  step.path.assign(path.begin(), path.end());
  for (size_t i = 2; i < words.size(); ++i) {
    int64_t parameter = 0;
    if (!absl::SimpleAtoi(words[i], &parameter)) {
      return absl::InvalidArgumentError(
          absl::StrCat("parameter ", Quoted(words[i]), ", expected a number"));
    }
    step.parameters.push_back(parameter);
  }
  return step;
}

std::string PrintScript(absl::Span<const Step> steps) {
  std::string text;
  for (const Step& step : steps) absl::StrAppend(&text, PrintStep(step), "\n");
  return text;
}

absl::StatusOr<std::vector<Step>> ParseScript(absl::string_view text,
                                              absl::string_view file) {
  std::vector<Step> steps;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
    if (line.empty()) continue;
    absl::StatusOr<Step> step = ParseStep(line);
    if (!step.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(file.empty() ? "line " : absl::StrCat(file, ":"), number,
                       ": ", step.status().message()));
    }
    steps.push_back(*std::move(step));
  }
  return steps;
}

absl::StatusOr<Program> ApplyScript(const Program& program,
                                    absl::Span<const Step> steps) {
  Program result = program;
  for (size_t i = 0; i < steps.size(); ++i) {
    const absl::StatusOr<const Transform*> transform =
        FindTransform(steps[i].transform);
    absl::StatusOr<Program> next = transform.ok()
                                       ? (*transform)->Apply(result, steps[i])
                                       : transform.status();
    if (!next.ok()) {
      return absl::Status(
          next.status().code(),
          absl::StrCat("step ", i + 1, " (", PrintStep(steps[i]),
                       "): ", next.status().message()));
    }
    result = *std::move(next);
  }
  return result;
}

std::vector<Step> LegalSteps(const Program& program, const Machine& machine) {
  std::vector<Step> steps;
  for (const Transform* transform : AllTransforms()) {
    transform->Enumerate(program, machine, steps);
  }
  return steps;
}

}  // namespace hone::loops
