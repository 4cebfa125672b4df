#include "learning/networks/task_heads.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include <torch/torch.h>

#include "learning/networks/graph_batch.h"
#include "learning/networks/torch_threads.h"

namespace hone::learning {
namespace {

constexpr int64_t kWidth = 8;

// A batch of graphs with these numbers of nodes, without edges.
GraphBatch BatchOf(const std::vector<size_t>& sizes) {
  std::vector<space::Observation> graphs;
  for (const size_t size : sizes) {
    graphs.push_back({.node_kinds = std::vector<int32_t>(size, 0)});
  }
  std::vector<const space::Observation*> pointers;
  for (const space::Observation& graph : graphs) pointers.push_back(&graph);
  return MakeGraphBatch(pointers, {.node_kinds = 1});
}

class TaskHeadsTest : public ::testing::Test {
 protected:
  TaskHeadsTest() {
    WithSeed(5, [&] {
      heads_ = TaskHeads(std::vector<std::string>{"device", "order", "fused"},
                         kWidth, /*segment=*/4);
      nodes_ = torch::randn({11, kWidth});
    });
  }

  torch::NoGradGuard no_grad_;
  TaskHeads heads_{nullptr};
  torch::Tensor nodes_;
};

bool Same(const torch::Tensor& a, const torch::Tensor& b) {
  return torch::allclose(a, b, 1e-5, 1e-6);
}

TEST_F(TaskHeadsTest, GiveEachGroupAnEmbeddingOfEachNode) {
  const std::vector<torch::Tensor> outputs =
      heads_->forward(nodes_, BatchOf({11}));
  ASSERT_EQ(outputs.size(), 3u);
  for (const torch::Tensor& output : outputs) {
    EXPECT_EQ(output.sizes(), nodes_.sizes());
    EXPECT_TRUE(torch::isfinite(output).all().item<bool>());
  }
  EXPECT_FALSE(Same(outputs[0], outputs[1]));
  EXPECT_FALSE(Same(outputs[1], outputs[2]));
}

TEST_F(TaskHeadsTest, LaterHeadsSeeEarlierOnesOnly) {
  const GraphBatch batch = BatchOf({11});
  const std::vector<std::string> names = {"device", "order", "fused"};
  const std::vector<torch::Tensor> before = heads_->forward(nodes_, batch);
  for (size_t changed = 0; changed < names.size(); ++changed) {
    for (const char* layer : {"_output.bias", "_merge.weight"}) {
      SCOPED_TRACE(names[changed] + layer);
      torch::Tensor weights =
          heads_->named_parameters()[names[changed] + layer];
      const torch::Tensor kept = weights.clone();
      // Not all by as much: what layer norms would not see.
      weights.add_(torch::linspace(-1, 2, weights.numel()).view_as(weights));
      const std::vector<torch::Tensor> after = heads_->forward(nodes_, batch);
      weights.copy_(kept);
      for (size_t head = 0; head < names.size(); ++head) {
        EXPECT_EQ(Same(after[head], before[head]), head < changed) << head;
      }
    }
  }
}

TEST_F(TaskHeadsTest, NoNodeSeesAnotherGraph) {
  const GraphBatch batch = BatchOf({3, 1, 7});
  const std::vector<torch::Tensor> together = heads_->forward(nodes_, batch);
  torch::Tensor other = nodes_.clone();
  other.narrow(0, 3, 1) += torch::linspace(-1, 2, kWidth);
  const std::vector<torch::Tensor> changed = heads_->forward(other, batch);
  const std::vector<torch::Tensor> alone =
      heads_->forward(nodes_.narrow(0, 4, 7), BatchOf({7}));
  for (size_t head = 0; head < together.size(); ++head) {
    EXPECT_TRUE(Same(together[head].narrow(0, 4, 7), alone[head]));
    EXPECT_TRUE(
        Same(changed[head].narrow(0, 0, 3), together[head].narrow(0, 0, 3)));
    EXPECT_TRUE(
        Same(changed[head].narrow(0, 4, 7), together[head].narrow(0, 4, 7)));
    EXPECT_FALSE(Same(changed[head][3], together[head][3]));
  }
}

TEST_F(TaskHeadsTest, MayBeOne) {
  TaskHeads one{nullptr};
  WithSeed(5, [&] {
    one = TaskHeads(std::vector<std::string>{"device"}, kWidth, 4);
  });
  const std::vector<torch::Tensor> outputs =
      one->forward(nodes_, BatchOf({11}));
  ASSERT_EQ(outputs.size(), 1u);
  // The first of several is the same head.
  EXPECT_TRUE(Same(outputs[0], heads_->forward(nodes_, BatchOf({11}))[0]));
}

}  // namespace
}  // namespace hone::learning
