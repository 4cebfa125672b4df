#include "hlo/equivalence/judge.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"

#include "hlo/equivalence/float_judge.h"
#include "hlo/equivalence/internal.h"

namespace hone::hlo {
namespace {

// Of so many elements one may lie so near to a jump of the function, or to
// where all digits cancel, that a few runs with other rounding do not show it.
constexpr int64_t kElementsPerJump = 10'000;

// Takes a few elements that only rounding makes wrong for undecided.
void ExcuseJumps(const Evidence& e, ArrayVerdict& verdict) {
  if (e.moved_rewritten.empty() || verdict.wrong > verdict.wrong_by_rounding ||
      verdict.wrong * kElementsPerJump > verdict.elements) {
    return;
  }
  verdict.unverifiable += verdict.wrong;
  verdict.wrong = 0;
}

// One array of integers or predicates.
ArrayVerdict JudgeExact(const Evidence& e) {
  ArrayVerdict verdict;
  verdict.elements = e.original.num_elements();
  if (e.original == e.rewritten) return verdict;
  for (int64_t i = 0; i < verdict.elements; ++i) {
    const int64_t a = e.original.AsInt(i);
    const int64_t b = e.rewritten.AsInt(i);
    if (a == b) continue;
    const int64_t t = e.truth.AsInt(i);
    // Floats decide it within their rounding if the original decides otherwise
    // than the truth, or with other rounding; double precision has to agree.
    const bool undecided = a != t || std::any_of(e.moved.begin(), e.moved.end(),
                                                 [&](const Literal& moved) {
                                                   return moved.AsInt(i) != a;
                                                 });
    if ((undecided || !e.judges_rounding) && e.rewritten_truth.AsInt(i) == t) {
      ++verdict.unverifiable;
      continue;
    }
    if (e.rewritten_truth.AsInt(i) == t) ++verdict.wrong_by_rounding;
    if (verdict.wrong++ > 0) continue;
    verdict.worst = {"", ElementName(e.original.shape(), i),
                     e.original.AsDouble(i), e.rewritten.AsDouble(i),
                     e.truth.AsDouble(i)};
  }
  return verdict;
}

void Judge(const Evidence& e, const std::string& path, ThreadPool* pool,
           std::vector<ArrayVerdict>& verdicts) {
  const Shape& shape = e.original.shape();
  if (shape.IsTuple()) {
    for (size_t i = 0; i < e.original.elements().size(); ++i) {
      Evidence element{e.original.elements()[i],
                       e.truth.elements()[i],
                       e.rewritten.elements()[i],
                       e.rewritten_truth.elements()[i],
                       {},
                       {},
                       e.judges_rounding};
      for (const Literal& moved : e.moved) {
        element.moved.push_back(moved.elements()[i]);
      }
      for (const Literal& moved : e.moved_rewritten) {
        element.moved_rewritten.push_back(moved.elements()[i]);
      }
      Judge(element,
            path.empty() ? absl::StrCat(i) : absl::StrCat(path, ".", i), pool,
            verdicts);
    }
    return;
  }
  if (!shape.IsArray()) return;
  const ElementType type = shape.element_type();
  verdicts.push_back(IsFloat(type) || IsComplex(type) ? JudgeFloats(e, pool)
                                                      : JudgeExact(e));
  ExcuseJumps(e, verdicts.back());
  verdicts.back().worst.output = path;
}

}  // namespace

std::vector<ArrayVerdict> JudgeArrays(const Evidence& evidence,
                                      const std::string& path,
                                      ThreadPool* pool) {
  std::vector<ArrayVerdict> verdicts;
  Judge(evidence, path, pool, verdicts);
  return verdicts;
}

}  // namespace hone::hlo
