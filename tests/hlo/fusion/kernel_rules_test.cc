#include "hlo/fusion/kernel_rules.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/hlo/fusion/support.h"
#include "tests/support/corpus.h"
#include "tests/support/status_matchers.h"

namespace hone::hlo {
namespace {

using ::hone::testing::StatusIs;
using ::testing::HasSubstr;

// The rules once more, node by node and path by path.
class Reference {
 public:
  explicit Reference(const FusionSpace& space) : space_(space) {}

  bool IsLegal(const FusionBits& fused) {
    fused_ = &fused;
    std::map<FusionIndex, int> copies;
    for (size_t i = 0; i < space_.size(); ++i) {
      const auto root = static_cast<FusionIndex>(i);
      if (fused[i] != 0) {
        if (!space_.node(root).may_fuse) return false;
        continue;
      }
      if (space_.node(root).role == FusionRole::kSource) continue;
      members_.clear();
      inputs_.clear();
      Walk(root);
      if (members_.size() == 1) continue;
      if (!space_.node(root).may_end) return false;
      int heroes = 0;
      for (const FusionIndex member : members_) {
        if (member != root) ++copies[member];
        if (space_.node(member).role == FusionRole::kHero) {
          ++heroes;
          if (!ReachesElementwise(member, root)) return false;
        }
      }
      if (heroes > 1 || members_.size() > KernelRules::kMaxMembers ||
          inputs_.size() > KernelRules::kMaxOperands) {
        return false;
      }
    }
    for (const auto& [node, count] : copies) {
      const bool is_hero = space_.node(node).role == FusionRole::kHero;
      if (!space_.node(node).is_cheap &&
          count > (is_hero ? 1 : static_cast<int>(KernelRules::kMaxCopies))) {
        return false;
      }
    }
    return true;
  }

 private:
  void Walk(FusionIndex node) {
    if (!members_.insert(node).second) return;
    for (const FusionIndex before : space_.producers(node)) {
      if ((*fused_)[static_cast<size_t>(before)] != 0) {
        Walk(before);
      } else {
        inputs_.insert(before);
      }
    }
  }
  // Every path from `node` to the root goes over elementwise nodes.
  bool ReachesElementwise(FusionIndex node, FusionIndex root) {
    if (node == root) return true;
    for (const FusionIndex user : space_.consumers(node)) {
      if (!members_.contains(user)) continue;
      if (space_.node(user).role != FusionRole::kElementwise ||
          !ReachesElementwise(user, root)) {
        return false;
      }
    }
    return true;
  }

  const FusionSpace& space_;
  const FusionBits* fused_ = nullptr;
  std::set<FusionIndex> members_;
  std::set<FusionIndex> inputs_;
};

// The decision number `code`: bit i for the i-th node that may be fused.
FusionBits Decode(const FusionSpace& space, uint64_t code) {
  FusionBits fused = space.Unfused();
  for (size_t i = 0; i < space.fusible().size(); ++i) {
    fused[static_cast<size_t>(space.fusible()[i])] = code >> i & 1;
  }
  return fused;
}

TEST(KernelRules, AgreeWithAReferenceOnEveryDecision) {
  int legal = 0;
  int illegal = 0;
  for (const std::string& text : SmallModules()) {
    SCOPED_TRACE(text);
    const FusionSpace space(VerifiedModule(text));
    KernelRules rules(space);
    Reference reference(space);
    ASSERT_GE(space.fusible().size(), 4u);
    for (uint64_t code = 0; code < uint64_t{1} << space.fusible().size();
         ++code) {
      const FusionBits fused = Decode(space, code);
      const bool expected = reference.IsLegal(fused);
      ASSERT_EQ(rules.Check(fused).ok(), expected) << code;
      ++(expected ? legal : illegal);
      const FusionBits made = rules.Legalize(fused);
      EXPECT_TRUE(reference.IsLegal(made));
      if (expected) {
        EXPECT_EQ(made, fused);
      }
      for (size_t i = 0; i < made.size(); ++i) EXPECT_LE(made[i], fused[i]);
    }
  }
  EXPECT_GT(legal, 50);
  EXPECT_GT(illegal, 50);
}

// What is at fault in part stays so, and what is decided is checked whole.
TEST(KernelRules, ChecksInPartAreRight) {
  for (const std::string& text : SmallModules()) {
    SCOPED_TRACE(text);
    const FusionSpace space(VerifiedModule(text));
    KernelRules rules(space);
    Rng rng(1);
    for (int draw = 0; draw < 300; ++draw) {
      FusionBits whole = Decode(space, rng.Below(uint64_t{1} << 20));
      FusionBits part = whole;
      for (const FusionIndex node : space.fusible()) {
        if (rng.Below(3) == 0) part[static_cast<size_t>(node)] = kUndecided;
      }
      if (rules.Check(whole).ok()) {
        EXPECT_TRUE(rules.Check(part).ok());
      }
      bool all_around = true;
      for (const FusionIndex node : space.fusible()) {
        all_around = all_around && rules.IsLegalAround(node, whole);
      }
      EXPECT_EQ(all_around, rules.Check(whole).ok());
    }
  }
}

void ExpectFault(const FusionSpace& space,
                 const std::vector<std::string>& fused,
                 const std::string& message) {
  EXPECT_THAT(KernelRules(space).Check(FuseNodes(space, fused)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
}

TEST(KernelRules, FaultsNameNodes) {
  const FusionSpace heroes(VerifiedModule(SmallModules()[0]));
  ExpectFault(heroes, {"d", "t"},
              "s: its kernel has d and s, expected one of them");
  ExpectFault(heroes, {"s", "e", "b"},
              "r: its kernel has s, which b reads, expected elementwise");
  ExpectFault(heroes, {"r"}, "r: is fused, expected not to be");
  const FusionSpace dots(VerifiedModule(SmallModules()[3]));
  ExpectFault(dots, {"n"}, "d: its kernel has other instructions, expected");
  HONE_EXPECT_OK(KernelRules(dots).Check(FuseNodes(dots, {"n", "d"})));
  const FusionSpace copies(VerifiedModule(SmallModules()[1]));
  ExpectFault(copies, {"s"}, "s: is fused into more than 1 kernels");
}

// Against every decision: what must be fused with a hero is fused in all of
// those that fuse it, and it fits if there is one.
TEST(KernelRules, KnowsWhatMustBeFusedWithAHero) {
  int forced = 0;
  int refused = 0;
  for (const std::string& text : SmallModules()) {
    SCOPED_TRACE(text);
    const FusionSpace space(VerifiedModule(text));
    KernelRules rules(space);
    FusionBits undecided = space.Unfused();
    std::vector<FusionIndex> heroes;
    for (const FusionIndex node : space.fusible()) {
      undecided[static_cast<size_t>(node)] = kUndecided;
      if (space.node(node).role == FusionRole::kHero) heroes.push_back(node);
    }
    for (const FusionIndex hero : heroes) {
      const auto at = static_cast<size_t>(hero);
      FusionBits part = undecided;
      part[at] = kFused;
      std::vector<FusionIndex> must_fuse;
      const bool fits = rules.FitsOneKernel(hero, part, must_fuse);
      bool is_legal = false;
      for (uint64_t code = 0; code < uint64_t{1} << space.fusible().size();
           ++code) {
        const FusionBits fused = Decode(space, code);
        if (fused[at] == kOwnKernel || !rules.Check(fused).ok()) continue;
        is_legal = true;
        for (const FusionIndex other : must_fuse) {
          EXPECT_EQ(fused[static_cast<size_t>(other)], kFused);
        }
      }
      if (is_legal) {
        EXPECT_TRUE(fits);
      }
      refused += !fits;
      if (fits) forced += static_cast<int>(must_fuse.size());
    }
  }
  EXPECT_GT(forced, 0);
  EXPECT_GT(refused, 0);
}

// One node more than a kernel may have, read, or be copied to.
TEST(KernelRules, LimitsAreExact) {
  const auto chain = [](size_t length) {
    std::string text =
        "HloModule m\nENTRY main {\n  n0 = f32[4] parameter(0)\n";
    for (size_t i = 1; i <= length; ++i) {
      absl::StrAppend(&text, i == length ? "  ROOT n" : "  n", i,
                      " = f32[4] negate(n", i - 1, ")\n");
    }
    return text + "}";
  };
  const auto wide = [](size_t arrays) {
    std::string text = "HloModule m\nENTRY main {\n";
    std::string list;
    for (size_t i = 0; i < arrays; ++i) {
      absl::StrAppend(&text, "  p", i, " = f32[4] parameter(", i, ")\n");
      absl::StrAppend(&list, i == 0 ? "" : ", ", "p", i);
    }
    return absl::StrCat(text, "  all = f32[", arrays * 4, "] concatenate(",
                        list, "), dimensions={0}\n  ROOT r = f32[", arrays * 4,
                        "] negate(all)\n}");
  };
  const auto copies = [](size_t users, absl::string_view node) {
    std::string text = absl::StrCat(
        "HloModule m\nENTRY main {\n  p = f32[4] parameter(0)\n  zero = f32[] "
        "constant(0)\n  n = f32[4] ",
        node, "\n");
    std::string list;
    std::string shapes;
    for (size_t i = 0; i < users; ++i) {
      absl::StrAppend(&text, "  u", i, " = f32[4] add(n, p)\n");
      absl::StrAppend(&list, i == 0 ? "" : ", ", "u", i);
      absl::StrAppend(&shapes, i == 0 ? "" : ", ", "f32[4]");
    }
    return absl::StrCat(text, "  ROOT t = (", shapes, ") tuple(", list, ")\n}");
  };
  const auto is_legal = [](const std::string& text) {
    const FusionSpace space(VerifiedModule(text));
    FusionBits all = space.Unfused();
    for (const FusionIndex node : space.fusible()) {
      all[static_cast<size_t>(node)] = kFused;
    }
    EXPECT_FALSE(space.fusible().empty());
    return KernelRules(space).Check(all).ok();
  };
  EXPECT_TRUE(is_legal(chain(KernelRules::kMaxMembers)));
  EXPECT_FALSE(is_legal(chain(KernelRules::kMaxMembers + 1)));
  EXPECT_TRUE(is_legal(wide(KernelRules::kMaxOperands)));
  EXPECT_FALSE(is_legal(wide(KernelRules::kMaxOperands + 1)));
  EXPECT_TRUE(is_legal(copies(KernelRules::kMaxCopies, "negate(p)")));
  EXPECT_FALSE(is_legal(copies(KernelRules::kMaxCopies + 1, "negate(p)")));
  EXPECT_TRUE(is_legal(copies(50, "broadcast(zero), dimensions={}")));
}

TEST(KernelRules, GreedyFusionOfTheCorpusIsLegal) {
  for (const testing::CorpusModule& entry : testing::CorpusModules()) {
    SCOPED_TRACE(entry.name);
    const FusionSpace space(VerifiedModule(entry.text));
    FusionBits fused = FuseGreedily(space);
    KernelRules rules(space);
    HONE_EXPECT_OK(rules.Check(fused));
    int64_t count = 0;
    for (const uint8_t bit : fused) count += bit;
    EXPECT_GT(count, 0);
  }
}

}  // namespace
}  // namespace hone::hlo
