#include "bench/faults/hostile_modules.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

#include "base/rng.h"
#include "bench/faults/modules.h"

namespace hone::bench {
namespace {

// Texts with $n for the number of the module.
struct Written {
  const char* name;
  const char* text;
};

constexpr std::array kWritten = {
    Written{"parameter of 400 GB", R"(
ENTRY e {
  x = f32[100000000000] parameter(0)
  c = f32[] constant($n)
  d = f32[100000000000] broadcast(c), dimensions={}
  ROOT y = f32[100000000000] add(x, d)
})"},
    Written{"value of 4 TB between scalars", R"(
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[] parameter(0)
  b = f32[1000000,1000000] broadcast(x), dimensions={}
  b2 = f32[1000000,1000000] multiply(b, b)
  z = f32[] constant($n)
  ROOT r = f32[] reduce(b2, z), dimensions={0,1}, to_apply=add
})"},
    Written{"size that overflows 64 bits", R"(
ENTRY e {
  c = f32[] constant($n)
  ROOT b = f32[4294967296,4294967296] broadcast(c), dimensions={}
})"},
    Written{"computation that calls itself", R"(
self {
  x = f32[] parameter(0)
  ROOT y = f32[] call(x), to_apply=self
}
ENTRY e {
  x = f32[] parameter(0)
  c = f32[] constant($n)
  z = f32[] add(x, c)
  ROOT y = f32[] call(z), to_apply=self
})"},
    Written{"product of 10^18 operations", R"(
ENTRY e {
  x = f32[1000000,1000000] parameter(0)
  c = f32[] constant($n)
  cs = f32[1000000,1000000] broadcast(c), dimensions={}
  y = f32[1000000,1000000] multiply(x, cs)
  ROOT d = f32[1000000,1000000] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})"},
    Written{"interior padding of 10^12", R"(
ENTRY e {
  x = f32[16] parameter(0)
  c = f32[] constant($n)
  ROOT p = f32[15000000000016] pad(x, c), padding=0_0_1000000000000
})"},
    Written{"window of 10^9 places", R"(
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY e {
  x = f32[1000] parameter(0)
  c = f32[] constant($n)
  ROOT r = f32[1000] reduce-window(x, c), window={size=1000000001 pad=500000000_500000000}, to_apply=add
})"},
    Written{"sort of 10^10 numbers", R"(
less {
  a = s64[] parameter(0)
  b = s64[] parameter(1)
  ROOT l = pred[] compare(a, b), direction=LT
}
ENTRY e {
  x = s64[] parameter(0)
  c = s64[] constant($n)
  i = s64[10000000000] iota(), iota_dimension=0
  cs = s64[10000000000] broadcast(c), dimensions={}
  j = s64[10000000000] xor(i, cs)
  s = s64[10000000000] sort(j), dimensions={0}, to_apply=less
  ROOT r = s64[1] slice(s), slice={[5:6]}
})"},
    Written{"negative dimension", R"(
ENTRY e {
  x = f32[-5] parameter(0)
  c = f32[] constant($n)
  ROOT y = f32[-5] negate(x)
})"},
};

// Those that take until a limit of time.
constexpr std::array kEndless = {
    Written{"loop without an end", R"(
more {
  s = (s32[]) parameter(0)
  ROOT yes = pred[] constant(true)
}
step {
  s = (s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant($n)
  j = s32[] add(i, one)
  ROOT t = (s32[]) tuple(j)
}
ENTRY e {
  x = s32[] parameter(0)
  t = (s32[]) tuple(x)
  ROOT w = (s32[]) while(t), condition=more, body=step
})"},
    Written{"loop of 2^62 steps", R"(
more {
  s = (s64[], f32[64]) parameter(0)
  i = s64[] get-tuple-element(s), index=0
  n = s64[] constant(4611686018427387904)
  ROOT less = pred[] compare(i, n), direction=LT
}
step {
  s = (s64[], f32[64]) parameter(0)
  i = s64[] get-tuple-element(s), index=0
  v = f32[64] get-tuple-element(s), index=1
  one = s64[] constant(1)
  j = s64[] add(i, one)
  w = f32[64] sine(v)
  ROOT t = (s64[], f32[64]) tuple(j, w)
}
ENTRY e {
  v = f32[64] parameter(0)
  z = s64[] constant(0)
  c = f32[] constant($n)
  cs = f32[64] broadcast(c), dimensions={}
  u = f32[64] add(v, cs)
  t = (s64[], f32[64]) tuple(z, u)
  w = (s64[], f32[64]) while(t), condition=more, body=step
  ROOT r = f32[64] get-tuple-element(w), index=1
})"},
};

// 2^60 calls in 61 computations.
std::string DoublingCalls(int64_t n) {
  std::string text = absl::StrCat("HloModule m", n,
                                  "\n\nc0 {\n  x = f32[] parameter(0)\n"
                                  "  c = f32[] constant(",
                                  n, ")\n  ROOT y = f32[] add(x, c)\n}\n");
  for (int i = 1; i <= 60; ++i) {
    absl::StrAppend(&text, "c", i, " {\n  x = f32[] parameter(0)\n",
                    "  a = f32[] call(x), to_apply=c", i - 1,
                    "\n  b = f32[] call(x), to_apply=c", i - 1,
                    "\n  ROOT y = f32[] add(a, b)\n}\n");
  }
  return text +
         "ENTRY e {\n  x = f32[] parameter(0)\n"
         "  ROOT y = f32[] call(x), to_apply=c60\n}\n";
}

std::string LongChain(int64_t n) {
  constexpr int kLength = 100'000;
  std::string text = absl::StrCat("HloModule m", n,
                                  "\n\nENTRY e {\n  v0 = f32[4] parameter(0)\n"
                                  "  c = f32[] constant(",
                                  n,
                                  ")\n  cs = f32[4] broadcast(c), "
                                  "dimensions={}\n");
  for (int i = 1; i <= kLength; ++i) {
    absl::StrAppend(&text, i == kLength ? "  ROOT v" : "  v", i,
                    " = f32[4] add(v", i - 1, ", cs)\n");
  }
  return text + "}\n";
}

// A tuple in a tuple, 20,000 deep.
std::string DeepTuple(int64_t n) {
  constexpr size_t kDepth = 20'000;
  const std::string shape =
      std::string(kDepth, '(') + "f32[]" + std::string(kDepth, ')');
  return absl::StrCat("HloModule m", n, "\n\nENTRY e {\n  x = ", shape,
                      " parameter(0)\n  c = f32[] constant(", n,
                      ")\n  ROOT y = (", shape, ") tuple(x)\n}\n");
}

// Numbers of a good module become other ones, and some bytes, too.
std::string Broken(int64_t n) {
  Rng rng(static_cast<uint64_t>(n));
  constexpr std::array kNumbers = {
      "0", "-1", "3", "99999999999", "9223372036854775807", "1e400"};
  std::string text = rng.Below(2) == 0 ? NumberedKernel(n) : NumberedModule(n);
  std::string broken;
  for (const char c : text) {
    if (c >= '0' && c <= '9' && rng.Below(20) == 0) {
      broken += kNumbers[rng.Below(kNumbers.size())];
    } else if (rng.Below(200) == 0) {
      broken += static_cast<char>(' ' + rng.Below(95));
    } else {
      broken += c;
    }
  }
  return broken;
}

struct Made {
  const char* name;
  std::string (*make)(int64_t n);
};
constexpr std::array kMade = {
    Made{"2^60 calls", DoublingCalls},
    Made{"chain of 100,000 instructions", LongChain},
    Made{"tuples 20,000 deep", DeepTuple},
    Made{"changed numbers and bytes", Broken},
};

}  // namespace

int64_t HostileModuleKinds() {
  return kWritten.size() + kMade.size() + kEndless.size();
}

NamedModule HostileModule(int64_t n) {
  auto kind = static_cast<size_t>(n % HostileModuleKinds());
  const auto fill = [n](const Written& written) -> NamedModule {
    return {written.name,
            absl::StrCat(
                "HloModule m", n, "\n",
                absl::StrReplaceAll(written.text, {{"$n", absl::StrCat(n)}}),
                "\n")};
  };
  if (kind < kWritten.size()) return fill(kWritten[kind]);
  kind -= kWritten.size();
  if (kind < kMade.size()) return {kMade[kind].name, kMade[kind].make(n)};
  return fill(kEndless[kind - kMade.size()]);
}

}  // namespace hone::bench
