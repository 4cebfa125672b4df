#include "tuning/tasks/partition_domains.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "graphs/mcm/chip_loads.h"

namespace hone::tuning {

using graphs::kMaxChips;
using graphs::NodeIndex;

namespace {

using ChipSet = uint64_t;

ChipSet Bit(size_t chip) { return ChipSet{1} << chip; }
size_t Lowest(ChipSet chips) {
  return static_cast<size_t>(std::countr_zero(chips));
}
size_t Highest(ChipSet chips) {
  return static_cast<size_t>(std::bit_width(chips)) - 1;
}
// The chips up to `distance` above one, and from so many below it on.
ChipSet UpTo(size_t chip, int32_t distance) {
  const size_t last = chip + static_cast<size_t>(distance);
  return last + 1 >= size_t{kMaxChips} ? ~ChipSet{0} : Bit(last + 1) - 1;
}
ChipSet DownFrom(size_t chip, int32_t distance) {
  const auto far = static_cast<size_t>(distance);
  return far >= chip ? ~ChipSet{0} : ~ChipSet{0} << (chip - far);
}

}  // namespace

class PartitionDomains::Solver {
 public:
  Solver(const graphs::PartitionGraph& graph, const PartitionClosure& closure)
      : graph_(graph),
        closure_(closure),
        chips_(static_cast<size_t>(graph.chips())),
        left_(graph.size(), space::AllValues(graph.chips())),
        is_open_(graph.size()),
        copies_(graph.sources().size()),
        bytes_within_(chips_ * chips_),
        fixed_(chips_ * closure.words()),
        after_(chips_ * closure.words()),
        before_(chips_ * closure.words()) {
    const auto n = static_cast<int64_t>(graph.size());
    for (size_t c = 0; c < chips_; ++c) takers_[c] = n;
    lows_[0] = n;
    highs_[chips_ - 1] = n;
    for (const graphs::PartitionNode& node : graph.nodes()) {
      bytes_within_[chips_ - 1] += node.resident_bytes;
    }
    possible_ = true;
    for (size_t i = 0; i < graph.size() && possible_; ++i) {
      const auto node = static_cast<NodeIndex>(i);
      if (chips_ == 1) possible_ = Load(node, 0);
      // Each chip below a node's has a node that is no descendant of it.
      const auto others = graph.size() - 1 - size_t{closure.descendants(node)};
      if (others + 1 < chips_) {
        possible_ =
            possible_ &&
            Reduce(node, space::AllValues(static_cast<int32_t>(others) + 1));
      }
    }
    possible_ = possible_ && Propagate();
  }

  const graphs::PartitionGraph& graph() const { return graph_; }
  ChipSet left(int32_t variable) const {
    return left_[static_cast<size_t>(variable)];
  }
  const SolverStatistics& statistics() const { return statistics_; }

  bool Narrow(int32_t variable, ChipSet values) {
    ++statistics_.narrowings;
    if (possible_ && Reduce(static_cast<NodeIndex>(variable), values) &&
        Propagate()) {
      return true;
    }
    ++statistics_.conflicts;
    return false;
  }

  int32_t Mark() const { return static_cast<int32_t>(trail_.size()); }

  void Undo(int32_t mark) {
    Forget();
    while (trail_.size() > static_cast<size_t>(mark)) {
      const Entry& entry = trail_.back();
      switch (entry.kind) {
        case Kind::kLeft:
          Replace(entry.index, entry.before);
          break;
        case Kind::kDirect:
          direct_[entry.index] = entry.before;
          knows_ways_ = false;
          break;
        case Kind::kImplied:
          implied_[entry.index] = entry.before;
          knows_ways_ = false;
          break;
        case Kind::kFixed:
          fixed_[entry.index] = entry.before;
          break;
        case Kind::kAfter:
          after_[entry.index] = entry.before;
          break;
        case Kind::kBefore:
          before_[entry.index] = entry.before;
          break;
        case Kind::kBytes:
          bytes_[entry.index] = std::bit_cast<double>(entry.before);
          break;
        case Kind::kCopies:
          copies_[entry.index] = entry.before;
          break;
      }
      trail_.pop_back();
    }
  }

 private:
  enum class Kind : uint8_t {
    kLeft,
    kDirect,
    kImplied,
    kBytes,
    kCopies,
    kFixed,
    kAfter,
    kBefore
  };
  struct Entry {
    uint32_t index;
    Kind kind;
    uint64_t before;
  };

  // Sets the values of a node and the counts of them.
  void Replace(NodeIndex node, ChipSet after) {
    const ChipSet before = left_[node];
    for (ChipSet gone = before & ~after; gone != 0; gone &= gone - 1) {
      --takers_[Lowest(gone)];
    }
    for (ChipSet back = after & ~before; back != 0; back &= back - 1) {
      ++takers_[Lowest(back)];
    }
    --lows_[Lowest(before)];
    ++lows_[Lowest(after)];
    --highs_[Highest(before)];
    ++highs_[Highest(after)];
    if (const double bytes = graph_.node(node).resident_bytes; bytes > 0) {
      BytesWithin(before) -= bytes;
      BytesWithin(after) += bytes;
    }
    left_[node] = after;
  }

  double& BytesWithin(ChipSet chips) {
    return bytes_within_[Lowest(chips) * chips_ + Highest(chips)];
  }

  // Returns false if nothing is left to the node, or what is fixed does not fit
  // in memory.
  bool Reduce(NodeIndex node, ChipSet keep) {
    const ChipSet before = left_[node];
    const ChipSet after = before & keep;
    if (after == before) return true;
    if (after == 0) return false;
    ++statistics_.removals;
    trail_.push_back({node, Kind::kLeft, before});
    Replace(node, after);
    if (!is_open_[node]) {
      is_open_[node] = true;
      open_.push_back(node);
    }
    if (!std::has_single_bit(after)) return true;
    return Load(node, Lowest(after)) && Fix(node, Lowest(after));
  }

  // Sets bits of a word, by index, of one of the sets of nodes.
  void Include(Kind kind, std::vector<uint64_t>& words, size_t index,
               uint64_t bits) {
    if ((words[index] | bits) == words[index]) return;
    trail_.push_back({static_cast<uint32_t>(index), kind, words[index]});
    words[index] |= bits;
  }

  // Notes what follows from a node with one chip left for what chips reach.
  bool Fix(NodeIndex node, size_t chip) {
    const size_t words = closure_.words();
    if (words == 0) return true;
    const absl::Span<const uint64_t> after = closure_.after(node);
    const absl::Span<const uint64_t> before = closure_.before(node);
    Include(Kind::kFixed, fixed_, chip * words + node / 64,
            uint64_t{1} << node % 64);
    for (size_t w = 0; w < words; ++w) {
      Include(Kind::kAfter, after_, chip * words + w, after[w]);
      Include(Kind::kBefore, before_, chip * words + w, before[w]);
    }
    for (size_t other = 0; other < chips_; ++other) {
      if (other == chip) continue;
      const uint64_t* const fixed = &fixed_[other * words];
      bool is_reached = false;
      bool reaches = false;
      for (size_t w = 0; w < words; ++w) {
        is_reached = is_reached || (fixed[w] & after[w]) != 0;
        reaches = reaches || (fixed[w] & before[w]) != 0;
      }
      if (is_reached) Imply(chip, other);
      if (reaches) Imply(other, chip);
    }
    // Nodes between this and other chips may belong to fewer chips now.
    changed_ |= Bit(chip);
    return true;
  }

  // Chip `from` reaches chip `to`, directly or over others.
  void Imply(size_t from, size_t to) {
    if ((implied_[from] & Bit(to)) != 0) return;
    trail_.push_back(
        {static_cast<uint32_t>(from), Kind::kImplied, implied_[from]});
    implied_[from] |= Bit(to);
    knows_ways_ = false;
    has_new_way_ = true;
  }

  // Adds what a node has from the start to its chip.
  bool Load(NodeIndex node, size_t chip) {
    double bytes = graph_.node(node).resident_bytes;
    for (const NodeIndex source : graph_.sources_of(node)) {
      if ((copies_[source] & Bit(chip)) != 0) continue;
      trail_.push_back({source, Kind::kCopies, copies_[source]});
      copies_[source] |= Bit(chip);
      bytes += graph_.sources()[source].resident_bytes;
    }
    if (bytes == 0) return true;
    trail_.push_back({static_cast<uint32_t>(chip), Kind::kBytes,
                      std::bit_cast<uint64_t>(bytes_[chip])});
    bytes_[chip] += bytes;
    return graphs::FitsChip(graph_, bytes_[chip]);
  }

  void Forget() {
    for (const NodeIndex node : open_) is_open_[node] = false;
    open_.clear();
    has_new_way_ = false;
    changed_ = 0;
  }

  bool Propagate() {
    for (;;) {
      while (!open_.empty()) {
        const NodeIndex node = open_.back();
        open_.pop_back();
        is_open_[node] = false;
        if (!PropagateOrder(node) || !PropagateTriples(node) ||
            !PropagateWays(node)) {
          return false;
        }
      }
      if (changed_ != 0) {
        if (!PropagateBetween(std::exchange(changed_, 0))) return false;
        continue;
      }
      if (std::exchange(has_new_way_, false)) {
        // What was allowed before may not be with the new ways.
        if (!FindWays()) return false;
        for (size_t i = 0; i < left_.size(); ++i) {
          if (!PropagateWays(static_cast<NodeIndex>(i))) return false;
        }
        continue;
      }
      if (!PropagateGaps() || !RangesFit()) return false;
      if (open_.empty() && !has_new_way_ && changed_ == 0) return true;
    }
  }

  bool PropagateOrder(NodeIndex node) {
    const ChipSet left = left_[node];
    const absl::Span<const NodeIndex> next =
        graph_.adjacency().successors(node);
    const absl::Span<const int32_t> reach = closure_.reach_of(node);
    for (size_t i = 0; i < next.size(); ++i) {
      ChipSet keep = ~ChipSet{0} << Lowest(left);
      if (!reach.empty()) keep &= UpTo(Highest(left), reach[i]);
      if (!Reduce(next[i], keep)) return false;
    }
    const absl::Span<const NodeIndex> before =
        graph_.adjacency().predecessors(node);
    const absl::Span<const int32_t> reached = closure_.reach_to(node);
    for (size_t i = 0; i < before.size(); ++i) {
      ChipSet keep = UpTo(Highest(left), 0);
      if (!reached.empty()) keep &= DownFrom(Lowest(left), reached[i]);
      if (!Reduce(before[i], keep)) return false;
    }
    return true;
  }

  bool PropagateTriples(NodeIndex node) {
    for (const uint32_t index : closure_.triples_of(node)) {
      const auto& [source, between, target] = closure_.triples()[index];
      const ChipSet u = left_[source];
      const ChipSet w = left_[between];
      const ChipSet v = left_[target];
      if ((u & v) == 0 && !Reduce(between, u | v)) return false;
      // On the chip of one of the two, if it can not be on that of the other.
      if ((w & u) == 0 && !(Reduce(between, v) && Reduce(target, w))) {
        return false;
      }
      if ((w & v) == 0 && !(Reduce(between, u) && Reduce(source, w))) {
        return false;
      }
    }
    return true;
  }

  // From a node with one chip left.
  bool PropagateWays(NodeIndex node) {
    if (!std::has_single_bit(left_[node])) return true;
    const size_t chip = Lowest(left_[node]);
    for (const NodeIndex next : graph_.adjacency().successors(node)) {
      if (!FindWays() || !Reduce(next, may_send_to_[chip])) return false;
      if (std::has_single_bit(left_[next])) AddWay(chip, Lowest(left_[next]));
    }
    for (const NodeIndex before : graph_.adjacency().predecessors(node)) {
      if (!FindWays() || !Reduce(before, may_read_from_[chip])) return false;
      if (std::has_single_bit(left_[before])) {
        AddWay(Lowest(left_[before]), chip);
      }
    }
    return true;
  }

  // Chip `from` may send to `to`.
  void AddWay(size_t from, size_t to) {
    if (from == to || (direct_[from] & Bit(to)) != 0) return;
    trail_.push_back(
        {static_cast<uint32_t>(from), Kind::kDirect, direct_[from]});
    direct_[from] |= Bit(to);
    knows_ways_ = false;
    has_new_way_ = true;
    changed_ |= Bit(from);
  }

  // A node on a way from a node of chip a to one of chip b, to which a sends,
  // is on one of the two. Of pairs with a chip of `changed`.
  bool PropagateBetween(ChipSet changed) {
    const size_t words = closure_.words();
    for (size_t a = 0; a < chips_; ++a) {
      ChipSet to = direct_[a];
      if ((changed & Bit(a)) == 0) to &= changed;
      for (; to != 0; to &= to - 1) {
        const size_t b = Lowest(to);
        for (size_t w = 0; w < words; ++w) {
          uint64_t between = after_[a * words + w] & before_[b * words + w];
          for (; between != 0; between &= between - 1) {
            if (!Reduce(static_cast<NodeIndex>(w * 64 + Lowest(between)),
                        Bit(a) | Bit(b))) {
              return false;
            }
          }
        }
      }
    }
    return true;
  }

  // Finds whom each chip may send to so that no chip sends to one that it
  // reaches over others. Returns false if one does so already.
  bool FindWays() {
    if (knows_ways_) return true;
    knows_ways_ = true;
    std::array<ChipSet, kMaxChips> reached;  // by a chip, and itself
    std::array<ChipSet, kMaxChips> detour;   // by a chip over others
    for (size_t a = chips_; a-- > 0;) {
      reached[a] = Bit(a);
      detour[a] = 0;
      for (ChipSet next = direct_[a] | implied_[a]; next != 0;
           next &= next - 1) {
        reached[a] |= reached[Lowest(next)];
      }
      for (ChipSet next = reached[a] & ~Bit(a); next != 0; next &= next - 1) {
        detour[a] |= reached[Lowest(next)] & ~Bit(Lowest(next));
      }
      if ((direct_[a] & detour[a]) != 0) return knows_ways_ = false;
    }
    may_read_from_.fill(0);
    // Whom those send to that reach a chip.
    std::array<ChipSet, kMaxChips> from_before = {};
    for (size_t a = 0; a < chips_; ++a) {
      may_send_to_[a] = Bit(a) | direct_[a];
      for (size_t b = a + 1; b < chips_; ++b) {
        if ((detour[a] & Bit(b)) == 0 &&
            ((from_before[a] | direct_[a]) & reached[b]) == 0) {
          may_send_to_[a] |= Bit(b);
        }
        if ((reached[a] & Bit(b)) != 0) {
          from_before[b] |= direct_[a] | from_before[a];
        }
      }
      for (ChipSet to = may_send_to_[a]; to != 0; to &= to - 1) {
        may_read_from_[Lowest(to)] |= Bit(a);
      }
    }
    return true;
  }

  // What can be on no chip outside of a range fits in that of its chips.
  bool RangesFit() const {
    // Sums of many numbers, added and taken away.
    constexpr double kTolerance = 1e-9;
    // By the last chip, from any first one that is looked at so far.
    std::array<double, kMaxChips> bytes = {};
    for (size_t first = chips_; first-- > 0;) {
      double within = 0;
      for (size_t last = first; last < chips_; ++last) {
        bytes[last] += bytes_within_[first * chips_ + last];
        within += bytes[last];
        if (within > graph_.memory_bytes() *
                         static_cast<double>(last - first + 1) *
                         (1 + kTolerance)) {
          return false;
        }
      }
    }
    return true;
  }

  bool PropagateGaps() {
    size_t floor = chips_ - 1;
    while (lows_[floor] == 0) --floor;
    for (size_t chip = 0; chip <= floor; ++chip) {
      if (takers_[chip] == 0) return false;
      if (takers_[chip] > 1) continue;
      for (size_t i = 0; i < left_.size(); ++i) {
        if ((left_[i] & Bit(chip)) == 0) continue;
        if (!Reduce(static_cast<NodeIndex>(i), Bit(chip))) return false;
        break;
      }
      if (!open_.empty()) return true;
    }
    // A chip that stays empty ends the chips.
    size_t end = floor + 1;
    while (end < chips_ && takers_[end] > 0) ++end;
    bool is_cut = false;
    for (size_t chip = end; chip < chips_; ++chip) {
      is_cut = is_cut || takers_[chip] > 0;
    }
    if (is_cut) {
      const ChipSet below = space::AllValues(static_cast<int32_t>(end));
      for (size_t i = 0; i < left_.size(); ++i) {
        if (!Reduce(static_cast<NodeIndex>(i), below)) return false;
      }
      return true;
    }
    // As many nodes can take one of any range of needed chips as it has.
    int64_t before = 0;  // nodes that end below the range
    for (size_t first = 0; first <= floor; ++first) {
      int64_t after = 0;  // nodes that begin above the range
      for (size_t last = chips_ - 1; last >= first; --last) {
        if (last <= floor &&
            static_cast<int64_t>(left_.size()) - before - after <
                static_cast<int64_t>(last - first + 1)) {
          return false;
        }
        after += lows_[last];
        if (last == 0) break;
      }
      before += highs_[first];
    }
    return true;
  }

  const graphs::PartitionGraph& graph_;
  const PartitionClosure& closure_;
  const size_t chips_;
  std::vector<ChipSet> left_;  // [nodes]
  std::vector<Entry> trail_;
  // Nodes to propagate from.
  std::vector<NodeIndex> open_;
  std::vector<bool> is_open_;

  // Nodes that can take a chip, whose lowest chip it is, whose highest.
  std::array<int64_t, kMaxChips> takers_ = {};
  std::array<int64_t, kMaxChips> lows_ = {};
  std::array<int64_t, kMaxChips> highs_ = {};

  // Of nodes with one chip left: whom a chip sends to, whom it reaches in any
  // case, the bytes of its memory, the chips with a copy of a source.
  std::array<ChipSet, kMaxChips> direct_ = {};
  std::array<ChipSet, kMaxChips> implied_ = {};
  std::array<double, kMaxChips> bytes_ = {};
  std::vector<ChipSet> copies_;  // [sources]
  // Of nodes by the lowest and the highest chip left. [chips, chips]
  std::vector<double> bytes_within_;

  // Sets of nodes: those with the chip alone left, those that these reach, and
  // that reach these. [chips, words]
  std::vector<uint64_t> fixed_;
  std::vector<uint64_t> after_;
  std::vector<uint64_t> before_;
  // Chips whose ways, or whose sets, have changed.
  ChipSet changed_ = 0;

  // Made of direct_ and implied_; a chip may send to itself.
  bool knows_ways_ = false;
  std::array<ChipSet, kMaxChips> may_send_to_ = {};
  std::array<ChipSet, kMaxChips> may_read_from_ = {};
  // There is a way that nodes with a chip have not been compared with.
  bool has_new_way_ = false;

  SolverStatistics statistics_;
  // False if there is no partition.
  bool possible_ = false;
};

PartitionDomains::PartitionDomains(const graphs::PartitionGraph& graph,
                                   const PartitionClosure& closure)
    : solver_(std::make_unique<Solver>(graph, closure)) {}

PartitionDomains::~PartitionDomains() = default;

int32_t PartitionDomains::variable_count() const {
  return static_cast<int32_t>(solver_->graph().size());
}

uint64_t PartitionDomains::Get(int32_t variable) const {
  return solver_->left(variable);
}

bool PartitionDomains::Narrow(int32_t variable, uint64_t values) {
  return solver_->Narrow(variable, values);
}

int32_t PartitionDomains::Mark() { return solver_->Mark(); }

void PartitionDomains::Undo(int32_t mark) { solver_->Undo(mark); }

const SolverStatistics& PartitionDomains::statistics() const {
  return solver_->statistics();
}

}  // namespace hone::tuning
