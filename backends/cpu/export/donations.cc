#include "backends/cpu/export/donations.h"

#include <cstdint>

#include "absl/types/span.h"

#include "hlo/inference/value_reader.h"
#include "hlo/ir/shape.h"

namespace hone::backends {
namespace {

int32_t CountArrays(const hlo::Shape& shape) {
  if (!shape.IsTuple()) return 1;
  int32_t count = 0;
  for (const hlo::ShapePtr& element : shape.tuple_elements()) {
    count += CountArrays(*element);
  }
  return count;
}

// Returns the number of the array at an index among those of a shape.
int32_t NumberAt(const hlo::Shape& shape, absl::Span<const int64_t> index) {
  if (index.empty()) return 0;
  int32_t number = 0;
  for (int64_t i = 0; i < index[0]; ++i) {
    number += CountArrays(*shape.tuple_element(i));
  }
  return number + NumberAt(*shape.tuple_element(index[0]), index.subspan(1));
}

// Reads `{ {0}: (1, {}, may-alias), … }`.
std::vector<EntryAlias> ReadPairs(const hlo::Computation& entry,
                                  absl::string_view text) {
  std::vector<EntryAlias> pairs;
  hlo::inference::ValueReader reader(text);
  reader.Take("{");
  std::vector<int64_t> output;
  std::vector<int64_t> index;
  int64_t parameter = 0;
  while (reader.Index(output) && reader.Take(":") && reader.Take("(") &&
         reader.Integer(parameter) && reader.Take(",") && reader.Index(index)) {
    int32_t argument = 0;
    for (int64_t i = 0; i < parameter; ++i) {
      argument += CountArrays(
          entry[entry.parameters()[static_cast<size_t>(i)]].shape());
    }
    const hlo::Shape& shape =
        entry[entry.parameters()[static_cast<size_t>(parameter)]].shape();
    pairs.push_back({argument + NumberAt(shape, index),
                     NumberAt(entry[entry.root()].shape(), output)});
    // ", may-alias)," up to the next pair.
    while (!reader.Take(")") && !reader.AtEnd()) {
      if (!reader.Take(",")) reader.Word();
    }
    reader.Take(",");
    output.clear();
    index.clear();
  }
  return pairs;
}

}  // namespace

std::vector<EntryAlias> DonatedPairs(const hlo::Module& module) {
  for (const auto& [name, text] : module.header()) {
    if (name == "input_output_alias") {
      return ReadPairs(module.entry_computation(), text);
    }
  }
  return {};
}

}  // namespace hone::backends
