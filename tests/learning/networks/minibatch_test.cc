#include "learning/networks/minibatch.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hone::learning {
namespace {

using ::testing::ElementsAre;

using ::testing::SizeIs;

View ViewOf(std::shared_ptr<const space::Observation> graph) {
  View view;
  view.graph = std::move(graph);
  return view;
}

std::shared_ptr<const space::Observation> GraphOf(size_t nodes) {
  space::Observation graph;
  graph.node_kinds.resize(nodes);
  return std::make_shared<const space::Observation>(std::move(graph));
}

TEST(MemoryParts, KeepViewsOfOneStateTogether) {
  const View a = ViewOf(GraphOf(kNodesPerPart - 1));
  const View b = ViewOf(GraphOf(10));
  const std::vector<const View*> views = {&a, &b, &a, &b, &a};
  EXPECT_THAT(MemoryParts(views),
              ElementsAre(ElementsAre(0, 2, 4), ElementsAre(1, 3)));
}

TEST(MemoryParts, TakeAGraphThatIsLargerThanAPart) {
  const View a = ViewOf(GraphOf(3 * kNodesPerPart));
  EXPECT_THAT(MemoryParts(std::vector<const View*>{&a}),
              ElementsAre(ElementsAre(0)));
}

TEST(Minibatches, HaveEachIndexOnce) {
  Rng rng(1);
  const auto batches = Minibatches(10, 4, rng);
  EXPECT_THAT(batches, ElementsAre(SizeIs(4), SizeIs(4), SizeIs(2)));
  std::vector<size_t> all;
  for (const auto& batch : batches) {
    all.insert(all.end(), batch.begin(), batch.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_THAT(all, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
}

}  // namespace
}  // namespace hone::learning
