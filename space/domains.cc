#include "space/domains.h"

#include <cstddef>
#include <utility>

namespace hone::space {
namespace {

class FreeDomains final : public Domains {
 public:
  explicit FreeDomains(const std::vector<int32_t>& sizes) {
    values_.reserve(sizes.size());
    for (const int32_t size : sizes) values_.push_back(AllValues(size));
  }

  int32_t variable_count() const override {
    return static_cast<int32_t>(values_.size());
  }
  uint64_t Get(int32_t variable) const override {
    return values_[static_cast<size_t>(variable)];
  }
  bool Narrow(int32_t variable, uint64_t values) override {
    uint64_t& left = values_[static_cast<size_t>(variable)];
    if ((left & values) == 0) return false;
    if ((left & values) != left) trail_.emplace_back(variable, left);
    left &= values;
    return true;
  }
  int32_t Mark() override { return static_cast<int32_t>(trail_.size()); }
  void Undo(int32_t mark) override {
    while (trail_.size() > static_cast<size_t>(mark)) {
      const auto& [variable, values] = trail_.back();
      values_[static_cast<size_t>(variable)] = values;
      trail_.pop_back();
    }
  }

 private:
  std::vector<uint64_t> values_;
  // Variables that were narrowed, with their values before.
  std::vector<std::pair<int32_t, uint64_t>> trail_;
};

}  // namespace

std::unique_ptr<Domains> MakeFreeDomains(std::vector<int32_t> sizes) {
  return std::make_unique<FreeDomains>(sizes);
}

}  // namespace hone::space
