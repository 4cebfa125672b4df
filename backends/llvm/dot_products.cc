// Sums of products of adjacent elements, such as
//
//   s[i] += convert(f32, a[2*k]) * convert(f32, b[k,i,0])
//         + convert(f32, a[2*k+1]) * convert(f32, b[k,i,1])
//
// in a vector loop over i, as one instruction: two products of bf16 or of
// integers of at most 16 bits, or four of u8 and s8.

#include <algorithm>
#include <bit>

#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "backends/llvm/function_emitter.h"

namespace hone::backends {
namespace {

using hlo::ElementType;
using loops::Access;
using loops::DotProducts;
using loops::Statement;

// The accumulators of an instruction have 32 bits.
constexpr unsigned kLaneBits = 32;

}  // namespace

// Returns the adjacent elements of each lane as one number of 32 bits.
llvm::Value* FunctionEmitter::EmitDotFactor(const DotProducts& dot,
                                            size_t side) {
  const Access& access = *dot.factors[side];
  const ElementType type = context_.program.buffer(access.buffer).type;
  const int64_t count = dot.count();
  const Address address = EmitAddress(access);
  if (address.offsets != nullptr ||
      (address.stride != 0 && address.stride != count)) {
    return nullptr;
  }
  if (mask_ != nullptr &&
      !(address.always_valid && IsInside(*dot.last_factors[side]))) {
    return EmitMaskedDotFactor(access.buffer, address, count);
  }
  const int64_t lanes = address.stride == 0 ? 1 : lanes_;
  const auto vector_of = [&](llvm::Type* element, int64_t n) {
    return llvm::FixedVectorType::get(element, static_cast<unsigned>(n));
  };
  llvm::Value* value = Annotate(
      access.buffer,
      b_.CreateAlignedLoad(
          vector_of(StorageOf(access.buffer), lanes * count), address.pointer,
          llvm::Align(static_cast<uint64_t>(hlo::ByteWidth(type)))));
  if (hlo::BitWidth(type) * count < kLaneBits) {
    llvm::Type* wide = vector_of(b_.getInt16Ty(), lanes * count);
    value = b_.CreateIntCast(value, wide, hlo::IsSigned(type));
  }
  if (lanes == 1) return Splat(b_.CreateBitCast(value, b_.getInt32Ty()));
  return b_.CreateBitCast(value, vector_of(b_.getInt32Ty(), lanes));
}

// The same where lanes are masked, for elements that fill a number of 32 bits,
// if it is known that the first lane is not masked.
llvm::Value* FunctionEmitter::EmitMaskedDotFactor(loops::BufferId buffer,
                                                  const Address& address,
                                                  int64_t count) {
  const ElementType type = context_.program.buffer(buffer).type;
  const auto* const mask = llvm::dyn_cast<llvm::Constant>(mask_);
  if (hlo::BitWidth(type) * count != kLaneBits || mask == nullptr ||
      !mask->getAggregateElement(0U)->isOneValue()) {
    return nullptr;
  }
  const llvm::Align align(static_cast<uint64_t>(hlo::ByteWidth(type)));
  if (address.stride == 0) {
    return Splat(Annotate(
        buffer, b_.CreateAlignedLoad(b_.getInt32Ty(), address.pointer, align)));
  }
  llvm::Type* lanes = llvm::FixedVectorType::get(b_.getInt32Ty(),
                                                 static_cast<unsigned>(lanes_));
  return Annotate(buffer,
                  b_.CreateMaskedLoad(lanes, address.pointer, align, mask_,
                                      llvm::Constant::getNullValue(lanes)));
}

// Adds the products to `sum`, a vector of as many lanes as an instruction has.
llvm::Value* FunctionEmitter::EmitDotInstruction(const DotProducts& dot,
                                                 llvm::Value* sum,
                                                 llvm::Value* a,
                                                 llvm::Value* b) {
  const int64_t lanes = LanesOf(sum);
  const size_t size = lanes == 4 ? 0 : lanes == 8 ? 1 : 2;
  using llvm::Intrinsic::ID;
  constexpr ID kBf16[] = {llvm::Intrinsic::x86_avx512bf16_dpbf16ps_128,
                          llvm::Intrinsic::x86_avx512bf16_dpbf16ps_256,
                          llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512};
  constexpr ID kS16[] = {llvm::Intrinsic::x86_avx512_vpdpwssd_128,
                         llvm::Intrinsic::x86_avx512_vpdpwssd_256,
                         llvm::Intrinsic::x86_avx512_vpdpwssd_512};
  constexpr ID kBytes[] = {llvm::Intrinsic::x86_avx512_vpdpbusd_128,
                           llvm::Intrinsic::x86_avx512_vpdpbusd_256,
                           llvm::Intrinsic::x86_avx512_vpdpbusd_512};
  if (dot.kind == DotProducts::Kind::kBf16) {
    llvm::Type* pairs = llvm::FixedVectorType::get(
        b_.getBFloatTy(), static_cast<unsigned>(2 * lanes));
    a = b_.CreateBitCast(a, pairs);
    b = b_.CreateBitCast(b, pairs);
    return b_.CreateIntrinsic(kBf16[size], {}, {sum, a, b});
  }
  const ID id = dot.kind == DotProducts::Kind::kS16 ? kS16[size] : kBytes[size];
  return b_.CreateIntrinsic(id, {}, {sum, a, b});
}

// Adds to partial results in registers, one in each lane. Returns false where
// there are none, or none of the instruction's width.
bool FunctionEmitter::EmitDotAccumulation(const Statement& statement,
                                          const DotProducts& dot) {
  const auto found = accumulations_.find(&statement);
  const int64_t widest = context_.target.vector_bytes * 8 / kLaneBits;
  if (found == accumulations_.end() || found->second.lanes != lanes_ ||
      found->second.has_keys || lanes_ < 4 || lanes_ > widest ||
      !std::has_single_bit(static_cast<uint64_t>(lanes_))) {
    return false;
  }
  llvm::Value* a = EmitDotFactor(dot, 0);
  llvm::Value* b = EmitDotFactor(dot, 1);
  if (a == nullptr || b == nullptr) return false;
  llvm::AllocaInst* part = CurrentPart(found->second);
  llvm::Value* old = b_.CreateLoad(part->getAllocatedType(), part);
  llvm::Value* sum = EmitDotInstruction(dot, old, a, b);
  if (mask_ != nullptr) sum = b_.CreateSelect(mask_, sum, old);
  b_.CreateStore(sum, part);
  return true;
}

bool FunctionEmitter::EmitDotProducts(const Statement& statement) {
  const DotProducts dot =
      loops::MatchDotProducts(context_.program, statement,
                              {.has_bf16 = context_.target.has_bf16_dot,
                               .has_integer = context_.target.has_integer_dot});
  if (dot.kind == DotProducts::Kind::kNone) return false;
  if (EmitDotAccumulation(statement, dot)) return true;
  const Address target = EmitAddress(statement.target);
  if (target.stride != 1 || target.offsets != nullptr) return false;
  llvm::Value* a = EmitDotFactor(dot, 0);
  llvm::Value* b = EmitDotFactor(dot, 1);
  if (a == nullptr || b == nullptr) return false;
  const loops::BufferId buffer = statement.target.buffer;
  llvm::Value* sum = EmitLoad(buffer, target);

  // In pieces of the instruction's width; the last one may have unused lanes.
  const int64_t widest = context_.target.vector_bytes * 8 / kLaneBits;
  int64_t width = 4;
  while (width < std::min(widest, lanes_)) width *= 2;
  const auto lanes_of = [&](llvm::Value* value, int64_t from, int64_t count) {
    std::vector<int> lanes;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t lane = from + i;
      lanes.push_back(lane < LanesOf(value) ? static_cast<int>(lane) : -1);
    }
    return b_.CreateShuffleVector(value, lanes);
  };
  llvm::Value* result = llvm::PoisonValue::get(sum->getType());
  for (int64_t from = 0; from < lanes_; from += width) {
    if (width == lanes_) {
      result = EmitDotInstruction(dot, sum, a, b);
      break;
    }
    llvm::Value* piece =
        EmitDotInstruction(dot, lanes_of(sum, from, width),
                           lanes_of(a, from, width), lanes_of(b, from, width));
    for (int64_t i = 0; i < width && from + i < lanes_; ++i) {
      result = b_.CreateInsertElement(
          result, b_.CreateExtractElement(piece, static_cast<uint64_t>(i)),
          static_cast<uint64_t>(from + i));
    }
  }
  EmitStore(buffer, target, result, statement.non_temporal);
  return true;
}

}  // namespace hone::backends
