#include "tests/hlo/passes/shrink.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/passes/registry.h"
#include "hlo/text/printer.h"
#include "tests/hlo/passes/check_order.h"
#include "tests/hlo/passes/golden.h"
#include "tests/support/random_module.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

using ::testing::ElementsAre;
using Kind = OrderFailure::Kind;

// Wrong on purpose: every cosine becomes a sine.
class PlantedBug final : public Pass {
 public:
  absl::string_view name() const override { return "planted"; }
  absl::StatusOr<bool> Run(Module& module,
                           const RewriteOptions& /*options*/) const override {
    bool changed = false;
    for (ComputationId id : module.ComputationIds()) {
      for (InstructionId i : module.computation(id).PostOrder()) {
        const Instruction& old = module.computation(id)[i];
        if (old.opcode() != Opcode::kCosine) continue;
        const Instruction sine(Opcode::kSine, old.shape_ptr(), old.operands());
        Computation& computation = module.mutable_computation(id);
        computation.ReplaceAllUses(i, computation.AddInstruction(sine));
        computation.Remove(i);
        changed = true;
      }
    }
    return changed;
  }
};

absl::StatusOr<const Pass*> FindOrPlanted(absl::string_view name) {
  static const PlantedBug planted;
  if (name == "planted") return &planted;
  return FindPass(name);
}

constexpr char kLarge[] = R"(
HloModule m
f {
  a = f32[4,3] parameter(0)
  b = f32[4,3] cosine(a)
  c = f32[4,3] negate(a)
  ROOT r = f32[4,3] multiply(b, c)
}
ENTRY e {
  p = f32[4,3] parameter(0)
  q = f32[3,4] parameter(1)
  unused = f32[7] parameter(2)
  t = f32[4,3] transpose(q), dimensions={1,0}
  s = f32[4,3] add(p, t)
  x = f32[4,3] exponential(s)
  y = f32[4,3] cosine(x)
  z = f32[4,3] call(y), to_apply=f
  w = f32[4,3] subtract(y, z)
  v = s32[4,3] iota(), iota_dimension=0
  ROOT r = (f32[4,3], f32[4,3], s32[4,3]) tuple(w, s, v)
})";

TEST(Shrink, FindsAPlantedBug) {
  const FailingCase failing{ParseForTest(kLarge),
                            {"algsimp", "cse", "planted", "dce", "planted"}};
  const auto failure = CheckOrder(failing, FindOrPlanted, nullptr);
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->kind, Kind::kUnequal);
  const FailingCase small =
      ShrinkFailure(failing, failure->kind, FindOrPlanted);
  EXPECT_THAT(small.passes, ElementsAre("planted"));
  const Computation& entry = small.module.entry_computation();
  EXPECT_EQ(entry.live_count(), 2) << PrintModule(small.module);
  EXPECT_EQ(entry[entry.root()].opcode(), Opcode::kCosine);
  EXPECT_EQ(small.module.instruction_count(), 2);
  EXPECT_TRUE(CheckOrder(small, FindOrPlanted, nullptr).has_value());
}

TEST(Shrink, FindsItInRandomModules) {
  int found = 0;
  for (uint64_t seed = 0; seed < 300 && found < 3; ++seed) {
    const FailingCase failing{ParseForTest(testing::RandomModuleText(seed)),
                              {"dce", "planted", "cse"}};
    const auto failure = CheckOrder(failing, FindOrPlanted, nullptr);
    if (!failure.has_value()) continue;
    ++found;
    const FailingCase small =
        ShrinkFailure(failing, failure->kind, FindOrPlanted);
    EXPECT_THAT(small.passes, ElementsAre("planted"));
    // At worst in a body, with the instructions that call it.
    EXPECT_LE(small.module.instruction_count(), 12)
        << PrintModule(small.module);
  }
  EXPECT_EQ(found, 3);
}

TEST(Shrink, KeepsTheWholeCaseWhenAllOfItMatters) {
  const FailingCase failing{ParseForTest(kLarge), {"algsimp", "cse"}};
  const std::string before = PrintModule(failing.module);
  const FailingCase same =
      Shrink(failing, [](const FailingCase&) { return false; });
  EXPECT_EQ(PrintModule(same.module), before);
  EXPECT_THAT(same.passes, ElementsAre("algsimp", "cse"));
}

TEST(CheckOrder, SeesEveryKindOfFailure) {
  class Liar final : public Pass {
   public:
    absl::string_view name() const override { return "liar"; }
    absl::StatusOr<bool> Run(Module& module,
                             const RewriteOptions& /*options*/) const override {
      module.mutable_computation(module.entry()).set_name("renamed");
      return false;
    }
  };
  class Breaker final : public Pass {
   public:
    absl::string_view name() const override { return "breaker"; }
    absl::StatusOr<bool> Run(Module& module,
                             const RewriteOptions& /*options*/) const override {
      Computation& entry = module.mutable_computation(module.entry());
      entry.mutable_instruction(entry.root())
          .set_shape(Shape::Scalar(ElementType::kPred));
      return true;
    }
  };
  class Failing final : public Pass {
   public:
    absl::string_view name() const override { return "failing"; }
    absl::StatusOr<bool> Run(Module&, const RewriteOptions&) const override {
      return absl::InternalError("on purpose");
    }
  };
  const auto kind_of = [](const Pass& pass) {
    const auto failure = CheckOrder(
        {ParseForTest(kLarge), {"it"}},
        [&](absl::string_view) -> absl::StatusOr<const Pass*> { return &pass; },
        nullptr);
    EXPECT_TRUE(failure.has_value());
    return failure->kind;
  };
  EXPECT_EQ(kind_of(Liar()), Kind::kUntruthful);
  EXPECT_EQ(kind_of(Breaker()), Kind::kDoesNotVerify);
  EXPECT_EQ(kind_of(Failing()), Kind::kPassFailed);
  EXPECT_EQ(kind_of(PlantedBug()), Kind::kUnequal);
}

TEST(CheckOrder, CasesSurviveATripThroughText) {
  const FailingCase before{ParseForTest(kLarge), {"algsimp", "cse"}};
  HONE_ASSERT_OK_AND_ASSIGN(const FailingCase after,
                            ParseCase(PrintCase(before)));
  EXPECT_EQ(after.passes, before.passes);
  EXPECT_EQ(PrintModule(after.module), PrintModule(before.module));
  EXPECT_THAT(ParseCase("HloModule m"),
              testing::StatusIs(absl::StatusCode::kInvalidArgument,
                                ::testing::HasSubstr("// passes: ")));
}

}  // namespace
}  // namespace hone::hlo
