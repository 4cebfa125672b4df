#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "backends/cpu/native_module.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using ::testing::HasSubstr;
using Complex = std::complex<double>;

hlo::Module Parse(const std::string& text) {
  return hlo::ParseHloText(text).value();
}

// A module with one custom call of JAX: `operands` and `result` are shapes.
std::string CallText(const std::string& target,
                     const std::vector<std::string>& operands,
                     const std::string& result, const std::string& config) {
  std::string text = "HloModule m\nENTRY e {\n";
  std::vector<std::string> names;
  for (size_t i = 0; i < operands.size(); ++i) {
    names.push_back(absl::StrCat("p", i));
    absl::StrAppend(&text, "  p", i, " = ", operands[i], " parameter(", i,
                    ")\n");
  }
  absl::StrAppend(&text, "  ROOT call = ", result, " custom-call(",
                  absl::StrJoin(names, ", "), "), custom_call_target=\"",
                  target,
                  "\", api_version=API_VERSION_TYPED_FFI, backend_config={",
                  config, "}\n}\n");
  return text;
}

void ExpectSameAsEvaluator(const std::string& text,
                           const std::vector<hlo::Literal>& arguments) {
  SCOPED_TRACE(text);
  const hlo::Module module = Parse(text);
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Literal expected,
                            hlo::Evaluate(module, arguments));
  HONE_ASSERT_OK_AND_ASSIGN(const auto native, NativeModule::Create(module, 2));
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Literal result, native->Run(arguments));
  const hlo::Comparison comparison = hlo::CompareLiterals(expected, result);
  EXPECT_TRUE(comparison.equal)
      << "output " << comparison.worst.output << " element "
      << comparison.worst.element << ": " << comparison.worst.b << ", expected "
      << comparison.worst.a;
}

void ExpectSameAsEvaluator(const std::string& text) {
  ExpectSameAsEvaluator(text, hlo::RandomArguments(Parse(text), 1).value());
}

// Symmetric or Hermitian positive definite matrices: n on the diagonal, and
// small numbers elsewhere.
template <typename T>
hlo::Literal Definite(hlo::ElementType type, int64_t batch, int64_t n) {
  using Real = decltype(std::real(T{}));
  hlo::Literal literal(hlo::Shape::Array(type, {batch, n, n}));
  absl::Span<T> values = literal.mutable_values<T>();
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j <= i; ++j) {
        const double x = std::sin(static_cast<double>(7 * i + 3 * j + b));
        T value = T(static_cast<Real>(i == j ? static_cast<double>(n) : x));
        T mirrored = value;
        if constexpr (!std::is_floating_point_v<T>) {
          if (i != j) {
            value.imag(static_cast<Real>(std::cos(x)));
            mirrored = std::conj(value);
          }
        }
        values[static_cast<size_t>((b * n + i) * n + j)] = value;
        values[static_cast<size_t>((b * n + j) * n + i)] = mirrored;
      }
    }
  }
  return literal;
}

TEST(LinearAlgebra, CholeskyOpcode) {
  for (const char* lower : {"true", "false"}) {
    const std::string text = absl::Substitute(R"(HloModule m
ENTRY e {
  a = f64[2,5,5] parameter(0)
  b = c64[3,4,4] parameter(1)
  x = f64[2,5,5] cholesky(a), lower=$0
  y = c64[3,4,4] cholesky(b), lower=$0
  ROOT r = (f64[2,5,5], c64[3,4,4]) tuple(x, y)
})",
                                              lower);
    ExpectSameAsEvaluator(
        text, {Definite<double>(hlo::ElementType::kF64, 2, 5),
               Definite<std::complex<float>>(hlo::ElementType::kC64, 3, 4)});
    // Random matrices are not definite: NaN.
    ExpectSameAsEvaluator(text);
  }
}

TEST(LinearAlgebra, TriangularSolveOpcode) {
  for (const char* left : {"true", "false"}) {
    for (const char* lower : {"true", "false"}) {
      for (const char* unit : {"true", "false"}) {
        for (const char* transpose : {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}) {
          const bool is_left = left[0] == 't';
          const std::string text = absl::Substitute(
              R"(HloModule m
ENTRY e {
  a = c128[2,4,4] parameter(0)
  b = c128[2,$0] parameter(1)
  ROOT x = c128[2,$0] triangular-solve(a, b), left_side=$1, lower=$2, unit_diagonal=$3, transpose_a=$4
})",
              is_left ? "4,3" : "3,4", left, lower, unit, transpose);
          std::vector<hlo::Literal> arguments =
              hlo::RandomArguments(Parse(text), 1).value();
          arguments[0] = Definite<Complex>(hlo::ElementType::kC128, 2, 4);
          ExpectSameAsEvaluator(text, arguments);
        }
      }
    }
  }
}

TEST(LinearAlgebra, TriangularSolveCall) {
  for (char side : {'L', 'R'}) {
    for (char uplo : {'L', 'U'}) {
      for (char transpose : {'N', 'T'}) {
        for (char diagonal : {'N', 'U'}) {
          const std::string b =
              side == 'L' ? "f32[3,4,2]{1,2,0}" : "f32[3,2,4]{1,2,0}";
          const std::string text =
              CallText("lapack_strsm_ffi", {"f32[3,4,4]{1,2,0}", b}, b,
                       absl::StrCat("diag = ", int{diagonal},
                                    " : ui8, side = ", int{side},
                                    " : ui8, trans_x = ", int{transpose},
                                    " : ui8, uplo = ", int{uplo}, " : ui8"));
          std::vector<hlo::Literal> arguments =
              hlo::RandomArguments(Parse(text), 1).value();
          arguments[0] = Definite<float>(hlo::ElementType::kF32, 3, 4);
          ExpectSameAsEvaluator(text, arguments);
        }
      }
    }
  }
}

TEST(LinearAlgebra, Factorizations) {
  const std::string uplo = "uplo = 76 : ui8";
  const std::string text = CallText("lapack_dpotrf_ffi", {"f64[3,6,6]{1,2,0}"},
                                    "(f64[3,6,6]{1,2,0}, s32[3]{0})", uplo);
  ExpectSameAsEvaluator(text, {Definite<double>(hlo::ElementType::kF64, 3, 6)});
  for (const auto& [m, n] : std::vector<std::pair<int, int>>{
           {6, 6}, {7, 4}, {4, 7}, {1, 3}, {0, 3}}) {
    for (const auto& [letter, type] : std::vector<std::pair<char, std::string>>{
             {'s', "f32"}, {'d', "f64"}, {'c', "c64"}, {'z', "c128"}}) {
      const std::string matrix =
          absl::Substitute("$0[2,$1,$2]{1,2,0}", type, m, n);
      const int least = std::min(m, n);
      ExpectSameAsEvaluator(CallText(
          absl::StrCat("lapack_", std::string(1, letter), "getrf_ffi"),
          {matrix},
          absl::Substitute("($0, s32[2,$1]{1,0}, s32[2]{0})", matrix, least),
          ""));
      ExpectSameAsEvaluator(CallText(
          absl::StrCat("lapack_", std::string(1, letter), "geqrf_ffi"),
          {matrix},
          absl::Substitute("($0, $1[2,$2]{1,0})", matrix, type, least), ""));
    }
  }
}

// Q of the factors that geqrf makes.
TEST(LinearAlgebra, HouseholderProduct) {
  for (const auto& [letter, type, name] :
       std::vector<std::tuple<char, std::string, std::string>>{
           {'d', "f64", "orgqr"}, {'z', "c128", "ungqr"}}) {
    ExpectSameAsEvaluator(absl::Substitute(
        R"(HloModule m
ENTRY e {
  a = $0[3,6,4] parameter(0)
  f = ($0[3,6,4]{1,2,0}, $0[3,4]{1,0}) custom-call(a), custom_call_target="lapack_$1geqrf_ffi", backend_config={}
  v = $0[3,6,4]{1,2,0} get-tuple-element(f), index=0
  t = $0[3,4] get-tuple-element(f), index=1
  ROOT q = $0[3,6,4]{1,2,0} custom-call(v, t), custom_call_target="lapack_$1$2_ffi", backend_config={}
})",
        type, std::string(1, letter), name));
  }
}

// Results of calls that the evaluator does not have, as matrices.
struct Matrices {
  std::vector<Complex> values;
  int64_t rows = 0;
  int64_t columns = 0;

  explicit Matrices(const hlo::Literal& literal)
      : rows(literal.shape().dimension(literal.shape().rank() - 2)),
        columns(literal.shape().dimension(literal.shape().rank() - 1)) {
    if (literal.shape().element_type() == hlo::ElementType::kC128) {
      const auto span = literal.values<Complex>();
      values.assign(span.begin(), span.end());
    } else {
      for (double x : literal.values<double>()) values.emplace_back(x);
    }
  }
  Complex at(int64_t matrix, int64_t i, int64_t j) const {
    return values[static_cast<size_t>((matrix * rows + i) * columns + j)];
  }
};

std::vector<hlo::Literal> RunNatively(const std::string& text,
                                      std::vector<hlo::Literal> arguments) {
  const hlo::Module module = Parse(text);
  auto native = NativeModule::Create(module, 2);
  HONE_EXPECT_OK(native);
  if (!native.ok()) return {};
  return hlo::Leaves((*native)->Run(arguments).value());
}

TEST(LinearAlgebra, EigenvectorsOfHermitianMatrices) {
  const hlo::Literal a = Definite<Complex>(hlo::ElementType::kC128, 3, 5);
  const std::vector<hlo::Literal> results =
      RunNatively(CallText("lapack_zheevd_ffi", {"c128[3,5,5]{1,2,0}"},
                           "(c128[3,5,5]{1,2,0}, f64[3,5]{1,0}, s32[3]{0})",
                           "mode = 86 : ui8, uplo = 76 : ui8"),
                  {a});
  ASSERT_EQ(results.size(), 3);
  const Matrices from(a);
  const Matrices vectors(results[0]);
  for (int64_t m = 0; m < 3; ++m) {
    EXPECT_EQ(results[2].AsInt(m), 0);
    for (int64_t i = 0; i < 5; ++i) {
      for (int64_t k = 0; k < 5; ++k) {
        Complex product = 0;
        for (int64_t j = 0; j < 5; ++j) {
          product += from.at(m, i, j) * vectors.at(m, j, k);
        }
        const Complex scaled =
            results[1].AsDouble(m * 5 + k) * vectors.at(m, i, k);
        EXPECT_NEAR(std::abs(product - scaled), 0, 1e-12);
      }
    }
  }
}

TEST(LinearAlgebra, EigenvectorsOfRealMatrices) {
  const std::string text =
      CallText("lapack_dgeev_ffi", {"f64[2,6,6]{1,2,0}"},
               "(f64[2,6]{1,0}, f64[2,6]{1,0}, c128[2,6,6]{1,2,0}, "
               "c128[2,6,6]{1,2,0}, s32[2]{0})",
               "compute_left = 78 : ui8, compute_right = 86 : ui8");
  const std::vector<hlo::Literal> arguments =
      hlo::RandomArguments(Parse(text), 1).value();
  const std::vector<hlo::Literal> results = RunNatively(text, arguments);
  ASSERT_EQ(results.size(), 5);
  const Matrices from(arguments[0]);
  const Matrices vectors(results[3]);
  for (int64_t m = 0; m < 2; ++m) {
    for (int64_t i = 0; i < 6; ++i) {
      for (int64_t k = 0; k < 6; ++k) {
        Complex product = 0;
        for (int64_t j = 0; j < 6; ++j) {
          product += from.at(m, i, j) * vectors.at(m, j, k);
        }
        const Complex value(results[0].AsDouble(m * 6 + k),
                            results[1].AsDouble(m * 6 + k));
        EXPECT_NEAR(std::abs(product - value * vectors.at(m, i, k)), 0, 1e-12);
      }
    }
  }
}

TEST(LinearAlgebra, SingularValues) {
  for (const auto& [m, n] :
       std::vector<std::pair<int64_t, int64_t>>{{6, 4}, {4, 6}}) {
    for (char mode : {'A', 'S'}) {
      const int64_t least = std::min(m, n);
      const int64_t u_columns = mode == 'A' ? m : least;
      const int64_t v_rows = mode == 'A' ? n : least;
      const std::string text = CallText(
          "lapack_zgesdd_ffi", {absl::Substitute("c128[2,$0,$1]{1,2,0}", m, n)},
          absl::Substitute("(c128[2,$0,$1]{1,2,0}, f64[2,$2]{1,0}, "
                           "c128[2,$0,$3]{1,2,0}, c128[2,$4,$1]{1,2,0}, "
                           "s32[2]{0})",
                           m, n, least, u_columns, v_rows),
          absl::StrCat("mode = ", int{mode}, " : ui8"));
      const std::vector<hlo::Literal> arguments =
          hlo::RandomArguments(Parse(text), 1).value();
      const std::vector<hlo::Literal> results = RunNatively(text, arguments);
      ASSERT_EQ(results.size(), 5);
      const Matrices from(arguments[0]);
      const Matrices u(results[2]);
      const Matrices v(results[3]);
      for (int64_t b = 0; b < 2; ++b) {
        for (int64_t i = 0; i < m; ++i) {
          for (int64_t j = 0; j < n; ++j) {
            Complex product = 0;
            for (int64_t k = 0; k < least; ++k) {
              product += u.at(b, i, k) * results[1].AsDouble(b * least + k) *
                         v.at(b, k, j);
            }
            EXPECT_NEAR(std::abs(product - from.at(b, i, j)), 0, 1e-12);
          }
        }
      }
    }
  }
}

TEST(LinearAlgebra, SingularValuesWithoutVectors) {
  const auto text = [](int64_t m, int64_t n, int64_t u_columns, int64_t v_rows,
                       char mode) {
    return CallText("lapack_sgesdd_ffi", {absl::Substitute("f32[$0,$1]", m, n)},
                    absl::Substitute("(f32[$0,$1]{0,1}, f32[$2], "
                                     "f32[$0,$3]{0,1}, f32[$4,$1]{0,1}, s32[])",
                                     m, n, std::min(m, n), u_columns, v_rows),
                    absl::StrCat("mode = ", int{mode}, " : ui8"));
  };
  for (const auto& [m, n] : std::vector<std::pair<int64_t, int64_t>>{
           {6, 4}, {4, 6}, {5, 5}, {1, 3}, {3, 1}}) {
    const int64_t least = std::min(m, n);
    const std::vector<hlo::Literal> arguments =
        hlo::RandomArguments(Parse(text(m, n, m, n, 'A')), 1).value();
    const std::vector<hlo::Literal> expected =
        RunNatively(text(m, n, m, n, 'A'), arguments);
    ASSERT_EQ(expected.size(), 5);
    for (bool is_thin : {false, true}) {
      const std::vector<hlo::Literal> results = RunNatively(
          text(m, n, is_thin ? least : m, is_thin ? least : n, 'N'), arguments);
      ASSERT_EQ(results.size(), 5);
      for (int64_t i = 0; i < least; ++i) {
        EXPECT_NEAR(results[1].AsDouble(i), expected[1].AsDouble(i), 1e-5);
      }
    }
  }
}

// A = Z·T·Zᵀ.
TEST(LinearAlgebra, SchurForm) {
  const std::string text =
      CallText("lapack_dgees_ffi", {"f64[5,5]{0,1}"},
               "(f64[5,5]{0,1}, f64[5,5]{0,1}, f64[5]{0}, f64[5]{0}, s32[], "
               "s32[])",
               "mode = 86 : ui8, sort = 78 : ui8");
  const std::vector<hlo::Literal> arguments =
      hlo::RandomArguments(Parse(text), 1).value();
  const std::vector<hlo::Literal> results = RunNatively(text, arguments);
  ASSERT_EQ(results.size(), 6);
  const Matrices from(arguments[0]);
  const Matrices t(results[0]);
  const Matrices z(results[1]);
  for (int64_t i = 0; i < 5; ++i) {
    for (int64_t j = 0; j < 5; ++j) {
      Complex product = 0;
      for (int64_t k = 0; k < 5; ++k) {
        for (int64_t l = 0; l < 5; ++l) {
          product += z.at(0, i, k) * t.at(0, k, l) * z.at(0, j, l);
        }
      }
      EXPECT_NEAR(std::abs(product - from.at(0, i, j)), 0, 1e-12);
    }
  }
}

TEST(LinearAlgebra, TridiagonalSolve) {
  const std::string text =
      CallText("lapack_dgtsv_ffi",
               {"f64[4]{0}", "f64[4]{0}", "f64[4]{0}", "f64[4,2]{0,1}"},
               "(f64[4]{0}, f64[4]{0}, f64[4]{0}, f64[4,2]{0,1}, s32[])", "");
  const std::vector<hlo::Literal> arguments =
      hlo::RandomArguments(Parse(text), 1).value();
  const std::vector<hlo::Literal> results = RunNatively(text, arguments);
  ASSERT_EQ(results.size(), 5);
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t c = 0; c < 2; ++c) {
      const auto x = [&](int64_t row) {
        return results[3].AsDouble(row * 2 + c);
      };
      double product = arguments[1].AsDouble(i) * x(i);
      if (i > 0) product += arguments[0].AsDouble(i) * x(i - 1);
      if (i < 3) product += arguments[2].AsDouble(i) * x(i + 1);
      EXPECT_NEAR(product, arguments[3].AsDouble(i * 2 + c), 1e-12);
    }
  }
}

void ExpectUnsupported(const std::string& text, const std::string& why) {
  const absl::Status status = NativeModule::Create(Parse(text), 1).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << text;
  EXPECT_THAT(status.message(), HasSubstr(why));
}

TEST(LinearAlgebra, NamesWhatItCannotCall) {
  const std::string potrf =
      CallText("lapack_spotrf_ffi", {"f32[3,3]{0,1}"}, "(f32[3,3]{0,1}, s32[])",
               "uplo = 76 : ui8");
  ExpectUnsupported(absl::StrReplaceAll(potrf, {{"uplo = 76", "uplo = 77"}}),
                    "custom-call to \"lapack_spotrf_ffi\" 'call': uplo 77");
  ExpectUnsupported(absl::StrReplaceAll(potrf, {{"uplo = 76 : ui8", ""}}),
                    "its configuration has no uplo");
  ExpectUnsupported(absl::StrReplaceAll(potrf, {{"s32[]", "s32[1]"}}),
                    "the shape of its result");
  ExpectUnsupported(
      absl::StrReplaceAll(potrf, {{"p0 = f32[3,3]", "p0 = f32[3,4]"}}),
      "the shapes of its operands");
  ExpectUnsupported(absl::StrReplaceAll(potrf, {{"lapack_s", "lapack_d"}}),
                    "the shapes of its operands");
  ExpectUnsupported(
      absl::StrReplaceAll(
          potrf,
          {{", api_version",
            ", operand_layout_constraints={f32[3,3]{1,0}}, api_version"}}),
      "the layouts of its operands");
  ExpectUnsupported(
      absl::StrReplaceAll(potrf, {{"lapack_spotrf_ffi", "hone_lapack_potrf"}}),
      "a reserved target");
}

}  // namespace
}  // namespace hone::backends
