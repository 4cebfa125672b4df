#include "hlo/text/printer.h"

#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/analysis/fingerprint.h"
#include "hlo/text/parser.h"
#include "tests/support/corpus.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Module Parse(const std::string& text) {
  absl::StatusOr<Module> module = ParseHloText(text);
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << text;
  return module.ok() ? *std::move(module) : Module();
}

TEST(TextPrinter, CorpusRoundTripsWithAndWithoutLayouts) {
  for (const testing::CorpusModule& entry : testing::CorpusModules()) {
    const Module module = Parse(entry.text);
    const std::string fingerprint = Fingerprint(module);
    for (const bool layouts : {false, true}) {
      const std::string text = PrintModule(module, {.layouts = layouts});
      EXPECT_EQ(Fingerprint(Parse(text)), fingerprint)
          << entry.name << " " << layouts;
    }
  }
}

// Printed, this module is the very same text.
constexpr absl::string_view kEverything =
    R"(HloModule everything, is_scheduled=true, entry_computation_layout={(f32[2,8,8,4]{3,2,1,0}, f32[4,6]{0,1:T(8,128)}, s32[])->(f32[], s32[2]{0})}, replica_count=2, input_output_alias={ {0}: (0, {}, may-alias) }

FileNames
1 "a.py"

StackFrames
1 {file_location_id=1 parent_frame_id=1}

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT sum = f32[] add(x, y)
}

%true {
  ROOT flag = pred[] parameter(0)
}, execution_thread="host"

body {
  ROOT state = f32[4,6]{0,1} parameter(0)
}

condition {
  state = f32[4,6]{0,1} parameter(0)
  ROOT done = pred[] constant(true)
}

same {
  ROOT n = s32[] parameter(0)
}

ENTRY main {
  p = f32[2,8,8,4]{3,2,1,0} parameter(0), sharding={replicated}
  m = f32[4,6]{0,1:T(8,128)} parameter(1), metadata={op_name="a \"b\"" stack_frame_id=1}
  n = s32[] parameter(2)
  k = f32[3,3,4,6]{3,2,1,0} constant({...})
  conv = f32[2,4,4,6]{3,2,1,0} convolution(p, k), window={size=3x3 stride=2x2 pad=1_0x0_1 lhs_dilate=1x2 rhs_dilate=3x1 rhs_reversal=0x1}, dim_labels=b01f_01io->b01f, operand_precision={high,default}
  dot = f32[6,6]{1,0} dot(m, m), lhs_contracting_dims={0}, rhs_contracting_dims={0}, algorithm=dot_f32_f32_f32
  batch = f32[4]{0} dot(m, m), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  slice = f32[2,3]{1,0} slice(m), slice={[0:4:2], [1:4]}
  zero = f32[] constant(-0.0)
  pad = f32[9,7]{1,0} pad(m, zero), padding=1_1_1x0_1
  i = s32[2]{0} iota(), iota_dimension=0
  lt = pred[4,6]{1,0} compare(m, m), direction=LT, type=TOTALORDER
  top = (f32[4,2]{1,0}, s32[4,2]{1,0}) topk(m), k=2, largest=false
  get = f32[4,2]{1,0} get-tuple-element(top), index=0
  half = f32[4,2]{1,0} reduce-precision(get), exponent_bits=5, mantissa_bits=10
  window = f32[2,4,4,4]{3,2,1,0} reduce-window(p, zero), window={size=1x2x2x1 stride=1x2x2x1}, to_apply=add
  gather = f32[2,6]{1,0} gather(m, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}, indices_are_sorted=true
  scatter = f32[4,6]{1,0} scatter(m, i, gather), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, unique_indices=true, to_apply=add
  sas = f32[2,8,8,4]{3,2,1,0} select-and-scatter(p, window, zero), window={size=1x2x2x1 stride=1x2x2x1}, select=%true, scatter=add
  sort = s32[2]{0} sort(i), dimensions={0}, is_stable=true, to_apply=add
  bits = (u64[2]{0}, u32[3]{0}) rng-bit-generator(i), algorithm=rng_philox
  fft = c64[4,6]{1,0} fft(m), fft_length={6}, fft_type=FFT
  ds = f32[1,6]{1,0} dynamic-slice(m, n, n), dynamic_slice_sizes={1,6}
  bn = f32[4,6]{1,0} batch-norm-inference(m, m, m, m, m), epsilon=0.001, feature_index=1
  while = f32[4,6]{0,1} while(m), condition=condition, body=body
  flag = pred[] constant(true)
  cond = s32[] conditional(flag, n, n), true_computation=same, false_computation=same
  branches = s32[] conditional(n, n, n), branch_computations={same, same}
  fusion = f32[4,6]{0,1} fusion(m), kind=kLoop, calls=body
  custom = f32[] custom-call(m), custom_call_target="a\"b", called_computations={add, body}, control-predecessors={dot, ds}
  apply = f32[] custom-call(m), custom_call_target="c", to_apply=add
  start = ((f32[4,6]{1,0}), f32[]) all-foo-start(m), level={1, {2}}, calls={add, body}
  all = (f32[4,6]{1,0}, s32[], s32[], s32[], s32[], /*index=5*/s32[]) tuple(m, n, n, n, n, /*index=5*/n)
  reduce = f32[] reduce(m, zero), dimensions={0,1}, to_apply=add
  ROOT root = (f32[], s32[2]{0}) tuple(reduce, i)
}
)";

TEST(TextPrinter, PrintsWhatItRead) {
  EXPECT_EQ(PrintModule(Parse(std::string(kEverything))), kEverything);
}

TEST(TextPrinter, LeavesOutDefaultLayouts) {
  const Module module = Parse(std::string(kEverything));
  const std::string text = PrintModule(module, {.layouts = false});
  EXPECT_THAT(text, Not(HasSubstr("{3,2,1,0}")));
  EXPECT_THAT(text, HasSubstr("{0,1:T(8,128)}"));
}

std::string PrintConstant(const std::string& shape, const std::string& value) {
  const Module module = Parse(absl::StrCat("HloModule m\ne {\n  c = ", shape,
                                           " constant(", value, ")\n}\n"));
  const std::string text = PrintModule(module);
  const size_t start = text.find("constant(") + 9;
  return text.substr(start, text.find(")\n", start) - start);
}

TEST(TextPrinter, ConstantsArePrintedExactly) {
  for (const auto& [shape, value] :
       std::vector<std::pair<std::string, std::string>>{
           {"f32[]", "0.1"},
           {"f32[]", "3.4028235e+38"},
           {"f32[]", "1e-45"},
           {"f32[3]", "{nan, -nan, nan(0x1)}"},
           {"f32[3]", "{inf, -inf, -0.0}"},
           {"f64[]", "0.30000000000000004"},
           {"f64[]", "-nan(0xfffffffffffff)"},
           // XLA takes what looks like an integer for an int64_t.
           {"f64[2]", "{9223372036854774784, 9223372036854775808.0}"},
           {"f64[2]", "{-9223372036854775808.0, 18446744073709551616.0}"},
           {"f64[2]", "{1e+22, 1.7976931348623157e+308}"},
           {"c128[1]", "{(18446744073709551616.0, -1)}"},
           {"f32[2]", "{9.223372e+18, -1.8446744e+19}"},
           {"f16[2]", "{0.099976, nan(0x201)}"},
           {"bf16[3]", "{0.1001, 3.39e+38, 9.184e-41}"},
           {"f8e4m3fn[2]", "{448, nan}"},
           {"f8e5m2[2]", "{inf, 0.0625}"},
           {"f8e5m2[3]", "{nan, -nan, -nan(0x1)}"},
           {"f8e4m3fn[2]", "{nan, -nan}"},
           {"f8e4m3fnuz[1]", "{-nan}"},
           // XLA reads anything above the smallest value as the next one.
           {"f8e8m0fnu[3]", "{5.877471754111438e-39, 1.18e-38, nan}"},
           {"c64[2]", "{(1, -2.5), (nan, inf)}"},
           {"pred[]", "true"},
           {"pred[2]", "{1, 0}"},
           {"s4[2]", "{-8, 7}"},
           {"u64[]", "18446744073709551615"},
           {"s64[]", "-9223372036854775808"},
           {"s32[2,2]", "{ {1, 2}, {3, 4} }"},
           {"s32[1,1,2]", "{ { {1, 2} } }"},
           {"(f32[], (s32[2]))", "(1, ({2, 3}))"},
           {"f32[2,0]", "{...}"},
           {"f32[9]", "{...}"},
       }) {
    EXPECT_EQ(PrintConstant(shape, value), value) << shape;
  }
}

TEST(TextPrinter, EveryNarrowFloatRoundTrips) {
  for (const auto& [type, width] : std::vector<std::pair<ElementType, int>>{
           {ElementType::kF16, 16},
           {ElementType::kBf16, 16},
           {ElementType::kF8e5m2, 8},
           {ElementType::kF8e4m3, 8},
           {ElementType::kF8e3m4, 8},
           {ElementType::kF8e4m3fn, 8},
           {ElementType::kF8e4m3b11fnuz, 8},
           {ElementType::kF8e5m2fnuz, 8},
           {ElementType::kF8e4m3fnuz, 8},
           {ElementType::kF8e8m0fnu, 8},
           {ElementType::kF6e3m2fn, 6},
           {ElementType::kF6e2m3fn, 6},
           {ElementType::kF4e2m1fn, 4}}) {
    const int64_t count = int64_t{1} << width;
    Literal literal(Shape::Array(type, {count}));
    for (int64_t i = 0; i < count; ++i) {
      if (width == 16) {
        literal.mutable_values<uint16_t>()[static_cast<size_t>(i)] =
            static_cast<uint16_t>(i);
      } else {
        literal.mutable_values<uint8_t>()[static_cast<size_t>(i)] =
            static_cast<uint8_t>(i);
      }
    }
    Computation entry("e");
    entry.set_root(entry.AddInstruction(Instruction::Constant(literal)));
    Module module("m");
    module.set_entry(module.AddComputation(std::move(entry)));
    const Module again = Parse(PrintModule(module));
    const Computation& read = again.entry_computation();
    const Literal& values = *read[read.root()].literal();
    for (int64_t i = 0; i < count; ++i) {
      const std::byte* a = literal.data() + i * ByteWidth(type);
      const std::byte* b = values.data() + i * ByteWidth(type);
      ASSERT_EQ(std::memcmp(a, b, static_cast<size_t>(ByteWidth(type))), 0)
          << ElementTypeName(type) << " " << i;
    }
  }
}

TEST(TextPrinter, NamesAreUniqueAndReadable) {
  const ShapePtr scalar = Shape::Scalar(ElementType::kF32);
  Computation entry("f32");
  Instruction p = Instruction::Parameter(0, scalar);
  p.set_name("ROOT");
  const InstructionId first = entry.AddInstruction(std::move(p));
  InstructionId last = first;
  for (const char* name : {"negate", "", "a<b>", "a_b_", "1x", "pred", ""}) {
    Instruction negate(Opcode::kNegate, scalar, {last});
    negate.set_name(name);
    last = entry.AddInstruction(std::move(negate));
  }
  entry.set_root(last);
  Module module("jit(f)");
  module.set_entry(module.AddComputation(std::move(entry)));
  EXPECT_EQ(PrintModule(module), R"(HloModule jit_f_

ENTRY f32_ {
  %ROOT = f32[] parameter(0)
  negate = f32[] negate(%ROOT)
  negate.2 = f32[] negate(negate)
  a_b_ = f32[] negate(negate.2)
  a_b_.1 = f32[] negate(a_b_)
  _1x = f32[] negate(a_b_.1)
  pred_ = f32[] negate(_1x)
  ROOT negate.3 = f32[] negate(pred_)
}
)");
}

TEST(TextPrinter, OperandsAndCalleesComeFirst) {
  const Module module = Parse(R"(HloModule m
ENTRY e {
  ROOT b = f32[] call(a), to_apply=f
  a = f32[] parameter(0)
}
f {
  x = f32[] parameter(0)
})");
  EXPECT_EQ(PrintModule(module),
            R"(HloModule m, entry_computation_layout={(f32[])->f32[]}

f {
  ROOT x = f32[] parameter(0)
}

ENTRY e {
  a = f32[] parameter(0)
  ROOT b = f32[] call(a), to_apply=f
}
)");
}

}  // namespace
}  // namespace hone::hlo
