#ifndef HONE_TESTS_LOOPS_LOWERING_LOWERED_H_
#define HONE_TESTS_LOOPS_LOWERING_LOWERED_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

#include "hlo/ir/literal.h"
#include "hlo/ir/module.h"
#include "loops/ir/program.h"
#include "loops/lowering/plan/module_plan.h"

namespace hone::loops {

// Parses and verifies; a test failure and an empty module where that fails.
hlo::Module ParseModule(absl::string_view text);
// "HloModule m" with `body` as the text of the entry computation and `others`
// in front of it.
std::string ModuleText(absl::string_view body, absl::string_view others = "");

// A test failure unless the entry computation, lowered to a program that
// verifies, computes what the evaluator does on random and on adversarial
// arguments. The program, for further questions.
Program ExpectLowersRight(const hlo::Module& module);
Program ExpectLowersRight(absl::string_view text);

// Likewise for the whole module as a plan, run by the plan interpreter, on
// random arguments.
ModulePlan ExpectPlansRight(const hlo::Module& module);
ModulePlan ExpectPlansRight(absl::string_view text);

// Compares leaf by leaf.
void ExpectSameLeaves(const hlo::Literal& expected,
                      const std::vector<hlo::Literal>& actual,
                      absl::string_view what);

// Local arrays of the program, temporaries of rank 0 left out.
int64_t CountLocalArrays(const Program& program);

}  // namespace hone::loops

#endif  // HONE_TESTS_LOOPS_LOWERING_LOWERED_H_
