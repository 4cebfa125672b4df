// Whole modules against the outputs of XLA:CPU.

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "hlo/equivalence/equivalence.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/read_module.h"
#include "hlo/text/parser.h"
#include "tests/support/corpus.h"
#include "tests/support/npz.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

// in0, in1, … or out0, out1, …
std::vector<Literal> Numbered(const std::map<std::string, Literal>& arrays,
                              absl::string_view prefix) {
  std::vector<Literal> result;
  for (auto it = arrays.find(absl::StrCat(prefix, 0)); it != arrays.end();
       it = arrays.find(absl::StrCat(prefix, result.size()))) {
    result.push_back(it->second);
  }
  return result;
}

class EvaluatorCheck : public ::testing::TestWithParam<std::string> {};

TEST_P(EvaluatorCheck, AgreesWithXla) {
  const absl::StatusOr<std::string> text =
      ReadFileBytes(testing::CorpusPath(GetParam()));
  ASSERT_THAT(text, testing::IsOk());
  const absl::StatusOr<Module> module = ParseHloText(*text);
  ASSERT_THAT(module, testing::IsOk());
  const absl::StatusOr<std::map<std::string, Literal>> arrays =
      testing::ReadNpz(absl::StrCat(HONE_SOURCE_DIR, "/tests/testdata/check/",
                                    GetParam(), ".npz"));
  ASSERT_THAT(arrays, testing::IsOk());
  const std::vector<Literal> outputs = Numbered(*arrays, "out");
  ASSERT_FALSE(outputs.empty());

  const absl::StatusOr<Literal> result =
      Evaluate(*module, Numbered(*arrays, "in"));
  ASSERT_THAT(result, testing::IsOk());
  const Comparison comparison =
      result->shape().IsTuple()
          ? CompareLiterals(*result, Literal::Tuple(outputs))
          : CompareLiterals(*result, outputs[0]);
  EXPECT_TRUE(comparison.equal)
      << "output " << comparison.worst.output << comparison.worst.element
      << ": " << comparison.worst.a << ", expected " << comparison.worst.b;
  EXPECT_LE(comparison.max_rel_error, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Corpus, EvaluatorCheck,
                         ::testing::Values("mlp.fwd", "gpt2_tiny.fwd",
                                           "gpt2_tiny.train"),
                         [](const ::testing::TestParamInfo<std::string>& name) {
                           std::string identifier = name.param;
                           identifier[identifier.find('.')] = '_';
                           return identifier;
                         });

}  // namespace
}  // namespace hone::hlo
