#include <algorithm>
#include <bit>

#include <llvm/IR/Constants.h>

#include "backends/llvm/function_emitter.h"

namespace hone::backends {

using loops::Access;
using loops::Affine;
using loops::Buffer;
using loops::BufferId;

namespace {

// The largest stride of a load of which the vectors between are loaded whole.
constexpr int64_t kMostShuffledStride = 4;

// Offsets a pointer by `number` elements. Inactive lanes may be out of bounds,
// so the address is then not marked as in bounds.
llvm::Value* Further(llvm::IRBuilder<>& b, bool stays_inside, llvm::Type* type,
                     llvm::Value* pointer, llvm::Value* number) {
  return stays_inside ? b.CreateInBoundsGEP(type, pointer, number)
                      : b.CreateGEP(type, pointer, number);
}

}  // namespace

llvm::Type* FunctionEmitter::StorageOf(BufferId buffer) {
  return arithmetic_.StorageType(context_.program.buffer(buffer).type);
}

int64_t FunctionEmitter::RegisterElements(const Buffer& buffer) const {
  if (buffer.dimensions.empty()) return 1;
  const int64_t lanes =
      context_.target.vector_bytes / hlo::ByteWidth(buffer.type);
  return (buffer.allocated_elements() + lanes - 1) / lanes * lanes;
}

FunctionEmitter::UniformParts FunctionEmitter::SplitUniform(
    const Affine& affine) {
  UniformParts parts = {nullptr, affine.constant()};
  for (const Affine::Term& term : affine.terms()) {
    const Variable& variable = variables_.at(term.var);
    if (const auto* number =
            llvm::dyn_cast<llvm::ConstantInt>(variable.value)) {
      parts.number += term.coefficient * number->getSExtValue();
      continue;
    }
    llvm::Value* value = variable.value;
    if (term.coefficient != 1) {
      value = b_.CreateMul(value, Int64(term.coefficient), "", false, true);
    }
    parts.value = parts.value == nullptr
                      ? value
                      : b_.CreateAdd(parts.value, value, "", false, true);
  }
  return parts;
}

llvm::Value* FunctionEmitter::EmitUniform(const Affine& affine) {
  const UniformParts parts = SplitUniform(affine);
  llvm::Value* number = Int64(parts.number);
  return parts.value == nullptr
             ? number
             : b_.CreateAdd(parts.value, number, "", false, true);
}

loops::Interval FunctionEmitter::RangeOf(const Affine& affine) const {
  return loops::RangeOf(affine, [this](loops::VarId var) {
    loops::Interval range = variables_.at(var).range;
    if (var == lane_var_) range.hi += lanes_ - 1;
    return range;
  });
}

bool FunctionEmitter::IsInside(const Access& access) const {
  const Buffer& buffer = context_.program.buffer(access.buffer);
  const bool is_flat =
      access.indices.size() == 1 && buffer.dimensions.size() != 1;
  for (size_t i = 0; i < access.indices.size(); ++i) {
    const int64_t size =
        is_flat ? buffer.allocated_elements() : buffer.dimensions[i];
    const loops::Interval range = RangeOf(access.indices[i].affine);
    if (access.indices[i].offset != nullptr || range.lo < 0 ||
        range.hi >= size) {
      return false;
    }
  }
  return true;
}

FunctionEmitter::Address FunctionEmitter::EmitAddress(const Access& access) {
  const Buffer& buffer = context_.program.buffer(access.buffer);
  const bool is_flat =
      access.indices.size() == 1 && buffer.dimensions.size() != 1;
  Address address;
  address.always_valid = IsInside(access);
  Affine linear;
  llvm::Value* uniform = Int64(0);
  for (size_t i = 0; i < access.indices.size(); ++i) {
    const loops::Index& index = access.indices[i];
    const int64_t stride = is_flat ? 1 : buffer.strides[i];
    linear += index.affine * stride;
    if (index.offset == nullptr) continue;
    llvm::Value* offset = EmitExpression(index.offset);
    offset =
        b_.CreateIntCast(offset, TypeLike(b_.getInt64Ty(), offset->getType()),
                         hlo::IsSigned(index.offset->type()));
    offset = b_.CreateMul(
        offset, llvm::ConstantInt::get(offset->getType(),
                                       static_cast<uint64_t>(stride)));
    if (LanesOf(offset) == 0) {
      uniform = b_.CreateAdd(uniform, offset);
    } else {
      address.offsets = address.offsets == nullptr
                            ? offset
                            : b_.CreateAdd(address.offsets, offset);
    }
  }
  if (lanes_ > 0) address.stride = linear.coefficient(lane_var_);
  if (buffer.memory == loops::Memory::kRegister && address.offsets == nullptr) {
    // Lanes past the end of a row touch other elements of the buffer at most.
    const loops::Interval range = RangeOf(linear);
    address.always_valid =
        address.always_valid ||
        (range.lo >= 0 && range.hi < RegisterElements(buffer));
  }
  if (address.offsets != nullptr && address.stride != 0) {
    address.offsets = b_.CreateAdd(
        address.offsets, LaneNumbers(b_.getInt64Ty(), address.stride));
    address.stride = 0;
  }
  // Constants come last, so that adjacent accesses share the rest.
  llvm::Type* type = StorageOf(access.buffer);
  const UniformParts parts = SplitUniform(linear);
  if (parts.value != nullptr) uniform = b_.CreateAdd(uniform, parts.value);
  const bool stays_inside = mask_ == nullptr || address.always_valid;
  address.pointer =
      Further(b_, stays_inside, type,
              bases_[static_cast<size_t>(access.buffer)], uniform);
  address.pointer =
      Further(b_, stays_inside, type, address.pointer, Int64(parts.number));
  return address;
}

llvm::Value* FunctionEmitter::EmitScalarLoad(BufferId buffer,
                                             llvm::Value* pointer) {
  const hlo::ElementType type = context_.program.buffer(buffer).type;
  llvm::LoadInst* load = b_.CreateAlignedLoad(
      StorageOf(buffer), pointer,
      llvm::Align(static_cast<uint64_t>(hlo::ByteWidth(type))));
  return arithmetic_.FromStorage(type, Annotate(buffer, load));
}

void FunctionEmitter::EmitScalarStore(BufferId buffer, llvm::Value* pointer,
                                      llvm::Value* value) {
  const hlo::ElementType type = context_.program.buffer(buffer).type;
  Annotate(buffer,
           b_.CreateAlignedStore(
               arithmetic_.ToStorage(type, value), pointer,
               llvm::Align(static_cast<uint64_t>(hlo::ByteWidth(type)))));
}

llvm::Value* FunctionEmitter::LanePointer(BufferId buffer,
                                          const Address& address,
                                          int64_t lane) {
  llvm::Value* offset = address.offsets == nullptr
                            ? Int64(lane * address.stride)
                            : b_.CreateExtractElement(
                                  address.offsets, static_cast<uint64_t>(lane));
  return Further(b_, mask_ == nullptr || address.always_valid,
                 StorageOf(buffer), address.pointer, offset);
}

llvm::Value* FunctionEmitter::LanePointers(BufferId buffer,
                                           const Address& address) {
  llvm::Value* offsets = address.offsets;
  if (offsets == nullptr) {
    offsets = LaneNumbers(b_.getInt64Ty(), address.stride);
  }
  return b_.CreateGEP(StorageOf(buffer), address.pointer, offsets);
}

llvm::Value* FunctionEmitter::EmitLoad(BufferId buffer,
                                       const Address& address) {
  if (lanes_ == 0) return EmitScalarLoad(buffer, address.pointer);
  const hlo::ElementType type = context_.program.buffer(buffer).type;
  llvm::Value* mask = address.always_valid ? nullptr : mask_;
  if (address.IsUniform()) {
    if (mask == nullptr) return EmitScalarLoad(buffer, address.pointer);
    return EmitChoice(
        AnyLane(mask), [&] { return EmitScalarLoad(buffer, address.pointer); },
        [&] {
          return llvm::Constant::getNullValue(arithmetic_.ValueType(type));
        });
  }
  if (address.offsets != nullptr ||
      (address.stride != 1 && address.stride != -1)) {
    return EmitStridedLoad(buffer, address);
  }
  llvm::Type* vector = llvm::FixedVectorType::get(
      StorageOf(buffer), static_cast<unsigned>(lanes_));
  const llvm::Align align(static_cast<uint64_t>(hlo::ByteWidth(type)));
  const bool reversed = address.stride < 0;
  llvm::Value* pointer =
      reversed ? LanePointer(buffer, address, lanes_ - 1) : address.pointer;
  llvm::Value* value;
  if (mask == nullptr) {
    value = Annotate(buffer, b_.CreateAlignedLoad(vector, pointer, align));
  } else {
    if (reversed) mask = b_.CreateVectorReverse(mask);
    value = Annotate(buffer,
                     b_.CreateMaskedLoad(vector, pointer, align, mask,
                                         llvm::Constant::getNullValue(vector)));
  }
  if (reversed) value = b_.CreateVectorReverse(value);
  return arithmetic_.FromStorage(type, value);
}

llvm::Constant* FunctionEmitter::FirstLanes(int64_t count) {
  std::vector<llvm::Constant*> bits;
  for (int64_t i = 0; i < lanes_; ++i) bits.push_back(b_.getInt1(i < count));
  return llvm::ConstantVector::get(bits);
}

int64_t FunctionEmitter::FirstLanesOf(const llvm::Value* mask) {
  const auto* const constant = llvm::dyn_cast<llvm::Constant>(mask);
  for (int64_t count = lanes_; constant != nullptr && count > 0; --count) {
    if (constant == FirstLanes(count)) return count;
  }
  return 0;
}

llvm::Value* FunctionEmitter::EmitStridedLoad(BufferId buffer,
                                              const Address& address) {
  const hlo::ElementType type = context_.program.buffer(buffer).type;
  llvm::Type* vector = llvm::FixedVectorType::get(
      StorageOf(buffer), static_cast<unsigned>(lanes_));
  llvm::Value* mask = address.always_valid ? nullptr : mask_;
  const llvm::Align align(static_cast<uint64_t>(hlo::ByteWidth(type)));
  const int64_t active = mask == nullptr ? lanes_ : FirstLanesOf(mask);
  if (active > 0 && address.offsets == nullptr && address.stride > 1 &&
      address.stride <= kMostShuffledStride && lanes_ >= address.stride) {
    return arithmetic_.FromStorage(type,
                                   EmitSpreadLoad(buffer, address, active));
  }
  if (mask != nullptr || context_.target.has_fast_gather) {
    llvm::CallInst* gather = b_.CreateMaskedGather(
        vector, LanePointers(buffer, address), align,
        mask == nullptr ? llvm::ConstantInt::getTrue(llvm::FixedVectorType::get(
                              b_.getInt1Ty(), static_cast<unsigned>(lanes_)))
                        : mask,
        llvm::Constant::getNullValue(vector));
    return arithmetic_.FromStorage(type, Annotate(buffer, gather));
  }
  llvm::Value* value = llvm::PoisonValue::get(vector);
  for (int64_t lane = 0; lane < lanes_; ++lane) {
    llvm::LoadInst* load = b_.CreateAlignedLoad(
        StorageOf(buffer), LanePointer(buffer, address, lane), align);
    value = b_.CreateInsertElement(value, Annotate(buffer, load),
                                   static_cast<uint64_t>(lane));
  }
  return arithmetic_.FromStorage(type, value);
}

llvm::Value* FunctionEmitter::EmitSpreadLoad(BufferId buffer,
                                             const Address& address,
                                             int64_t active) {
  llvm::Type* vector = llvm::FixedVectorType::get(
      StorageOf(buffer), static_cast<unsigned>(lanes_));
  const llvm::Align align(static_cast<uint64_t>(
      hlo::ByteWidth(context_.program.buffer(buffer).type)));
  const int64_t last = (active - 1) * address.stride;
  llvm::Value* value = llvm::Constant::getNullValue(vector);
  for (int64_t part = 0, next = 0; next < active; ++part) {
    // The last vector ends with the last lane's element.
    const int64_t start =
        std::min(part * lanes_, std::max<int64_t>(last + 1 - lanes_, 0));
    llvm::Value* pointer =
        b_.CreateInBoundsGEP(StorageOf(buffer), address.pointer, Int64(start));
    llvm::Value* loaded = Annotate(
        buffer, last + 1 >= lanes_
                    ? b_.CreateAlignedLoad(vector, pointer, align)
                    : static_cast<llvm::Instruction*>(b_.CreateMaskedLoad(
                          vector, pointer, align, FirstLanes(last + 1),
                          llvm::Constant::getNullValue(vector))));
    std::vector<int> lanes(static_cast<size_t>(lanes_));
    for (int64_t i = 0; i < lanes_; ++i) lanes[static_cast<size_t>(i)] = int(i);
    for (; next < active && next * address.stride < start + lanes_; ++next) {
      lanes[static_cast<size_t>(next)] =
          static_cast<int>(lanes_ + next * address.stride - start);
    }
    value = b_.CreateShuffleVector(value, loaded, lanes);
  }
  return value;
}

void FunctionEmitter::EmitStore(BufferId buffer, const Address& address,
                                llvm::Value* value, bool non_temporal) {
  if (lanes_ == 0) {
    EmitScalarStore(buffer, address.pointer, value);
    return;
  }
  const hlo::ElementType type = context_.program.buffer(buffer).type;
  const llvm::Align align(static_cast<uint64_t>(hlo::ByteWidth(type)));
  llvm::Value* stored = arithmetic_.ToStorage(type, Splat(value));
  llvm::Value* pointer = address.pointer;
  llvm::Value* mask = mask_;
  if (address.stride < 0) {
    pointer = LanePointer(buffer, address, lanes_ - 1);
    stored = b_.CreateVectorReverse(stored);
    if (mask != nullptr) mask = b_.CreateVectorReverse(mask);
  }
  if (mask != nullptr && address.always_valid &&
      context_.program.buffer(buffer).memory == loops::Memory::kRegister) {
    // LLVM keeps memory in registers only if no masked access touches it.
    llvm::Value* old = Annotate(
        buffer, b_.CreateAlignedLoad(stored->getType(), pointer, align));
    stored = b_.CreateSelect(mask, stored, old);
    Annotate(buffer, b_.CreateAlignedStore(stored, pointer, align));
  } else if (mask != nullptr) {
    Annotate(buffer, b_.CreateMaskedStore(stored, pointer, align, mask));
  } else if (non_temporal) {
    StoreNonTemporal(buffer, pointer, stored);
  } else {
    Annotate(buffer, b_.CreateAlignedStore(stored, pointer, align));
  }
}

// The instruction requires an aligned address, which is only known at run time.
// For 12 lanes of 4 bytes, 8 is the largest part that it can store.
void FunctionEmitter::StoreNonTemporal(BufferId buffer, llvm::Value* pointer,
                                       llvm::Value* value) {
  const hlo::ElementType type = context_.program.buffer(buffer).type;
  const auto bytes = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(
      std::min(context_.target.vector_bytes, lanes_ * hlo::ByteWidth(type)))));
  has_non_temporal_ = true;
  llvm::Value* low_bits = b_.CreateAnd(
      b_.CreatePtrToInt(pointer, b_.getInt64Ty()), Int64(bytes - 1));
  llvm::Value* is_aligned = b_.CreateICmpEQ(low_bits, Int64(0));
  EmitIf(is_aligned, [&] {
    llvm::StoreInst* store = b_.CreateAlignedStore(
        value, pointer, llvm::Align(static_cast<uint64_t>(bytes)));
    store->setMetadata(
        llvm::LLVMContext::MD_nontemporal,
        llvm::MDNode::get(b_.getContext(),
                          {llvm::ConstantAsMetadata::get(b_.getInt32(1))}));
    Annotate(buffer, store);
  });
  EmitIf(b_.CreateNot(is_aligned), [&] {
    // As elements of another width: of two stores of one type, LLVM would make
    // a single ordinary one.
    const int64_t stored_bytes = lanes_ * hlo::ByteWidth(type);
    const int64_t width = hlo::ByteWidth(type) == 1 ? 2 : 1;
    llvm::Value* bits = value;
    if (stored_bytes % width == 0) {
      bits = b_.CreateBitCast(
          value, llvm::FixedVectorType::get(
                     b_.getIntNTy(static_cast<unsigned>(8 * width)),
                     static_cast<unsigned>(stored_bytes / width)));
    }
    Annotate(buffer,
             b_.CreateAlignedStore(
                 bits, pointer,
                 llvm::Align(static_cast<uint64_t>(hlo::ByteWidth(type)))));
  });
}

}  // namespace hone::backends
