#include <memory>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

#include "costmodels/registry.h"
#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::costmodels {
namespace {

double NsOf(absl::string_view lines) {
  const absl::StatusOr<hlo::Module> module = hlo::ParseHloText(absl::StrCat(
      R"(HloModule m
ENTRY main {
  x = f32[256,512] parameter(0)
  w = f32[512,512] parameter(1)
  v = f32[512] parameter(2)
)",
      lines, "}\n"));
  HONE_EXPECT_OK(module);
  return module.ok() ? MakeXlaCpu({})->PredictModuleNs(*module) : 0;
}

TEST(XlaCpu, WhatXlaRemovesItselfCostsNothing) {
  EXPECT_EQ(NsOf(R"(t = f32[512,256] transpose(x), dimensions={1,0}
  u = f32[256,512] transpose(t), dimensions={1,0}
  ROOT r = f32[256,512] negate(u)
)"),
            NsOf("ROOT r = f32[256,512] negate(x)\n"));
}

TEST(XlaCpu, TransposesCost) {
  EXPECT_GT(NsOf("ROOT r = f32[512,256] transpose(x), dimensions={1,0}\n"),
            2 * NsOf("ROOT r = f32[256,512] negate(x)\n"));
}

TEST(XlaCpu, OneLargeProductBeatsTwo) {
  constexpr char kTwo[] =
      R"(a = f32[256,512] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[256,512] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  ROOT r = f32[256,512] add(a, b)
)";
  constexpr char kOne[] =
      R"(a = f32[256,512] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[256,512] add(a, x)
)";
  EXPECT_GT(NsOf(kTwo), 1.5 * NsOf(kOne));
}

TEST(XlaCpu, ProductsOutsideTheLibraryCostMore) {
  EXPECT_GT(NsOf("ROOT d = f32[512,512] dot(x, x), lhs_contracting_dims={0}, "
                 "rhs_contracting_dims={0}\n"),
            NsOf("ROOT d = f32[256,512] dot(x, w), lhs_contracting_dims={1}, "
                 "rhs_contracting_dims={0}\n"));
}

// A pass order is worth something where it keeps long expressions out of
// transposes: a chain that is computed once, not twice with strides.
TEST(XlaCpu, SharedChainsAreBetterMaterialized) {
  EXPECT_GT(NsOf(R"(e = f32[256,512] add(x, x)
  f = f32[256,512] sine(e)
  g = f32[256,512] cosine(f)
  t = f32[512,256] transpose(g), dimensions={1,0}
  ROOT r = (f32[256,512], f32[512,256]) tuple(g, t)
)"),
            NsOf(R"(e = f32[256,512] add(x, x)
  f = f32[256,512] sine(e)
  g = f32[256,512] cosine(f)
  ROOT r = (f32[256,512], f32[256,512]) tuple(g, g)
)"));
}

}  // namespace
}  // namespace hone::costmodels
