#include "hlo/ir/opcode.h"

#include "absl/container/flat_hash_map.h"

namespace hone::hlo {
namespace {

enum class OpcodeClass : uint8_t { kPlain, kElementwise, kOpaque };

struct Properties {
  absl::string_view name;
  int arity;
  OpcodeClass opcode_class;
};

constexpr Properties kTable[] = {
    {"unknown", -1, OpcodeClass::kOpaque},
#define HONE_OPCODE(enumerator, name, arity, opcode_class) \
  {name, arity, OpcodeClass::opcode_class},
#include "hlo/ir/opcodes.def"
#undef HONE_OPCODE
};

const Properties& PropertiesOf(Opcode opcode) {
  return kTable[static_cast<size_t>(opcode)];
}

}  // namespace

absl::string_view OpcodeName(Opcode opcode) {
  return PropertiesOf(opcode).name;
}

std::optional<Opcode> ParseOpcode(absl::string_view name) {
  static const auto* const by_name = [] {
    auto* map = new absl::flat_hash_map<absl::string_view, Opcode>;
#define HONE_OPCODE(enumerator, name, arity, opcode_class) \
  map->emplace(name, Opcode::enumerator);
#include "hlo/ir/opcodes.def"
#undef HONE_OPCODE
    return map;
  }();
  auto it = by_name->find(name);
  if (it == by_name->end()) return std::nullopt;
  return it->second;
}

int OpcodeArity(Opcode opcode) { return PropertiesOf(opcode).arity; }

bool IsElementwise(Opcode opcode) {
  return PropertiesOf(opcode).opcode_class == OpcodeClass::kElementwise;
}

bool IsOpaque(Opcode opcode) {
  return PropertiesOf(opcode).opcode_class == OpcodeClass::kOpaque;
}

bool IsCommutative(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMulhi:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      return true;
    default:
      return false;
  }
}

bool IsTranscendental(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAcos:
    case Opcode::kAcosh:
    case Opcode::kAsin:
    case Opcode::kAsinh:
    case Opcode::kAtan:
    case Opcode::kAtan2:
    case Opcode::kAtanh:
    case Opcode::kCbrt:
    case Opcode::kCosh:
    case Opcode::kCosine:
    case Opcode::kErf:
    case Opcode::kExponential:
    case Opcode::kExponentialMinusOne:
    case Opcode::kLog:
    case Opcode::kLogPlusOne:
    case Opcode::kLogistic:
    case Opcode::kPower:
    case Opcode::kRsqrt:
    case Opcode::kSine:
    case Opcode::kSinh:
    case Opcode::kSqrt:
    case Opcode::kTan:
    case Opcode::kTanh:
      return true;
    default:
      return false;
  }
}

}  // namespace hone::hlo
