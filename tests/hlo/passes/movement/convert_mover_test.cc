#include "gtest/gtest.h"

#include "tests/hlo/passes/entry.h"

namespace hone::hlo {
namespace {

TEST(ConvertMover, WidensLater) {
  ExpectEntryRewrites("convert-mover", R"(
  x = bf16[2,3] parameter(0)
  y = bf16[2,1] parameter(1)
  a = f32[2,3] convert(x)
  b = f32[2,1] convert(y)
  c = f32[2,4] concatenate(a, b), dimensions={1}
  ROOT t = f32[4,2] transpose(c), dimensions={1,0})",
                      R"(
  x = bf16[2,3] parameter(0)
  y = bf16[2,1] parameter(1)
  c = bf16[2,4] concatenate(x, y), dimensions={1}
  t = bf16[4,2] transpose(c), dimensions={1,0}
  ROOT r = f32[4,2] convert(t))");
}

TEST(ConvertMover, ConvertsConstantsThatFit) {
  ExpectEntryRewrites("convert-mover", R"(
  x = bf16[3] parameter(0)
  a = f32[3] convert(x)
  v = f32[] constant(1.5)
  ROOT p = f32[5] pad(a, v), padding=1_1)",
                      R"(
  x = bf16[3] parameter(0)
  v = bf16[] constant(1.5)
  p = bf16[5] pad(x, v), padding=1_1
  ROOT r = f32[5] convert(p))");
  ExpectEntryUnchanged("convert-mover", R"(
  x = bf16[3] parameter(0)
  a = f32[3] convert(x)
  v = f32[] constant(1.001)
  ROOT p = f32[5] pad(a, v), padding=1_1)");
}

TEST(ConvertMover, NarrowsEarlier) {
  ExpectEntryRewrites("convert-mover", R"(
  x = f32[2,3] parameter(0)
  y = f32[2,1] parameter(1)
  c = f32[2,4] concatenate(x, y), dimensions={1}
  t = f32[8] reshape(c)
  ROOT r = bf16[8] convert(t))",
                      R"(
  x = f32[2,3] parameter(0)
  y = f32[2,1] parameter(1)
  a = bf16[2,3] convert(x)
  b = bf16[2,1] convert(y)
  c = bf16[2,4] concatenate(a, b), dimensions={1}
  ROOT r = bf16[8] reshape(c))");
}

TEST(ConvertMover, KeepsWhatOthersUseToo) {
  ExpectEntryUnchanged("convert-mover", R"(
  x = bf16[6] parameter(0)
  a = f32[6] convert(x)
  b = f32[2,3] reshape(a)
  ROOT r = (f32[6], f32[2,3]) tuple(a, b))");
  ExpectEntryUnchanged("convert-mover", R"(
  x = f32[6] parameter(0)
  b = f32[2,3] reshape(x)
  c = bf16[2,3] convert(b)
  ROOT r = (f32[2,3], bf16[2,3]) tuple(b, c))");
}

TEST(ConvertMover, KeepsConversionsOfTwoTypes) {
  ExpectEntryUnchanged("convert-mover", R"(
  x = bf16[3] parameter(0)
  y = f16[3] parameter(1)
  a = f32[3] convert(x)
  b = f32[3] convert(y)
  ROOT c = f32[6] concatenate(a, b), dimensions={0})");
}

}  // namespace
}  // namespace hone::hlo
