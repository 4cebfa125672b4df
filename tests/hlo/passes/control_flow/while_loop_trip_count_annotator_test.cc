#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"

#include "hlo/passes/registry.h"
#include "hlo/text/printer.h"
#include "tests/hlo/passes/control_flow/run_pass.h"
#include "tests/hlo/passes/golden.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

// A loop over a counter of type $T, and what follows it.
std::string Loop(absl::string_view init, absl::string_view next,
                 absl::string_view condition,
                 absl::string_view result =
                     "i = $T[] get-tuple-element(w), "
                     "index=0",
                 absl::string_view annotation = "",
                 absl::string_view type = "s32") {
  return absl::StrReplaceAll(absl::StrReplaceAll(R"(
HloModule m
condition {
  t = ($T[], f32[3]) parameter(0)
  i = $T[] get-tuple-element(t), index=0
  n = $T[] constant(10)
  ROOT r = pred[] $CONDITION
}
body {
  t = ($T[], f32[3]) parameter(0)
  i = $T[] get-tuple-element(t), index=0
  two = $T[] constant(2)
  next = $T[] $NEXT
  x = f32[3] get-tuple-element(t), index=1
  y = f32[3] sine(x)
  ROOT r = ($T[], f32[3]) tuple(next, y)
}
ENTRY e {
  x = f32[3] parameter(0)
  start = $T[] $INIT
  t = ($T[], f32[3]) tuple(start, x)
  w = ($T[], f32[3]) while(t), condition=condition, body=body$ANNOTATION
  $RESULT
  y = f32[3] get-tuple-element(w), index=1
  ROOT r = ($T[], f32[3]) tuple(i, y)
})",
                                                 {{"$INIT", init},
                                                  {"$NEXT", next},
                                                  {"$CONDITION", condition},
                                                  {"$RESULT", result},
                                                  {"$ANNOTATION", annotation}}),
                             {{"$T", type}});
}

constexpr char kName[] = "while-loop-trip-count-annotator";

TEST(WhileLoopTripCountAnnotator, AnnotatesAndForwardsAProgression) {
  ExpectRewrites(
      kName, Loop("constant(3)", "add(i, two)", "compare(i, n), direction=LT"),
      Loop("constant(3)", "add(i, two)", "compare(i, n), direction=LT",
           "i = s32[] constant(11)",
           R"(, backend_config={"known_trip_count":{"n":"4"},)"
           R"("known_init_step":{"init":"3","step":"2"},)"
           R"("known_induction_variable":{"tuple_index":"0"},)"
           R"("dynamic_variables":[]})"));
}

// An attribute that Hone does not know stays, and so does what has it.
TEST(WhileLoopTripCountAnnotator, KeepsReadsWithUnknownAttributes) {
  constexpr char kRead[] = "i = s32[] get-tuple-element(w), index=0, foo={1}";
  ExpectRewrites(
      kName,
      Loop("constant(3)", "add(i, two)", "compare(i, n), direction=LT", kRead),
      Loop("constant(3)", "add(i, two)", "compare(i, n), direction=LT", kRead,
           R"(, backend_config={"known_trip_count":{"n":"4"},)"
           R"("known_init_step":{"init":"3","step":"2"},)"
           R"("known_induction_variable":{"tuple_index":"0"},)"
           R"("dynamic_variables":[]})"));
}

TEST(WhileLoopTripCountAnnotator, KnowsInclusiveAndReversedLimits) {
  const std::string expected =
      Loop("constant(0)", "add(two, i)", "compare(n, i), direction=GE",
           "i = s32[] constant(12)",
           R"(, backend_config={"known_trip_count":{"n":"6"},)"
           R"("known_init_step":{"init":"0","step":"2"},)"
           R"("known_induction_variable":{"tuple_index":"0"},)"
           R"("dynamic_variables":[]})");
  ExpectRewrites(
      kName, Loop("constant(0)", "add(two, i)", "compare(n, i), direction=GE"),
      expected);
}

// Neither has a progression that is solved.
TEST(WhileLoopTripCountAnnotator, RunsOtherCounters) {
  const std::string three = R"(, backend_config={"known_trip_count":{"n":"3"},)"
                            R"("known_induction_variable":{"tuple_index":"0"},)"
                            R"("dynamic_variables":[]})";
  ExpectRewrites(
      kName,
      Loop("constant(2)", "multiply(i, two)", "compare(i, n), direction=LT"),
      Loop("constant(2)", "multiply(i, two)", "compare(i, n), direction=LT",
           "i = s32[] get-tuple-element(w), index=0", three));
  ExpectRewrites(
      kName, Loop("constant(4)", "add(i, two)", "compare(i, n), direction=NE"),
      Loop("constant(4)", "add(i, two)", "compare(i, n), direction=NE",
           "i = s32[] get-tuple-element(w), index=0", three));
}

TEST(WhileLoopTripCountAnnotator, KeepsLoopsItKnowsNothingAbout) {
  ExpectUnchanged(kName, Loop("parameter(1)", "add(i, two)",
                              "compare(i, n), direction=LT"));
  // Never ends.
  ExpectUnchanged(kName, Loop("constant(0)", "multiply(i, two)",
                              "compare(i, n), direction=LT"));
}

// 126 is at most 127, but 128 is -128, which is less.
TEST(WhileLoopTripCountAnnotator, KeepsACounterThatOverflows) {
  ExpectUnchanged(
      kName,
      absl::StrReplaceAll(
          Loop("constant(0)", "add(i, two)", "compare(i, n), direction=LE",
               "i = $T[] get-tuple-element(w), index=0", "", "s8"),
          {{"constant(10)", "constant(127)"}}));
}

TEST(WhileLoopTripCountAnnotator, IsIdempotentAndReplacesAWrongAnnotation) {
  HONE_ASSERT_OK_AND_ASSIGN(const Pass* pass, FindPass(kName));
  Module module = ParseForTest(
      Loop("constant(3)", "add(i, two)", "compare(i, n), direction=LT",
           "i = s32[] get-tuple-element(w), index=0",
           R"(, backend_config={"known_trip_count":{"n":"99"}})"));
  HONE_ASSERT_OK_AND_ASSIGN(const bool changed, pass->Run(module));
  EXPECT_TRUE(changed);
  const std::string text = PrintModule(module);
  EXPECT_EQ(text.find("99"), std::string::npos);
  ExpectUnchanged(kName, text);
}

// Element 0 goes, so the counter is element 0 afterwards.
TEST(WhileLoopTripCountAnnotator, IsFollowedWhenTheLoopGetsSmaller) {
  constexpr char kLoop[] = R"(
HloModule m
condition {
  t = (f32[3], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=1
  n = s32[] constant(5)
  ROOT r = pred[] compare(i, n), direction=LT
}
body {
  t = (f32[3], s32[]) parameter(0)
  i = s32[] get-tuple-element(t), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[3] get-tuple-element(t), index=0
  y = f32[3] sine(x)
  ROOT r = (f32[3], s32[]) tuple(y, next)
}
ENTRY e {
  x = f32[3] parameter(0)
  zero = s32[] constant(0)
  t = (f32[3], s32[]) tuple(x, zero)
  w = (f32[3], s32[]) while(t), condition=condition, body=body, backend_config={"known_trip_count":{"n":"5"},"known_induction_variable":{"tuple_index":"1"}}
  ROOT i = s32[] get-tuple-element(w), index=1
})";
  HONE_ASSERT_OK_AND_ASSIGN(const Pass* pass, FindPass("simplify-while-loops"));
  Module module = ParseForTest(kLoop);
  HONE_ASSERT_OK_AND_ASSIGN(const bool changed, pass->Run(module));
  EXPECT_TRUE(changed);
  const std::string text = PrintModule(module);
  EXPECT_NE(text.find(R"({"known_trip_count":{"n":"5"},)"
                      R"("known_induction_variable":{"tuple_index":"0"}})"),
            std::string::npos)
      << text;
}

// The trip count that the pass writes down, or "".
std::string TripCount(const std::string& loop) {
  const std::string text = RunPassOnly(kName, loop);
  constexpr char kKey[] = R"("known_trip_count":{"n":")";
  const size_t at = text.find(kKey);
  if (at == text.npos) return "";
  const size_t begin = at + sizeof(kKey) - 1;
  return text.substr(begin, text.find('"', begin) - begin);
}

std::string TypedLoop(absl::string_view type, absl::string_view init,
                      absl::string_view step, absl::string_view limit,
                      absl::string_view direction) {
  return absl::StrReplaceAll(
      Loop("constant($A)", "add(i, two)",
           absl::StrCat("compare(i, n), direction=", direction),
           "i = $T[] get-tuple-element(w), index=0", "", type),
      {{"$A", init},
       {"constant(10)", absl::StrCat("constant(", limit, ")")},
       {"constant(2)", absl::StrCat("constant(", step, ")")}});
}

TEST(WhileLoopTripCountAnnotator, CountsInEachIntegerType) {
  EXPECT_EQ(TripCount(TypedLoop("s8", "0", "50", "120", "LT")), "");
  EXPECT_EQ(TripCount(TypedLoop("s8", "0", "50", "100", "LT")), "2");
  EXPECT_EQ(TripCount(TypedLoop("u8", "0", "100", "200", "LE")), "");
  EXPECT_EQ(TripCount(TypedLoop("u8", "250", "5", "255", "LT")), "1");
  // 255 is a step of -1: 5, 4, …, 0, 255.
  EXPECT_EQ(TripCount(TypedLoop("u8", "5", "255", "10", "LT")), "");
  EXPECT_EQ(TripCount(TypedLoop("s64", "0", "1", "9223372036854775807", "LT")),
            "9223372036854775807");
  EXPECT_EQ(TripCount(TypedLoop("s64", "0", "1", "9223372036854775807", "LE")),
            "");
  EXPECT_EQ(TripCount(TypedLoop("u64", "0", "1", "18446744073709551615", "LT")),
            "");
  EXPECT_EQ(TripCount(TypedLoop("s32", "7", "1", "7", "LT")), "0");
  EXPECT_EQ(TripCount(TypedLoop("s32", "7", "1", "7", "LE")), "1");
}

// Simulated, wraparound included.
TEST(WhileLoopTripCountAnnotator, CountsDownAndToALimit) {
  EXPECT_EQ(TripCount(TypedLoop("s32", "10", "-3", "0", "GT")), "4");
  EXPECT_EQ(TripCount(TypedLoop("s32", "-6", "2", "0", "LT")), "3");
  EXPECT_EQ(TripCount(TypedLoop("s8", "120", "1", "-120", "NE")), "16");
  EXPECT_EQ(TripCount(TypedLoop("u8", "3", "255", "0", "NE")), "3");
  EXPECT_EQ(TripCount(TypedLoop("s32", "0", "2", "7", "NE")), "");
  EXPECT_EQ(TripCount(TypedLoop("s32", "0", "0", "7", "LT")), "");
  EXPECT_EQ(TripCount(TypedLoop("s32", "0", "1", "1000000000", "NE")), "");
}

TEST(WhileLoopTripCountAnnotator, KeepsABackendConfigOfOtherMatters) {
  ExpectUnchanged(
      kName, Loop("constant(3)", "add(i, two)", "compare(i, n), direction=LT",
                  "i = s32[] constant(11)",
                  R"(, backend_config={"device_type":"host"})"));
}

TEST(WhileLoopTripCountAnnotator, KeepsOtherKeysOfAnAnnotation) {
  const auto loop = [](absl::string_view config) {
    return Loop("constant(3)", "add(i, two)", "compare(i, n), direction=LT",
                "i = s32[] constant(11)",
                absl::StrCat(", backend_config=", config));
  };
  ExpectRewrites(kName, loop(R"({"other":[1],"known_trip_count":{"n":"99"}})"),
                 loop(R"({"other":[1],"known_trip_count":{"n":"4"},)"
                      R"("known_init_step":{"init":"3","step":"2"},)"
                      R"("known_induction_variable":{"tuple_index":"0"},)"
                      R"("dynamic_variables":[]})"));
}

// Values are copied and printed recursively.
TEST(WhileLoopTripCountAnnotator, KeepsABackendConfigThatNestsTooDeep) {
  const std::string open(100'000, '[');
  const std::string close(100'000, ']');
  ExpectUnchanged(
      kName, Loop("constant(3)", "add(i, two)", "compare(i, n), direction=LT",
                  "i = s32[] constant(11)",
                  absl::StrCat(R"(, backend_config={"known_trip_count":)", open,
                               close, "}")));
}

}  // namespace
}  // namespace hone::hlo
