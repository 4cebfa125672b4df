#include "bench/plot.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <limits>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

#include "base/files.h"

namespace hone::bench {
namespace {

constexpr const char* kColors[] = {"#3b7dd8", "#b8681c", "#2e8b57",
                                   "#d0484a", "#9a5fd0", "#12869a"};
constexpr const char* kGray = "#767676";

// Pixels.
constexpr double kWidth = 900;
constexpr double kHeight = 460;
constexpr double kLeft = 80;
constexpr double kRight = 190;
constexpr double kTop = 44;
constexpr double kBottom = 60;
constexpr double kLineHeight = 20;

std::string Escape(absl::string_view text) {
  std::string kept;
  for (const char c : text) {
    // XML has no other control characters.
    const bool is_control = static_cast<unsigned char>(c) < 0x20;
    kept.push_back(is_control ? ' ' : c);
  }
  return absl::StrReplaceAll(
      kept, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

// The values that an axis shows, and where.
class Axis {
 public:
  // Of pixels `from` to `to`.
  Axis(AxisScale scale, double from, double to)
      : scale_(scale), from_(from), to_(to) {}

  bool Has(double value) const {
    // Ranges of larger ones are not finite.
    constexpr double kLargest = 1e300;
    return std::abs(value) <= kLargest && (!is_logarithmic() || value > 0);
  }

  // Widens the range.
  void Cover(double value) {
    low_ = std::min(low_, Position(value));
    high_ = std::max(high_, Position(value));
  }
  void Cover(const Axis& other) {
    low_ = std::min(low_, other.low_);
    high_ = std::max(high_, other.high_);
  }

  // Leaves a margin around what is covered.
  void Finish() {
    if (low_ > high_) low_ = high_ = is_logarithmic() ? 0 : 0.5;
    constexpr double kMargin = 0.03;
    const double span = high_ - low_;
    const double size = std::max(std::abs(low_), 1.0);
    const double margin = span > 1e-6 * size ? kMargin * span : 0.5 * size;
    low_ -= margin;
    high_ += margin;
  }

  double Pixel(double value) const {
    return from_ + (Position(value) - low_) / (high_ - low_) * (to_ - from_);
  }

  // Round values within the range, ascending.
  std::vector<double> Ticks() const {
    if (!is_logarithmic()) return EvenTicks(low_, high_);
    std::vector<double> ticks;
    const double decades = high_ - low_;
    constexpr double kFewDecades = 2.5;
    constexpr double kMostTicks = 8;
    const double step = std::ceil(decades / kMostTicks);
    for (double power = std::floor(low_); power <= high_; ++power) {
      for (const double digit : {1.0, 2.0, 5.0}) {
        if (digit > 1 && decades > kFewDecades) break;
        if (std::fmod(power, step) != 0) break;
        const double tick = digit * std::pow(10.0, power);
        if (Position(tick) >= low_ && Position(tick) <= high_) {
          ticks.push_back(tick);
        }
      }
    }
    // Less than an octave or two.
    constexpr size_t kFew = 3;
    if (ticks.size() >= kFew) return ticks;
    return EvenTicks(std::pow(10.0, low_), std::pow(10.0, high_));
  }

 private:
  bool is_logarithmic() const { return scale_ == AxisScale::kLogarithmic; }
  double Position(double value) const {
    return is_logarithmic() ? std::log10(value) : value;
  }

  // Multiples of 1, 2 or 5 times a power of ten.
  static std::vector<double> EvenTicks(double low, double high) {
    constexpr double kTicks = 5;
    const double rough = (high - low) / kTicks;
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    double step = 10 * power;
    for (const double digit : {5.0, 2.0, 1.0}) {
      if (digit * power >= rough) step = digit * power;
    }
    std::vector<double> ticks;
    for (double i = std::ceil(low / step); i * step <= high; ++i) {
      ticks.push_back(i * step);
    }
    return ticks;
  }

  AxisScale scale_;
  double from_;
  double to_;
  // Positions: of a logarithmic axis, powers of ten.
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

class Drawing {
 public:
  explicit Drawing(const Plot& plot)
      : plot_(plot),
        x_(plot.x.scale, kLeft, kWidth - kRight),
        y_(plot.y.scale, kHeight - kBottom, kTop) {
    for (const PlotSeries& series : plot.series) {
      for (const PlotPoint& point : series.points) {
        if (!Has(point)) continue;
        x_.Cover(point.x);
        y_.Cover(point.y);
      }
    }
    if (plot.has_diagonal) {
      x_.Cover(y_);
      y_.Cover(x_);
    }
    x_.Finish();
    y_.Finish();
  }

  std::string Draw() {
    absl::StrAppendFormat(
        &svg_,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
        "viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" font-size=\"13\">\n"
        "<title>%s</title>\n",
        kWidth, kHeight, kWidth, kHeight, Escape(plot_.title));
    constexpr double kTitleHeight = 24;
    Text(kLeft, kTitleHeight, plot_.title, kGray, "start");
    DrawGrid();
    if (plot_.has_diagonal) {
      absl::StrAppendFormat(
          &svg_,
          "<path d=\"M%g %gL%g %g\" stroke=\"%s\" stroke-dasharray=\"6 5\"/>\n",
          kLeft, kHeight - kBottom, kWidth - kRight, kTop, kGray);
    }
    for (size_t i = 0; i < plot_.series.size(); ++i) DrawSeries(i);
    absl::StrAppend(&svg_, "</svg>\n");
    return svg_;
  }

 private:
  bool Has(const PlotPoint& point) const {
    return x_.Has(point.x) && y_.Has(point.y);
  }

  void Text(double x, double y, absl::string_view text, const char* color,
            const char* anchor, absl::string_view attributes = "") {
    absl::StrAppendFormat(
        &svg_,
        "<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\" text-anchor=\"%s\"%s>%s"
        "</text>\n",
        x, y, color, anchor, attributes, Escape(text));
  }

  void GridLine(const std::string& path) {
    absl::StrAppendFormat(
        &svg_, "<path d=\"%s\" stroke=\"%s\" stroke-opacity=\"0.25\"/>\n", path,
        kGray);
  }

  void DrawGrid() {
    const double bottom = kHeight - kBottom;
    const double right = kWidth - kRight;
    for (const double tick : x_.Ticks()) {
      const double x = x_.Pixel(tick);
      GridLine(absl::StrFormat("M%.1f %gV%g", x, kTop, bottom));
      Text(x, bottom + kLineHeight, absl::StrFormat("%g", tick), kGray,
           "middle");
    }
    for (const double tick : y_.Ticks()) {
      const double y = y_.Pixel(tick);
      GridLine(absl::StrFormat("M%g %.1fH%g", kLeft, y, right));
      Text(kLeft - 8, y + 4, absl::StrFormat("%g", tick), kGray, "end");
    }
    Text((kLeft + right) / 2, kHeight - 14, plot_.x.label, kGray, "middle");
    const double middle = (kTop + bottom) / 2;
    constexpr double kLabel = 20;
    Text(kLabel, middle, plot_.y.label, kGray, "middle",
         absl::StrFormat(" transform=\"rotate(-90 %g %.1f)\"", kLabel, middle));
  }

  void DrawSeries(size_t index) {
    const PlotSeries& series = plot_.series[index];
    const char* const color = kColors[index % std::size(kColors)];
    // The same color comes again with dashes.
    const char* const dashes =
        index < std::size(kColors) ? "" : " stroke-dasharray=\"2 4\"";
    std::string points;
    for (const PlotPoint& point : series.points) {
      if (!Has(point)) continue;
      const double x = x_.Pixel(point.x);
      const double y = y_.Pixel(point.y);
      if (series.has_lines) {
        absl::StrAppendFormat(&points, "%s%.1f,%.1f", points.empty() ? "" : " ",
                              x, y);
      } else {
        absl::StrAppendFormat(&points, "M%.1f %.1fh0", x, y);
      }
    }
    const double legend = kWidth - kRight + 16;
    const double height = kTop + kLineHeight * static_cast<double>(index) + 8;
    constexpr double kSample = 22;
    if (series.has_lines) {
      absl::StrAppendFormat(&svg_,
                            "<polyline points=\"%s\" fill=\"none\" "
                            "stroke=\"%s\" stroke-width=\"2\"%s/>\n",
                            points, color, dashes);
      absl::StrAppendFormat(
          &svg_, "<path d=\"M%g %gh%g\" stroke=\"%s\" stroke-width=\"2\"%s/>\n",
          legend, height, kSample, color, dashes);
    } else {
      const std::string dots = absl::StrFormat(
          "stroke=\"%s\" stroke-width=\"4\" "
          "stroke-linecap=\"round\" stroke-opacity=\"0.7\"",
          color);
      absl::StrAppendFormat(&svg_, "<path d=\"%s\" %s/>\n", points, dots);
      absl::StrAppendFormat(&svg_, "<path d=\"M%g %gh0\" %s/>\n",
                            legend + kSample / 2, height, dots);
    }
    Text(legend + kSample + 6, height + 4, series.name, color, "start");
  }

  const Plot& plot_;
  Axis x_;
  Axis y_;
  std::string svg_;
};

}  // namespace

std::string DrawPlot(const Plot& plot) { return Drawing(plot).Draw(); }

std::vector<PlotPoint> ThinPoints(const std::vector<PlotPoint>& points,
                                  int64_t count) {
  const auto most = static_cast<size_t>(std::max<int64_t>(count, 0));
  if (points.size() <= most) return points;
  std::vector<PlotPoint> kept;
  for (size_t i = 0; i < most; ++i) {
    kept.push_back(points[i * points.size() / most]);
  }
  return kept;
}

absl::Status MakePlotFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      folder, ": ", error.message(), ", expected a folder for plots"));
}

absl::Status WritePlot(const Plot& plot, const std::string& folder,
                       absl::string_view name) {
  return WriteFileAtomically(absl::StrCat(folder, "/", name, ".svg"),
                             DrawPlot(plot));
}

}  // namespace hone::bench
