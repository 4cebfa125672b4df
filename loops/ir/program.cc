#include "loops/ir/program.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace hone::loops {
namespace {

const Node* Find(const std::vector<Node>& body, const Path& path) {
  const std::vector<Node>* children = &body;
  const Node* node = nullptr;
  for (int32_t i : path) {
    if (children == nullptr || i < 0 ||
        static_cast<size_t>(i) >= children->size()) {
      return nullptr;
    }
    node = &(*children)[static_cast<size_t>(i)];
    children = node->loop() == nullptr ? nullptr : &node->loop()->body;
  }
  return node;
}

void ReplaceIn(std::vector<Node>& body, absl::Span<const int32_t> path,
               std::vector<Node> nodes) {
  const auto at = body.begin() + path.front();
  if (path.size() > 1) {
    auto loop = std::make_shared<Loop>(*at->loop());
    ReplaceIn(loop->body, path.subspan(1), std::move(nodes));
    *at = Node(std::shared_ptr<const Loop>(std::move(loop)));
    return;
  }
  body.insert(body.erase(at), std::make_move_iterator(nodes.begin()),
              std::make_move_iterator(nodes.end()));
}

}  // namespace

int64_t Buffer::allocated_elements() const {
  int64_t last = 0;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    if (dimensions[i] == 0) return 0;
    last += (dimensions[i] - 1) * strides[i];
  }
  return last + 1;
}

bool Buffer::IsDense() const { return strides == DenseStrides(dimensions); }

hlo::DimensionVector DenseStrides(absl::Span<const int64_t> dimensions) {
  hlo::DimensionVector strides(dimensions.size());
  int64_t stride = 1;
  for (size_t i = dimensions.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<int64_t>(dimensions[i], 1);
  }
  return strides;
}

BufferId Program::AddBuffer(Buffer buffer) {
  buffers_.push_back(std::make_shared<const Buffer>(std::move(buffer)));
  return static_cast<BufferId>(buffers_.size() - 1);
}

void Program::SetBuffer(BufferId id, Buffer buffer) {
  buffers_[static_cast<size_t>(id)] =
      std::make_shared<const Buffer>(std::move(buffer));
}

const Node& Program::At(const Path& path) const {
  const Node* node = Find(body_, path);
  HONE_CHECK(node != nullptr);
  return *node;
}

bool Program::Has(const Path& path) const {
  return Find(body_, path) != nullptr;
}

std::vector<const Loop*> Program::LoopsAbove(const Path& path) const {
  std::vector<const Loop*> loops;
  const std::vector<Node>* children = &body_;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    loops.push_back((*children)[static_cast<size_t>(path[i])].loop());
    HONE_CHECK(loops.back() != nullptr);
    children = &loops.back()->body;
  }
  return loops;
}

void Program::Replace(const Path& path, std::vector<Node> nodes) {
  HONE_CHECK(Has(path));
  ReplaceIn(body_, path, std::move(nodes));
}

void Program::ReplaceLoop(const Path& path, Loop loop) {
  Replace(path, {Node(std::make_shared<const Loop>(std::move(loop)))});
}

}  // namespace hone::loops
