#include "loops/lowering/kernel/winograd.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"

#include "base/division.h"
#include "base/status_macros.h"
#include "loops/lowering/kernel/families.h"
#include "loops/lowering/kernel/scalar.h"

namespace hone::loops {
namespace {

using hlo::ElementType;
using hlo::Opcode;

constexpr size_t kWindow = 3;
constexpr int64_t kResults = 2;  // of a tile, per dimension
constexpr size_t kTile = 4;
// Products per pair of features that a tile saves for each element that its
// transforms read or write, at least.
constexpr double kLeastSavings = 10;
// Direct products for each one of a tile, at least: fewer than 36/16 where
// tiles go beyond the image.
constexpr double kLeastRatio = 1.5;
// Tiles of a block: enough for each read of transformed weights, few enough for
// L2 to hold the block. Fewer of an image do not make up for the transforms of
// weights.
constexpr int64_t kTilesPerBlock = 24;
// Transformed weights of more bytes than caches near a core hold: they need
// more tiles, and nothing makes up for those that no cache holds.
constexpr double kCachedBytes = 4 << 20;
constexpr double kMostBytes = 24 << 20;
constexpr double kManyTiles = 96;

size_t At(int64_t dimension) { return static_cast<size_t>(dimension); }

ExpressionPtr Op(Opcode opcode, const ExpressionPtr& a,
                 const ExpressionPtr& b) {
  return Expression::Apply(opcode, ElementType::kF32, {a, b});
}
ExpressionPtr Sum(const ExpressionPtr& a, const ExpressionPtr& b) {
  return Op(Opcode::kAdd, a, b);
}
ExpressionPtr Difference(const ExpressionPtr& a, const ExpressionPtr& b) {
  return Op(Opcode::kSubtract, a, b);
}
ExpressionPtr Half(const ExpressionPtr& a) {
  return Op(Opcode::kMultiply, a, Expression::Constant(ElementType::kF32, 0.5));
}

using Row = std::vector<ExpressionPtr>;
using Square = std::vector<Row>;

Row TransformInput(const Row& d) {
  return {Difference(d[0], d[2]), Sum(d[1], d[2]), Difference(d[2], d[1]),
          Difference(d[1], d[3])};
}

Row TransformWeights(const Row& g) {
  const ExpressionPtr even = Half(Sum(g[0], g[2]));
  const ExpressionPtr odd = Half(g[1]);
  return {g[0], Sum(even, odd), Difference(even, odd), g[2]};
}

Row TransformSums(const Row& m) {
  return {Sum(Sum(m[0], m[1]), m[2]), Difference(Difference(m[1], m[2]), m[3])};
}

Square Transposed(const Square& square) {
  Square result(square[0].size());
  for (const Row& row : square) {
    for (size_t j = 0; j < row.size(); ++j) result[j].push_back(row[j]);
  }
  return result;
}

// Applies `transform` to the columns, then to the rows.
Square Transform(Row (*transform)(const Row&), const Square& square) {
  Square columns;
  for (const Row& column : Transposed(square)) {
    columns.push_back(transform(column));
  }
  Square result;
  for (const Row& row : Transposed(columns)) result.push_back(transform(row));
  return result;
}

class WinogradWriter {
 public:
  WinogradWriter(KernelWriter& writer, Nest& nest, hlo::InstructionId id)
      : writer_(writer),
        graph_(writer.graph()),
        nest_(nest),
        value_(graph_.leaves(id)[0]),
        input_(graph_.operands(id)[0]),
        kernel_(graph_.operands(id)[1]),
        window_(*graph_.computation()[id].attributes().window),
        dims_(*graph_.computation()[id].attributes().convolution) {
    inputs_ = graph_.dimensions(kernel_)[At(dims_.kernel_input_feature)];
    outputs_ = graph_.dimensions(value_)[At(dims_.output_feature)];
    for (size_t d = 0; d < 2; ++d) {
      sizes_[d] = graph_.dimensions(value_)[At(dims_.output_spatial[d])];
      tiles_[d] = CeilDivide(sizes_[d], kResults);
    }
    // Blocks of equal size: the rows of tiles are cut first.
    const int64_t across = CeilDivide(tiles_[1], kTilesPerBlock);
    block_[1] = CeilDivide(tiles_[1], across);
    const int64_t rows =
        std::min(CeilDivide(kTilesPerBlock, block_[1]), tiles_[0]);
    block_[0] = CeilDivide(tiles_[0], CeilDivide(tiles_[0], rows));
  }

  absl::Status Run() {
    HONE_RETURN_IF_ERROR(TransposeWeights());
    HONE_RETURN_IF_ERROR(TransformAllWeights());
    const Affine n =
        nest_.AddLoop(graph_.dimensions(value_)[At(dims_.output_batch)]);
    std::array<Affine, 2> origin;
    for (size_t d = 0; d < 2; ++d) {
      origin[d] = nest_.AddLoop(CeilDivide(tiles_[d], block_[d])) *
                  (kResults * block_[d]);
    }
    depth_ = nest_.depth();
    HONE_RETURN_IF_ERROR(CopyImage(n, origin));
    TransformTiles();
    MultiplyTiles();
    TransformAllSums();
    CopyResults(n, origin);
    HONE_RETURN_IF_ERROR(ComputeDirectly(n, origin));
    nest_.CloseTo(0);
    return absl::OkStatus();
  }

 private:
  ExpressionPtr Load(BufferId buffer, const Indices& indices) const {
    return writer_.Load({buffer, indices});
  }

  absl::StatusOr<ExpressionPtr> Weight(const Affine& y, const Affine& x,
                                       const Affine& c, const Affine& k) {
    if (transposed_.has_value()) return Load(*transposed_, {y, x, c, k});
    Indices at(4);
    const std::array<Affine, 2> taps = {y, x};
    for (size_t d = 0; d < 2; ++d) {
      at[At(dims_.kernel_spatial[d])] =
          window_[d].reversal
              ? Affine(static_cast<int64_t>(kWindow) - 1) - taps[d]
              : taps[d];
    }
    at[At(dims_.kernel_input_feature)] = c;
    at[At(dims_.kernel_output_feature)] = k;
    return writer_.Read(nest_, kernel_, at);
  }

  // Weights whose input features are adjacent, as in the gradients of inputs,
  // are transposed in a nest of its own: as part of the transforms, it would be
  // compiled nine times, once for each weight of a window.
  absl::Status TransposeWeights() {
    if (dims_.kernel_input_feature != 3) return absl::OkStatus();
    constexpr auto kSize = static_cast<int64_t>(kWindow);
    const BufferId transposed =
        nest_.Temporary("transposed_weights", ElementType::kF32,
                        {kSize, kSize, inputs_, outputs_});
    const Affine y = nest_.AddLoop(kSize);
    const Affine x = nest_.AddLoop(kSize);
    const Affine c = nest_.AddLoop(inputs_);
    const Affine k = nest_.AddLoop(outputs_);
    HONE_ASSIGN_OR_RETURN(ExpressionPtr weight, Weight(y, x, c, k));
    nest_.Store({transposed, {y, x, c, k}}, std::move(weight));
    nest_.CloseTo(0);
    transposed_ = transposed;
    return absl::OkStatus();
  }

  absl::Status TransformAllWeights() {
    weights_ = nest_.Temporary("weights", ElementType::kF32,
                               {kTile * kTile, inputs_, outputs_});
    const Affine c = nest_.AddLoop(inputs_);
    const Affine k = nest_.AddLoop(outputs_);
    Square g(kWindow);
    for (size_t i = 0; i < kWindow; ++i) {
      for (size_t j = 0; j < kWindow; ++j) {
        HONE_ASSIGN_OR_RETURN(
            ExpressionPtr weight,
            Weight(static_cast<int64_t>(i), static_cast<int64_t>(j), c, k));
        g[i].push_back(std::move(weight));
      }
    }
    StoreTile(weights_, Transform(&TransformWeights, g), c, k);
    nest_.CloseTo(0);
    return absl::OkStatus();
  }

  // Stores each of the 4×4 elements to an array of its own in `buffer`.
  void StoreTile(BufferId buffer, const Square& elements, const Affine& row,
                 const Affine& column) {
    for (size_t i = 0; i < kTile; ++i) {
      for (size_t j = 0; j < kTile; ++j) {
        nest_.Store(
            {buffer,
             {Affine(static_cast<int64_t>(i * kTile + j)), row, column}},
            elements[i][j]);
      }
    }
  }

  // Copies the part of the image that a block reads, with its padding.
  absl::Status CopyImage(const Affine& n, const std::array<Affine, 2>& origin) {
    const int64_t rows = kResults * (block_[0] + 1);
    const int64_t columns = kResults * (block_[1] + 1);
    image_ =
        nest_.Temporary("image", ElementType::kF32, {rows, columns, inputs_});
    const Affine y = nest_.AddLoop(rows);
    const Affine x = nest_.AddLoop(columns);
    const Affine c = nest_.AddLoop(inputs_);
    Indices at(4);
    at[At(dims_.input_batch)] = n;
    at[At(dims_.input_feature)] = c;
    const std::array<Affine, 2> offsets = {y, x};
    std::vector<Range> ranges;
    for (size_t d = 0; d < 2; ++d) {
      const Affine place = origin[d] + offsets[d] - window_[d].padding_low;
      at[At(dims_.input_spatial[d])] = place;
      ranges.push_back(
          {place, 0, graph_.dimensions(input_)[At(dims_.input_spatial[d])]});
    }
    HONE_ASSIGN_OR_RETURN(ExpressionPtr element,
                          writer_.Read(nest_, input_, at));
    element = WhereInside(nest_, std::move(ranges), std::move(element),
                          Expression::Constant(ElementType::kF32, 0));
    nest_.Store({image_, {y, x, c}}, std::move(element));
    nest_.CloseTo(depth_);
    return absl::OkStatus();
  }

  void TransformTiles() {
    tiles_of_image_ =
        nest_.Temporary("tiles", ElementType::kF32,
                        {kTile * kTile, block_[0] * block_[1], inputs_});
    const Affine y = nest_.AddLoop(block_[0]);
    const Affine x = nest_.AddLoop(block_[1]);
    const Affine c = nest_.AddLoop(inputs_);
    Square d(kTile);
    for (size_t i = 0; i < kTile; ++i) {
      for (size_t j = 0; j < kTile; ++j) {
        d[i].push_back(
            Load(image_, {y * kResults + static_cast<int64_t>(i),
                          x * kResults + static_cast<int64_t>(j), c}));
      }
    }
    StoreTile(tiles_of_image_, Transform(&TransformInput, d), y * block_[1] + x,
              c);
    nest_.CloseTo(depth_);
  }

  void MultiplyTiles() {
    const int64_t tiles = block_[0] * block_[1];
    sums_ = nest_.Temporary("sums", ElementType::kF32,
                            {kTile * kTile, tiles, outputs_});
    const Affine e = nest_.AddLoop(kTile * kTile);
    const Affine t = nest_.AddLoop(tiles);
    const Affine k = nest_.AddLoop(outputs_);
    const Access sum = {sums_, {e, t, k}};
    nest_.Store(sum, Expression::Constant(ElementType::kF32, 0));
    const Affine c = nest_.AddLoop(inputs_);
    nest_.Store(sum,
                Op(Opcode::kMultiply, Load(tiles_of_image_, {e, t, c}),
                   Load(weights_, {e, c, k})),
                Opcode::kAdd);
    nest_.CloseTo(depth_);
  }

  void TransformAllSums() {
    results_ =
        nest_.Temporary("results", ElementType::kF32,
                        {kResults * block_[0], kResults * block_[1], outputs_});
    const Affine y = nest_.AddLoop(block_[0]);
    const Affine x = nest_.AddLoop(block_[1]);
    const Affine k = nest_.AddLoop(outputs_);
    Square m(kTile);
    for (size_t i = 0; i < kTile; ++i) {
      for (size_t j = 0; j < kTile; ++j) {
        m[i].push_back(Load(sums_, {Affine(static_cast<int64_t>(i * kTile + j)),
                                    y * block_[1] + x, k}));
      }
    }
    const Square results = Transform(&TransformSums, m);
    for (int64_t i = 0; i < kResults; ++i) {
      for (int64_t j = 0; j < kResults; ++j) {
        nest_.Store({results_, {y * kResults + i, x * kResults + j, k}},
                    results[At(i)][At(j)]);
      }
    }
    nest_.CloseTo(depth_);
  }

  // Opens loops over the results of a block that are in the image.
  std::array<Affine, 2> OpenBlock(const std::array<Affine, 2>& origin) {
    std::array<Affine, 2> at;
    for (size_t d = 0; d < 2; ++d) {
      at[d] = nest_.AddBoundedLoop(kResults * block_[d],
                                   Affine(sizes_[d]) - origin[d]);
    }
    return at;
  }

  Access Target(const Affine& n, const std::array<Affine, 2>& origin,
                const std::array<Affine, 2>& at, const Affine& k) {
    Indices indices(4);
    indices[At(dims_.output_batch)] = n;
    indices[At(dims_.output_feature)] = k;
    for (size_t d = 0; d < 2; ++d) {
      indices[At(dims_.output_spatial[d])] = origin[d] + at[d];
    }
    return writer_.Target(nest_, value_, indices);
  }

  void CopyResults(const Affine& n, const std::array<Affine, 2>& origin) {
    // Zero if all results are finite, else NaN.
    check_ = nest_.Temporary("check", ElementType::kF32);
    nest_.Store({check_, {}}, Expression::Constant(ElementType::kF32, 0));
    {
      const Affine y = nest_.AddLoop(kResults * block_[0]);
      const Affine x = nest_.AddLoop(kResults * block_[1]);
      const Affine k = nest_.AddLoop(outputs_);
      nest_.Store({check_, {}},
                  Op(Opcode::kMultiply, Load(results_, {y, x, k}),
                     Expression::Constant(ElementType::kF32, 0)),
                  Opcode::kAdd);
      nest_.CloseTo(depth_);
    }
    const std::array<Affine, 2> at = OpenBlock(origin);
    const Affine k = nest_.AddLoop(outputs_);
    nest_.Store(Target(n, origin, at, k), Load(results_, {at[0], at[1], k}));
    nest_.CloseTo(depth_);
  }

  // Computes the block once more if `check_` is NaN.
  absl::Status ComputeDirectly(const Affine& n,
                               const std::array<Affine, 2>& origin) {
    const ExpressionPtr is_needed = Expression::Compare(
        hlo::ComparisonDirection::kNe, false, Load(check_, {}),
        Expression::Constant(ElementType::kF32, 0));
    {
      const std::array<Affine, 2> at = OpenBlock(origin);
      const Affine k = nest_.AddLoop(outputs_);
      nest_.Store(Target(n, origin, at, k),
                  Expression::Constant(ElementType::kF32, 0), std::nullopt,
                  is_needed);
      nest_.CloseTo(depth_);
    }
    const std::array<Affine, 2> at = OpenBlock(origin);
    const Affine i = nest_.AddLoop(kWindow);
    const Affine j = nest_.AddLoop(kWindow);
    const Affine c = nest_.AddLoop(inputs_);
    const Affine k = nest_.AddLoop(outputs_);
    HONE_ASSIGN_OR_RETURN(ExpressionPtr weight, Weight(i, j, c, k));
    nest_.Store(
        Target(n, origin, at, k),
        Op(Opcode::kMultiply, Load(image_, {at[0] + i, at[1] + j, c}), weight),
        Opcode::kAdd, is_needed);
    nest_.CloseTo(depth_);
    return absl::OkStatus();
  }

  KernelWriter& writer_;
  const ValueGraph& graph_;
  Nest& nest_;
  const ValueId value_;
  const ValueId input_;
  const ValueId kernel_;
  const hlo::Window& window_;
  const hlo::ConvolutionDimensions& dims_;
  int64_t inputs_ = 0;
  int64_t outputs_ = 0;
  // The results, the tiles, and the tiles of a block, per dimension.
  std::array<int64_t, 2> sizes_{};
  std::array<int64_t, 2> tiles_{};
  std::array<int64_t, 2> block_{};
  // Loops around a block.
  size_t depth_ = 0;
  std::optional<BufferId> transposed_;
  BufferId weights_ = 0;
  BufferId image_ = 0;
  BufferId tiles_of_image_ = 0;
  BufferId sums_ = 0;
  BufferId results_ = 0;
  BufferId check_ = 0;
};

bool IsPlain(const hlo::WindowDimension& w) {
  return w.size == static_cast<int64_t>(kWindow) && w.stride == 1 &&
         w.base_dilation == 1 && w.window_dilation == 1 && w.padding_low >= 0 &&
         w.padding_high >= 0;
}

}  // namespace

bool ShouldUseWinograd(const ValueGraph& graph, hlo::InstructionId id) {
  const hlo::Attributes& attributes = graph.computation()[id].attributes();
  const ValueId value = graph.leaves(id)[0];
  const ValueId input = graph.operands(id)[0];
  const ValueId kernel = graph.operands(id)[1];
  const hlo::ConvolutionDimensions& dims = *attributes.convolution;
  const std::string* const precision =
      attributes.FindOther("operand_precision");
  if (attributes.window == nullptr || attributes.window->size() != 2 ||
      !absl::c_all_of(*attributes.window, IsPlain) ||
      dims.feature_group_count != 1 || dims.batch_group_count != 1 ||
      graph.type(value) != ElementType::kF32 ||
      graph.type(input) != ElementType::kF32 ||
      graph.type(kernel) != ElementType::kF32 ||
      (precision != nullptr && absl::StrContains(*precision, "high"))) {
    return false;
  }
  const auto c = static_cast<double>(
      graph.dimensions(kernel)[At(dims.kernel_input_feature)]);
  const auto k =
      static_cast<double>(graph.dimensions(value)[At(dims.output_feature)]);
  double results = 1;
  double tiles = 1;
  for (int64_t d : dims.output_spatial) {
    const int64_t size = graph.dimensions(value)[At(d)];
    results *= static_cast<double>(size);
    tiles *= static_cast<double>(CeilDivide(size, kResults));
  }
  const auto batch =
      static_cast<double>(graph.dimensions(value)[At(dims.output_batch)]);
  constexpr double kProducts = kTile * kTile;
  const double weight_bytes = kProducts * sizeof(float) * c * k;
  constexpr double kDirect = kWindow * kWindow * kResults * kResults;
  return 9 * results >= kLeastRatio * kProducts * tiles &&
         tiles >= kTilesPerBlock && weight_bytes <= kMostBytes &&
         (weight_bytes <= kCachedBytes || batch * tiles >= kManyTiles) &&
         (kDirect - kProducts) * c * k >=
             kLeastSavings * 2 * kProducts * (c + k);
}

absl::Status WriteWinograd(KernelWriter& writer, Nest& nest,
                           hlo::InstructionId id) {
  return WinogradWriter(writer, nest, id).Run();
}

}  // namespace hone::loops
