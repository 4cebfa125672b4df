#include "loops/lowering/plan/donations.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

#include "hlo/inference/value_reader.h"

namespace hone::loops {
namespace {

int32_t LeafCount(const hlo::Shape& shape) {
  if (!shape.IsTuple()) return 1;
  int32_t count = 0;
  for (const hlo::ShapePtr& element : shape.tuple_elements()) {
    count += LeafCount(*element);
  }
  return count;
}

// Returns the number of the array at `index` of a shape; -1 if there is none.
int32_t LeafAt(const hlo::Shape& shape, absl::Span<const int64_t> index) {
  const hlo::Shape* part = &shape;
  int32_t leaf = 0;
  for (int64_t i : index) {
    if (!part->IsTuple() || i < 0 ||
        i >= static_cast<int64_t>(part->tuple_elements().size())) {
      return -1;
    }
    for (int64_t before = 0; before < i; ++before) {
      leaf += LeafCount(*part->tuple_element(before));
    }
    part = part->tuple_element(i).get();
  }
  return part->IsTuple() ? -1 : leaf;
}

class AliasReader {
 public:
  AliasReader(const hlo::Computation& entry, absl::string_view text)
      : entry_(entry), reader_(text) {}

  // Reads `{ {0}: (1, {}, may-alias), … }`; returns false if it cannot.
  bool Read(std::vector<Donation>& donations) {
    if (!reader_.Take("{")) return false;
    if (reader_.Take("}")) return reader_.AtEnd();
    do {
      std::vector<int64_t> result;
      std::vector<int64_t> part;
      int64_t parameter = 0;
      if (!reader_.Index(result) || !reader_.Take(":") || !reader_.Take("(") ||
          !reader_.Integer(parameter) || !reader_.Take(",") ||
          !reader_.Index(part)) {
        return false;
      }
      if (reader_.Take(",") && reader_.Word().empty()) return false;
      if (!reader_.Take(")")) return false;
      const Donation donation = {
          .result = LeafAt(entry_[entry_.root()].shape(), result),
          .parameter = ParameterLeaf(parameter, part)};
      if (donation.result < 0 || donation.parameter < 0) return false;
      donations.push_back(donation);
    } while (reader_.Take(","));
    return reader_.Take("}") && reader_.AtEnd();
  }

 private:
  int32_t ParameterLeaf(int64_t number, absl::Span<const int64_t> index) const {
    if (number < 0 ||
        number >= static_cast<int64_t>(entry_.parameters().size())) {
      return -1;
    }
    int32_t first = 0;
    const auto shape = [this](int64_t i) -> const hlo::Shape& {
      return entry_[entry_.parameters()[static_cast<size_t>(i)]].shape();
    };
    for (int64_t i = 0; i < number; ++i) first += LeafCount(shape(i));
    const int32_t leaf = LeafAt(shape(number), index);
    return leaf < 0 ? -1 : first + leaf;
  }

  const hlo::Computation& entry_;
  hlo::inference::ValueReader reader_;
};

}  // namespace

absl::StatusOr<std::vector<Donation>> DonationsOf(const hlo::Module& module) {
  std::vector<Donation> donations;
  for (const auto& [name, value] : module.header()) {
    if (name != "input_output_alias") continue;
    if (!AliasReader(module.entry_computation(), value).Read(donations)) {
      return absl::InvalidArgumentError(
          absl::StrCat("module ", module.name(), ": input_output_alias=", value,
                       ", expected pairs of arrays"));
    }
  }
  return donations;
}

}  // namespace hone::loops
