// Shardings and origins that do not fit their instruction, and communication
// of wrong shapes.

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/inference/verifier.h"
#include "hlo/text/parser.h"

namespace hone::hlo {
namespace {

using ::testing::HasSubstr;

absl::Status Verify(absl::string_view text) {
  absl::StatusOr<Module> module = ParseHloText(text);
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << text;
  return module.ok() ? VerifyModule(*module) : module.status();
}

std::string Negate(absl::string_view attributes) {
  return absl::StrCat(R"(HloModule m, num_partitions=2
ENTRY e {
  p = f32[4,6] parameter(0)
  ROOT n = f32[4,6] negate(p), )",
                      attributes, "\n}\n");
}

std::string Pair(absl::string_view attributes) {
  return absl::StrCat(R"(HloModule m, num_partitions=2
ENTRY e {
  p = f32[4,6] parameter(0)
  s = f32[] constant(0)
  i = (f32[]) tuple(s)
  ROOT t = (f32[4,6], (f32[])) tuple(p, i), )",
                      attributes, "\n}\n");
}

TEST(Annotations, AcceptsShardingsThatFit) {
  for (absl::string_view sharding :
       {"{replicated}", "{manual}", "{maximal device=1}", "{unreduced}",
        "{devices=[2,1]<=[2]}", "{devices=[1,2]0,1}", "{devices=[1,2]1,0}",
        "{devices=[2,1]<=[1,2]T(1,0)}",
        "{devices=[1,1,2]<=[2] last_tile_dim_replicate}",
        "{devices=[1,2]<=[2] last_tile_dim_replicate}",
        "{devices=[1,1,2]<=[2] last_tile_dims={manual}}",
        "{devices=[1,2,1]0,1 last_tile_dims={replicated}}",
        "{devices=[2,1]<=[2] metadata={op_name=\"a\"}}", "{new_form x=[3]}"}) {
    EXPECT_EQ(Verify(Negate(absl::StrCat("sharding=", sharding))),
              absl::OkStatus())
        << sharding;
  }
  for (absl::string_view sharding :
       {"{replicated}", "{{replicated}, {maximal device=0}}",
        "{{devices=[2,1]<=[2]}, {replicated}}"}) {
    EXPECT_EQ(Verify(Pair(absl::StrCat("sharding=", sharding))),
              absl::OkStatus())
        << sharding;
  }
}

TEST(Annotations, RejectsShardingsThatDoNotFit) {
  for (absl::string_view sharding :
       {"{devices=[2]<=[2]}", "{devices=[2,1,1]<=[2]}",
        "{devices=[2,1]<=[2] last_tile_dim_replicate}", "{devices=[1,2]0,1,2}",
        "{devices=[1,2]0,2}", "{devices=[1,4]<=[4]}", "{maximal device=7}",
        "{devices=[0,2]<=[0]}", "{devices=[-1,-2]<=[2]}",
        "{{replicated}, {replicated}}"}) {
    EXPECT_THAT(Verify(Negate(absl::StrCat("sharding=", sharding))).ToString(),
                HasSubstr("instruction n: sharding"))
        << sharding;
  }
  for (absl::string_view sharding :
       {"{{replicated}}", "{{replicated}, {replicated}, {replicated}}",
        "{devices=[2,1]<=[2]}", "{{replicated}, {devices=[2,1]<=[2]}}"}) {
    EXPECT_THAT(Verify(Pair(absl::StrCat("sharding=", sharding))).ToString(),
                HasSubstr("instruction t: sharding"))
        << sharding;
  }
}

TEST(Annotations, ComparesOriginsWithShapes) {
  EXPECT_EQ(Verify(Negate("origin={{\"n\"}}")), absl::OkStatus());
  EXPECT_EQ(Verify(Negate("origin={{\"n, (\" {1,2}}}")), absl::OkStatus());
  EXPECT_EQ(Verify(Pair("origin={({\"a\"}, ({\"b\" {0}}))}")),
            absl::OkStatus());
  EXPECT_EQ(Verify(Pair("origin={[synthetic_call]}")), absl::OkStatus());
  for (absl::string_view origin :
       {"{{\"a\"}}", "{({\"a\"})}", "{({\"a\"}, {\"b\"})}",
        "{({\"a\"}, ({\"b\"}), {\"c\"})}"}) {
    EXPECT_THAT(Verify(Pair(absl::StrCat("origin=", origin))).ToString(),
                HasSubstr("expected a tree of the same form"))
        << origin;
  }
  EXPECT_THAT(Verify(Negate("origin={({\"a\"}, {\"b\"})}")).ToString(),
              HasSubstr("expected a tree of the same form"));
}

std::string Communication(absl::string_view instruction) {
  return absl::StrCat(R"(HloModule m, num_partitions=2

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}

ENTRY e {
  x = f32[4,6] parameter(0)
  k = token[] after-all()
  c = )",
                      instruction, "\n  ROOT r = f32[4,6] negate(x)\n}\n");
}

TEST(Communication, AcceptsWhatFits) {
  for (absl::string_view instruction :
       {"f32[4,6] all-reduce(x), replica_groups={}, to_apply=sum",
        "(f32[4,6], f32[4,6]) all-reduce(x, x), replica_groups={{0},{1}}, "
        "to_apply=sum",
        "f32[8,6] all-gather(x), replica_groups={{0,1}}, dimensions={0}",
        "f32[4,3] reduce-scatter(x), replica_groups=[1,2]<=[2], "
        "dimensions={1}, to_apply=sum",
        "f32[4,6] collective-permute(x), source_target_pairs={{0,1},{1,0}}",
        "((f32[3]), token[]) infeed(k)",
        "token[] outfeed(x, k), outfeed_shape=f32[4,6]{1,0}",
        "(f32[4,6], u32[], token[]) send(x, k), channel_id=1",
        "(f32[2], u32[], token[]) recv(k), channel_id=1"}) {
    EXPECT_EQ(Verify(Communication(instruction)), absl::OkStatus())
        << instruction;
  }
}

TEST(Communication, RejectsWhatDoesNotFit) {
  for (absl::string_view instruction :
       {"f32[4,5] all-reduce(x), replica_groups={}, to_apply=sum",
        "f32[4,6] all-reduce(x), replica_groups={{0,0}}, to_apply=sum",
        "f32[7,6] all-gather(x), replica_groups={{0,1}}, dimensions={0}",
        "f32[8,6] all-gather(x), replica_groups={{0,1}}, dimensions={2}",
        "f32[8,5] all-gather(x), replica_groups={{0,1}}, dimensions={0}",
        "f32[8,6] reduce-scatter(x), replica_groups={{0,1}}, dimensions={0}, "
        "to_apply=sum",
        "f32[6,4] collective-permute(x), source_target_pairs={{0,1}}",
        "f32[4,6] collective-permute(x), source_target_pairs={{0,1},{0,0}}",
        "(f32[3]) infeed(k)", "((f32[3]), token[]) infeed(x)",
        "token[] outfeed(x, x)", "f32[3] outfeed(x, k)",
        "(f32[4,5], u32[], token[]) send(x, k), channel_id=1",
        "(f32[4,6], u32[]) recv(k), channel_id=1"}) {
    EXPECT_THAT(Verify(Communication(instruction)).ToString(),
                HasSubstr("instruction c: "))
        << instruction;
  }
}

}  // namespace
}  // namespace hone::hlo
