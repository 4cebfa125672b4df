#ifndef HONE_HLO_IR_OPCODE_SET_H_
#define HONE_HLO_IR_OPCODE_SET_H_

#include <bitset>
#include <initializer_list>

#include "hlo/ir/opcode.h"

namespace hone::hlo {

// A set of opcodes.
class OpcodeSet {
 public:
  OpcodeSet() = default;
  OpcodeSet(std::initializer_list<Opcode> opcodes) {
    for (Opcode opcode : opcodes) Insert(opcode);
  }
  static OpcodeSet All() {
    OpcodeSet result;
    result.bits_.set();
    return result;
  }

  void Insert(Opcode opcode) { bits_.set(static_cast<size_t>(opcode)); }
  bool Contains(Opcode opcode) const {
    return bits_[static_cast<size_t>(opcode)];
  }
  bool Intersects(const OpcodeSet& other) const {
    return (bits_ & other.bits_).any();
  }
  bool IsSubsetOf(const OpcodeSet& other) const {
    return (bits_ & ~other.bits_).none();
  }
  bool empty() const { return bits_.none(); }

 private:
  std::bitset<kOpcodeCount> bits_;
};

}  // namespace hone::hlo

#endif  // HONE_HLO_IR_OPCODE_SET_H_
