#include "tests/backends/tpu_sim/kernels.h"

#include <utility>

#include "absl/strings/str_cat.h"

#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"
#include "tests/support/status_matchers.h"

namespace hone::testing {
namespace {

constexpr char kRegions[] = R"(HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}

ge {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=GE
}

lt {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT
}

ENTRY e {
)";

}  // namespace

const std::vector<TpuKernel>& TpuKernels() {
  static const auto* const kernels = new std::vector<TpuKernel>{
      {"elementwise", R"(
  p = f32[64,512] parameter(0)
  q = f32[64,512] parameter(1)
  a = f32[64,512] add(p, q)
  e = f32[64,512] exponential(a)
  ROOT r = f32[64,512] divide(e, q))"},
      {"bf16", R"(
  p = bf16[100,300] parameter(0)
  c = f32[100,300] convert(p)
  t = f32[100,300] tanh(c)
  ROOT r = bf16[100,300] convert(t))"},
      {"bias and relu", R"(
  p = f32[40,24,130] parameter(0)
  q = f32[130] parameter(1)
  z = f32[] constant(0)
  b = f32[40,24,130] broadcast(q), dimensions={2}
  a = f32[40,24,130] add(p, b)
  zs = f32[40,24,130] broadcast(z), dimensions={}
  ROOT r = f32[40,24,130] maximum(a, zs))"},
      {"rows minus their mean", R"(
  p = f32[96,384] parameter(0)
  z = f32[] constant(0)
  s = f32[96] reduce(p, z), dimensions={1}, to_apply=add
  b = f32[96,384] broadcast(s), dimensions={0}
  ROOT r = f32[96,384] subtract(p, b))"},
      {"column sums", R"(
  p = f32[1000,256] parameter(0)
  z = f32[] constant(0)
  ROOT s = f32[256] reduce(p, z), dimensions={0}, to_apply=add)"},
      {"sum of everything", R"(
  p = f32[1000,256] parameter(0)
  z = f32[] constant(0)
  ROOT s = f32[] reduce(p, z), dimensions={0,1}, to_apply=add)"},
      {"dot", R"(
  p = f32[192,512] parameter(0)
  q = f32[512,384] parameter(1)
  d = f32[192,384] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = f32[192,384] tanh(d))"},
      {"dot of batches with terms along rows", R"(
  p = bf16[3,256,100] parameter(0)
  q = bf16[3,256,200] parameter(1)
  ROOT d = bf16[3,100,200] dot(p, q), lhs_batch_dims={0}, rhs_batch_dims={0},
    lhs_contracting_dims={1}, rhs_contracting_dims={1}, operand_precision={highest,highest})"},
      {"convolution", R"(
  p = f32[4,16,16,32] parameter(0)
  q = f32[3,3,32,64] parameter(1)
  ROOT r = f32[4,16,16,64] convolution(p, q), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f)"},
      {"depthwise convolution", R"(
  p = f32[2,16,16,128] parameter(0)
  q = f32[3,3,1,128] parameter(1)
  ROOT r = f32[2,7,7,128] convolution(p, q), window={size=3x3 stride=2x2}, dim_labels=b01f_01io->b01f,
    feature_group_count=128)"},
      {"transpose", R"(
  p = f32[256,384] parameter(0)
  ROOT t = f32[384,256] transpose(p), dimensions={1,0})"},
      {"copy to another layout", R"(
  p = f32[256,384]{1,0} parameter(0)
  ROOT t = f32[256,384]{0,1} copy(p))"},
      {"pad and slice", R"(
  p = f32[60,250] parameter(0)
  z = f32[] constant(0)
  a = f32[70,300] pad(p, z), padding=3_7x20_30
  ROOT s = f32[64,256] slice(a), slice={[1:65], [5:261]})"},
      {"concatenate", R"(
  p = f32[60,250] parameter(0)
  q = f32[60,100] parameter(1)
  ROOT c = f32[60,350] concatenate(p, q), dimensions={1})"},
      {"reshape and reverse", R"(
  p = f32[60,256] parameter(0)
  v = f32[60,256] reverse(p), dimensions={1}
  ROOT c = f32[120,128] reshape(v))"},
      {"window sums", R"(
  p = f32[32,130] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[16,128] reduce-window(p, z), window={size=2x3 stride=2x1}, to_apply=add)"},
      {"scattered maxima", R"(
  p = f32[32,130] parameter(0)
  q = f32[16,65] parameter(1)
  z = f32[] constant(0)
  ROOT r = f32[32,130] select-and-scatter(p, q, z), window={size=2x2 stride=2x2}, select=ge, scatter=add)"},
      {"gather from a small table", R"(
  p = f32[100,256] parameter(0)
  i = s32[300] parameter(1)
  ROOT r = f32[300,256] gather(p, i), offset_dims={1}, collapsed_slice_dims={0},
    start_index_map={0}, index_vector_dim=1, slice_sizes={1,256})"},
      {"gather from a large table", R"(
  p = f32[100000,256] parameter(0)
  i = s32[300] parameter(1)
  ROOT r = f32[300,256] gather(p, i), offset_dims={1}, collapsed_slice_dims={0},
    start_index_map={0}, index_vector_dim=1, slice_sizes={1,256})"},
      {"scatter", R"(
  p = f32[90,128] parameter(0)
  i = s32[40,1] parameter(1)
  u = f32[40,128] parameter(2)
  ROOT r = f32[90,128] scatter(p, i, u), update_window_dims={1}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add)"},
      {"dynamic slices", R"(
  p = f32[90,256] parameter(0)
  u = f32[8,256] parameter(1)
  i = s32[] parameter(2)
  z = s32[] constant(0)
  d = f32[90,256] dynamic-update-slice(p, u, i, z)
  ROOT r = f32[40,256] dynamic-slice(d, i, z), dynamic_slice_sizes={40,256})"},
      {"sort", R"(
  p = f32[50,256] parameter(0)
  ROOT r = f32[50,256] sort(p), dimensions={1}, to_apply=lt)"},
      {"random bits", R"(
  p = u64[2] parameter(0)
  ROOT r = (u64[2], u32[64,256]) rng-bit-generator(p), algorithm=rng_philox)"},
      {"cholesky", R"(
  p = f32[4,32,32] parameter(0)
  ROOT r = f32[4,32,32] cholesky(p), lower=true)"},
      {"fft", R"(
  p = c64[16,256] parameter(0)
  ROOT r = c64[16,256] fft(p), fft_type=FFT, fft_length={256})"},
      {"several results", R"(
  p = f32[96,384] parameter(0)
  q = f32[96,384] parameter(1)
  z = f32[] constant(0)
  a = f32[96,384] multiply(p, q)
  s = f32[96] reduce(a, z), dimensions={1}, to_apply=add
  t = f32[384] reduce(a, z), dimensions={0}, to_apply=add
  ROOT r = (f32[96], f32[96,384], f32[384]) tuple(s, a, t))"},
      {"scalar", R"(
  p = f32[] parameter(0)
  ROOT r = f32[] negate(p))"},
      {"empty", R"(
  p = f32[0,128] parameter(0)
  ROOT r = f32[0,128] negate(p))"},
      {"constant", R"(
  ROOT r = f32[] constant(3))"},
      {"parameter", R"(
  ROOT r = f32[64,128] parameter(0))"},
      {"tuple", R"(
  p = (f32[64,128], f32[3]) parameter(0)
  g = f32[64,128] get-tuple-element(p), index=0
  ROOT r = f32[64,128] negate(g))"},
      {"token", R"(
  ROOT r = token[] after-all())"},
      {"custom call", R"(
  p = f32[64,128] parameter(0)
  ROOT r = (f32[64,128], s32[7]) custom-call(p), custom_call_target="f")"},
      {"unknown opcode", R"(
  p = f32[64,128] parameter(0)
  ROOT r = f32[64,128] swizzle-at-will(p))"},
  };
  return *kernels;
}

hlo::Module ParseTpuKernel(const std::string& lines) {
  auto module = hlo::ParseHloText(absl::StrCat(kRegions, lines, "\n}\n"));
  HONE_EXPECT_OK(module);
  HONE_EXPECT_OK(hlo::VerifyModule(*module));
  return *std::move(module);
}

}  // namespace hone::testing
