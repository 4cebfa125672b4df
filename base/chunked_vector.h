#ifndef HONE_BASE_CHUNKED_VECTOR_H_
#define HONE_BASE_CHUNKED_VECTOR_H_

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"

namespace hone {

// A vector whose elements never move: push_back keeps references to earlier
// elements valid, which a pass needs while it adds instructions.
// Copying copies the elements; indices are kept.
template <typename T, size_t kChunkSize = 128>
class ChunkedVector {
 public:
  ChunkedVector() = default;
  ChunkedVector(ChunkedVector&&) noexcept = default;
  ChunkedVector& operator=(ChunkedVector&&) noexcept = default;
  ChunkedVector(const ChunkedVector& other) { CopyFrom(other); }
  ChunkedVector& operator=(const ChunkedVector& other) {
    if (this != &other) {
      chunks_.clear();
      size_ = 0;
      CopyFrom(other);
    }
    return *this;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  T& operator[](size_t i) { return (*chunks_[i / kChunkSize])[i % kChunkSize]; }
  const T& operator[](size_t i) const {
    return (*chunks_[i / kChunkSize])[i % kChunkSize];
  }

  T& push_back(T value) {
    if (size_ == chunks_.size() * kChunkSize) {
      chunks_.push_back(std::make_unique<std::vector<T>>());
      chunks_.back()->reserve(kChunkSize);
    }
    chunks_.back()->push_back(std::move(value));
    ++size_;
    return chunks_.back()->back();
  }

 private:
  void CopyFrom(const ChunkedVector& other) {
    chunks_.reserve(other.chunks_.size());
    for (const auto& chunk : other.chunks_) {
      auto copy = std::make_unique<std::vector<T>>();
      copy->reserve(kChunkSize);
      copy->insert(copy->end(), chunk->begin(), chunk->end());
      chunks_.push_back(std::move(copy));
    }
    size_ = other.size_;
  }

  std::vector<std::unique_ptr<std::vector<T>>> chunks_;
  size_t size_ = 0;
};

}  // namespace hone

#endif  // HONE_BASE_CHUNKED_VECTOR_H_
