// The answers of XLA:CPU for small modules of every opcode, element type and
// odd case (tools/make_evaluator_goldens.py).

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

#include "hlo/evaluator/evaluator.h"
#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

struct GoldenCase {
  std::string name;
  std::string module;
  std::string expected;
};

std::vector<GoldenCase> ReadCases() {
  std::vector<GoldenCase> cases;
  const std::filesystem::path folder =
      std::filesystem::path(HONE_SOURCE_DIR) / "tests/testdata/evaluator";
  std::vector<std::filesystem::path> files(
      std::filesystem::directory_iterator(folder), {});
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    for (absl::string_view section :
         absl::StrSplit(text.str(), "// case ", absl::SkipEmpty())) {
      const std::pair<std::string, std::string> name_and_rest =
          absl::StrSplit(section, absl::MaxSplits('\n', 1));
      const std::pair<std::string, std::string> parts =
          absl::StrSplit(name_and_rest.second, "// expected\n");
      cases.push_back({name_and_rest.first, parts.first, parts.second});
    }
  }
  return cases;
}

// Twice the rounding of one operation, wider where XLA approximates.
double Tolerance(ElementType type) {
  switch (type) {
    case ElementType::kF64:
    case ElementType::kC128:
      return 1e-10;
    case ElementType::kF32:
    case ElementType::kC64:
      return 2e-5;
    case ElementType::kF16:
      return 2e-3;
    case ElementType::kBf16:
      return 1e-2;
    default:
      return 0;
  }
}

void ExpectClose(double actual, double expected, double tolerance,
                 const std::string& where) {
  if (std::isnan(expected) || std::isinf(expected)) {
    EXPECT_TRUE((std::isnan(actual) && std::isnan(expected)) ||
                actual == expected)
        << where << ": " << actual << ", expected " << expected;
    return;
  }
  EXPECT_LE(std::fabs(actual - expected),
            tolerance * std::max(std::fabs(expected), 1.0))
      << where << ": " << actual << ", expected " << expected;
}

void ExpectClose(const Literal& actual, const Literal& expected,
                 const std::string& where) {
  ASSERT_TRUE(Shape::Equal(actual.shape(), expected.shape()))
      << where << ": " << actual.shape().ToString() << ", expected "
      << expected.shape().ToString();
  if (actual.shape().IsTuple()) {
    for (size_t i = 0; i < actual.elements().size(); ++i) {
      ExpectClose(actual.elements()[i], expected.elements()[i],
                  absl::StrCat(where, ".", i));
    }
    return;
  }
  const ElementType type = actual.shape().element_type();
  const double tolerance = Tolerance(type);
  for (int64_t i = 0; i < actual.num_elements(); ++i) {
    const std::string at = absl::StrCat(where, "[", i, "]");
    if (type == ElementType::kC64) {
      for (size_t part = 0; part < 2; ++part) {
        const size_t k = 2 * static_cast<size_t>(i) + part;
        ExpectClose(static_cast<double>(
                        reinterpret_cast<const float*>(actual.data())[k]),
                    static_cast<double>(
                        reinterpret_cast<const float*>(expected.data())[k]),
                    tolerance, at);
      }
    } else if (type == ElementType::kC128) {
      for (size_t part = 0; part < 2; ++part) {
        const size_t k = 2 * static_cast<size_t>(i) + part;
        ExpectClose(reinterpret_cast<const double*>(actual.data())[k],
                    reinterpret_cast<const double*>(expected.data())[k],
                    tolerance, at);
      }
    } else if (IsFloat(type)) {
      ExpectClose(actual.AsDouble(i), expected.AsDouble(i), tolerance, at);
    } else {
      EXPECT_EQ(actual.AsInt(i), expected.AsInt(i)) << at;
    }
  }
}

class EvaluatorGolden : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(EvaluatorGolden, AgreesWithXla) {
  const absl::StatusOr<Module> module = ParseHloText(GetParam().module);
  ASSERT_THAT(module, testing::IsOk());
  const absl::StatusOr<Module> golden = ParseHloText(GetParam().expected);
  ASSERT_THAT(golden, testing::IsOk());
  const absl::StatusOr<Literal> known = Evaluate(*golden, {});
  ASSERT_THAT(known, testing::IsOk());
  const std::vector<Literal>& inputs = known->elements()[0].elements();
  const Literal& expected = known->elements()[1];

  ThreadPool pool(2);
  for (ThreadPool* p : {static_cast<ThreadPool*>(nullptr), &pool}) {
    EvaluateOptions options;
    options.pool = p;
    const absl::StatusOr<Literal> actual = Evaluate(*module, inputs, options);
    ASSERT_THAT(actual, testing::IsOk());
    if (actual->shape().IsTuple()) {
      ExpectClose(*actual, expected, "result");
    } else {
      ExpectClose(*actual, expected.elements()[0], "result");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    XlaCpu, EvaluatorGolden, ::testing::ValuesIn(ReadCases()),
    [](const ::testing::TestParamInfo<GoldenCase>& golden) {
      return golden.param.name;
    });

}  // namespace
}  // namespace hone::hlo
