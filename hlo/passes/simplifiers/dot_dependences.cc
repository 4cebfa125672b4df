#include "hlo/passes/simplifiers/dot_dependences.h"

#include "hlo/ir/id_map.h"

namespace hone::hlo {
namespace {

constexpr size_t kBits = 64;

void Add(DotSet& set, size_t dot) {
  set[dot / kBits] |= uint64_t{1} << (dot % kBits);
}

}  // namespace

bool Intersect(const DotSet& a, const DotSet& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if ((a[i] & b[i]) != 0) return true;
  }
  return false;
}

void Unite(DotSet& set, const DotSet& other) {
  for (size_t i = 0; i < set.size(); ++i) set[i] |= other[i];
}

DotDependences::DotDependences(const Computation& computation,
                               absl::Span<const InstructionId> order,
                               absl::Span<const InstructionId> dots)
    : words_((dots.size() + kBits - 1) / kBits), needed_(dots.size()) {
  IdMap<size_t> number(dots.size());
  for (size_t i = 0; i < dots.size(); ++i) number[dots[i]] = i;
  // A row of words per instruction: the dots that it needs. The first row is
  // empty, for instructions without one of their own: those before every dot
  // need none.
  std::vector<uint64_t> table(words_);
  IdMap<size_t> row;
  DotSet needed(words_);
  size_t seen = 0;
  for (InstructionId id : order) {
    const size_t dot = number.at(id);
    const bool is_dot = dot < dots.size();
    if (seen == 0 && !is_dot) continue;
    needed.assign(words_, 0);
    const auto add = [&](InstructionId operand) {
      const uint64_t* words = table.data() + row.at(operand);
      for (size_t i = 0; i < words_; ++i) needed[i] |= words[i];
    };
    for (InstructionId operand : computation[id].operands()) add(operand);
    for (InstructionId operand : computation.control_predecessors(id)) {
      add(operand);
    }
    if (is_dot) {
      Add(needed, dot);
      needed_[dot] = needed;
      if (++seen == dots.size()) break;
    }
    row[id] = table.size();
    table.insert(table.end(), needed.begin(), needed.end());
  }
}

DotSet DotDependences::Only(size_t dot) const {
  DotSet set(words_);
  Add(set, dot);
  return set;
}

void DotDependences::Join(const DotSet& group, const DotSet& needed) {
  for (DotSet& set : needed_) {
    if (Intersect(set, group)) Unite(set, needed);
  }
}

}  // namespace hone::hlo
