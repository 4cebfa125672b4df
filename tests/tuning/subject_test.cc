#include "tuning/subject.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "graphs/fingerprint.h"
#include "hlo/analysis/fingerprint.h"
#include "hlo/proto/io.h"
#include "tests/support/status_matchers.h"
#include "tests/tuning/sample_graphs.h"
#include "tests/tuning/sample_modules.h"
#include "tuning/registry.h"

namespace hone::tuning {
namespace {

using ::hone::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Subject, ReadsModulesAndGraphs) {
  HONE_ASSERT_OK_AND_ASSIGN(const Subject module,
                            ParseSubject(kSimplifiable, "m.hlo"));
  EXPECT_EQ(module.kind(), SubjectKind::kModule);
  EXPECT_EQ(module.name(), "simplifiable");
  EXPECT_EQ(module.Fingerprint(), hlo::Fingerprint(ParseOrDie(kSimplifiable)));
  HONE_ASSERT_OK_AND_ASSIGN(const Subject graph,
                            ParseSubject(kChain, "models/chain.v2.json"));
  EXPECT_EQ(graph.kind(), SubjectKind::kGraph);
  EXPECT_EQ(graph.name(), "chain");
  EXPECT_EQ(graph.Fingerprint(), graphs::Fingerprint(graph.graph()));
  for (const Subject* subject : {&module, &graph}) {
    HONE_ASSERT_OK_AND_ASSIGN(const Subject again,
                              ParseSubject(subject->Print(), "<module>"));
    EXPECT_EQ(again.kind(), subject->kind());
    EXPECT_EQ(again.Fingerprint(), subject->Fingerprint());
  }
}

// Its first bytes are a line feed and a brace: the tag and length of its name.
TEST(Subject, AProtoIsNotTakenForJson) {
  hlo::Module module = ParseOrDie(absl::StrReplaceAll(
      kSimplifiable,
      {{"HloModule simplifiable",
        absl::StrCat("HloModule ", std::string(size_t{'{'}, 'n'))}}));
  HONE_ASSERT_OK_AND_ASSIGN(const std::string bytes,
                            hlo::SerializeHloProto(module));
  ASSERT_THAT(bytes, StartsWith("\n{"));
  EXPECT_FALSE(IsJson(bytes));
  HONE_ASSERT_OK_AND_ASSIGN(const Subject subject, ParseSubject(bytes, "m.pb"));
  EXPECT_EQ(subject.kind(), SubjectKind::kModule);
}

TEST(Subject, BadGraphsAreNamedWithThePlace) {
  const auto expect = [](absl::string_view from, absl::string_view to,
                         const auto& message) {
    const std::string text = absl::StrReplaceAll(kChain, {{from, to}});
    ASSERT_NE(text, kChain);
    EXPECT_THAT(ParseSubject(text, "g.json"),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(StartsWith("g.json:"), message)));
  };
  expect("\"sourceId\":1,\"destId\":2", "\"sourceId\":3,\"destId\":2",
         HasSubstr("cycle"));
  expect("\"cpuLatency\":10", "\"cpuLatency\":-10",
         HasSubstr("nodes[0].cpuLatency is -10, expected"));
  expect("\"cost\":0.5", "\"cost\":-1", HasSubstr("edges[0].cost is -1"));
  expect("\"cpuLatency\":10", "\"cpuLatency\":NaN",
         HasSubstr("not valid JSON"));
  expect("\"cpuLatency\":10", "\"cpuLatency\":1e999", HasSubstr(":"));
  expect("\"destId\":2", "\"destId\":22", HasSubstr("edges[1].destId"));
  expect("\"maxCPUs\":1", "\"maxCPUs\":0", HasSubstr("nodes[3]"));
  expect("\"nodes\":[", "\"nodes\":", HasSubstr("not valid JSON"));
}

TEST(Subject, EveryTaskRefusesTheOtherKind) {
  const Subject module = ParseOrDie(kSimplifiable);
  HONE_ASSERT_OK_AND_ASSIGN(const Subject graph,
                            ParseSubject(kChain, "chain.json"));
  for (const TaskEntry& entry : Tasks()) {
    const Subject& other =
        entry.task->subject_kinds({}).front() == SubjectKind::kModule ? graph
                                                                      : module;
    EXPECT_THAT(entry.task->MakeProblem(other, {}, {}),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(StartsWith(other.name()),
                               HasSubstr(SubjectKindName(other.kind())),
                               HasSubstr("expected"), HasSubstr(entry.id))));
  }
}

}  // namespace
}  // namespace hone::tuning
