#include "tuning/subject.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
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
#include "tests/tuning/sample_steps.h"
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
  HONE_ASSERT_OK_AND_ASSIGN(const Subject operators,
                            ParseSubject(kBranches, "models/branches.json"));
  EXPECT_EQ(operators.kind(), SubjectKind::kOperators);
  EXPECT_EQ(operators.name(), "branches");
  EXPECT_EQ(operators.operators().size(), 6u);
  EXPECT_EQ(operators.Fingerprint(),
            graphs::Fingerprint(operators.operators()));
  for (const Subject* subject : {&module, &graph, &operators}) {
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

// Names and scopes are labels; opcodes and amounts are not.
TEST(Subject, OperatorGraphsAreToldApartByWhatCounts) {
  const std::string expected = ParseSubject(kBranches, "g.json")->Fingerprint();
  const auto fingerprint = [](absl::string_view from, absl::string_view to) {
    const std::string text = absl::StrReplaceAll(kBranches, {{from, to}});
    EXPECT_NE(text, kBranches);
    return ParseSubject(text, "other.json")->Fingerprint();
  };
  EXPECT_EQ(fingerprint("\"name\":\"a\"", "\"name\":\"z\""), expected);
  EXPECT_EQ(fingerprint("\"scope\":\"left\"", "\"scope\":\"\""), expected);
  EXPECT_NE(fingerprint("\"negate\"", "\"abs\""), expected);
  EXPECT_NE(fingerprint("\"flops\":2e6", "\"flops\":3e6"), expected);
  EXPECT_NE(fingerprint(",\"is_output\":true", ""), expected);
}

TEST(Subject, BadOperatorGraphsAreNamedWithThePlace) {
  const auto expect = [](absl::string_view from, absl::string_view to,
                         const auto& message) {
    const std::string text = absl::StrReplaceAll(kBranches, {{from, to}});
    ASSERT_NE(text, kBranches);
    EXPECT_THAT(ParseSubject(text, "g.json"),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         AllOf(StartsWith("g.json:"), message,
                               ::testing::Not(HasSubstr("\n")))));
  };
  expect("\"from\":4,\"to\":5", "\"from\":4,\"to\":2", HasSubstr("cycle"));
  expect("\"flops\":2e6", "\"flops\":-2e6",
         HasSubstr("nodes[1].flops is -2e+06, expected"));
  expect("\"flops\":2e6", "\"flops\":NaN", HasSubstr("not valid JSON"));
  expect("\"to\":2,", "\"to\":22,", HasSubstr("edges[1].to is 22, expected"));
  expect("\"id\":5,", "\"id\":4,", HasSubstr("nodes[5].id is 4"));
  expect("\"opcode\":\"add\"", "\"opcode\":3",
         HasSubstr("nodes[5].opcode is 3, expected a string"));
  expect("\"opcode\":\"add\",", "", HasSubstr("nodes[5].opcode is missing"));
  expect("\"is_output\":true", "\"is_output\":\"x\"",
         HasSubstr("nodes[5].is_output is \"x\""));
  expect("\"edges\"", "\"arcs\"", HasSubstr("edges is missing"));
}

// What is wrong with a graph is told for the format that it is in.
TEST(Subject, OpcodesTellTheFormat) {
  EXPECT_TRUE(HasOpcodes(kBranches));
  EXPECT_TRUE(HasOpcodes(R"({"nodes":[{"opcode":3}]})"));
  EXPECT_FALSE(HasOpcodes(kChain));
  EXPECT_FALSE(HasOpcodes("{}"));
  // An opcode is but an unknown field of a weighted graph.
  const std::string chain =
      absl::StrReplaceAll(kChain, {{"\"name\":\"a\"", "\"opcode\":\"dot\""}});
  EXPECT_FALSE(HasOpcodes(chain));
  EXPECT_EQ(ParseSubject(chain, "g.json")->kind(), SubjectKind::kGraph);
}

// What has neither opcodes nor devices is what is expected.
TEST(Subject, WhatAGraphLacksDependsOnWhatIsExpected) {
  const auto error = [](absl::string_view text, SubjectKind expected) {
    return ParseSubject(text, "g.json", expected).status();
  };
  const std::string nested =
      absl::StrCat(R"({"edges":[],"nodes":)", std::string(2'000, '['),
                   std::string(2'000, ']'), "}");
  for (const auto& [text, message] :
       std::vector<std::pair<std::string, std::string>>{
           {R"({"nodes":[],"edges":[]})", "g.json: nodes is empty"},
           {"{}", "g.json: nodes is missing"},
           {R"({"nodes":3})", "g.json: nodes is 3, expected an array"},
           {nested, "g.json: nodes[0] is an array, expected an object"}}) {
    EXPECT_THAT(
        error(text, SubjectKind::kOperators),
        StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
    EXPECT_THAT(error(text, SubjectKind::kGraph),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("maxSizePerFPGA is missing")));
  }
  EXPECT_THAT(error(R"({"maxFPGAs":1})", SubjectKind::kOperators),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("maxSizePerFPGA is missing")));
  // What is a graph is one, whatever is expected.
  EXPECT_EQ(ParseSubject(kChain, "g.json", SubjectKind::kOperators)->kind(),
            SubjectKind::kGraph);
  EXPECT_EQ(ParseSubject(kBranches, "g.json")->kind(), SubjectKind::kOperators);
}

TEST(Subject, EveryTaskRefusesTheOtherKind) {
  const Subject module = ParseOrDie(kSimplifiable);
  HONE_ASSERT_OK_AND_ASSIGN(const Subject graph,
                            ParseSubject(kChain, "chain.json"));
  int refused = 0;
  for (const TaskEntry& entry : Tasks()) {
    const std::vector<SubjectKind> kinds = entry.task->subject_kinds({});
    for (const Subject* const other : {&module, &graph}) {
      if (absl::c_linear_search(kinds, other->kind())) continue;
      ++refused;
      EXPECT_THAT(entry.task->MakeProblem(*other, {}, {}),
                  StatusIs(absl::StatusCode::kInvalidArgument,
                           AllOf(StartsWith(other->name()),
                                 HasSubstr(SubjectKindName(other->kind())),
                                 HasSubstr("expected"), HasSubstr(entry.id))));
    }
  }
  // All but `partition` decide about one of the two.
  EXPECT_EQ(refused, static_cast<int>(Tasks().size()) - 1);
}

}  // namespace
}  // namespace hone::tuning
