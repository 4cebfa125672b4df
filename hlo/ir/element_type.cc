#include "hlo/ir/element_type.h"

#include <array>

#include "absl/container/flat_hash_map.h"

namespace hone::hlo {
namespace {

struct Properties {
  absl::string_view name = "invalid";
  int bits = 0;
  ElementKind kind = ElementKind::kNone;
};

constexpr size_t kTableSize = 37;

constexpr std::array<Properties, kTableSize> MakeTable() {
  std::array<Properties, kTableSize> table;
#define HONE_ELEMENT_TYPE(enumerator, name, number, bits, kind) \
  table[number] = {name, bits, ElementKind::kind};
#include "hlo/ir/element_types.def"
#undef HONE_ELEMENT_TYPE
  return table;
}

constexpr std::array<Properties, kTableSize> kTable = MakeTable();

const Properties& PropertiesOf(ElementType type) {
  return kTable[static_cast<size_t>(type)];
}

}  // namespace

absl::string_view ElementTypeName(ElementType type) {
  return PropertiesOf(type).name;
}

std::optional<ElementType> ParseElementType(absl::string_view name) {
  static const auto* const by_name = [] {
    auto* map = new absl::flat_hash_map<absl::string_view, ElementType>;
#define HONE_ELEMENT_TYPE(enumerator, name, number, bits, kind) \
  map->emplace(name, ElementType::enumerator);
#include "hlo/ir/element_types.def"
#undef HONE_ELEMENT_TYPE
    return map;
  }();
  auto it = by_name->find(name);
  if (it == by_name->end()) return std::nullopt;
  return it->second;
}

std::optional<ElementType> ElementTypeFromNumber(int64_t number) {
  if (number <= 0 || number >= static_cast<int64_t>(kTableSize)) {
    return std::nullopt;
  }
  return static_cast<ElementType>(number);
}

ElementKind KindOf(ElementType type) { return PropertiesOf(type).kind; }
int BitWidth(ElementType type) { return PropertiesOf(type).bits; }
int64_t ByteWidth(ElementType type) {
  return (PropertiesOf(type).bits + 7) / 8;
}

}  // namespace hone::hlo
