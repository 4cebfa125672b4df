#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/text/parser.h"

namespace hone::hlo {
namespace {

struct BadText {
  const char* text;
  const char* error;
};

const BadText kBadTexts[] = {
    {"", "f.hlo:1:1: the text ends here, expected 'HloModule'"},
    {"HloModul m", "f.hlo:1:1: found 'HloModul', expected 'HloModule'"},
    {"HloModule",
     "f.hlo:1:10: the text ends here, expected the name of the module"},
    {"HloModule m, =1",
     "f.hlo:1:14: found '=', expected the name of an attribute"},
    {"HloModule m, x=",
     "f.hlo:1:16: the text ends here, expected the value of the attribute"},
    {"HloModule m", "f.hlo:1:12: the text ends here, expected a computation"},
    {"HloModule m\n\nENTRY {",
     "f.hlo:3:8: the text ends here, expected an instruction"},
    {"\xef\xbb\xbfHloModul m",
     "f.hlo:1:1: found 'HloModul', expected 'HloModule'"},
    {"HloModule m\ne {\n  a = (f32[2]) parameter(0)\n"
     "  b = f32[2] get-tuple-element(a)\n}",
     "f.hlo:4:14: get-tuple-element without the attribute index, expected it"},
    {"HloModule m\ne {\n  a = f32[2] parameter(0)\n"
     "  b = pred[2] compare(a, a)\n}",
     "f.hlo:4:15: compare without the attribute direction, expected it"},
    {"HloModule m\ne {\n  a = f32[2] parameter(0)\n"
     "  b = f32[2] reverse(a)\n}",
     "f.hlo:4:14: reverse without the attribute dimensions, expected it"},
    {"HloModule m\ne {\n  a = f32[2] parameter(0)\n"
     "  b = f32[2] reduce-precision(a), exponent_bits=5\n}",
     "f.hlo:4:14: reduce-precision without the attribute mantissa_bits, "
     "expected it"},
    {"HloModule m\ne {\n  a = f32[2] parameter(0)\n"
     "  b = f32[2] custom-call(a)\n}",
     "f.hlo:4:14: custom-call without the attribute custom_call_target, "
     "expected it"},
    {"HloModule m\ne {\n  a = f32[2] parameter(0)\n"
     "  b = f32[2] collective-permute(a)\n}",
     "f.hlo:4:14: collective-permute without the attribute "
     "source_target_pairs, expected it"},
    {"HloModule m\ne {\n  a = f32[2] parameter(0)\n"
     "  b = f32[2] fusion(a), calls=f\n}",
     "f.hlo:4:14: fusion without the attribute kind, expected it"},
    {"HloModule m\ne {\n  a = f32[2] parameter(0)\n"
     "  b = f32[2] fusion(a), kind=kBogus, calls=f\n}",
     "f.hlo:4:30: found 'kBogus', expected kLoop, kInput, kOutput or kCustom"},
    {"HloModule m\ne {\n}", "f.hlo:3:1: found '}', expected an instruction"},
    {"HloModule m\ne {\n  a = f32[2 parameter(0)\n}",
     "f.hlo:3:13: found 'parameter', expected ']'"},
    {"HloModule m\ne {\n  a = f33[2] parameter(0)\n}",
     "f.hlo:3:7: found 'f33', expected a shape"},
    {"HloModule m\ne {\n  a = f32[-2] parameter(0)\n}",
     "f.hlo:3:11: dimension -2, expected a size of 0 or more"},
    {"HloModule m\ne {\n  a = f32[-9223372036854775808] parameter(0)\n}",
     "f.hlo:3:11: dimension -9223372036854775808, expected a size of 0 or "
     "more"},
    {"HloModule m\ne {\n  a = f32[99999999999999999999] parameter(0)\n}",
     "f.hlo:3:11: the number is too large, expected 64 bits"},
    {"HloModule m\ne {\n  a = f32[4294967296,4294967296] parameter(0)\n}",
     "f.hlo:3:7: shape f32[4294967296,4294967296] is too large, expected at "
     "most 2^62 bytes"},
    {"HloModule m\ne {\n"
     "  a = f32[0,4294967296,4294967296] parameter(0)\n}",
     "f.hlo:3:7: shape f32[0,4294967296,4294967296] is too large, expected at "
     "most 2^62 bytes"},
    {"HloModule m\ne {\n"
     "  a = (f32[1000000000,1000000000], f32[1000000000,1000000000]) "
     "parameter(0)\n"
     "}",
     "f.hlo:3:36: the shape is too large, expected at most 2^62 bytes"},
    {"HloModule m\ne {\n  a = f32[2]{1} parameter(0)\n}",
     "f.hlo:3:7: layout {1} of f32[2]{1}, expected a permutation of its 1 "
     "dimensions"},
    {"HloModule m\ne {\n  a = f32[2,2]{0,0} parameter(0)\n}",
     "f.hlo:3:7: layout {0,0} of f32[2,2]{0,0}, expected a permutation of its "
     "2 dimensions"},
    {"HloModule m\ne {\n  a = token[3] parameter(0)\n}",
     "f.hlo:3:12: token has dimensions, expected none"},
    {"HloModule m, x=1, x=2\ne {\n  a = f32[] parameter(0)\n}",
     "f.hlo:1:19: x again, expected it once"},
    {"HloModule m\ne {\n  a = f32[] parameter(x)\n}",
     "f.hlo:3:23: found 'x', expected an integer"},
    {"HloModule m\ne {\n  a = f32[] parameter(1)\n}",
     "f.hlo:3:23: parameter number 1, expected each of 0, 1, 2, and so on "
     "once"},
    {"HloModule m\ne {\n  a = f32[] parameter(2000000000)\n}",
     "f.hlo:3:23: parameter number 2000000000, expected each of 0, 1, 2, and "
     "so on once"},
    {"HloModule m\ne {\n  a = f32[] parameter(0)\n"
     "  b = f32[] parameter(0)\n}",
     "f.hlo:4:23: parameter number 0, expected each of 0, 1, 2, and so on "
     "once"},
    {"HloModule m\ne {\n  a = f32[] parameter(-1)\n}",
     "f.hlo:3:23: parameter number -1, expected each of 0, 1, 2, and so on "
     "once"},
    {"HloModule m\ne {\n  a = f32[] parameter(0)\n"
     "  a = f32[] negate(a)\n}",
     "f.hlo:4:3: a second instruction a, expected unique names"},
    {"HloModule m\ne {\n  a = f32[] negate(b)\n}",
     "f.hlo:3:20: no instruction is named b, expected the name of one in the "
     "same computation"},
    {"HloModule m\ne {\n  a = f32[] add(f32[] constant(1))\n}",
     "f.hlo:3:13: add has 1 operands, expected 2"},
    {"HloModule m\ne {\n  ROOT a = f32[] parameter(0)\n"
     "  ROOT b = f32[] parameter(1)\n}",
     "f.hlo:4:3: a second ROOT, expected one"},
    {"HloModule m\nENTRY e {\n  a = f32[] parameter(0)\n}\nENTRY f {\n"
     "  a = f32[] parameter(0)\n}",
     "f.hlo:5:1: a second ENTRY, expected one"},
    {"HloModule m\ne {\n  a = f32[] parameter(0)\n}\ne {\n"
     "  a = f32[] parameter(0)\n}",
     "f.hlo:5:1: a second computation e, expected unique names"},
    {"HloModule m\ne {\n  a = f32[] parameter(0)\n} trailing",
     "f.hlo:4:11: the text ends here, expected '{'"},
    {"HloModule m\ne {\n  a = parameter(0)\n}",
     "f.hlo:3:7: the shape is missing, expected it in front of the opcode"},
    {"HloModule m\ne {\n  a = constant(1)\n}",
     "f.hlo:3:7: the shape is missing, expected it in front of the opcode"},
    {"HloModule m\ne {\n  p = f32[2] parameter(0)\n"
     "  a = broadcast(p), dimensions={0}\n}",
     "f.hlo:4:7: the shape is missing, expected it in front of the opcode"},
    {"HloModule m\ne {\n  a = f32[] call(), to_apply=f\n}",
     "f.hlo:3:30: no computation is named f, expected the name of one in this "
     "module"},
    {"HloModule m\ne {\n  a = f32[] negate(a, )\n}",
     "f.hlo:3:23: found ')', expected an operand"},
    {"HloModule m\ne {\n  a = f32[] negate a\n}",
     "f.hlo:3:20: found 'a', expected '('"},
    {"HloModule m\ne {\n  a f32[]\n}", "f.hlo:3:5: found 'f32', expected '='"},
    {"HloModule m\ne {\n  a = f32[1000] constant({1, 2})\n}",
     "f.hlo:3:26: the text is too short for this constant, expected 1000 "
     "values"},
    {"HloModule m\ne {\n  a = f32[1000000000000] constant({1})\n}",
     "f.hlo:3:35: the text is too short for this constant, expected "
     "1000000000000 values"},
    {"HloModule m\ne {\n  a = f32[3] constant({1, 2})\n}",
     "f.hlo:3:28: found '}', expected 3 values of dimension 0, not 2"},
    {"HloModule m\ne {\n  a = f32[1] constant({1, 2})\n}",
     "f.hlo:3:25: found ',', expected '}' behind 1 values of dimension 0"},
    {"HloModule m\ne {\n  a = f32[2,1] constant({1, 2})\n}",
     "f.hlo:3:26: found '1', expected '{'"},
    {"HloModule m\ne {\n  a = u8[] constant(300)\n}",
     "f.hlo:3:21: the value 300 is out of range, expected u8"},
    {"HloModule m\ne {\n  a = s8[] constant(-129)\n}",
     "f.hlo:3:21: the value -129 is out of range, expected s8"},
    {"HloModule m\ne {\n  a = s64[] constant(9223372036854775808)\n}",
     "f.hlo:3:22: the value 9223372036854775808 is out of range, expected s64"},
    {"HloModule m\ne {\n  a = u32[] constant(-1)\n}",
     "f.hlo:3:22: found '-1', expected an integer (u32)"},
    {"HloModule m\ne {\n  a = s32[] constant(1.5)\n}",
     "f.hlo:3:22: found '1.5', expected an integer (s32)"},
    {"HloModule m\ne {\n  a = f32[] constant(1e40)\n}",
     "f.hlo:3:22: the value 1e40 is out of range, expected f32"},
    {"HloModule m\ne {\n  a = f16[] constant(70000)\n}",
     "f.hlo:3:22: the value 70000 is out of range, expected f16"},
    {"HloModule m\ne {\n  a = f16[] constant(65519.999999999)\n}",
     "f.hlo:3:22: the value 65519.999999999 is out of range, expected f16"},
    {"HloModule m\ne {\n  a = f8e4m3fn[] constant(500)\n}",
     "f.hlo:3:27: the value 500 is out of range, expected f8e4m3fn"},
    {"HloModule m\ne {\n  a = f8e8m0fnu[] constant(0)\n}",
     "f.hlo:3:28: the value 0 is out of range, expected f8e8m0fnu"},
    {"HloModule m\ne {\n  a = f32[] constant(x)\n}",
     "f.hlo:3:22: found 'x', expected a number (f32)"},
    {"HloModule m\ne {\n  a = f32[] constant(nan(0x800000))\n}",
     "f.hlo:3:28: found '800000', expected a NaN payload that fits (f32)"},
    {"HloModule m\ne {\n  a = f32[] constant(nan(0x0))\n}",
     "f.hlo:3:28: found '0', expected a NaN payload that fits (f32)"},
    {"HloModule m\ne {\n  a = c64[] constant((1 2))\n}",
     "f.hlo:3:25: found '2', expected ','"},
    {"HloModule m\ne {\n  a = pred[] constant(2)\n}",
     "f.hlo:3:23: found '2', expected true or false"},
    {"HloModule m\ne {\n  a = token[] constant(2)\n}",
     "f.hlo:3:24: found '2', expected no constant of a shape without values"},
    {"HloModule m\ne {\n  a = f32[?] constant({1})\n}",
     "f.hlo:3:23: a constant of unbounded size, expected known dimensions"},
    {"HloModule m\ne {\n  a = (f32[], f32[]) constant((1))\n}",
     "f.hlo:3:33: found ')', expected ','"},
    {"HloModule m\ne {\n  p = f32[2] parameter(0)\n"
     "  a = f32[2,2] broadcast(p), dimensions={0\n}",
     "f.hlo:5:2: the text ends here, expected an instruction"},
    {"HloModule m\ne {\n  p = f32[2] parameter(0)\n"
     "  a = f32[2,2] broadcast(p), dimensions=[0]\n}",
     "f.hlo:4:41: found '[', expected '{'"},
    {"HloModule m\ne {\n  p = f32[2] parameter(0)\n"
     "  a = f32[2,2] broadcast(p), dimensions={0} {1}\n}",
     "f.hlo:4:45: found '{', expected the end of the attribute"},
    {"HloModule m\ne {\n  p = f32[2] parameter(0)\n"
     "  a = f32[2,2] broadcast(p), dimensions={0}, dimensions={0}\n}",
     "f.hlo:4:46: attribute dimensions again, expected it once"},
    {"HloModule m\ne {\n  p = f32[2] parameter(0)\n"
     "  a = f32[2,2] broadcast(p), dimensions\n}",
     "f.hlo:5:1: found '}', expected '='"},
    {"HloModule m\ne {\n  p = f32[2] parameter(0)\n"
     "  a = pred[2] compare(p, p), direction=XX\n}",
     "f.hlo:4:40: found 'XX', expected EQ, NE, GE, GT, LE or LT"},
    {"HloModule m\ne {\n  p = f32[2] parameter(0)\n"
     "  a = f32[1] slice(p), slice={[0-1]}\n}",
     "f.hlo:4:33: found '-1', expected ':'"},
    {"HloModule m\ne {\n  p = f32[2] parameter(0)\n"
     "  a = f32[1] reduce-window(p, p), window={size=2x2 stride=1}\n}",
     "f.hlo:4:60: found '}', expected 2 dimensions, as before"},
    {"HloModule m\ne {\n  p = f32[2] parameter(0)\n"
     "  a = f32[1] reduce-window(p, p), window={size=2 strode=1}\n}",
     "f.hlo:4:50: found 'strode', expected size, stride, pad, lhs_dilate, "
     "rhs_dilate or rhs_reversal"},
    {"HloModule m\ne {\n  p = f32[2] parameter(0)\n"
     "  a = f32[1] convolution(p, p), dim_labels=b0_0io->b0f\n}",
     "f.hlo:4:46: found '_0io-', expected dimension labels such as "
     "b01f_01io->b01f"},
    {"HloModule m\ne {\n  p = f32[2] parameter(0)\n"
     "  a = f32[2] custom-call(p), custom_call_target=\"x\n}",
     "f.hlo:4:49: the string has no end, expected \""},
    {"HloModule m\ne {\n  p = f32[2] parameter(0)\n"
     "  a = f32[2] negate(p), metadata={op_name=\"x\"\n}",
     "f.hlo:5:2: the text ends here, expected an instruction"},
    {"HloModule m\ne {\n  p = f32[2] parameter(0)\n"
     "  a = f32[2] negate(p), control-predecessors={q}\n}",
     "f.hlo:4:47: no instruction is named q, expected the name of one in the "
     "same computation"},
    {"HloModule m\ne {\n  p = (f32[2]) parameter(0)\n"
     "  a = f32[2] get-tuple-element(p), index=-1\n}",
     "f.hlo:4:36: tuple index -1, expected one of the tuple"},
    {"HloModule m\ne {\n  p = f32[2] parameter(0)\n"
     "  w = f32[2] while(p), body=e, body=e\n}",
     "f.hlo:4:32: attribute body again, expected it once"},
    {"HloModule m\ne {\n  a = f32[] parameter(0) /* no end\n}",
     "f.hlo:3:26: found '/', expected an instruction"},
    {"HloModule m\ne {\n  \x01\x02\n}",
     "f.hlo:3:3: found '\\x01', expected an instruction"},
};

class MalformedText : public ::testing::TestWithParam<BadText> {};

TEST_P(MalformedText, IsReportedWithPlaceAndExpectation) {
  const absl::StatusOr<Module> module = ParseHloText(GetParam().text, "f.hlo");
  EXPECT_EQ(module.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(module.status().message(), GetParam().error) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(TextParser, MalformedText,
                         ::testing::ValuesIn(kBadTexts));

}  // namespace
}  // namespace hone::hlo
