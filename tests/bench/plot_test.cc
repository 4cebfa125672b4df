#include "bench/plot.h"

#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temporary_directory.h"

namespace hone::bench {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// The matches of a pattern with two numbers.
std::vector<PlotPoint> FindAll(const std::string& text, const char* pattern) {
  const std::regex regex(pattern);
  std::vector<PlotPoint> found;
  for (auto i = std::sregex_iterator(text.begin(), text.end(), regex);
       i != std::sregex_iterator(); ++i) {
    found.push_back({std::stod((*i)[1]), std::stod((*i)[2])});
  }
  return found;
}

// Ticks of the axes: pixel and value.
std::vector<PlotPoint> XTicks(const std::string& svg) {
  return FindAll(svg,
                 "x=\"([0-9.]+)\" y=\"420.0\"[^>]*\"middle\">([-0-9.e+]+)<");
}
std::vector<PlotPoint> YTicks(const std::string& svg) {
  std::vector<PlotPoint> ticks =
      FindAll(svg, "y=\"([0-9.]+)\"[^>]*\"end\">([-0-9.e+]+)<");
  // Text stands that far under the middle of its line.
  for (PlotPoint& tick : ticks) tick.x -= 4;
  return ticks;
}
// The positions of a series with lines.
std::vector<PlotPoint> LinePixels(const std::string& svg) {
  std::smatch points;
  EXPECT_TRUE(
      std::regex_search(svg, points, std::regex("points=\"([^\"]*)\"")));
  return FindAll(points[1], "([-0-9.]+),([-0-9.]+)");
}

// The pixel of a value, by two ticks.
double PixelAt(const std::vector<PlotPoint>& ticks, double value, bool is_log) {
  const auto position = [is_log](double v) { return is_log ? std::log(v) : v; };
  const PlotPoint& a = ticks.front();
  const PlotPoint& b = ticks.back();
  return a.x + (position(value) - position(a.y)) /
                   (position(b.y) - position(a.y)) * (b.x - a.x);
}

Plot Line(std::vector<PlotPoint> points) {
  return {.title = "t",
          .x = {"x", AxisScale::kLogarithmic},
          .y = {"y"},
          .series = {{"line", std::move(points), true}}};
}

TEST(PlotTest, PointsLieWhereTheTicksSay) {
  const std::vector<PlotPoint> points = {
      {1, 0.25}, {3, -0.5}, {40, 0.75}, {1000, 1.5}};
  const std::string svg = DrawPlot(Line(points));
  const std::vector<PlotPoint> x = XTicks(svg);
  const std::vector<PlotPoint> y = YTicks(svg);
  std::vector<double> powers;
  for (const PlotPoint& tick : x) powers.push_back(tick.y);
  EXPECT_THAT(powers, ElementsAre(1, 10, 100, 1000));
  std::vector<double> even;
  for (const PlotPoint& tick : y) even.push_back(tick.y);
  EXPECT_THAT(even, ElementsAre(-0.5, 0, 0.5, 1, 1.5));
  const std::vector<PlotPoint> pixels = LinePixels(svg);
  ASSERT_THAT(pixels, SizeIs(points.size()));
  for (size_t i = 0; i < points.size(); ++i) {
    EXPECT_THAT(pixels[i].x, DoubleNear(PixelAt(x, points[i].x, true), 0.2));
    EXPECT_THAT(pixels[i].y, DoubleNear(PixelAt(y, points[i].y, false), 0.2));
  }
  // The y axis points up.
  EXPECT_GT(pixels[1].y, pixels[3].y);
}

TEST(PlotTest, LogarithmicAxesHaveTicksForEveryRange) {
  const auto ticks = [](double low, double high) {
    std::vector<double> values;
    for (const PlotPoint& tick :
         XTicks(DrawPlot(Line({{low, 0}, {high, 1}})))) {
      values.push_back(tick.y);
    }
    return values;
  };
  EXPECT_THAT(ticks(1, 64), ElementsAre(1, 2, 5, 10, 20, 50));
  EXPECT_THAT(ticks(100, 140), ElementsAre(100, 110, 120, 130, 140));
  const std::vector<double> many = ticks(1e-30, 1e30);
  EXPECT_GE(many.size(), 3);
  EXPECT_LE(many.size(), 9);
}

TEST(PlotTest, DiagonalNeedsAxesOfOneRange) {
  const Plot plot = {.title = "t",
                     .x = {"x", AxisScale::kLogarithmic},
                     .y = {"y", AxisScale::kLogarithmic},
                     .series = {{"dots", {{1, 100}, {10, 10}}, false}},
                     .has_diagonal = true};
  const std::string svg = DrawPlot(plot);
  // The corners of the frame.
  EXPECT_THAT(svg, HasSubstr("<path d=\"M80 400L710 44\""));
  const std::vector<PlotPoint> dots = FindAll(svg, "M([0-9.]+) ([0-9.]+)h0");
  ASSERT_THAT(dots, SizeIs(3));  // with that of the legend
  const auto above_diagonal = [](const PlotPoint& dot) {
    return 400 - (dot.x - 80) / (710 - 80) * (400 - 44) - dot.y;
  };
  EXPECT_GT(above_diagonal(dots[0]), 100);
  EXPECT_NEAR(above_diagonal(dots[1]), 0, 0.2);
}

TEST(PlotTest, LeavesOutWhatAnAxisDoesNotHave) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<PlotPoint> points = {
      {1, 1},      {0, 1}, {-3, 1}, {2, kInfinity}, {2, std::nan("")},
      {4, -1e301}, {4, -2}};
  EXPECT_EQ(DrawPlot(Line(points)), DrawPlot(Line({{1, 1}, {4, -2}})));
  // No range at all.
  for (const std::vector<PlotPoint>& few :
       {std::vector<PlotPoint>{}, {{5, 5}}, {{1e300, 1e300}}}) {
    const std::string svg = DrawPlot(Line(few));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
    EXPECT_THAT(LinePixels(svg), SizeIs(few.size()));
  }
}

TEST(PlotTest, TextIsEscapedAndColorsRecur) {
  Plot plot = Line({{1, 1}});
  plot.title = "a<b> & \"c\"\x01";
  for (int i = 0; i < 6; ++i) {
    plot.series.push_back({"<more>", {{1, 1}}, true});
  }
  const std::string svg = DrawPlot(plot);
  EXPECT_THAT(svg, HasSubstr("<title>a&lt;b&gt; &amp; &quot;c&quot; </title>"));
  EXPECT_THAT(svg, Not(HasSubstr("<more>")));
  EXPECT_THAT(svg, HasSubstr("stroke-dasharray=\"2 4\""));
}

TEST(PlotTest, ThinsAtEvenDistances) {
  std::vector<PlotPoint> points;
  for (int i = 0; i < 10; ++i) points.push_back({i * 1.0, 0});
  const auto xs = [&](int64_t count) {
    std::vector<double> values;
    for (const PlotPoint& p : ThinPoints(points, count)) values.push_back(p.x);
    return values;
  };
  EXPECT_THAT(xs(4), ElementsAre(0, 2, 5, 7));
  EXPECT_THAT(xs(0), IsEmpty());
  EXPECT_THAT(xs(10), SizeIs(10));
  EXPECT_THAT(xs(11), SizeIs(10));
}

TEST(PlotTest, IsWrittenToAFolder) {
  TemporaryDirectory folder;
  const std::string path = folder.path() + "/a/b";
  ASSERT_TRUE(MakePlotFolder(path).ok());
  ASSERT_TRUE(MakePlotFolder(path).ok());
  ASSERT_TRUE(WritePlot(Line({{1, 1}}), path, "name").ok());
  std::ostringstream read;
  read << std::ifstream(path + "/name.svg").rdbuf();
  EXPECT_EQ(read.str(), DrawPlot(Line({{1, 1}})));
  const absl::Status status = MakePlotFolder(path + "/name.svg");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("expected a folder for plots"));
}

}  // namespace
}  // namespace hone::bench
