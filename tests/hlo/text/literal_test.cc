// Constants of the narrow float formats, as XLA (jax 0.10.2) reads them.

#include "hlo/text/literal.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

using ::testing::ElementsAre;

// The value of `constant(text)` of a shape.
Literal Constant(const std::string& shape, const std::string& text) {
  const absl::StatusOr<Module> module = ParseHloText(absl::StrCat(
      "HloModule m\n\nENTRY e {\n  c = ", shape, " constant(", text, ")\n}\n"));
  EXPECT_THAT(module, testing::IsOk());
  if (!module.ok()) return Literal(Shape::Array(ElementType::kU8, {0}));
  const Computation& entry = module->entry_computation();
  return *entry[entry.root()].literal();
}

TEST(TextLiteral, NansOfEightBitsKeepSignAndPayload) {
  EXPECT_THAT(Constant("f8e5m2[5]", "{nan, -nan, -nan(0x1), inf, -inf}")
                  .values<uint8_t>(),
              ElementsAre(126, 254, 253, 124, 252));
  EXPECT_THAT(Constant("f8e4m3[3]", "{nan, -nan, nan(0x3)}").values<uint8_t>(),
              ElementsAre(124, 252, 123));
  EXPECT_THAT(Constant("f8e3m4[2]", "{nan, -nan}").values<uint8_t>(),
              ElementsAre(120, 248));
  EXPECT_THAT(
      Constant("f8e4m3fn[4]", "{nan, -nan, inf, -inf}").values<uint8_t>(),
      ElementsAre(127, 255, 127, 255));
  EXPECT_THAT(
      Constant("f8e4m3fnuz[4]", "{nan, -nan, inf, -0.0}").values<uint8_t>(),
      ElementsAre(128, 128, 128, 0));
  EXPECT_THAT(Constant("f8e8m0fnu[2]", "{nan, -nan}").values<uint8_t>(),
              ElementsAre(255, 255));
}

// By way of f32 for 16 bits, at once for 8.
TEST(TextLiteral, RoundsAsXlaDoes) {
  EXPECT_THAT(
      Constant("f16[2]", "{1.0004882812509095, 2049}").values<uint16_t>(),
      ElementsAre(0x3c00, 0x6800));
  EXPECT_THAT(
      Constant("bf16[2]", "{1.003906250000001, 257}").values<uint16_t>(),
      ElementsAre(0x3f80, 0x4380));
  EXPECT_THAT(
      Constant("f8e5m2[2]", "{1.1250000000001, 1.125}").values<uint8_t>(),
      ElementsAre(0x3d, 0x3c));
  EXPECT_THAT(Constant("f8e4m3fn[2]", "{464, 1e-10}").values<uint8_t>(),
              ElementsAre(0x7e, 0));
  EXPECT_THAT(Constant("f8e8m0fnu[4]", "{3, 1, 5.877471754111438e-39, 1e-45}")
                  .values<uint8_t>(),
              ElementsAre(0x81, 0x7f, 0, 0));
  EXPECT_THAT(Constant("f4e2m1fn[3]", "{100, -100, -0.0}").values<uint8_t>(),
              ElementsAre(7, 15, 8));
  EXPECT_THAT(Constant("f64[2]",
                       "{9223372036854775808.0, "
                       "18446744073709551616.0}")
                  .values<double>(),
              ElementsAre(0x1p63, 0x1p64));
}

}  // namespace
}  // namespace hone::hlo
