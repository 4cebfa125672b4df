#ifndef HONE_HLO_IR_ID_MAP_H_
#define HONE_HLO_IR_ID_MAP_H_

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace hone::hlo {

// A table by InstructionId or ComputationId: an array that grows with the ids
// it is asked about. Ids that nothing was stored for have the initial value.
template <typename T>
class IdMap {
  // No bit fields, so that operator[] can return a reference.
  using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

 public:
  explicit IdMap(T initial = T()) : initial_(std::move(initial)) {}

  Stored& operator[](int32_t id) {
    const size_t i = static_cast<size_t>(id);
    if (i >= values_.size()) values_.resize(i + 1, initial_);
    return values_[i];
  }
  const Stored& at(int32_t id) const {
    const size_t i = static_cast<size_t>(id);
    return i < values_.size() ? values_[i] : initial_;
  }

  void reserve(int64_t count) { values_.reserve(static_cast<size_t>(count)); }
  void clear() { values_.clear(); }

 private:
  Stored initial_;
  std::vector<Stored> values_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_IR_ID_MAP_H_
