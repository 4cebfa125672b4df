#include "loops/schedules/contraction.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"

#include "loops/ir/rewrite.h"
#include "loops/schedules/adjacent_steps.h"
#include "loops/schedules/contraction_costs.h"
#include "loops/schedules/interleaved_panels.h"
#include "loops/schedules/loop_chain.h"
#include "loops/schedules/nest.h"
#include "loops/schedules/operand_reads.h"
#include "loops/schedules/panel_copies.h"
#include "loops/schedules/peel_bounds.h"
#include "loops/schedules/register_tile.h"
#include "loops/schedules/short_sums.h"
#include "loops/schedules/sliding_windows.h"
#include "loops/schedules/transposed_copy.h"
#include "loops/schedules/vectorize_innermost.h"
#include "loops/transforms/checks.h"
#include "loops/transforms/locals.h"

namespace hone::loops {
namespace {

constexpr int64_t kTileRows = 6;
constexpr int64_t kMostVectors = 8;
// Tiles of few columns have more rows, for so many vectors of sums: additions
// take four cycles, and two start per cycle, beside the loads.
constexpr int64_t kLeastSums = 12;
constexpr int64_t kMostTileRows = 12;
// A loop with so many rows is not worse than a longer one.
constexpr int64_t kRowsWorthOrder = 8;
// The largest number of tiles along rows or columns that are balanced.
constexpr int64_t kFewTiles = 4;
// The most rows of a tile that share loads in depthwise convolutions, and if
// vectors go along their channels.
constexpr int64_t kMostSharedRows = 6;
constexpr int64_t kMostSlidingRows = 8;
// The smallest block of sums for instructions that take several steps at once.
constexpr int64_t kLeastBlock = 64;
// Parts of a nest that leave ranges out, each of which may double the code: few
// if a condition is that of a whole row of the tile.
constexpr int kMostPeels = 12;
constexpr int kFewPeels = 4;

void Append(std::vector<VarId>& to, const std::vector<VarId>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// A perfect nest around the initialization of sums, the sums, and an epilogue.
class ContractionScheduler {
 public:
  // `may_combine` allows instructions that take several steps of the sum at
  // once.
  ContractionScheduler(Scheduler& s, const Path& nest, bool may_combine)
      : s_(s), nest_(nest), may_combine_(may_combine), chain_(s, nest) {}

  bool Run() {
    const Scheduler::Checkpoint mark = s_.Save();
    if (HasRightShape() && ChooseRoles() && Tile()) return true;
    s_.Restore(mark);
    return false;
  }

  // Returns true if Run chose instructions that take several steps at once.
  bool combines() const { return products_ > 1; }

 private:
  bool HasRightShape() {
    const size_t depth = chain_.Loops().size() - 1;
    const std::vector<Node>& body = chain_.Loops().back()->body;
    if (body.size() < 2 || body[0].statement() == nullptr ||
        body[0].statement()->combine.has_value() || body[1].loop() == nullptr ||
        std::any_of(body.begin() + 2, body.end(), [](const Node& node) {
          return node.statement() == nullptr;
        })) {
      return false;
    }
    has_epilogue_ = body.size() > 2;
    sum_ = Child(chain_.AtDepth(depth), 1);
    while (s_.program().At(sum_).loop() != nullptr) {
      if (s_.program().At(sum_).loop()->body.size() != 1) return false;
      sum_.push_back(0);
    }
    return Find().has_value();
  }

  std::optional<Contraction> Find() const {
    auto contraction = AsContraction(s_.program(), sum_);
    if (!contraction.has_value()) {
      contraction = AsSumOverRows(s_.program(), sum_);
    }
    if (!contraction.has_value()) return std::nullopt;
    DropLoops(s_.program().LoopsAbove(nest_), *contraction);
    return contraction;
  }

  // Chooses the loops of the tile's columns and rows, and the order of the
  // others.
  bool ChooseRoles() {
    const Program& program = s_.program();
    Contraction c = *Find();
    for (const Loop* loop : program.LoopsAbove(sum_)) {
      extents_[loop->var] = loop->extent;
    }
    const Access target = program.At(sum_).statement()->target;
    target_ = target.buffer;
    const Expression& value = *program.At(sum_).statement()->value;
    has_ranges_ = value.kind() == Expression::Kind::kWhere;
    const int64_t width =
        std::max<int64_t>(hlo::ByteWidth(program.buffer(target_).type), 4);
    lanes_ = std::max<int64_t>(s_.machine().vector_bytes / width, 2);
    if (may_combine_) step_ = AdjacentSteps(program, s_.machine(), c);
    if (step_.has_value()) {
      products_ = adjacent_ = extents_.at(*step_);
      c.sums.erase(absl::c_find(c.sums, *step_));
    }
    column_ = TakeColumn(Setting(), c, both_move_);
    if (!column_.has_value() || !PackRowFactor(c)) return false;
    std::optional<SlidingWindow> window;
    if (both_move_) {
      window = FindSlidingWindow(program, *c.a, c.rows, c.sums, extents_,
                                 kLeastSharedRows);
    }
    slides_ = window.has_value();
    channels_ = extents_.at(*column_);
    // Conditions may be on the image instead of on the product.
    has_ranges_ |= slides_ && absl::c_any_of(value.operands(), [](auto& e) {
                     return e->kind() == Expression::Kind::kWhere;
                   });
    tile_rows_ =
        s_.Choose(Choice::kTileRows, slides_ ? kMostSlidingRows : RowsFor(c));
    double rows = 1;
    for (VarId var : c.rows) rows *= static_cast<double>(extents_.at(var));
    in_place_ = c.a != nullptr && !both_move_ && !has_ranges_ &&
                ShouldReadInPlace(Setting(), c, *column_);
    const bool is_contiguous = StrideOf(program, *c.b, *column_) == adjacent_;
    const bool worth_panels =
        !is_contiguous ||
        (rows >= static_cast<double>(RowsWorthPanels(Setting(), *c.b)) &&
         !in_place_ && !step_.has_value());
    // Nothing uses a panel twice without rows.
    has_panels_ = !both_move_ && c.a != nullptr && !c.rows.empty() &&
                  s_.Choose(Choice::kPanels, worth_panels ? 2 : 1) == 2;
    transposes_ =
        c.a == nullptr && StrideOf(program, *c.b, *column_) > kMostLoadStride;
    const bool has_reuse = !c.rows.empty();
    const std::optional<VarId> shared =
        slides_ ? ChooseSlidingRow(c, *window) : ChooseSharedRows(c);
    if (!slides_) ChooseRow(c);
    scatters_ = is_contiguous && StrideOf(program, target, *column_) != 1;
    factor_ = c.b->buffer;
    factor_width_ = hlo::ByteWidth(program.buffer(factor_).type);
    if (may_combine_ && has_panels_ && !step_.has_value()) {
      products_ = ProductsAtOnce(program, s_.machine(), c);
    }
    rows_first_ =
        products_ == 1 && has_panels_ && c.a != nullptr && row_.has_value() &&
        StrideOf(program, *c.b, *column_) == 1 &&
        s_.Choose(Choice::kRowsFirst,
                  ShouldPutRowsFirst(Setting(), c, *column_, *row_) ? 2 : 1) ==
            2;
    columns_inside_ = products_ == 1 && has_panels_ && !rows_first_ &&
                      row_.has_value() &&
                      ShouldPutColumnsInside(Setting(), c, *column_, *row_);
    if (c.a != nullptr) row_factor_ = c.a->buffer;
    // The rows' operand is read in place.
    sums_ = c.sums;
    const Access& in_order = c.a != nullptr ? *c.a : *c.b;
    absl::c_stable_sort(sums_, [&](VarId a, VarId b) {
      return StrideOf(program, in_order, a).value_or(0) >
             StrideOf(program, in_order, b).value_or(0);
    });
    if (shared.has_value()) {
      sums_.erase(absl::c_find(sums_, *shared));
      sums_.push_back(*shared);
    }
    if (c.a != nullptr && row_.has_value()) {
      window_ = ElementsOfWindow(program, *c.a, *row_,
                                 std::min(tile_rows_, extents_.at(*row_)),
                                 sums_.back(), extents_.at(sums_.back()));
    }
    has_row_panels_ = products_ > 1 && !step_.has_value() &&
                      StrideOf(program, in_order, sums_.back()) != 1;
    batches_ = c.batches;
    other_columns_ = c.columns;
    if (!has_reuse && !both_move_) {
      // Each image is finished before the next one.
      Append(batches_, other_columns_);
      other_columns_.clear();
      absl::c_stable_sort(batches_, [&](VarId a, VarId b) {
        return StrideOf(program, target, a).value_or(0) >
               StrideOf(program, target, b).value_or(0);
      });
    }
    other_rows_ = c.rows;
    return true;
  }

  VectorSetting Setting() const {
    return {
        s_.program(), s_.machine(), s_.program().At(sum_).statement()->target,
        extents_,     lanes_,       adjacent_};
  }

  // Copies the rows' operand in front of the nest if steps of the sum are
  // adjacent in the other one only.
  bool PackRowFactor(Contraction& c) {
    if (!step_.has_value() || StrideOf(s_.program(), *c.a, *step_) == 1) {
      return true;
    }
    const BufferId other = c.b->buffer;
    const size_t others = Siblings();
    if (!PackAdjacentSteps(s_, nest_, c, *c.a, *step_)) return false;
    if (!ScheduleTransposedCopy(s_, nest_)) VectorizeInnermost(s_, nest_);
    SkipCopies(others);
    sum_[nest_.size() - 1] = nest_.back();
    const Contraction packed = *Find();
    c.a = packed.a;
    c.b = packed.b;
    if (c.b->buffer != other) std::swap(c.a, c.b);
    return true;
  }

  // If only images move with the result's rows and columns, as in depthwise
  // NCHW convolutions and in pooling, chooses the tile's rows among those of
  // the image: they share what they load if the taps along them are unrolled.
  // Returns the loop of these.
  std::optional<VarId> ChooseSharedRows(Contraction& c) {
    if (both_move_ || transposes_ || !c.rows.empty()) return std::nullopt;
    const std::optional<SlidingWindow> window =
        FindSharedRows(s_.program(), c, extents_, *column_);
    if (!window.has_value()) return std::nullopt;
    c.columns.erase(absl::c_find(c.columns, window->row));
    c.rows = {window->row};
    tile_rows_ = std::min(tile_rows_,
                          c.a == nullptr ? kLeastSharedRows : kMostSharedRows);
    return window->sum;
  }

  // Chooses the tile's rows where a window slides along them and vectors go
  // along channels: few tiles of equal size. Returns the loop of the sum that
  // they share elements in.
  std::optional<VarId> ChooseSlidingRow(Contraction& c,
                                        const SlidingWindow& window) {
    row_ = window.row;
    c.rows.erase(absl::c_find(c.rows, *row_));
    const auto elements = [&] {
      return ElementsOfWindow(s_.program(), *c.a, *row_, tile_rows_, window.sum,
                              extents_.at(window.sum));
    };
    while (tile_rows_ > 1 && !FitsInRegisters(tile_rows_, 1, elements())) {
      --tile_rows_;
    }
    const int64_t tiles = (extents_.at(*row_) + tile_rows_ - 1) / tile_rows_;
    tile_rows_ = (extents_.at(*row_) + tiles - 1) / tiles;
    return window.sum;
  }

  // Chooses the loop of the tile's rows: one that fills a tile, if possible
  // one along which the operand is contiguous.
  void ChooseRow(Contraction& c) {
    std::optional<std::pair<int64_t, bool>> best;
    for (VarId var : c.rows) {
      const std::pair<int64_t, bool> worth = {
          std::min(extents_.at(var), std::min(tile_rows_, kRowsWorthOrder)),
          c.a != nullptr && StrideOf(s_.program(), *c.a, var) == 1};
      if (best.has_value() && worth < *best) continue;
      best = worth;
      row_ = var;
    }
    if (!row_.has_value()) return;
    c.rows.erase(absl::c_find(c.rows, *row_));
    // One short tile rather than two halves; few tiles are of equal size.
    const int64_t vectors = (extents_.at(*column_) + lanes_ - 1) / lanes_;
    if (c.a != nullptr && !both_move_ && tile_rows_ == RowsFor(c) &&
        extents_.at(*row_) <= kRowsWorthOrder &&
        FitsInRegisters(extents_.at(*row_), vectors)) {
      tile_rows_ = std::max(tile_rows_, extents_.at(*row_));
    }
    // Tiles have all columns of a block, which is read from end to end, and
    // registers hold those of a step.
    while (in_place_ && !c.columns.empty() && vectors <= kMostTileVectors &&
           tile_rows_ > 1 &&
           (tile_rows_ + 1) * vectors >= s_.machine().vector_registers) {
      --tile_rows_;
    }
    const int64_t tiles = (extents_.at(*row_) + tile_rows_ - 1) / tile_rows_;
    if (tiles <= kFewTiles) {
      tile_rows_ = (extents_.at(*row_) + tiles - 1) / tiles;
    }
  }

  // Returns true if registers hold a tile of so many rows and vectors per row,
  // the elements of one operand for a step of the sum, and some of the other.
  bool FitsInRegisters(int64_t rows, int64_t vectors,
                       int64_t others = 1) const {
    return rows * vectors + std::min(rows, vectors) + others <=
           s_.machine().vector_registers;
  }

  // Returns true if half of L1 holds what a tile of all channels reads of an
  // image, for the next one along the image's rows.
  bool HoldsWindow() const {
    int64_t bytes = window_ * channels_ * factor_width_;
    for (VarId sum : sums_) bytes *= sum == sums_.back() ? 1 : extents_.at(sum);
    return bytes <= s_.machine().l1_bytes / 2;
  }

  // Returns the rows of a tile: more for few vectors.
  int64_t RowsFor(const Contraction& c) const {
    if (c.a == nullptr || both_move_) return kTileRows;
    const int64_t vectors =
        std::max<int64_t>((extents_.at(*column_) + lanes_ - 1) / lanes_, 1);
    int64_t rows = std::clamp(kLeastSums / vectors, kTileRows, kMostTileRows);
    while (rows > kTileRows && !FitsInRegisters(rows, vectors)) --rows;
    return rows;
  }

  // Vectors per tile row, as many as registers allow.
  int64_t VectorsFor(int64_t rows) const {
    int64_t vectors = 1;
    while (!both_move_ && !transposes_ && vectors < kMostVectors &&
           FitsInRegisters(rows, vectors + 1)) {
      ++vectors;
    }
    // Few tiles are of equal size.
    const int64_t all = (extents_.at(*column_) + lanes_ - 1) / lanes_;
    const int64_t tiles = (all + vectors - 1) / vectors;
    if (tiles <= kFewTiles) vectors = (all + tiles - 1) / tiles;
    return s_.Choose(Choice::kTileVectors, vectors);
  }

  bool Tile() {
    const int64_t width =
        std::max<int64_t>(hlo::ByteWidth(s_.program().buffer(target_).type), 4);
    const int64_t rows =
        row_.has_value() ? std::min(tile_rows_, extents_.at(*row_)) : 1;
    const int64_t columns = lanes_ * VectorsFor(rows);
    has_long_window_ =
        window_ > 1 && !FitsInRegisters(rows, columns / lanes_, window_);
    const bool cuts_steps = products_ > 1 && !step_.has_value();
    if (cuts_steps && !PeelSteps()) return false;
    int64_t block = SumsPerBlock(
        columns * (products_ > 1 ? factor_width_ * adjacent_ : width));
    if (cuts_steps && sums_.size() == 1 && block < extents_.at(sums_[0])) {
      while (block >= kLeastBlock &&
             (block % products_ != 0 || extents_.at(sums_[0]) % block != 0)) {
        --block;
      }
      if (block < kLeastBlock) return false;
    }
    if ((has_rest_ || block < extents_.at(sums_[0])) && !BlockSums(block)) {
      return false;
    }

    std::vector<VarId> order = batches_;
    if (blocks_.has_value()) order.push_back(*blocks_);
    const bool columns_inside = columns_inside_ && !blocks_.has_value();
    if (!columns_inside) Append(order, other_columns_);
    std::optional<VarId> row_tiles;
    std::optional<VarId> column_tiles;
    const int64_t whole_tiles = extents_.at(*column_) / columns;
    if (!CutTile(row_, tile_rows_, row_tiles) ||
        !CutTile(column_, columns, column_tiles) ||
        !ShareColumns(whole_tiles, column_tiles, order)) {
      return false;
    }
    // One panel, or what stays in L2 of the columns, serves all rows.
    // Otherwise, columns are read contiguously.
    const bool column_panels =
        (has_panels_ || in_place_) && !rows_first_ && !columns_inside;
    if (column_tiles.has_value() && column_panels) {
      order.push_back(*column_tiles);
    }
    size_t panel_depth = order.size();
    if (slides_ && row_tiles.has_value()) {
      // Images are read from end to end.
      other_rows_.push_back(*row_tiles);
      row_tiles.reset();
      absl::c_sort(other_rows_, [this](VarId a, VarId b) {
        return chain_.DepthOf(a) < chain_.DepthOf(b);
      });
    }
    Append(order, other_rows_);
    if (slides_ && column_tiles.has_value() && !other_rows_.empty() &&
        !HoldsWindow()) {
      order.insert(order.end() - 1, *column_tiles);
      column_tiles.reset();
    }
    if (row_tiles.has_value() && rows_first_) {
      order.push_back(*row_tiles);
      panel_depth = order.size();
    }
    if (columns_inside) {
      if (row_tiles.has_value()) order.push_back(*row_tiles);
      Append(order, other_columns_);
    }
    if (column_tiles.has_value() && !column_panels) {
      order.push_back(*column_tiles);
    }
    if (row_tiles.has_value() && !rows_first_ && !columns_inside) {
      order.push_back(*row_tiles);
    }
    const size_t tile_depth = order.size();
    if (row_.has_value()) order.push_back(*row_);
    order.push_back(*column_);
    if (!chain_.MoveOut(order)) return false;

    if (products_ > 1) {
      if (tile_depth == 0) return false;
      one_panel_ = panel_depth == 0;
      panel_ = chain_.AtDepth(one_panel_ ? 0 : panel_depth - 1);
      around_tile_ = chain_.AtDepth(tile_depth - 1);
    }
    const Path tile = chain_.AtDepth(tile_depth);
    if (!FillTile(tile)) return false;
    if (products_ > 1) {
      FinishCombinedSteps();
      Finish();
      return true;
    }
    // A single tile is the whole result.
    if (tile_depth > 0 || nest_.size() == 1) {
      KeepInRegisters(s_,
                      tile_depth > 0 ? chain_.AtDepth(tile_depth - 1) : Path(),
                      target_, lanes_);
    }
    if (has_panels_) CopyPanels(panel_depth);
    Finish();
    return true;
  }

  // Copies what the loop at `path` reads of an operand, before its body or, if
  // `is_whole`, before the loop itself: the operand that moves with the rows,
  // or the other one. Both may be the same matrix.
  bool Pack(const Path& path, bool moves_with_rows, bool is_whole) {
    const BufferId buffer = moves_with_rows ? *row_factor_ : factor_;
    if (row_factor_ != factor_ || !row_.has_value()) {
      return s_.Try("pack", path, {buffer, is_whole ? 2 : 1});
    }
    return PackOneAccess(s_, path, buffer, *row_, moves_with_rows, is_whole);
  }

  // Copies panels in the loop above depth `depth` of the chain, or the whole
  // operand in front of the nest if there is none.
  void CopyPanels(size_t depth) {
    const bool is_whole = depth == 0;
    const Path loop = chain_.AtDepth(is_whole ? 0 : depth - 1);
    if (!Pack(loop, rows_first_, is_whole)) return;
    if (!is_whole) {
      has_late_copies_ = HasConditions(s_.program(), Child(loop, 0));
      if (!has_late_copies_) VectorizeInnermost(s_, Child(loop, 0));
      return;
    }
    const size_t others = Siblings() - 1;
    VectorizeInnermost(s_, nest_);
    SkipCopies(others);
  }

  // Returns the block size of the outermost sum: all iterations if their panel
  // fits in half of L2.
  int64_t SumsPerBlock(int64_t bytes) const {
    const int64_t extent = extents_.at(sums_[0]);
    if (both_move_ || transposes_) return extent;
    if (!has_panels_) {
      const int64_t rows = row_.has_value() ? extents_.at(*row_) : 1;
      return s_.Choose(Choice::kSumsPerBlock,
                       sums_.size() > 1 || scatters_ || in_place_
                           ? extent
                           : StepsInPlace(s_.machine(), rows, extent, bytes));
    }
    if (rows_first_) return extent;
    for (VarId var : sums_) bytes *= extents_.at(var);
    const int64_t room =
        s_.machine().l2_bytes / s_.Choose(Choice::kPanelShare, 2);
    const int64_t blocks = (bytes + room - 1) / room;
    return std::max((extent + blocks - 1) / blocks,
                    std::min<int64_t>(extent, 16));
  }

  // Makes the number of steps of the innermost sum a multiple of what an
  // instruction takes: the other steps become part of the epilogue, in a nest
  // of its own, since they read the columns' operand elsewhere.
  bool PeelSteps() {
    const VarId sum = sums_.back();
    int64_t& extent = extents_.at(sum);
    const int64_t rest = extent % products_;
    if (extent < products_) return false;
    if (rest == 0) return true;
    // Few steps do not pay for another pass over the result.
    if (sums_.size() > 1 || extent < kLeastStepsToPeel) return false;
    Path path = Parent(sum_);
    if (!s_.Try("peel", path, {extent - rest})) return false;
    ++path.back();
    if (rest > 1 && !s_.Try("combine_steps", path)) return false;
    extent -= rest;
    has_epilogue_ = true;
    has_rest_ = true;
    return true;
  }

  // Separates initialization, sums and epilogue into nests, and blocks the
  // sums if there are more than a block.
  bool BlockSums(int64_t block) {
    if (!chain_.SplitOffFirst()) return false;
    chain_.set_top(Sibling(nest_, 1));
    if (has_epilogue_) {
      if (!chain_.SplitOffFirst()) return false;
      const Path epilogue = Sibling(nest_, 2);
      VectorizeInnermost(s_, epilogue);
      ParallelizeNest(s_, epilogue);
      has_epilogue_ = false;
    }
    sums_apart_ = true;
    if (block >= extents_.at(sums_[0])) return true;
    VarId outer = 0;
    VarId inner = 0;
    if (!chain_.Split(sums_[0], block, outer, inner)) return false;
    blocks_ = outer;
    sums_[0] = inner;
    return true;
  }

  // Splits the loop of `var` if it is longer than `size`; `var` is then the
  // loop inside the tile.
  bool CutTile(std::optional<VarId>& var, int64_t size,
               std::optional<VarId>& tiles) {
    if (!var.has_value() || extents_.at(*var) <= size) return true;
    VarId outer = 0;
    VarId inner = 0;
    if (!chain_.Split(*var, size, outer, inner)) return false;
    var = inner;
    tiles = outer;
    return true;
  }

  // If blocks of sums, which are sequential, are outermost, threads divide the
  // columns: whole tiles, since those at the border become a nest of their own.
  bool ShareColumns(int64_t whole_tiles, std::optional<VarId>& column_tiles,
                    std::vector<VarId>& order) {
    const int64_t threads = s_.machine().threads;
    if (!blocks_.has_value() || order[0] != *blocks_ || threads < 2 ||
        whole_tiles < 2 * threads) {
      return true;
    }
    const int64_t share = TilesPerShare(
        whole_tiles, chain_.LoopOf(*column_tiles).extent, threads);
    VarId shares = *column_tiles;
    if (share > 1 && !chain_.Split(shares, share, shares, *column_tiles)) {
      return false;
    }
    if (share == 1) column_tiles.reset();
    order.insert(order.begin(), shares);
    return true;
  }

  // Vectorizes initialization, sums and epilogue of the tile whose outermost
  // loop is at `tile`.
  bool FillTile(const Path& tile) {
    Path sums = tile;
    if (!sums_apart_) {
      if (!LoopChain(s_, tile).SplitOffFirst()) return false;
      sums = Sibling(tile, 1);
      if (has_epilogue_) {
        if (!LoopChain(s_, sums).SplitOffFirst() ||
            !MakeVectors(LoopChain(s_, Sibling(sums, 1)))) {
          return false;
        }
      }
      if (!MakeVectors(LoopChain(s_, tile))) return false;
    }
    LoopChain chain(s_, sums);
    std::optional<VarId> vectors;
    if (products_ > 1 &&
        (!SplitColumns(chain, vectors) || !CombineSteps(chain))) {
      return false;
    }
    if (!chain.MoveOut(sums_) || !MakeVectors(chain, vectors)) return false;
    const Path innermost = chain.PathOf(sums_.back());
    // Every step of a tile at the border has a condition per row.
    const bool has_conditions =
        has_ranges_ && row_factor_.has_value() && !slides_;
    if (!has_conditions && !has_long_window_ &&
        s_.program().At(innermost).loop()->extent <=
            (transposes_ ? kShortRow : kFewSums)) {
      s_.Try("unroll", innermost);
    }
    if (slides_) UnrollWindow(chain);
    return true;
  }

  // Unrolls all of a small window.
  void UnrollWindow(const LoopChain& chain) {
    int64_t products = chain.LoopOf(*row_).extent;
    for (VarId sum : sums_) products *= extents_.at(sum);
    if (products > kMostUnrolledProducts) return;
    for (VarId sum : sums_) s_.Try("unroll", chain.PathOf(sum));
  }

  // Splits columns that are not whole vectors, so that panels have these.
  bool SplitColumns(LoopChain& chain, std::optional<VarId>& vectors) {
    const int64_t extent = chain.LoopOf(*column_).extent;
    if (extent <= lanes_ || extent % lanes_ == 0) return true;
    VarId outer = 0;
    VarId inner = 0;
    if (!chain.Split(*column_, lanes_, outer, inner)) return false;
    vectors = outer;
    return true;
  }

  // Copies panels with adjacent steps of the sum side by side, and combines
  // these steps. `chain` are the loops of the sums in the tile.
  bool CombineSteps(LoopChain& chain) {
    VarId step = step_.value_or(0);
    if (!step_.has_value() &&
        !chain.Split(sums_.back(), products_, sums_.back(), step)) {
      return false;
    }
    if (!chain.MoveOut(sums_)) return false;
    if (!has_panels_) return s_.Try("combine_steps", chain.PathOf(step));
    if (!Pack(panel_, false, one_panel_)) return false;
    // The copy is in front of what was there.
    Path top = chain.top();
    const size_t place = panel_.size() - (one_panel_ ? 1 : 0);
    ++top[place];
    if (around_tile_.size() > place) ++around_tile_[place];
    if (has_row_panels_) {
      if (!Pack(around_tile_, true, false)) return false;
      ++top[around_tile_.size()];
    }
    chain.set_top(top);
    return s_.Try("combine_steps", chain.PathOf(step));
  }

  // Vectorizes the copies of CombineSteps, the last ones first: a nest may
  // become several.
  void FinishCombinedSteps() {
    if (!has_panels_) {
      KeepInRegisters(s_, around_tile_, target_, lanes_);
      return;
    }
    const bool together = !one_panel_ && panel_ == around_tile_;
    const Path copy = one_panel_
                          ? panel_
                          : Child(panel_, together && has_row_panels_ ? 1 : 0);
    if (together) VectorizeInterleavedCopy(s_, copy, products_);
    if (has_row_panels_) {
      VectorizeInterleavedCopy(s_, Child(around_tile_, 0), products_);
    }
    KeepInRegisters(s_, around_tile_, target_, lanes_);
    if (together) return;
    const size_t others = Siblings() - 1;
    VectorizeInterleavedCopy(s_, copy, products_);
    if (one_panel_) SkipCopies(others);
  }

  // Divides the copies in front of the nest among threads. `others` are the
  // nests of the program besides these copies.
  void SkipCopies(size_t others) {
    const size_t copies = Siblings() - others;
    const Path top = chain_.top();
    for (size_t i = 0; i < copies; ++i) {
      ParallelizeNest(s_, Sibling(top, static_cast<int32_t>(i)));
    }
    chain_.set_top(Sibling(top, static_cast<int32_t>(copies)));
    if (!sums_apart_) nest_ = chain_.top();
  }

  // Vectorizes the tile's columns and unrolls the rest of the tile. `vectors`
  // is the loop over vectors if columns are split already.
  bool MakeVectors(const LoopChain& chain,
                   std::optional<VarId> vectors = std::nullopt) {
    Path columns = chain.PathOf(vectors.value_or(*column_));
    if (vectors.has_value() || chain.LoopOf(*column_).extent > lanes_) {
      if ((!vectors.has_value() && !s_.Try("split", columns, {lanes_})) ||
          !s_.Try("unroll", columns)) {
        return false;
      }
      columns.push_back(0);
    }
    if (s_.program().At(columns).loop()->extent > 1 &&
        !s_.Try("vectorize", columns)) {
      return false;
    }
    return !row_.has_value() || s_.Try("unroll", chain.PathOf(*row_));
  }

  // The number of nests in the body that has this one.
  size_t Siblings() const { return BodyAt(s_.program(), Parent(nest_)).size(); }

  // Handles edges and threads.
  void Finish() {
    const Path top = chain_.top();
    const size_t others = Siblings() - 1;
    PeelBounds(s_, top);
    if (has_ranges_) {
      const bool few = row_factor_.has_value() && !slides_;
      PeelRanges(s_, top, few ? kFewPeels : kMostPeels);
    }
    for (size_t i = Siblings() - others; i-- > 0;) {
      const Path part = Sibling(top, static_cast<int32_t>(i));
      if (has_late_copies_) VectorizePanelCopies(s_, part);
      ComputeWholeVectors(s_, part);
      ParallelizeNest(s_, part);
    }
    if (!sums_apart_) return;
    VectorizeInnermost(s_, nest_);
    ParallelizeNest(s_, nest_);
  }

  Scheduler& s_;
  Path nest_;
  const bool may_combine_;
  int64_t tile_rows_ = kTileRows;
  // The loops around the sums, later also the loops of the sums.
  LoopChain chain_;
  Path sum_;  // the statement, before anything is done
  bool has_epilogue_ = false;
  BufferId target_ = 0;
  BufferId factor_ = 0;  // that moves with the columns
  // That moves with the rows, if there are two.
  std::optional<BufferId> row_factor_;
  int64_t factor_width_ = 0;  // of an element, in bytes
  // Steps of the sum that one instruction takes. If these are several, panels
  // are copied in panel_, and the loop around a tile is at around_tile_.
  int64_t products_ = 1;
  bool has_rest_ = false;  // steps that are left over
  Path panel_;
  Path around_tile_;
  // True if one panel, in front of the nest, serves everything.
  bool one_panel_ = false;
  // The loop over such steps if they are adjacent in both operands already, and
  // the distance of consecutive elements there: their number, else 1.
  std::optional<VarId> step_;
  int64_t adjacent_ = 1;
  // True if the rows' operand is copied for each tile, since the steps that an
  // instruction takes are not adjacent in it.
  bool has_row_panels_ = false;
  int64_t lanes_ = 0;
  // True if the columns' operand is read in place, past whole sums.
  bool in_place_ = false;
  // True if panels of the columns' operand are copied.
  bool has_panels_ = false;
  // True if copies have conditions, most of which peeling bounds will remove.
  bool has_late_copies_ = false;
  // True if row tiles are outside column tiles, and the rows' operand is
  // copied.
  bool rows_first_ = false;
  // True if row tiles are outside column tiles, and all panels of the columns'
  // operand are copied first.
  bool columns_inside_ = false;
  // The elements of the rows' operand that unrolled steps of a window share,
  // and true if registers do not hold them.
  int64_t window_ = 1;
  bool has_long_window_ = false;
  // True if the products, or elements of an image, are inside kWhere.
  bool has_ranges_ = false;
  // True if both operands depend on the columns, and if a window slides along
  // the rows then.
  bool both_move_ = false;
  bool slides_ = false;
  int64_t channels_ = 0;
  // True if vectors of results, unlike those of the operand, are not
  // contiguous: they are stored only once.
  bool scatters_ = false;
  // True if vectors go along the rows of a matrix, blocks of which are
  // transposed.
  bool transposes_ = false;
  absl::flat_hash_map<VarId, int64_t> extents_;
  std::optional<VarId> row_;
  std::optional<VarId> column_;
  std::optional<VarId> blocks_;  // of the outermost sum
  // True if initialization, sums and epilogue are nests of their own.
  bool sums_apart_ = false;
  std::vector<VarId> sums_;
  std::vector<VarId> batches_;
  std::vector<VarId> other_columns_;
  std::vector<VarId> other_rows_;
};

}  // namespace

bool ScheduleContraction(Scheduler& scheduler, const Path& path) {
  ContractionScheduler combining(scheduler, path, true);
  return combining.Run() ||
         (combining.combines() &&
          ContractionScheduler(scheduler, path, false).Run());
}

}  // namespace hone::loops
