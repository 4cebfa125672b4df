#include "tests/tuning/partitions_by_gecode.h"

#include <cstddef>
#include <memory>

#include <gecode/int.hh>
#include <gecode/minimodel.hh>
#include <gecode/search.hh>

namespace hone::testing {
namespace {

using Gecode::BoolVar;
using Gecode::IntVar;

// The chip of each node, with what follows for the chips.
class PartitionModel final : public Gecode::Space {
 public:
  explicit PartitionModel(const graphs::PartitionGraph& graph)
      : chips_(*this, static_cast<int>(graph.size()), 0, graph.chips() - 1) {
    const int k = graph.chips();
    const int n = static_cast<int>(graph.size());
    // on[v][c]: node v is on chip c.
    std::vector<std::vector<BoolVar>> on;
    for (int v = 0; v < n; ++v) {
      on.emplace_back();
      for (int c = 0; c < k; ++c) {
        on.back().push_back(Gecode::expr(*this, chips_[v] == c));
      }
    }
    // No gap: a chip that is used needs the one before.
    std::vector<BoolVar> used;
    for (int c = 0; c < k; ++c) {
      Gecode::BoolVarArgs nodes;
      for (int v = 0; v < n; ++v) {
        nodes << on[static_cast<size_t>(v)][static_cast<size_t>(c)];
      }
      used.emplace_back(*this, 0, 1);
      Gecode::rel(*this, Gecode::BOT_OR, nodes, used.back());
      if (c > 0) {
        Gecode::rel(*this, used[static_cast<size_t>(c)] <=
                               used[static_cast<size_t>(c - 1)]);
      }
    }
    // sends[a][b], reaches[a][b], by the lengths of ways.
    const auto size = static_cast<size_t>(k);
    std::vector<std::vector<Gecode::BoolVarArgs>> arcs(
        size, std::vector<Gecode::BoolVarArgs>(size));
    for (size_t u = 0; u < graph.size(); ++u) {
      for (const graphs::NodeIndex v :
           graph.adjacency().successors(static_cast<graphs::NodeIndex>(u))) {
        Gecode::rel(*this,
                    chips_[static_cast<int>(u)] <= chips_[static_cast<int>(v)]);
        for (size_t a = 0; a < size; ++a) {
          for (size_t b = a + 1; b < size; ++b) {
            arcs[a][b] << Gecode::expr(*this, on[u][a] && on[v][b]);
          }
        }
      }
    }
    std::vector<std::vector<BoolVar>> sends(size);
    for (size_t a = 0; a < size; ++a) {
      for (size_t b = 0; b < size; ++b) {
        sends[a].emplace_back(*this, 0, 1);
        Gecode::rel(*this, Gecode::BOT_OR, arcs[a][b], sends[a][b]);
      }
    }
    // Ways end at chips of higher numbers, so those from `a` follow from those
    // of higher ones.
    std::vector<std::vector<BoolVar>> reaches(size, std::vector<BoolVar>(size));
    for (size_t a = size; a-- > 0;) {
      for (size_t b = a + 1; b < size; ++b) {
        Gecode::BoolVarArgs over;  // chips between
        for (size_t m = a + 1; m < b; ++m) {
          over << Gecode::expr(*this, sends[a][m] && reaches[m][b]);
        }
        const BoolVar detour(*this, 0, 1);
        Gecode::rel(*this, Gecode::BOT_OR, over, detour);
        reaches[a][b] = Gecode::expr(*this, sends[a][b] || detour);
        Gecode::rel(*this, !sends[a][b] || !detour);
      }
    }
    Gecode::branch(*this, chips_, Gecode::INT_VAR_NONE(),
                   Gecode::INT_VAL_MIN());
  }

  std::vector<int32_t> chips() const {
    std::vector<int32_t> values;
    for (const IntVar& chip : chips_) values.push_back(chip.val());
    return values;
  }

  Gecode::Space* copy() override { return new PartitionModel(*this); }

 private:
  PartitionModel(PartitionModel& other) : Gecode::Space(other) {
    chips_.update(*this, other.chips_);
  }

  Gecode::IntVarArray chips_;
};

}  // namespace

std::set<std::vector<int32_t>> PartitionsByGecode(
    const graphs::PartitionGraph& graph) {
  PartitionModel model(graph);
  Gecode::DFS<PartitionModel> search(&model);
  std::set<std::vector<int32_t>> found;
  while (const std::unique_ptr<PartitionModel> next{search.next()}) {
    found.insert(next->chips());
  }
  return found;
}

}  // namespace hone::testing
