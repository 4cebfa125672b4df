#ifndef HONE_HLO_IR_LIVE_RANGE_H_
#define HONE_HLO_IR_LIVE_RANGE_H_

#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

namespace hone::hlo {

// A range over the slots of a container that skips the dead ones, so that no
// loop can forget to. A slot is an object with is_live(), or a pointer that is
// null where the slot is empty; the range has the objects themselves.
//
// The end is fixed when the range is made. Slots may be added, and slots that
// are still to come may die, while a loop is under way.
template <typename Slots>
class LiveRange {
  static auto& Object(const Slots& slots, size_t i) {
    if constexpr (requires { slots[i].is_live(); }) {
      return slots[i];
    } else {
      return std::as_const(*slots[i]);
    }
  }
  static bool IsLive(const Slots& slots, size_t i) {
    if constexpr (requires { slots[i].is_live(); }) {
      return slots[i].is_live();
    } else {
      return slots[i] != nullptr;
    }
  }

 public:
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type =
        std::remove_reference_t<decltype(Object(std::declval<Slots&>(), 0))>;
    using difference_type = std::ptrdiff_t;
    using pointer = value_type*;
    using reference = value_type&;

    Iterator() = default;
    Iterator(const Slots* slots, size_t at, size_t end)
        : slots_(slots), at_(at), end_(end) {
      Skip();
    }
    reference operator*() const { return Object(*slots_, at_); }
    pointer operator->() const { return &**this; }
    Iterator& operator++() {
      ++at_;
      Skip();
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) {
      return a.at_ == b.at_;
    }

   private:
    void Skip() {
      while (at_ < end_ && !IsLive(*slots_, at_)) ++at_;
    }

    const Slots* slots_ = nullptr;
    size_t at_ = 0;
    size_t end_ = 0;
  };

  // `slots` outlives the range.
  LiveRange(const Slots& slots, size_t end) : slots_(&slots), end_(end) {}

  Iterator begin() const { return Iterator(slots_, 0, end_); }
  Iterator end() const { return Iterator(slots_, end_, end_); }

 private:
  const Slots* slots_;
  size_t end_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_IR_LIVE_RANGE_H_
