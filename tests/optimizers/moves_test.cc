#include "optimizers/moves.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/toy_problems.h"

namespace hone::optimizers {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Counts up and down between 0 and 5.
testing::IntegerProblem Counter(int32_t max_steps) {
  testing::IntegerProblem::Spec spec;
  spec.actions = {{"up", [](int64_t n) { return n < 5 ? n + 1 : n; }},
                  {"down", [](int64_t n) { return n > 0 ? n - 1 : n; }},
                  {"stay", [](int64_t n) { return n; }}};
  spec.cost = [](int64_t n) { return static_cast<double>(n); };
  spec.max_steps = max_steps;
  return testing::IntegerProblem(std::move(spec));
}

TEST(Follow, LeavesOutWhatLeadsNowhere) {
  const testing::IntegerProblem problem = Counter(16);
  const std::vector<int32_t> actions = {2, 1, 0, 0, 2, 1, 0, 0};
  const Path path = Follow(problem, actions);
  EXPECT_THAT(path.actions, ElementsAre(0, 0, 0));
  EXPECT_EQ(problem.Cost(path.state), 3);
}

TEST(Follow, ReturnsToTheStart) {
  const testing::IntegerProblem problem = Counter(16);
  const Path path = Follow(problem, {0, 0, 1, 1});
  EXPECT_THAT(path.actions, IsEmpty());
  EXPECT_EQ(path.state->key(), problem.InitialState()->key());
}

TEST(Follow, HasNoStateWhereAStepFails) {
  const testing::IntegerProblem problem = Counter(16);
  EXPECT_EQ(Follow(problem, {0, 7}).state, nullptr);
}

// Digits that have to grow: what is legal depends on where one is.
class Growing final : public space::SequentialProblem {
 public:
  struct Digit final : space::State {
    explicit Digit(int32_t d) : digit(d) {}
    Hash128 key() const override {
      return {static_cast<uint64_t>(digit + 1), 0};
    }
    int32_t digit;
  };
  absl::string_view unit() const override { return "ops"; }
  space::Candidate DefaultCandidate() const override { return {}; }
  space::StatePtr InitialState() const override {
    return std::make_shared<const Digit>(-1);
  }
  int32_t action_count() const override { return 10; }
  std::string ActionName(int32_t action) const override {
    return std::to_string(action);
  }
  int32_t max_steps() const override { return 10; }
  std::vector<int32_t> LegalActions(
      const space::StatePtr& state) const override {
    std::vector<int32_t> legal;
    const int32_t digit = static_cast<const Digit&>(*state).digit;
    // Only from 4 on are large ones reached.
    for (int32_t d = digit + 1; d < (digit < 4 ? 5 : 10); ++d) {
      legal.push_back(d);
    }
    return legal;
  }
  absl::StatusOr<space::StatePtr> Step(const space::StatePtr& state,
                                       int32_t action) const override {
    for (int32_t legal : LegalActions(state)) {
      if (legal == action) return std::make_shared<const Digit>(action);
    }
    return absl::InvalidArgumentError("it has to grow");
  }
  bool costs_are_free() const override { return true; }
  double Cost(const space::StatePtr&) const override { return 0; }
};

TEST(EditSequence, KeepsLegalWhatDependsOnTheState) {
  const Growing problem;
  Rng rng(1);
  std::set<int32_t> met;
  for (int i = 0; i < 1000; ++i) {
    const std::vector<int32_t> edited =
        EditSequence(problem, {1, 2, 4, 7}, rng);
    EXPECT_EQ(problem.Measure({edited})->outcome, space::Outcome::kOk);
    met.insert(edited.begin(), edited.end());
  }
  // Also what is not legal at the start.
  EXPECT_EQ(met, (std::set<int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

// Words that grow by a letter, "a" to "d", or by "ab" at once; no letter comes
// twice. A capital is the same letter by another parameter.
class Words final : public space::SequentialProblem {
 public:
  static constexpr int32_t kBoth = 8;
  struct Word final : space::State {
    explicit Word(std::string w) : word(std::move(w)) {}
    Hash128 key() const override { return FastHash(word); }
    std::string word;
  };
  absl::string_view unit() const override { return "ops"; }
  space::Candidate DefaultCandidate() const override { return {}; }
  space::StatePtr InitialState() const override {
    return std::make_shared<const Word>("");
  }
  int32_t action_count() const override { return kBoth + 1; }
  std::string ActionName(int32_t action) const override {
    return action == kBoth ? "ab" : std::string(1, "abcdABCD"[action]);
  }
  int32_t max_steps() const override { return 4; }
  std::vector<int32_t> LegalActions(
      const space::StatePtr& state) const override {
    std::vector<int32_t> legal;
    for (int32_t action = 0; action <= kBoth; ++action) {
      if (Step(state, action).ok()) legal.push_back(action);
    }
    return legal;
  }
  absl::StatusOr<space::StatePtr> Step(const space::StatePtr& state,
                                       int32_t action) const override {
    const std::string& word = static_cast<const Word&>(*state).word;
    const std::string more = ActionName(action);
    for (const char letter : absl::AsciiStrToLower(more)) {
      if (absl::StrContains(absl::AsciiStrToLower(word),
                            std::string(1, letter))) {
        return absl::InvalidArgumentError("a letter comes twice");
      }
    }
    return std::make_shared<const Word>(word + more);
  }
  std::vector<int32_t> Substitutes(const space::StatePtr&,
                                   int32_t action) const override {
    if (action == kBoth) return {};
    return {(action + 4) % 8};
  }
  std::vector<int32_t> Expand(
      absl::Span<const int32_t> actions) const override {
    std::vector<int32_t> expanded;
    for (const int32_t action : actions) {
      expanded.push_back(action == kBoth ? 0 : action);
      if (action == kBoth) expanded.push_back(1);
    }
    return expanded;
  }
  bool costs_are_free() const override { return true; }
  double Cost(const space::StatePtr&) const override { return 0; }
};

TEST(EditSequence, ExchangesSingleDecisionsOfWhatActionsMakeTogether) {
  const Words problem;
  Rng rng(3);
  std::set<std::string> met;
  for (int i = 0; i < 400; ++i) {
    const std::vector<int32_t> edited =
        EditSequence(problem, {Words::kBoth, 2}, rng);
    EXPECT_LE(edited.size(), 4);
    EXPECT_EQ(problem.Measure({edited})->outcome, space::Outcome::kOk);
    met.insert(
        static_cast<const Words::Word&>(*Follow(problem, edited).state).word);
  }
  // One decision by another parameter, and the rest kept.
  for (const char* word : {"Abc", "aBc", "abC"}) {
    EXPECT_TRUE(met.contains(word)) << word;
  }
  // Without one, with one more, in another order.
  for (const char* word : {"bc", "ab", "abcd", "cab", "acb"}) {
    EXPECT_TRUE(met.contains(word)) << word;
  }
  // What leads nowhere else is no edit.
  EXPECT_FALSE(met.contains("abc"));
}

TEST(EditSequence, ChangesLengthByAtMostOneWithinTheLimit) {
  const testing::IntegerProblem problem = Counter(4);
  Rng rng(1);
  std::set<int> differences;
  for (int i = 0; i < 1000; ++i) {
    const std::vector<int32_t> edited = EditSequence(problem, {0, 1, 2}, rng);
    differences.insert(static_cast<int>(edited.size()) - 3);
    EXPECT_LE(EditSequence(problem, {0, 1, 2, 0}, rng).size(), 4);
  }
  EXPECT_THAT(differences, ElementsAre(-1, 0, 1));
  EXPECT_EQ(EditSequence(problem, {}, rng).size(), 1);
}

TEST(AssignmentEditor, EditsWithinTheConstraints) {
  const auto problem = testing::CappedSum();
  AssignmentEditor editor(*problem->assignment());
  // The cap is reached: others make room for a value that is raised.
  const std::vector<int32_t> full = {3, 3, 3, 2, 0, 0, 0, 0};
  Rng rng(2);
  std::set<size_t> changed;
  std::set<int> counts;
  for (int i = 0; i < 500; ++i) {
    const std::vector<int32_t> edited = editor.Edit(full, rng);
    EXPECT_EQ(problem->Measure({edited})->outcome, space::Outcome::kOk);
    int differences = 0;
    for (size_t v = 0; v < full.size(); ++v) {
      if (edited[v] == full[v]) continue;
      ++differences;
      changed.insert(v);
    }
    counts.insert(differences);
  }
  EXPECT_EQ(changed.size(), full.size());
  EXPECT_FALSE(counts.contains(0));
  // Some lower one value, some exchange two.
  EXPECT_TRUE(counts.contains(1));
  EXPECT_TRUE(counts.contains(2));
}

TEST(AssignmentEditor, LeavesWhatHasNoNeighbor) {
  const testing::TableProblem problem(
      {.domains = {1, 1},
       .cost = [](absl::Span<const int32_t>) { return 1; },
       .violation = nullptr,
       .propagate = nullptr,
       .default_values = {0, 0}});
  AssignmentEditor editor(problem);
  Rng rng(1);
  EXPECT_THAT(editor.Edit({0, 0}, rng), ElementsAre(0, 0));
}

TEST(AssignmentEditor, DrawsWithinTheConstraints) {
  const auto problem = testing::CappedSum();
  AssignmentEditor editor(*problem->assignment());
  Rng rng(3);
  std::set<std::vector<int32_t>> drawn;
  for (int i = 0; i < 200; ++i) {
    drawn.insert(editor.Draw(rng));
    EXPECT_EQ(problem->Measure({*drawn.rbegin()})->outcome,
              space::Outcome::kOk);
  }
  EXPECT_GT(drawn.size(), 100u);
}

TEST(AssignmentEditor, ExtendsAPrefixByWhatTheConstraintsAllow) {
  const auto problem = testing::CappedSum();
  AssignmentEditor editor(*problem->assignment());
  Rng rng(4);
  const std::vector<int32_t> values = {3, 3, 3, 1, 1, 1, 1, 1};
  const auto extended = editor.Extend(values, 3, rng);
  ASSERT_TRUE(extended.has_value());
  EXPECT_THAT(absl::MakeConstSpan(*extended).first(5),
              ElementsAre(3, 3, 3, 1, 1));
  EXPECT_EQ(problem->Measure({*extended})->outcome, space::Outcome::kOk);
  EXPECT_FALSE(editor.Extend({3, 3, 3, 3, 0, 0, 0, 0}, 4, rng).has_value());
  // Nothing of the last call is left.
  EXPECT_EQ(editor.Extend(values, 5, rng)->at(4), 1);
}

}  // namespace
}  // namespace hone::optimizers
