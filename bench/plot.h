#ifndef HONE_BENCH_PLOT_H_
#define HONE_BENCH_PLOT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace hone::bench {

enum class AxisScale { kLinear, kLogarithmic };

struct PlotAxis {
  std::string label;
  AxisScale scale = AxisScale::kLinear;
};

struct PlotPoint {
  double x = 0;
  double y = 0;
};

struct PlotSeries {
  std::string name;
  std::vector<PlotPoint> points;
  // Lines from each point to the next; if not, dots.
  bool has_lines = true;
};

struct Plot {
  std::string title;
  PlotAxis x;
  PlotAxis y;
  // The later ones are drawn over the earlier ones.
  std::vector<PlotSeries> series = {};
  // Both axes have the same range, and a dashed line is where x = y.
  bool has_diagonal = false;
};

// Draws a plot as SVG, with a legend beside it. Points that an axis does not
// have are left out: those that are not finite or beyond 1e300, or not above 0
// on a logarithmic axis. Colors can be read on white and on black. Equal plots
// have equal bytes.
std::string DrawPlot(const Plot& plot);

// Returns at most `count` of the points, at even distances in their order.
std::vector<PlotPoint> ThinPoints(const std::vector<PlotPoint>& points,
                                  int64_t count);

// Makes the folder of plots with the folders around it, unless it is there.
// Errors: InvalidArgument, with the path and the system's reason.
absl::Status MakePlotFolder(const std::string& folder);

// Writes FOLDER/NAME.svg. Errors: those of WriteFileAtomically.
absl::Status WritePlot(const Plot& plot, const std::string& folder,
                       absl::string_view name);

}  // namespace hone::bench

#endif  // HONE_BENCH_PLOT_H_
