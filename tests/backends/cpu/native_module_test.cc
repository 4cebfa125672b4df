#include "backends/cpu/native_module.h"

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "backends/cpu/compiler.h"
#include "backends/cpu/loaded_object.h"
#include "hlo/equivalence/equivalence.h"
#include "hlo/evaluator/evaluator.h"
#include "hlo/read_module.h"
#include "hlo/text/parser.h"
#include "tests/loops/random_loops.h"
#include "tests/support/status_matchers.h"

namespace hone::backends {
namespace {

using ::testing::HasSubstr;

// Modules of bench/data/corpus: a training step, layers that repeat, loops.
class NativeCorpus : public ::testing::TestWithParam<const char*> {};

TEST_P(NativeCorpus, ComputesWhatTheEvaluatorDoes) {
  HONE_ASSERT_OK_AND_ASSIGN(
      const hlo::Module module,
      hlo::ReadModuleFile(absl::StrCat(HONE_SOURCE_DIR, "/bench/data/corpus/",
                                       GetParam(), ".hlo.zst")));
  const std::vector<hlo::Literal> arguments =
      hlo::RandomArguments(module, 1).value();
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

INSTANTIATE_TEST_SUITE_P(Corpus, NativeCorpus,
                         ::testing::Values("mlp.train", "gpt2_tiny.fwd",
                                           "gpt2_scan.fwd", "rnnlm_scan.fwd",
                                           "vae.train"));

TEST(NativeModule, LoopsUpdateArraysInPlace) {
  for (uint64_t seed = 1000; seed < 1040; ++seed) {
    const std::string text = testing::RandomLoopsText(seed);
    SCOPED_TRACE(text);
    HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module,
                              hlo::ParseHloText(text));
    const std::vector<hlo::Literal> arguments =
        hlo::RandomArguments(module, 1).value();
    HONE_ASSERT_OK_AND_ASSIGN(const hlo::Literal expected,
                              hlo::Evaluate(module, arguments));
    HONE_ASSERT_OK_AND_ASSIGN(const auto native,
                              NativeModule::Create(module, 1));
    HONE_ASSERT_OK_AND_ASSIGN(const hlo::Literal result,
                              native->Run(arguments));
    const hlo::Comparison comparison = hlo::CompareLiterals(expected, result);
    EXPECT_TRUE(comparison.equal)
        << "output " << comparison.worst.output << " element "
        << comparison.worst.element << ": " << comparison.worst.b
        << ", expected " << comparison.worst.a;
    if (HasFailure()) return;
  }
}

// The caches k and v may be updated where they are; w is written before the
// product has read all of it.
constexpr char kDonations[] =
    R"(HloModule m, input_output_alias={ {0}: (0, {}, may-alias), {1}: (1, {}, must-alias), {2}: (2, {}, may-alias) }
ENTRY e {
  k = f32[4,3] parameter(0)
  v = f32[4,3] parameter(1)
  w = f32[3,3] parameter(2)
  u = f32[1,3] parameter(3)
  i = s32[] parameter(4)
  zero = s32[] constant(0)
  row = f32[1,3] dot(u, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  nk = f32[4,3] dynamic-update-slice(k, row, i, zero)
  old = f32[1,3] dynamic-slice(v, i, zero), dynamic_slice_sizes={1,3}
  sum = f32[1,3] add(old, u)
  nv = f32[4,3] dynamic-update-slice(v, sum, i, zero)
  nw = f32[3,3] dot(w, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (f32[4,3], f32[4,3], f32[3,3]) tuple(nk, nv, nw)
})";

TEST(NativeModule, ResultsMayBeDonatedArguments) {
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module,
                            hlo::ParseHloText(kDonations));
  HONE_ASSERT_OK_AND_ASSIGN(const loops::ModulePlan plan,
                            LowerAndSchedule(module, 1));
  HONE_ASSERT_OK_AND_ASSIGN(const std::string object,
                            CompilePlan(plan, "module"));
  HONE_ASSERT_OK_AND_ASSIGN(const auto loaded, LoadedObject::Create(object));
  HONE_ASSERT_OK_AND_ASSIGN(const EntryFunction entry, loaded->Entry("module"));
  const std::vector<hlo::Literal> arguments =
      hlo::RandomArguments(module, 1).value();
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Literal expected,
                            hlo::Evaluate(module, arguments));
  // Each donation is taken or not.
  for (int taken = 0; taken < 8; ++taken) {
    std::vector<std::vector<std::byte>> copies;
    std::vector<const void*> from;
    for (const hlo::Literal& argument : arguments) {
      copies.emplace_back(argument.data(),
                          argument.data() + argument.byte_size());
      from.push_back(copies.back().data());
    }
    std::vector<hlo::Literal> results;
    std::vector<void*> to;
    for (size_t i = 0; i < 3; ++i) {
      results.emplace_back(expected.elements()[i].shape_ptr());
      to.push_back((taken >> i) % 2 == 1 ? copies[i].data()
                                         : results[i].MutableData());
    }
    ASSERT_EQ(entry(nullptr, from.data(), to.data()), HONE_OK);
    for (size_t i = 0; i < arguments.size(); ++i) {
      const bool is_same = std::memcmp(copies[i].data(), arguments[i].data(),
                                       copies[i].size()) == 0;
      EXPECT_EQ(is_same, i >= 3 || (taken >> i) % 2 == 0);
    }
    for (size_t i = 0; i < 3; ++i) {
      std::memcpy(results[i].MutableData(), to[i],
                  static_cast<size_t>(results[i].byte_size()));
      EXPECT_TRUE(
          hlo::CompareLiterals(expected.elements()[i], results[i]).equal)
          << "result " << i << ", taken " << taken;
    }
  }
}

TEST(NativeModule, NamesWhatItCannotLower) {
  HONE_ASSERT_OK_AND_ASSIGN(const hlo::Module module,
                            hlo::ParseHloText(R"(HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  ROOT strange = f32[4] custom-call(x), custom_call_target="unheard-of"
})"));
  const absl::Status status = NativeModule::Create(module, 1).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(status.message(), HasSubstr("custom-call"));
  EXPECT_THAT(status.message(), HasSubstr("strange"));
}

}  // namespace
}  // namespace hone::backends
