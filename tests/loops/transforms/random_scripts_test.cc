// Scripts of random legal steps keep what programs compute.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "base/rng.h"
#include "loops/interpreter.h"
#include "loops/rewrite.h"
#include "loops/text.h"
#include "loops/transforms/registry.h"
#include "loops/transforms/script.h"
#include "loops/verifier.h"
#include "tests/loops/example_programs.h"
#include "tests/loops/random_program.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

// Small, so that registers are full and blocks are worth it soon.
const Machine kMachine = {
    .l1_bytes = 256, .l2_bytes = 1024, .vector_bytes = 16, .threads = 4};

double Tolerance(hlo::ElementType type) {
  switch (type) {
    case hlo::ElementType::kBf16:
      return 0.1;
    case hlo::ElementType::kF16:
      return 0.02;
    case hlo::ElementType::kF32:
      return 1e-4;
    case hlo::ElementType::kF64:
      return 1e-10;
    default:
      return 0;
  }
}

bool IsClose(double a, double b, double tolerance) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  return std::abs(a - b) <=
         tolerance * (1 + std::max(std::abs(a), std::abs(b)));
}

// Where two lists of results differ; empty where they do not.
std::string Difference(const std::vector<hlo::Literal>& a,
                       const std::vector<hlo::Literal>& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    const double tolerance = Tolerance(a[i].shape().element_type());
    for (int64_t j = 0; j < a[i].num_elements(); ++j) {
      if (IsClose(a[i].AsDouble(j), b[i].AsDouble(j), tolerance)) continue;
      return "result " + std::to_string(i) + ", element " + std::to_string(j) +
             ": " + std::to_string(a[i].AsDouble(j)) + ", now " +
             std::to_string(b[i].AsDouble(j));
    }
  }
  return "";
}

Node WithLanesInParallel(const Node& node) {
  if (node.scope() == nullptr) return node;
  auto scope = std::make_shared<Scope>(*node.scope());
  if (scope->mode == ScopeMode::kParallel) {
    scope->mode = ScopeMode::kSequential;
  } else if (scope->mode == ScopeMode::kVector) {
    scope->mode = ScopeMode::kParallel;
  }
  for (Node& child : scope->body) child = WithLanesInParallel(child);
  return std::shared_ptr<const Scope>(std::move(scope));
}

// For the interpreter, which runs the iterations of parallel scopes in any
// order: lanes must not depend on each other either.
Program WithLanesInParallel(const Program& program) {
  Program result = program;
  for (Node& node : result.mutable_body()) node = WithLanesInParallel(node);
  for (size_t i = 0; i < program.buffers().size(); ++i) {
    if (program.buffers()[i]->memory != Memory::kRegister) continue;
    Buffer buffer = *program.buffers()[i];
    buffer.memory = Memory::kStack;
    result.SetBuffer(static_cast<BufferId>(i), std::move(buffer));
  }
  return result;
}

// A proposed step, each transformation as likely as the others.
std::optional<Step> ProposedStep(const Program& program, Rng& rng) {
  std::vector<std::vector<Step>> choices;
  for (const Transform* transform : AllTransforms()) {
    std::vector<Step> steps;
    transform->Enumerate(program, kMachine, steps);
    if (!steps.empty()) choices.push_back(std::move(steps));
  }
  if (choices.empty()) return std::nullopt;
  const std::vector<Step>& steps = choices[rng.Below(choices.size())];
  return steps[rng.Below(steps.size())];
}

// A step that nobody may have proposed but that is accepted, drawn blindly.
std::optional<Step> GuessedStep(const Program& program, Rng& rng) {
  std::vector<Path> paths;
  VisitScopes(program, Path(),
              [&](const Path& path, const Scope&) { paths.push_back(path); });
  VisitStatements(program, Path(), [&](const Path& path, const Statement&) {
    paths.push_back(path);
  });
  constexpr int kGuesses = 60;
  for (int i = 0; i < kGuesses; ++i) {
    const Transform& transform =
        *AllTransforms()[rng.Below(AllTransforms().size())];
    Step step;
    step.transform = std::string(transform.name());
    step.path = paths[rng.Below(paths.size())];
    for (uint64_t j = rng.Below(3); j > 0; --j) {
      step.parameters.push_back(static_cast<int64_t>(rng.Below(6)));
    }
    if (transform.Apply(program, step).ok()) return step;
  }
  return std::nullopt;
}

// How often each transformation was applied.
using Counts = std::map<std::string, int>;

void CheckRandomScript(const Program& program, uint64_t seed, Counts& counts) {
  const std::vector<hlo::Literal> arguments =
      testing::RandomArguments(program, seed);
  HONE_ASSERT_OK_AND_ASSIGN(const std::vector<hlo::Literal> expected,
                            Interpret(program, arguments));
  Rng rng(seed);
  Program current = program;
  std::vector<Step> script;
  for (int i = 0; i < 8; ++i) {
    const std::optional<Step> step = rng.Below(3) == 0
                                         ? GuessedStep(current, rng)
                                         : ProposedStep(current, rng);
    if (!step.has_value()) break;
    script.push_back(*step);
    SCOPED_TRACE(PrintProgram(program) + PrintScript(script));
    HONE_ASSERT_OK_AND_ASSIGN(current, ApplyScript(current, {*step}));
    HONE_ASSERT_OK(VerifyProgram(current)) << PrintProgram(current);
    for (const Program& variant : {current, WithLanesInParallel(current)}) {
      HONE_ASSERT_OK_AND_ASSIGN(
          const std::vector<hlo::Literal> results,
          Interpret(variant, arguments, {.shuffle_parallel = seed + 1}));
      ASSERT_EQ(Difference(expected, results), "") << PrintProgram(variant);
    }
    ++counts[step->transform];
  }
}

TEST(RandomScripts, KeepTheMeaningOfExamples) {
  Counts counts;
  for (const testing::ExampleProgram& example : testing::ExamplePrograms()) {
    const Program program = testing::ParseExample(example.name);
    for (uint64_t seed = 0; seed < 20; ++seed) {
      CheckRandomScript(program, seed, counts);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(RandomScripts, KeepTheMeaningOfRandomPrograms) {
  Counts counts;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    CheckRandomScript(testing::RandomProgram(seed), seed, counts);
    if (HasFatalFailure()) return;
  }
  // These ask for programs of a certain form, and have tests of their own.
  counts["online_softmax"] = counts["overrun"] = counts["reuse"] =
      counts["tile"] = 1;
  for (const Transform* transform : AllTransforms()) {
    EXPECT_GT(counts[std::string(transform->name())], 0) << transform->name();
  }
}

}  // namespace
}  // namespace hone::loops
