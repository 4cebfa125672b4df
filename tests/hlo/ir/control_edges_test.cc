#include "hlo/ir/control_edges.h"

#include <set>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

#include "base/rng.h"

namespace hone::hlo {
namespace {

constexpr InstructionId kCount = 12;

// The same as a set of pairs (predecessor, successor).
class Model {
 public:
  void Add(InstructionId p, InstructionId s) { edges_.insert({p, s}); }
  void Remove(InstructionId id) {
    std::erase_if(edges_, [id](const auto& edge) {
      return edge.first == id || edge.second == id;
    });
  }
  void MoveSuccessors(InstructionId old, InstructionId replacement) {
    for (const auto& [p, s] : std::set(edges_)) {
      if (p != old || s == replacement) continue;
      edges_.erase({p, s});
      edges_.insert({replacement, s});
    }
  }
  void Bypass(InstructionId id) {
    const std::set before(edges_);
    Remove(id);
    for (const auto& [p, middle] : before) {
      for (const auto& [other, s] : before) {
        if (middle == id && other == id) edges_.insert({p, s});
      }
    }
  }
  void Renumber() {
    std::set<std::pair<InstructionId, InstructionId>> renumbered;
    for (const auto& [p, s] : edges_) {
      renumbered.insert({kCount - 1 - p, kCount - 1 - s});
    }
    edges_ = std::move(renumbered);
  }
  bool Contains(InstructionId id) const {
    for (const auto& [p, s] : edges_) {
      if (p == id || s == id) return true;
    }
    return false;
  }
  std::set<InstructionId> Predecessors(InstructionId id) const {
    std::set<InstructionId> predecessors;
    for (const auto& [p, s] : edges_) {
      if (s == id) predecessors.insert(p);
    }
    return predecessors;
  }
  bool empty() const { return edges_.empty(); }

 private:
  std::set<std::pair<InstructionId, InstructionId>> edges_;
};

TEST(ControlEdges, AgreeWithASetOfPairs) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    const auto any = [&] {
      return static_cast<InstructionId>(rng.Below(kCount));
    };
    ControlEdges edges;
    Model model;
    for (int step = 0; step < 60; ++step) {
      const InstructionId a = any();
      const InstructionId b = any();
      switch (rng.Below(8)) {
        case 0:
          edges.Remove(a);
          model.Remove(a);
          break;
        case 1:
          if (a == b) break;
          edges.MoveSuccessors(a, b);
          model.MoveSuccessors(a, b);
          break;
        case 2:
          edges.Bypass(a);
          model.Bypass(a);
          break;
        case 3:
          edges.Renumber([](InstructionId id) { return kCount - 1 - id; });
          model.Renumber();
          break;
        default:
          if (a == b) break;
          edges.Add(a, b);
          model.Add(a, b);
          break;
      }
      ASSERT_EQ(edges.empty(), model.empty());
      for (InstructionId id = 0; id < kCount; ++id) {
        ASSERT_EQ(edges.Contains(id), model.Contains(id));
        const auto found = edges.predecessors(id);
        ASSERT_EQ(std::set<InstructionId>(found.begin(), found.end()),
                  model.Predecessors(id))
            << "seed " << seed << ", step " << step << ", id " << id;
      }
    }
  }
}

TEST(ControlEdges, KeepTheOrderOfPredecessors) {
  ControlEdges edges;
  for (InstructionId p : {3, 1, 2}) edges.Add(p, 9);
  edges.MoveSuccessors(1, 7);
  EXPECT_EQ(edges.predecessors(9), (std::vector<InstructionId>{3, 7, 2}));
}

}  // namespace
}  // namespace hone::hlo
