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

using ::testing::AllOf;
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

// An instruction of `shape` with that sharding, in a module for 4 partitions.
std::string Sharded(absl::string_view shape, absl::string_view sharding) {
  return absl::StrCat("HloModule m, num_partitions=4\nENTRY e {\n  s = ", shape,
                      " parameter(0), sharding=", sharding,
                      "\n  ROOT r = f32[] constant(0)\n}\n");
}

struct Accepted {
  std::string shape;
  std::string sharding;
};

// The real XLA reads and verifies all of these, but for those under "newer".
const Accepted kAccepted[] = {
    // Kinds.
    {"f32[8]", "{replicated}"},
    {"f32[8]", "{manual}"},
    {"f32[8]", "{unknown}"},
    {"f32[8]", "{unreduced}"},
    {"f32[8]", "{maximal device=3}"},
    {"f32[8]", "{device=1 maximal}"},
    {"f32[8]", "{device=9 device=2 maximal}"},
    {"f32[8]", "{maximal devices=[1]1}"},
    {"f32[8]", "{replicated manual}"},
    {"f32[8]", "{replicated devices=[4]<=[4]}"},
    {"f32[8]", "{replicated last_tile_dims={manual}}"},
    // Blanks and comments.
    {"f32[8]", "{devices=[4]0, 1, 2, 3}"},
    {"f32[8]", "{devices=[4] 0,1,2,3}"},
    {"f32[8]", "{ devices= [ 4 ] 0 , 1,2,3 }"},
    {"f32[8]", "{devices=[4] <= [4]}"},
    {"f32[8]", "{devices=[4]<=[2,2] T ( 1 , 0 )}"},
    {"f32[8]", "{/*a*/devices=[4]0,/*b*/1,2,3}"},
    {"f32[8]", "{devices=[4]0,1,2,3 // c\n}"},
    // Tiles.
    {"f32[8]", "{devices=[4]3,2,1,0}"},
    {"f32[8]", "{devices=[4]<=[2,2]T(0,1)}"},
    {"f32[3]", "{devices=[4]<=[4]}"},
    {"f32[8]", "{devices=[1]<=[1]}"},
    {"f32[8]", "{devices=[1,1]<=[1,1]T(1,0)}"},
    {"f32[8,8]", "{devices=[2,2]<=[4]}"},
    // Subgroups.
    {"f32[8]", "{devices=[2,2]<=[4] last_tile_dim_replicate}"},
    {"f32[8]", "{last_tile_dim_replicate devices=[2,2]<=[4]}"},
    {"f32[8]", "{devices=[2,2]<=[2,2]T(1,0)last_tile_dim_replicate}"},
    {"f32[8]", "{devices=[2,2]<=[4] last_tile_dims={unreduced}}"},
    {"f32[8]", "{devices=[2,2]<=[4] last_tile_dims={maximal}}"},
    {"f32[8]", "{devices=[2,1,2]<=[4] last_tile_dims={manual, replicated}}"},
    {"f32[8,8]", "{devices=[2,2,1]<=[4] last_tile_dim_replicate}"},
    {"f32[8,8]", "{devices=[2,2]<=[4] last_tile_dims={}}"},
    // Subgroups of all devices fit arrays of any rank.
    {"f32[]", "{devices=[1,4]<=[4] last_tile_dim_replicate}"},
    {"f32[]", "{devices=[4]<=[4] last_tile_dims={manual}}"},
    {"f32[8]", "{devices=[1,1,4]<=[4] last_tile_dims={manual}}"},
    {"f32[8]", "{devices=[2,2]<=[4] last_tile_dims={manual,manual}}"},
    {"f32[8]", "{devices=[1,1,1,4]<=[4] last_tile_dims={manual,replicated}}"},
    {"f32[8]", "{devices=[1,2]0,1 last_tile_dim_replicate}"},
    // Metadata and groups.
    {"f32[8]", "{replicated metadata={op_name=\"a } b\"}}"},
    {"f32[8]", "{replicated metadata={{op_name=\"a\"}, {op_name=\"b\"}}}"},
    {"f32[8]", "{metadata={} maximal device=1}"},
    {"f32[8]", "{replicated shard_as 1}"},
    {"f32[8]", "{shard_like -3 replicated}"},
    // Tuples: one sharding for all arrays, or one for each.
    {"(f32[8], f32[4])", "{devices=[4]<=[4]}"},
    {"(f32[8], (f32[4]), ())", "{devices=[4]<=[4]}"},
    {"(f32[8], f32[])", "{maximal device=1}"},
    {"(f32[8], f32[4,2])", "{devices=[1,4]<=[4] last_tile_dim_replicate}"},
    {"(f32[8], f32[])", "{{devices=[4]<=[4]}, /*index=1*/{replicated}}"},
    {"(f32[8], ())", "{{replicated}}"},
    {"()", "{{replicated}}"},
    {"()", "{}"},
    // What a token stands for is not known here.
    {"token[]", "{{replicated}, {devices=[4]<=[4]}}"},
    {"token[]", "{maximal device=9}"},
    // Newer.
    {"f32[8]", "{mesh[x=4], [{x}], metadata={op_name=\"a\"}}"},
    {"f32[8]", "{maximal_mesh[device_id=1]}"},
    {"f32[8]", "{new_key=[3]<=[3] replicated}"},
    {"f32[8]", "{devices=[2]<=[2] new_key={\"a b\"}}"},
};

TEST(Annotations, AcceptsShardingsThatFit) {
  for (const Accepted& test : kAccepted) {
    EXPECT_EQ(Verify(Sharded(test.shape, test.sharding)), absl::OkStatus())
        << test.shape << " " << test.sharding;
  }
}

struct Refused {
  std::string shape;
  std::string sharding;
  std::string message;
};

// The real XLA refuses all of these, but for those under "meaningless".
const Refused kRefused[] = {
    // Grammar.
    {"f32[8]", "{foo}", "found foo, expected replicated, maximal,"},
    {"f32[8]", "{replicated foo}", "found foo, expected replicated, maximal,"},
    {"f32[8]", "{new_form x=[3]}", "found new_form x=[3], expected replicated"},
    {"f32[8]", "{replicated, manual}", "found , manual, expected replicated"},
    {"f32[8]", "{maximal device=1, metadata={}}", "found , metadata={}, exp"},
    {"f32[8]", "{devices =[4]<=[4]}", "found devices =[4]<=[4], expected"},
    {"f32[8]", "{=3}", "found 3, expected a key and its value"},
    {"f32[8]", "{3}", "found 3, expected replicated"},
    {"f32[8]", "{shard_as 1}", "neither kind nor tiles, expected"},
    {"f32[8]", "{device=1}", "neither kind nor tiles, expected"},
    {"f32[8]", "{last_tile_dim_replicate}", "neither kind nor tiles, expected"},
    {"f32[8]", "{replicated shard_like}", "ends early, expected the number of"},
    {"f32[8]", "{replicated metadata=3}", "found 3, expected metadata in br"},
    {"f32[8]", "{maximal_mesh}", "ends early, expected the [axes] of a mesh"},
    {"f32[8]", "{maximal}", "0 devices, expected one with maximal"},
    {"f32[8]", "{maximal devices=[2]1,2}", "2 devices, expected one with max"},
    {"f32[8]", "{manual device=1}", "1 devices, expected none with manual"},
    {"f32[8]", "{replicated maximal device=1}",
     "1 devices, expected none with"},
    {"f32[8]", "{maximal device=99999999999999999999}",
     "found 99999999999999999999, expected the number of a device"},
    {"f32[8]", "{maximal device=1.5}",
     "found 1.5, expected the number of a de"},
    {"f32[8]", "{devices=[]0}", "found ]0, expected tile dimensions"},
    {"f32[8]", "{devices=[4]}", "ends early, expected numbers of devices"},
    {"f32[8]", "{devices=[4]0,1,2,3,}", "ends early, expected numbers of"},
    {"f32[8]", "{devices=[4]+0,1,2,3}", "found +0,1,2,3, expected numbers of"},
    {"f32[8]", "{devices=[4]<=[2,2]}", "ends early, expected T(…), the order"},
    {"f32[8]", "{devices=[4]<=[4]T(0)}", "found T(0), expected replicated"},
    {"f32[8]", "{devices=[4]<=[2,2]T(0,5)}",
     "T(0,5), expected a permutation of 2 dimensions"},
    {"f32[8]", "{devices=[4]<=[2,2]T(0,-1)}", "T(0,-1), expected a permutat"},
    {"f32[8]", "{devices=[4]<=[2,2]T(0)}", "T(0), expected a permutation of 2"},
    {"f32[8]", "{devices=[4]<=[2,2]T(0,1,1)}", "T(0,1,1), expected a permuta"},
    {"f32[8]", "{devices=[4]<=[4] devices=[4]0,1,2,3}",
     "devices= again, expected one"},
    {"f32[8]", "{devices=[2,2]<=[4] last_tile_dims={unknown}}",
     "found unknown}, expected replicated, maximal, manual or unreduced"},
    {"f32[8]", "{devices=[2,2]<=[4] last_tile_dims={manual,}}",
     "found }, expected replicated, maximal, manual or unreduced"},
    {"f32[8]", "{devices=[2,2]<=[4] last_tile_dims=manual}",
     "found manual, expected { and types of subgroups"},
    {"f32[8]",
     "{devices=[2,1,2]<=[4] last_tile_dims={manual} "
     "last_tile_dim_replicate}",
     "subgroups again, expected them once"},
    {"f32[8]", "{devices=[4]<=[4] last_tile_dims={manual,manual}}",
     "2 subgroups, expected at most 1, one for each tile dimension"},
    // Devices.
    {"f32[8]", "{maximal device=4}", "device 4, expected one from 0 to 3"},
    {"f32[8]", "{maximal device=-1}", "device -1, expected one from 0 to 3"},
    {"f32[8]", "{devices=[4]0,0,1,2}",
     "device 0 twice, expected distinct devices"},
    {"f32[8]", "{devices=[4]0,1,2}",
     "3 devices, expected 4, one for each tile"},
    {"f32[8]", "{devices=[4]0,1,2,4}", "device 4, expected one from 0 to 3"},
    {"f32[8]", "{devices=[4]<=[8]}",
     "8 devices, expected 4, one for each tile"},
    {"f32[8]", "{devices=[8]<=[8]}",
     "8 devices, expected 4, one for each partition"},
    {"f32[8]", "{devices=[2]2,3}",
     "2 devices, expected 4, one for each partition"},
    {"f32[8]", "{devices=[-4]0,1,2,3}", "a dimension of -4, expected at least"},
    {"f32[8]", "{devices=[4]<=[0]}", "a dimension of 0, expected at least 1"},
    {"f32[8,8]", "{devices=[4294967296,4294967296]<=[4]}",
     "dimensions whose product overflows, expected the number of devices"},
    // Shapes.
    {"f32[]", "{devices=[4]<=[4]}",
     "sharding={devices=[4]<=[4]}: 1 tile dimensions, expected 0, the rank of "
     "f32[]"},
    {"f32[8]", "{devices=[1,1,2,2]<=[4] last_tile_dims={replicated,manual}}",
     "2 tile dimensions before the subgroups, expected 1, the rank of f32[8]"},
    {"f32[8]", "{}",
     "sharding={}: none for f32[8], expected one sharding without inner "
     "braces"},
    {"f32[8]", "{{replicated}}", "expected one sharding without inner braces"},
    {"f32[8]", "{{replicated}, {replicated}}", "expected one sharding without"},
    {"(f32[8], f32[4,2])", "{devices=[4]<=[4]}",
     "1 tile dimensions, expected 2, the rank of f32[4,2]"},
    {"(f32[8], token[])", "{devices=[4]<=[4]}",
     "tiles of token[], expected an array"},
    {"(f32[8], f32[])", "{{replicated}}",
     "1 parts, expected 2, one for each array of (f32[8], f32[])"},
    {"(f32[8], f32[])", "{}", "0 parts, expected 2, one for each array"},
    {"(f32[8], ())", "{{replicated}, {replicated}}",
     "2 parts, expected 1, one"},
    {"(f32[8], f32[])", "{{replicated}, {replicated},}",
     "3 parts, expected 2, one for each array"},
    {"(f32[8], f32[])", "{{replicated}, replicated}",
     "part 1 is replicated, expected a sharding in braces"},
    {"(f32[8], f32[])", "{{replicated}, {devices=[4]<=[4]}}",
     "part 1 {devices=[4]<=[4]}: 1 tile dimensions, expected 0, the rank of"},
    {"(f32[8], f32[])", "{{{replicated}}, {replicated}}",
     "part 0 {{replicated}}: found {replicated}, expected replicated"},
    {"()", "{{}}", "part 0 {}: neither kind nor tiles, expected"},
    {"token[]", "{foo}", "found foo, expected replicated"},
    // Meaningless, but XLA accepts them.
    {"f32[8]", "{devices=[4]<=[2,2]T(0,0)}", "T(0,0), expected a permutation"},
};

TEST(Annotations, RejectsShardingsThatDoNotFit) {
  for (const Refused& test : kRefused) {
    const absl::Status status = Verify(Sharded(test.shape, test.sharding));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(
        std::string(status.message()),
        AllOf(HasSubstr("instruction s: sharding={"), HasSubstr(test.message)))
        << test.shape << " " << test.sharding;
  }
}

// Without partitions nothing says how many devices there are.
TEST(Annotations, TakesAnyDevicesWithoutPartitions) {
  const auto sharded = [](absl::string_view sharding) {
    return absl::StrCat("HloModule m\nENTRY e {\n  s = f32[8] parameter(0), ",
                        "sharding=", sharding, "\n  ROOT r = f32[8] abs(s)\n}");
  };
  EXPECT_EQ(Verify(sharded("{devices=[2]7,8}")), absl::OkStatus());
  EXPECT_EQ(Verify(sharded("{maximal device=9}")), absl::OkStatus());
  EXPECT_THAT(Verify(sharded("{maximal device=-1}")).ToString(),
              HasSubstr("device -1, expected a number from 0"));
  EXPECT_THAT(Verify(sharded("{devices=[2]7,7}")).ToString(),
              HasSubstr("device 7 twice, expected distinct devices"));
}

TEST(Annotations, ShortensLongValuesInMessages) {
  const std::string deep =
      absl::StrCat(std::string(500, '{'), std::string(500, '}'));
  EXPECT_EQ(Verify(Sharded("f32[8]", deep)).message(),
            absl::StrCat(
                "computation e, instruction s: sharding=", std::string(80, '{'),
                "…: a list for f32[8], expected one sharding without inner "
                "braces"));
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
