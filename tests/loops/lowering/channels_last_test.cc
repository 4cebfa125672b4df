#include "loops/lowering/rewrites/channels_last.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "hlo/text/printer.h"
#include "tests/loops/lowering/lowered.h"
#include "tests/support/status_matchers.h"

namespace hone::loops {
namespace {

using hlo::Opcode;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Returns where channels are in input and result of each convolution.
std::vector<std::string> LabelsAfter(absl::string_view text) {
  hlo::Module module = ParseModule(text);
  HONE_EXPECT_OK(PutChannelsLast(module));
  const hlo::Computation& entry = module.computation(module.entry());
  std::vector<std::string> labels;
  for (hlo::InstructionId id : entry.PostOrder()) {
    if (entry[id].opcode() != Opcode::kConvolution) continue;
    const hlo::ConvolutionDimensions& d = *entry[id].attributes().convolution;
    labels.push_back(absl::StrCat(
        d.input_feature == entry[id].shape().rank() - 1 ? "last" : "other",
        "->",
        d.output_feature == entry[id].shape().rank() - 1 ? "last" : "other"));
  }
  return labels;
}

// Returns what the transposes that it adds are of.
std::vector<std::string> TransposedIn(absl::string_view text) {
  hlo::Module module = ParseModule(text);
  HONE_EXPECT_OK(PutChannelsLast(module));
  const hlo::Computation& entry = module.computation(module.entry());
  std::vector<std::string> names;
  for (const hlo::Instruction& i : entry.instructions()) {
    if (i.opcode() == Opcode::kTranspose) {
      names.push_back(entry[i.operand(0)].name());
    }
  }
  return names;
}

constexpr absl::string_view kSum = R"(
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
)";

// Two convolutions, with what networks have between them.
const std::string& TwoConvolutions() {
  static const auto& text = *new std::string(ModuleText(R"(
  x = f32[2,16,6,6] parameter(0)
  w = f32[16,16,3,3] parameter(1)
  b = f32[16] parameter(2)
  zero = f32[] constant(0)
  zeros = f32[2,16,6,6] broadcast(zero), dimensions={}
  c1 = f32[2,16,6,6] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01
  bb = f32[2,16,6,6] broadcast(b), dimensions={1}
  s = f32[2,16,6,6] add(c1, bb)
  r = f32[2,16,6,6] maximum(s, zeros)
  p = f32[2,16,3,3] reduce-window(r, zero), window={size=1x1x2x2 stride=1x1x2x2}, to_apply=sum
  c2 = f32[2,16,3,3] convolution(p, w), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01
  ROOT m = f32[2,16] reduce(c2, zero), dimensions={2,3}, to_apply=sum)",
                                                        kSum));
  return text;
}

TEST(PutChannelsLast, BetweenConvolutions) {
  EXPECT_THAT(LabelsAfter(TwoConvolutions()),
              ElementsAre("other->last", "last->last"));
  EXPECT_THAT(TransposedIn(TwoConvolutions()), IsEmpty());
  ExpectPlansRight(TwoConvolutions());
}

// A parameter and a result would be transposed for one convolution.
TEST(PutChannelsLast, NotForOneConvolution) {
  const std::string text = ModuleText(R"(
  x = f32[2,16,6,6] parameter(0)
  w = f32[16,16,3,3] parameter(1)
  c = f32[2,16,6,6] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01
  ROOT r = f32[2,16,6,6] tanh(c))");
  EXPECT_THAT(LabelsAfter(text), ElementsAre("other->other"));
  EXPECT_THAT(TransposedIn(text), IsEmpty());
}

// Whatever the types.
TEST(PutChannelsLast, NotForOneConvolutionOfNarrowNumbers) {
  const std::string text = ModuleText(R"(
  x = bf16[2,16,6,6] parameter(0)
  w = bf16[16,16,3,3] parameter(1)
  c = f32[2,16,6,6] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01
  ROOT r = bf16[2,16,6,6] convert(c))");
  EXPECT_THAT(LabelsAfter(text), ElementsAre("other->other"));
}

TEST(PutChannelsLast, NotForFewChannels) {
  const std::string text = ModuleText(R"(
  x = f32[2,3,6,6] parameter(0)
  w = f32[3,3,3,3] parameter(1)
  c1 = f32[2,3,6,6] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01
  c2 = f32[2,3,6,6] convolution(c1, w), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01
  c3 = f32[2,3,6,6] convolution(c2, w), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01
  ROOT r = f32[2,3,6,6] tanh(c3))");
  EXPECT_THAT(LabelsAfter(text),
              ElementsAre("other->other", "other->other", "other->other"));
}

TEST(PutChannelsLast, LeavesWhatIsLast) {
  const std::string text = ModuleText(R"(
  x = f32[2,6,6,16] parameter(0)
  w = f32[3,3,16,16] parameter(1)
  c1 = f32[2,6,6,16] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f
  t = f32[2,6,6,16] tanh(c1)
  ROOT c2 = f32[2,6,6,16] convolution(t, w), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f)");
  const hlo::Module before = ParseModule(text);
  hlo::Module after = before;
  HONE_ASSERT_OK(PutChannelsLast(after));
  EXPECT_EQ(hlo::PrintModule(after), hlo::PrintModule(before));
}

// In the gradient of weights, what is summed over takes the part of channels.
TEST(PutChannelsLast, InGradientsOfWeights) {
  const std::string text = ModuleText(R"(
  x = f32[2,16,6,6] parameter(0)
  w = f32[16,16,3,3] parameter(1)
  c1 = f32[2,16,6,6] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01
  t = f32[2,16,6,6] tanh(c1)
  c2 = f32[2,16,6,6] convolution(t, w), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01
  g = f32[2,16,6,6] sine(c2)
  gw = f32[16,16,3,3] convolution(t, g), window={size=6x6 pad=1_1x1_1}, dim_labels=fb01_io01->fb01
  gx = f32[2,16,6,6] convolution(g, w), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_io01->bf01
  one = f32[] constant(1)
  h = f32[2,16,6,6] multiply(gx, t)
  gw1 = f32[16,16,3,3] convolution(x, h), window={size=6x6 pad=1_1x1_1}, dim_labels=fb01_io01->fb01
  ROOT r = (f32[16,16,3,3], f32[16,16,3,3]) tuple(gw, gw1))");
  EXPECT_THAT(TransposedIn(text), Each("x"));
  EXPECT_THAT(LabelsAfter(text), Contains("last->last"));
  ExpectPlansRight(text);
}

// Writes random networks of arrays with channels somewhere in the middle.
class RandomNetwork {
 public:
  explicit RandomNetwork(uint32_t seed) : random_(seed) {
    const int64_t spatial = 1 + Draw(2);
    channels_ = Draw(spatial + 2);
    rank_ = spatial + 2;
    for (int64_t d = 0; d < rank_; ++d) sizes_.push_back(3 + Draw(2));
    sizes_[static_cast<size_t>(channels_)] = 16;
    batch_ = channels_ == 0 ? 1 : 0;
  }

  std::string Text() {
    Add("zero", "f32[] constant(0)");
    Add("x", absl::StrCat(Type(), " parameter(0)"));
    Add("w", absl::StrCat("f32[", absl::StrJoin(KernelSizes(), ","),
                          "] parameter(1)"));
    std::vector<std::string> values = {"x"};
    const int64_t count = 4 + Draw(8);
    for (int64_t i = 0; i < count; ++i) {
      const auto any = [&] {
        return values[static_cast<size_t>(
            Draw(static_cast<int64_t>(values.size())))];
      };
      values.push_back(
          AddOperation(absl::StrCat("v", i), values.back(), any()));
    }
    Add("rows",
        absl::StrCat("f32[", Kept(), "] reduce(", values.back(),
                     ", zero), dimensions={", Reduced(), "}, to_apply=sum"));
    const std::string all = Draw(2) == 0 ? values.back() : "x";
    Add("ROOT out", absl::StrCat("(f32[", Kept(), "], ", Type(),
                                 ") tuple(rows, ", all, ")"));
    return ModuleText(body_, kSum);
  }

 private:
  int64_t Draw(int64_t below) {
    return std::uniform_int_distribution<int64_t>(0, below - 1)(random_);
  }
  void Add(absl::string_view name, absl::string_view what) {
    absl::StrAppend(&body_, "  ", name, " = ", what, "\n");
  }
  std::string Type() const {
    return absl::StrCat("f32[", absl::StrJoin(sizes_, ","), "]");
  }
  bool IsSpatial(int64_t d) const { return d != channels_ && d != batch_; }
  std::vector<int64_t> KernelSizes() const {
    std::vector<int64_t> sizes = {16, 16};
    for (int64_t d = 2; d < rank_; ++d) sizes.push_back(3);
    return sizes;
  }
  // The dimensions that the last reduction keeps, or not, one of the latter.
  std::string Kept() {
    if (kept_.empty()) {
      kept_ = {batch_, channels_};
      if (Draw(2) == 0) {
        for (int64_t d = 0; d < rank_; ++d) {
          if (IsSpatial(d)) {
            kept_.push_back(d);
            break;
          }
        }
      }
      std::sort(kept_.begin(), kept_.end());
    }
    std::vector<int64_t> sizes;
    for (int64_t d : kept_) sizes.push_back(sizes_[static_cast<size_t>(d)]);
    return absl::StrJoin(sizes, ",");
  }
  std::string Reduced() {
    Kept();
    std::vector<int64_t> dimensions;
    for (int64_t d = 0; d < rank_; ++d) {
      if (std::find(kept_.begin(), kept_.end(), d) == kept_.end()) {
        dimensions.push_back(d);
      }
    }
    return absl::StrJoin(dimensions, ",");
  }

  std::string Window(absl::string_view size, absl::string_view pad,
                     absl::string_view none, absl::string_view no_pad,
                     bool all) const {
    std::vector<std::string> sizes;
    std::vector<std::string> pads;
    for (int64_t d = 0; d < rank_; ++d) {
      if (!IsSpatial(d) && !all) continue;
      sizes.emplace_back(IsSpatial(d) ? size : none);
      pads.emplace_back(IsSpatial(d) ? pad : no_pad);
    }
    return absl::StrCat("window={size=", absl::StrJoin(sizes, "x"),
                        " pad=", absl::StrJoin(pads, "x"), "}");
  }

  std::string Labels() const {
    std::string labels;
    int64_t next = 0;
    for (int64_t d = 0; d < rank_; ++d) {
      if (d == channels_) {
        labels += 'f';
      } else if (d == batch_) {
        labels += 'b';
      } else {
        absl::StrAppend(&labels, next++);
      }
    }
    return labels;
  }

  // Adds an operation of arrays a and b, and returns the name of its result,
  // which has their dimensions.
  std::string AddOperation(const std::string& name, const std::string& a,
                           const std::string& b) {
    const std::string type = Type();
    switch (Draw(11)) {
      case 0:
        Add(name, absl::StrCat(type, " add(", a, ", ", b, ")"));
        break;
      case 1:
        Add(name, absl::StrCat(type, " tanh(", a, ")"));
        break;
      case 2:
        Add(name, absl::StrCat(type, " reduce-window(", a, ", zero), ",
                               Window("3", "1_1", "1", "0_0", true),
                               ", to_apply=sum"));
        break;
      case 3: {
        Add(name, absl::StrCat(type, " reverse(", a, "), dimensions={",
                               Draw(rank_), "}"));
        break;
      }
      case 4: {
        // Part of an array, and zeros for the rest.
        const int64_t d = Draw(rank_);
        std::vector<int64_t> sizes = sizes_;
        --sizes[static_cast<size_t>(d)];
        const std::string part =
            absl::StrCat("f32[", absl::StrJoin(sizes, ","), "]");
        std::vector<std::string> slices;
        std::vector<std::string> pads;
        for (int64_t i = 0; i < rank_; ++i) {
          slices.push_back(absl::StrCat("[", i == d ? 1 : 0, ":",
                                        sizes_[static_cast<size_t>(i)], "]"));
          pads.push_back(i == d ? "0_1" : "0_0");
        }
        Add(name + "s", absl::StrCat(part, " slice(", a, "), slice={",
                                     absl::StrJoin(slices, ", "), "}"));
        Add(name, absl::StrCat(type, " pad(", name,
                               "s, zero), padding=", absl::StrJoin(pads, "x")));
        break;
      }
      case 5: {
        // Halves of two arrays.
        const int64_t d = Draw(rank_);
        std::vector<std::string> parts;
        for (const bool first : {true, false}) {
          std::vector<int64_t> sizes = sizes_;
          std::vector<std::string> slices;
          for (int64_t i = 0; i < rank_; ++i) {
            const int64_t size = sizes_[static_cast<size_t>(i)];
            const int64_t from = i == d && !first ? 1 : 0;
            const int64_t to = i == d && first ? 1 : size;
            slices.push_back(absl::StrCat("[", from, ":", to, "]"));
            sizes[static_cast<size_t>(i)] = to - from;
          }
          parts.push_back(absl::StrCat(name, first ? "a" : "b"));
          Add(parts.back(),
              absl::StrCat("f32[", absl::StrJoin(sizes, ","), "] slice(",
                           first ? a : b, "), slice={",
                           absl::StrJoin(slices, ", "), "}"));
        }
        Add(name,
            absl::StrCat(type, " concatenate(", absl::StrJoin(parts, ", "),
                         "), dimensions={", d, "}"));
        break;
      }
      case 6: {
        // A statistic for each element of some dimensions, and back.
        std::vector<int64_t> kept;
        std::vector<int64_t> reduced;
        std::vector<int64_t> sizes;
        for (int64_t d = 0; d < rank_; ++d) {
          if (Draw(2) == 0) {
            kept.push_back(d);
            sizes.push_back(sizes_[static_cast<size_t>(d)]);
          } else {
            reduced.push_back(d);
          }
        }
        Add(name + "r",
            absl::StrCat("f32[", absl::StrJoin(sizes, ","), "] reduce(", a,
                         ", zero), dimensions={", absl::StrJoin(reduced, ","),
                         "}, to_apply=sum"));
        Add(name, absl::StrCat(type, " broadcast(", name, "r), dimensions={",
                               absl::StrJoin(kept, ","), "}"));
        break;
      }
      case 7: {
        // To bytes of a row and back: what no order goes through.
        int64_t count = 1;
        for (int64_t size : sizes_) count *= size;
        Add(name + "f", absl::StrCat("f32[", count, "] reshape(", a, ")"));
        Add(name, absl::StrCat(type, " reshape(", name, "f)"));
        break;
      }
      case 8:
        Add(name, absl::StrCat(type, " iota(), iota_dimension=", Draw(rank_)));
        break;
      default:
        Add(name, absl::StrCat(type, " convolution(", a, ", w), ",
                               Window("3", "1_1", "", "", false),
                               ", dim_labels=", Labels(), "_oi",
                               rank_ > 3 ? "01" : "0", "->", Labels()));
    }
    return name;
  }

  std::mt19937 random_;
  int64_t rank_ = 0;
  int64_t channels_ = 0;
  int64_t batch_ = 0;
  std::vector<int64_t> sizes_;
  std::vector<int64_t> kept_;
  std::string body_;
};

TEST(PutChannelsLast, RandomNetworksComputeTheSame) {
  int changed = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const std::string text = RandomNetwork(seed).Text();
    SCOPED_TRACE(text);
    ExpectPlansRight(text);
    hlo::Module module = ParseModule(text);
    HONE_ASSERT_OK(PutChannelsLast(module));
    if (hlo::PrintModule(module) != hlo::PrintModule(ParseModule(text))) {
      ++changed;
    }
  }
  EXPECT_GT(changed, 10);
}

}  // namespace
}  // namespace hone::loops
