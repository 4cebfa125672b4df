#include "loops/lowering/rewrites/iteration_values.h"

#include "hlo/rewrite/makers.h"
#include "hlo/rewrite/tuples/elements.h"

namespace hone::loops {

using hlo::InstructionId;

bool IterationValues::HasRowPerIteration(int32_t element) const {
  return loop_.outside()
             .shape(loop_.id())
             .tuple_element(element)
             ->dimensions()[0] == rows_.trip_count();
}

bool IterationValues::AreSamePlaces(InstructionId a, InstructionId b) const {
  return a == b || rows_.Permutation(a) == rows_.Permutation(b);
}

std::optional<size_t> IterationValues::Find(InstructionId id,
                                            InstructionId place) const {
  const auto found = arrays_of_.find(id);
  if (found == arrays_of_.end()) return std::nullopt;
  for (size_t number : found->second) {
    if (AreSamePlaces(arrays_[number].place, place)) return number;
  }
  return std::nullopt;
}

InstructionId IterationValues::PlaceOf(InstructionId id) const {
  const auto found = arrays_of_.find(id);
  return found == arrays_of_.end() ? hlo::kNoInstruction
                                   : arrays_[found->second[0]].place;
}

size_t IterationValues::Add(InstructionId id, InstructionId place) {
  if (const auto number = Find(id, place)) return *number;
  const auto is_there = [&](const std::optional<LoopRow>& row) {
    return row.has_value() && HasRowPerIteration(row->element) &&
           AreSamePlaces(row->place, place);
  };
  Array array = {.id = id, .place = place};
  if (const auto read = rows_.Read(id); is_there(read)) {
    array.element = read->element;
    array.is_initial = true;
  } else if (const auto written = rows_.Written(id); is_there(written)) {
    array.element = written->element;
  }
  arrays_of_[id].push_back(arrays_.size());
  arrays_.push_back(array);
  return arrays_.size() - 1;
}

void IterationValues::Store() {
  hlo::Rewriter& body = loop_.body();
  hlo::Rewriter& outside = loop_.outside();
  std::vector<size_t> added;
  hlo::InstructionIds initial;
  for (; next_ < arrays_.size(); ++next_) {
    Array& array = arrays_[next_];
    if (array.element >= 0) continue;
    array.element = loop_.element_count() + static_cast<int32_t>(added.size());
    added.push_back(next_);
    hlo::DimensionVector sizes = body.dimensions_of(array.id);
    sizes.insert(sizes.begin(), rows_.trip_count());
    const hlo::ElementType type = body.shape(array.id).element_type();
    initial.push_back(
        MakeUniform(outside, hlo::Literal::Scalar(type, 0), sizes));
  }
  if (added.empty()) return;
  const hlo::InstructionIds reads = loop_.AddElements(initial);
  const InstructionId root = body.computation().root();
  hlo::InstructionIds next = body[root].operands();
  for (size_t i = 0; i < added.size(); ++i) {
    const Array& array = arrays_[added[i]];
    next[static_cast<size_t>(array.element)] =
        MakeWriteOfRow(body, reads[i], array.id, array.place);
  }
  body.SetOperands(root, next);
}

InstructionId IterationValues::All(size_t number) {
  const Array& array = arrays_[number];
  hlo::Rewriter& outside = loop_.outside();
  return array.is_initial
             ? ElementOf(outside, loop_.init(),
                         static_cast<size_t>(array.element))
             : MakeGetTupleElement(outside, loop_.id(), array.element);
}

}  // namespace hone::loops
