#include "tests/hlo/passes/algsimp/rule_check.h"

#include <cmath>
#include <limits>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "base/rng.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/inference/verifier.h"
#include "hlo/passes/registry.h"
#include "hlo/text/parser.h"
#include "hlo/text/printer.h"
#include "tests/hlo/passes/golden.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

struct Format {
  int digits;       // of the significand, the hidden one not counted
  double smallest;  // normal number
};

Format FormatOf(ElementType type) {
  switch (type) {
    case ElementType::kF64:
    case ElementType::kC128:
      return {52, std::numeric_limits<double>::min()};
    case ElementType::kF16:
      return {10, 0x1p-14};
    case ElementType::kBf16:
      return {7, 0x1p-126};
    default:
      return {23, 0x1p-126};
  }
}

// The numbers of a literal; complex ones as two.
std::vector<double> Numbers(const Literal& literal) {
  std::vector<double> numbers;
  const int64_t n = literal.num_elements();
  switch (literal.shape().element_type()) {
    case ElementType::kC64: {
      const auto* x = reinterpret_cast<const float*>(literal.data());
      numbers.assign(x, x + 2 * n);
      break;
    }
    case ElementType::kC128: {
      const auto* x = reinterpret_cast<const double*>(literal.data());
      numbers.assign(x, x + 2 * n);
      break;
    }
    default:
      for (int64_t i = 0; i < n; ++i) numbers.push_back(literal.AsDouble(i));
  }
  return numbers;
}

bool IsInexact(ElementType type) { return IsFloat(type) || IsComplex(type); }

bool IsSame(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

// Returns true if rounding alone leads from `before` to `after`; `exact` is the
// result in f64.
bool IsRounding(Format format, double before, double after,
                std::optional<double> exact) {
  if (!std::isfinite(before) || IsSame(before, after)) return true;
  if (!std::isfinite(after)) return false;
  const double tolerance = std::ldexp(8, -format.digits - 1);
  const auto is_close = [&](double expected) {
    return std::fabs(after - expected) <=
           tolerance * std::fabs(expected) + format.smallest;
  };
  return is_close(before) || (exact.has_value() && is_close(*exact));
}

std::optional<std::vector<Literal>> Results(
    const Module& module, absl::Span<const Literal> arguments) {
  absl::StatusOr<Literal> result = Evaluate(module, arguments);
  if (absl::IsUnimplemented(result.status())) return std::nullopt;
  HONE_EXPECT_OK(result) << PrintModule(module);
  if (!result.ok()) return std::nullopt;
  return Leaves(*result);
}

// The same in f64 throughout; nullopt where that is another computation.
std::optional<std::vector<Literal>> ExactResults(
    absl::string_view text, absl::Span<const Literal> arguments) {
  const absl::StatusOr<Module> module = ParseHloText(absl::StrReplaceAll(
      text, {{"bf16[", "f64["}, {"f16[", "f64["}, {"f32[", "f64["}}));
  if (!module.ok() || !VerifyModule(*module).ok()) return std::nullopt;
  std::vector<Literal> wide;
  for (const Literal& argument : arguments) {
    const ElementType type = argument.shape().element_type();
    if (!IsFloat(type) || BitWidth(type) < 16) {
      wide.push_back(argument);
      continue;
    }
    wide.emplace_back(WithElementType(argument.shape(), ElementType::kF64));
    for (int64_t i = 0; i < argument.num_elements(); ++i) {
      wide.back().SetDouble(i, argument.AsDouble(i));
    }
  }
  return Results(*module, wide);
}

void ExpectAgree(Numerics numerics, const Literal& before, const Literal& after,
                 const Literal* exact, absl::string_view text,
                 const Module& output) {
  const ElementType type = before.shape().element_type();
  if (!IsInexact(type)) {
    EXPECT_TRUE(before == after) << text << PrintModule(output);
    return;
  }
  const std::vector<double> a = Numbers(before);
  const std::vector<double> b = Numbers(after);
  const std::vector<double> c =
      exact == nullptr ? std::vector<double>() : Numbers(*exact);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const bool agrees =
        numerics == Numerics::kExact || BitWidth(type) < 16
            ? IsSame(a[i], b[i])
            : IsRounding(
                  FormatOf(type), a[i], b[i],
                  c.empty() ? std::nullopt : std::optional<double>(c[i]));
    if (agrees) continue;
    ADD_FAILURE() << NumericsName(numerics) << ", number " << i << ": " << a[i]
                  << " became " << b[i] << "\n"
                  << text << PrintModule(output);
    return;
  }
}

// Runs algsimp; nullopt if it fails.
std::optional<bool> Run(Module& module, Numerics numerics) {
  const absl::StatusOr<const Pass*> pass = FindPass("algsimp");
  HONE_EXPECT_OK(pass);
  if (!pass.ok()) return std::nullopt;
  RewriteOptions options;
  options.numerics = numerics;
  options.verify_rewrites = true;
  const absl::StatusOr<bool> changed = (*pass)->Run(module, options);
  HONE_EXPECT_OK(changed);
  if (!changed.ok()) return std::nullopt;
  return *changed;
}

}  // namespace

std::vector<TypeUnderTest> TypesUnderTest(absl::string_view kinds) {
  std::vector<TypeUnderTest> types;
  if (absl::StrContains(kinds, 'f')) {
    types.push_back({"f64",
                     {"0", "-0.0", "1", "-1", "2", "-3", "0.0625", "1000",
                      "5e-324", "2.2250738585072014e-308", "-1e300", "1e-300",
                      "1.7976931348623157e308", "inf", "-inf", "nan"}});
    types.push_back({"f32",
                     {"0", "-0.0", "1", "-1", "2", "-3", "0.0625", "1000",
                      "1.40129846e-45", "1.17549435e-38", "-0x1p100",
                      "0x1p-100", "3.40282347e38", "inf", "-inf", "nan"}});
    types.push_back({"bf16",
                     {"0", "-0.0", "1", "-1", "2", "-3", "0.0625", "192",
                      "0x1p-133", "0x1p-126", "-0x1p100", "0x1p-100",
                      "0x1.fep127", "inf", "-inf", "nan"}});
    types.push_back(
        {"f16",
         {"0", "-0.0", "1", "-1", "2", "-3", "0.0625", "1000", "0x1p-24",
          "0x1p-14", "-4096", "0x1p-10", "65504", "inf", "-inf", "nan"}});
    types.push_back({"f8e4m3fn",
                     {"0", "-0.0", "1", "-1", "2", "-3", "0.0625", "448",
                      "0x1p-9", "-12", "nan"}});
    types.push_back({"f8e5m2",
                     {"0", "-0.0", "1", "-1", "2", "-3", "0.0625", "57344",
                      "0x1p-16", "-12", "inf", "-inf", "nan"}});
    types.push_back({"f8e8m0fnu", {"1", "2", "0.5", "0x1p-127", "0x1p127"}});
  }
  if (absl::StrContains(kinds, 'c')) {
    types.push_back({"c64",
                     {"(0, 0)", "(1, 0)", "(-1, 2)", "(0, -3)", "(0x1p-100, 1)",
                      "(0x1p100, -0x1p100)", "(inf, 1)", "(nan, 0)"}});
    types.push_back({"c128", {"(0, 0)", "(1, 0)", "(-1, 2)", "(0, -3)"}});
  }
  if (absl::StrContains(kinds, 'p')) {
    types.push_back({"pred", {"false", "true"}});
  }
  if (absl::StrContains(kinds, 'i')) {
    types.push_back({"s4", {"0", "1", "-1", "2", "7", "-8", "-7", "3"}});
    types.push_back({"u4", {"0", "1", "2", "7", "8", "15", "14", "3"}});
    types.push_back({"s8", {"0", "1", "-1", "2", "3", "127", "-128", "-127"}});
    types.push_back({"u8", {"0", "1", "2", "3", "127", "128", "255", "254"}});
    types.push_back({"s32",
                     {"0", "1", "-1", "2", "3", "2147483647", "-2147483648",
                      "16777217", "31", "32"}});
    types.push_back({"u32",
                     {"0", "1", "2", "3", "2147483648", "4294967295",
                      "16777217", "31", "32"}});
    types.push_back({"s64",
                     {"0", "1", "-1", "2", "3", "9223372036854775807",
                      "-9223372036854775808", "9007199254740993", "63", "64"}});
    types.push_back(
        {"u64",
         {"0", "1", "2", "3", "9223372036854775808", "18446744073709551615",
          "18446744073709551614", "9007199254740993", "63", "64"}});
  }
  return types;
}

std::vector<Literal> SpecialArguments(const Module& module, uint64_t seed) {
  const Computation& entry = module.entry_computation();
  Rng rng(seed);
  std::vector<Literal> arguments;
  int64_t stride = 1;
  for (InstructionId parameter : entry.parameters()) {
    const Shape& shape = entry[parameter].shape();
    Literal argument(entry[parameter].shape_ptr());
    for (const TypeUnderTest& type : TypesUnderTest("fcip")) {
      if (type.name != ElementTypeName(shape.element_type())) continue;
      const Module values = ParseForTest(
          absl::StrCat("HloModule v\nENTRY e {\n  ROOT c = ", type.name, "[",
                       type.values.size(), "] constant({",
                       absl::StrJoin(type.values, ", "), "})\n}\n"));
      const Literal special = *Evaluate(values, {});
      const int64_t count = special.num_elements();
      const int64_t width = ByteWidth(shape.element_type());
      for (int64_t i = 0; i < argument.num_elements(); ++i) {
        const int64_t which =
            shape.IsScalar() || arguments.size() > 1
                ? static_cast<int64_t>(rng.Below(static_cast<uint64_t>(count)))
                : i / stride % count;
        std::copy_n(special.data() + which * width, width,
                    argument.MutableData() + i * width);
      }
      stride *= count;
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

std::vector<Literal> SmallArguments(const Module& module, uint64_t seed) {
  const Computation& entry = module.entry_computation();
  Rng rng(seed);
  std::vector<Literal> arguments;
  for (InstructionId parameter : entry.parameters()) {
    Literal argument(entry[parameter].shape_ptr());
    const ElementType type = argument.shape().element_type();
    const int64_t lowest =
        IsUnsigned(type) || type == ElementType::kPred ? 0 : -3;
    for (int64_t i = 0; i < argument.num_elements(); ++i) {
      argument.SetInt(i, lowest + static_cast<int64_t>(rng.Below(8)));
    }
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

bool ExpectSameValues(absl::string_view text, Numerics numerics,
                      absl::Span<const Literal> arguments) {
  const Module input = ParseForTest(text);
  if (input.entry() == kNoComputation) return false;
  Module output = input;
  const std::optional<bool> changed = Run(output, numerics);
  EXPECT_TRUE(changed.has_value()) << text;
  if (!changed.value_or(false)) return false;
  const auto before = Results(input, arguments);
  if (!before.has_value()) return true;
  const auto after = Results(output, arguments);
  if (!after.has_value()) {
    ADD_FAILURE() << "cannot be run any more:\n" << PrintModule(output);
    return true;
  }
  std::optional<std::vector<Literal>> exact;
  if (numerics != Numerics::kExact) exact = ExactResults(text, arguments);
  EXPECT_EQ(before->size(), after->size());
  for (size_t i = 0; i < before->size() && i < after->size(); ++i) {
    ExpectAgree(numerics, (*before)[i], (*after)[i],
                exact.has_value() ? &(*exact)[i] : nullptr, text, output);
  }
  return true;
}

bool Changes(absl::string_view text, Numerics numerics) {
  Module module = ParseForTest(text);
  return module.entry() != kNoComputation &&
         Run(module, numerics).value_or(false);
}

}  // namespace hone::hlo
