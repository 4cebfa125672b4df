#include "hlo/analysis/fingerprint.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "hlo/text/parser.h"
#include "tests/support/corpus.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

Module Parse(const std::string& text) {
  absl::StatusOr<Module> module = ParseHloText(text);
  EXPECT_TRUE(module.ok()) << module.status() << "\n" << text;
  return module.ok() ? *std::move(module) : Module();
}

constexpr absl::string_view kModule = R"(HloModule m, replica_count=2

double {
  x = f32[4]{0} parameter(0)
  ROOT y = f32[4]{0} add(x, x)
}

half {
  x = f32[4]{0} parameter(0)
  ROOT y = f32[4]{0} negate(x)
}

ENTRY e {
  p = f32[4]{0} parameter(0)
  q = f32[4]{0} parameter(1), frontend_attributes={a="1"}
  c = f32[4]{0} constant({1, 2, 3, nan})
  a = f32[4]{0} call(p), to_apply=double
  b = f32[4]{0} call(q), to_apply=half
  d = f32[4,2]{1,0} broadcast(c), dimensions={0}
  s = f32[4]{0} subtract(a, b)
  dead = f32[4]{0} abs(s)
  dead2 = f32[4]{0} call(c), to_apply=half
  t = (f32[4]{0}, f32[4,2]{1,0}) tuple(s, d)
  ROOT r = f32[4]{0} get-tuple-element(t), index=0, backend_config={"k": 1}
}
)";

TEST(Fingerprint, NamesOrderMetadataAndStyleDoNotCount) {
  const std::string fingerprint = Fingerprint(Parse(std::string(kModule)));
  EXPECT_EQ(fingerprint.size(), 64u);
  const std::string other = R"(HloModule other, replica_count=2

FileNames
1 "a.py"

ENTRY %main (q: f32[4], p: f32[4]) -> f32[4] {
  %g = f32[4] constant({1, 2, 3, nan}), metadata={op_name="c"}
  %dead2 = f32[4] call(%g), to_apply=%h
  %q = f32[4] parameter(1), frontend_attributes={ a="1" }
  %p = f32[4] parameter(0)
  %b = f32[4] call(%q), to_apply=%h
  %a = f32[4] call(f32[4] %p), to_apply=%d
  %t = (f32[4], f32[4,2]) tuple(%s, f32[4,2] broadcast(%g)), backend_config=""
  %s = f32[4] subtract(%a, %b), metadata={op_name="s"}
  ROOT %t.1 = f32[4] get-tuple-element(%t), backend_config={"k":/*one*/1}, index=0
  %dead = f32[4] abs(%s)
}

%h {
  y = f32[4]{0} parameter(0)
  ROOT z = f32[4]{0} negate(y)
}

%d {
  y = f32[4]{0} parameter(0)
  ROOT z = f32[4]{0} add(y, y)
}
)";
  const Module module = Parse(absl::StrReplaceAll(
      other, {{"f32[4,2] broadcast(%g)", "%bc"},
              {", backend_config=\"\"",
               "\n  %bc = f32[4,2] broadcast(%g), dimensions={0}"}}));
  EXPECT_EQ(Fingerprint(module), fingerprint);
  EXPECT_EQ(FastFingerprint(module),
            FastFingerprint(Parse(std::string(kModule))));
}

struct Change {
  const char* from;
  const char* to;
};

TEST(Fingerprint, EveryOtherChangeCounts) {
  std::set<std::string> seen = {Fingerprint(Parse(std::string(kModule)))};
  std::set<std::pair<uint64_t, uint64_t>> fast;
  for (const Change& change : std::vector<Change>{
           {"replica_count=2", "replica_count=3"},
           {", replica_count=2", ", is_scheduled=true, replica_count=2"},
           {"add(x, x)", "multiply(x, x)"},
           {"subtract(a, b)", "subtract(b, a)"},
           {"{1, 2, 3, nan}", "{1, 2, 3, -nan}"},
           {"{1, 2, 3, nan}", "{...}"},
           {"dimensions={0}", "dimensions={1}"},
           {"  dead = f32[4]{0} abs(s)\n", ""},
           {"  dead2 = f32[4]{0} call(c), to_apply=half\n", ""},
           {"call(c), to_apply=half", "call(c), to_apply=double"},
           {"a=\"1\"", "a=\"1 \""},
           {"{\"k\": 1}", "{\"k\": 2}"},
           {"parameter(1), frontend_attributes", "parameter(1), sharding"},
           {"index=0", "index=1"},
           {"ROOT r = f32[4]{0} get", "r = f32[4]{0} get"},
           {"ROOT r", "o = f32[4] opt-barrier(s)\n  ROOT r"},
           {"abs(s)", "abs(s), control-predecessors={d}"},
           {"f32[4,2]{1,0} broadcast", "f32[4,2]{0,1} broadcast"},
           {"f32[4,2]{1,0} broadcast", "f32[4,2]{1,0:T(8)} broadcast"},
           {"f32[4,2]{1,0} broadcast", "f32[<=4,2]{1,0} broadcast"},
           {"ENTRY", "unused {\n  u = f32[] parameter(0)\n}\n\nENTRY"},
           {"negate(x)\n}", "negate(x)\n}, execution_thread=\"h\""},
       }) {
    const std::string text =
        absl::StrReplaceAll(kModule, {{change.from, change.to}});
    ASSERT_NE(text, kModule) << change.from;
    // With ROOT gone the last instruction is the root: the same module.
    const bool same = absl::string_view(change.to) == "r = f32[4]{0} get";
    const Module module = Parse(text);
    EXPECT_EQ(seen.insert(Fingerprint(module)).second, !same) << change.to;
    const Hash128 hash = FastFingerprint(module);
    EXPECT_TRUE(fast.emplace(hash.low, hash.high).second || same);
  }
}

// Each attribute that Hone has a field for.
TEST(Fingerprint, EveryAttributeCounts) {
  const auto fingerprint = [](const Attributes& attributes) {
    Computation entry("e");
    Instruction instruction(Opcode::kRng, Shape::Scalar(ElementType::kF32));
    instruction.set_attributes(std::make_shared<const Attributes>(attributes));
    entry.set_root(entry.AddInstruction(std::move(instruction)));
    Module module("m");
    module.set_entry(module.AddComputation(std::move(entry)));
    return Fingerprint(module);
  };
  std::vector<Attributes> variants(1);
  const auto add = [&variants](auto change) {
    change(variants.emplace_back());
  };
  add([](Attributes& a) { a.dimensions = {0}; });
  add([](Attributes& a) { a.dimensions = {0, 1}; });
  for (DimensionVector DotDimensions::*field :
       {&DotDimensions::lhs_contracting, &DotDimensions::rhs_contracting,
        &DotDimensions::lhs_batch, &DotDimensions::rhs_batch}) {
    DotDimensions dot;
    dot.*field = {1};
    add([&](Attributes& a) { a.dot = std::make_shared<DotDimensions>(dot); });
  }
  for (int64_t ConvolutionDimensions::*field :
       {&ConvolutionDimensions::input_batch,
        &ConvolutionDimensions::input_feature,
        &ConvolutionDimensions::kernel_input_feature,
        &ConvolutionDimensions::kernel_output_feature,
        &ConvolutionDimensions::output_batch,
        &ConvolutionDimensions::output_feature,
        &ConvolutionDimensions::feature_group_count,
        &ConvolutionDimensions::batch_group_count}) {
    ConvolutionDimensions convolution;
    convolution.*field = 7;
    add([&](Attributes& a) {
      a.convolution = std::make_shared<ConvolutionDimensions>(convolution);
    });
  }
  for (DimensionVector ConvolutionDimensions::*field :
       {&ConvolutionDimensions::input_spatial,
        &ConvolutionDimensions::kernel_spatial,
        &ConvolutionDimensions::output_spatial}) {
    ConvolutionDimensions convolution;
    convolution.*field = {1};
    add([&](Attributes& a) {
      a.convolution = std::make_shared<ConvolutionDimensions>(convolution);
    });
  }
  for (int64_t WindowDimension::*field :
       {&WindowDimension::size, &WindowDimension::stride,
        &WindowDimension::padding_low, &WindowDimension::padding_high,
        &WindowDimension::window_dilation, &WindowDimension::base_dilation}) {
    Window window(1);
    window[0].*field = 7;
    add([&](Attributes& a) { a.window = std::make_shared<Window>(window); });
  }
  add([](Attributes& a) {
    a.window = std::make_shared<Window>(1, WindowDimension{.reversal = true});
  });
  for (DimensionVector GatherDimensions::*field :
       {&GatherDimensions::offset_dims, &GatherDimensions::collapsed_slice_dims,
        &GatherDimensions::start_index_map,
        &GatherDimensions::operand_batching_dims,
        &GatherDimensions::start_indices_batching_dims,
        &GatherDimensions::slice_sizes}) {
    GatherDimensions gather;
    gather.*field = {1};
    add([&](Attributes& a) {
      a.gather = std::make_shared<GatherDimensions>(gather);
    });
  }
  for (DimensionVector ScatterDimensions::*field :
       {&ScatterDimensions::update_window_dims,
        &ScatterDimensions::inserted_window_dims,
        &ScatterDimensions::scatter_dims_to_operand_dims,
        &ScatterDimensions::input_batching_dims,
        &ScatterDimensions::scatter_indices_batching_dims}) {
    ScatterDimensions scatter;
    scatter.*field = {1};
    add([&](Attributes& a) {
      a.scatter = std::make_shared<ScatterDimensions>(scatter);
    });
  }
  add([](Attributes& a) { a.slice = {{1, 0, 1}}; });
  add([](Attributes& a) { a.slice = {{0, 1, 1}}; });
  add([](Attributes& a) { a.slice = {{0, 0, 2}}; });
  add([](Attributes& a) { a.padding = {{1, 0, 0}}; });
  add([](Attributes& a) { a.padding = {{0, 1, 0}}; });
  add([](Attributes& a) { a.padding = {{0, 0, 1}}; });
  add([](Attributes& a) { a.direction = ComparisonDirection::kLt; });
  add([](Attributes& a) { a.comparison_type = "x"; });
  add([](Attributes& a) { a.custom_call_target = "x"; });
  add([](Attributes& a) { a.fusion_kind = "x"; });
  add([](Attributes& a) { a.indices_are_sorted = true; });
  add([](Attributes& a) { a.unique_indices = true; });
  add([](Attributes& a) { a.is_stable = true; });
  add([](Attributes& a) { a.rng_algorithm = RandomAlgorithm::kPhilox; });
  add([](Attributes& a) { a.exponent_bits = 1; });
  add([](Attributes& a) { a.mantissa_bits = 1; });
  add([](Attributes& a) { a.epsilon = 1; });
  add([](Attributes& a) { a.feature_index = 1; });
  add([](Attributes& a) { a.k = 1; });
  add([](Attributes& a) { a.largest = false; });
  add([](Attributes& a) { a.others = {{"x", "y"}}; });
  add([](Attributes& a) { a.others = {{"x", "z"}}; });
  std::set<std::string> seen;
  for (size_t i = 0; i < variants.size(); ++i) {
    EXPECT_TRUE(seen.insert(fingerprint(variants[i])).second) << i;
  }
}

TEST(Fingerprint, OthersCountWithoutTheirOrder) {
  const auto fingerprint = [](const std::string& attributes) {
    return Fingerprint(
        Parse(absl::StrCat("HloModule m\ne {\n  a = f32[] custom-call(), "
                           "custom_call_target=\"f\", ",
                           attributes, "\n}\n")));
  };
  EXPECT_EQ(fingerprint("x=1, y={ {0,1}, {2} }"),
            fingerprint("y={{0,1},{2}}, x=1"));
  EXPECT_NE(fingerprint("x=\"a b\""), fingerprint("x=\"ab\""));
}

TEST(Fingerprint, ElidedConstantsAreDistinctByTheirOrder) {
  const std::string text =
      "HloModule m\ne {\n  a = f32[9] constant({...})\n"
      "  b = f32[9] constant({...})\n  ROOT c = f32[9] subtract(a, b)\n}\n";
  const std::string swapped =
      "HloModule m\ne {\n  b = f32[9] constant({...})\n"
      "  a = f32[9] constant({...})\n  ROOT c = f32[9] subtract(a, b)\n}\n";
  const std::string same =
      "HloModule m\ne {\n  a = f32[9] constant({...})\n"
      "  b = f32[9] constant({...})\n  ROOT c = f32[9] subtract(a, a)\n}\n";
  EXPECT_EQ(Fingerprint(Parse(text)), Fingerprint(Parse(swapped)));
  EXPECT_NE(Fingerprint(Parse(text)), Fingerprint(Parse(same)));
}

TEST(Fingerprint, TheOrderOfAScheduleCounts) {
  const auto parse = [](bool scheduled, bool swapped) {
    const std::string a = "  a = f32[] negate(p)\n";
    const std::string b = "  b = f32[] abs(p)\n";
    return Fingerprint(Parse(absl::StrCat(
        "HloModule m, is_scheduled=", scheduled ? "true" : "false",
        "\ne {\n  p = f32[] parameter(0)\n", swapped ? b + a : a + b,
        "  ROOT c = f32[] add(a, b)\n}\n")));
  };
  EXPECT_EQ(parse(false, false), parse(false, true));
  EXPECT_NE(parse(true, false), parse(true, true));
}

TEST(Fingerprint, UncalledComputationsCountWithoutTheirOrder) {
  const std::string f = "f {\n  x = f32[] parameter(0)\n}\n";
  const std::string g =
      "g {\n  x = f32[] parameter(0)\n  y = f32[] call(x), to_apply=f\n}\n";
  const std::string entry = "ENTRY e {\n  p = s32[] parameter(0)\n}\n";
  const std::string fingerprint =
      Fingerprint(Parse("HloModule m\n" + f + g + entry));
  EXPECT_EQ(fingerprint, Fingerprint(Parse("HloModule m\n" + g + f + entry)));
  EXPECT_EQ(fingerprint, Fingerprint(Parse("HloModule m\n" + entry + f + g)));
  EXPECT_NE(fingerprint, Fingerprint(Parse("HloModule m\n" + f + entry)));
}

TEST(Fingerprint, TellsTheCorpusModulesApart) {
  std::set<std::string> seen;
  for (const testing::CorpusModule& entry : testing::CorpusModules()) {
    EXPECT_TRUE(seen.insert(Fingerprint(Parse(entry.text))).second)
        << entry.name;
  }
}

}  // namespace
}  // namespace hone::hlo
