
// ---- Timelines: rows of events over one time axis ----
// Left of each row is its label.
const kGutter = 96;
// The canvas is the one whose width counts: the first.
const timeView = {lo: 0, hi: timeSpan || 1, canvas: null, charts: []};
const timePixels = () => timeView.canvas.clientWidth - kGutter - 4;
function setTime(lo, hi) {
  const all = timeSpan || 1, span = Math.min(all, Math.max(hi - lo, all * 1e-6));
  timeView.lo = Math.max(0, Math.min(lo, all - span));
  timeView.hi = timeView.lo + span;
  $('time-note').textContent = timeView.hi - timeView.lo < all ? time(timeView.lo) + ' – ' + time(timeView.hi) : '';
  for (const chart of timeView.charts) chart.request();
}
// Begin, end and item in the order of time; `hueOf` gives the color of an item. Events do not overlap.
function makeRow(label, hueOf, events) {
  events.sort((a, b) => a.begin - b.begin);
  return {label, hueOf, begin: new Float64Array(events.map(e => e.begin)), end: new Float64Array(events.map(e => e.end)),
          item: events.map(e => e.item), busy: events.reduce((sum, e) => sum + e.end - e.begin, 0)};
}
const busyOf = row => row.busy;
const timeMoves = {
  fit() { setTime(0, timeSpan); },
  pan(dx) {
    const shift = dx / timePixels() * (timeView.hi - timeView.lo);
    setTime(timeView.lo + shift, timeView.hi + shift);
  },
  zoom(factor, px) {
    const span = timeView.hi - timeView.lo, share = Math.max(0, Math.min(1, (px - kGutter) / timePixels())), at = timeView.lo + share * span;
    setTime(at - share * span / factor, at + (1 - share) * span / factor);
  },
};
function ticks() {
  const span = timeView.hi - timeView.lo, rough = span / Math.max(2, Math.floor(timePixels() / 110)), power = 10 ** Math.floor(Math.log10(rough));
  const each = [1, 2, 5, 10].map(n => n * power).find(n => n >= rough), list = [];
  for (let n = Math.ceil(timeView.lo / each); n * each <= timeView.hi * (1 + 1e-12); ++n) list.push(n * each);
  return list;
}
const pixelOf = t => kGutter + (t - timeView.lo) / (timeView.hi - timeView.lo) * timePixels();
function drawGrid(context, h, labeled) {
  context.textBaseline = 'middle';
  context.font = font(11);
  const end = kGutter + timePixels(), marks = ticks();
  const count = marks.length > 1 ? Math.max(4, Math.ceil(Math.log10(timeView.hi / (marks[1] - marks[0]))) + 1) : 6;
  for (const t of marks) {
    const x = Math.round(pixelOf(t)) + .5;
    context.fillStyle = css('--grid');
    context.fillRect(x - .5, labeled ? 18 : 0, 1, h);
    if (!labeled) continue;
    context.fillStyle = css('--muted');
    const text = time(t, count), wide = context.measureText(text).width;
    context.fillText(text, Math.min(end - wide, Math.max(kGutter, x - wide / 2)), 8);
  }
}
// The first event that ends after t.
function firstAfter(row, t) {
  let low = 0, high = row.end.length;
  while (low < high) { const middle = (low + high) >> 1; if (row.end[middle] > t) high = middle; else low = middle + 1; }
  return low;
}
// Draws, for each pixel, the share of its time that events take, stacked by color.
function drawShares(context, row, first, last, y, h) {
  const wide = timePixels(), pixel = (timeView.hi - timeView.lo) / wide, sharesOf = new Map();
  for (let i = first; i < last; ++i) {
    const hue = row.hueOf(row.item[i]);
    if (!sharesOf.has(hue)) sharesOf.set(hue, new Float64Array(Math.ceil(wide) + 1));
    const shares = sharesOf.get(hue);
    const from = Math.max(0, (row.begin[i] - timeView.lo) / pixel), to = Math.min(wide, (row.end[i] - timeView.lo) / pixel);
    for (let px = Math.floor(from); px < to; ++px) shares[px] += Math.min(to, px + 1) - Math.max(from, px);
  }
  const below = new Float64Array(Math.ceil(wide) + 1);
  for (const hue of [...sharesOf.keys()].sort((a, b) => a - b)) {
    context.fillStyle = colorOf(hue);
    sharesOf.get(hue).forEach((share, px) => {
      if (share === 0) return;
      below[px] = Math.min(1, below[px] + share);
      context.fillRect(kGutter + px, y + h * (1 - below[px]), 1, h * share);
    });
  }
}
// Returns how many events it has drawn.
function drawRow(context, row, y, h, nameOfItem) {
  const wide = timePixels(), span = timeView.hi - timeView.lo;
  context.globalAlpha = .6;
  context.fillStyle = css('--track');
  context.fillRect(kGutter, y, wide, h);
  context.globalAlpha = 1;
  const first = firstAfter(row, timeView.lo);
  let last = first;
  while (last < row.begin.length && row.begin[last] < timeView.hi) ++last;
  if (first === last) return 0;
  const from = Math.max(0, Math.floor(pixelOf(row.begin[first]) - kGutter)), to = Math.min(wide, pixelOf(row.end[last - 1]) - kGutter);
  if (last - first > to - from) {
    drawShares(context, row, first, last, y, h);
    return last - first;
  }
  const labeled = [];
  for (let i = first; i < last; ++i) {
    const left = Math.max(kGutter, pixelOf(row.begin[i])), right = Math.min(kGutter + wide, pixelOf(row.end[i]));
    context.fillStyle = colorOf(row.hueOf(row.item[i]));
    context.fillRect(left, y, Math.max(.6, right - left - (right - left > 3 ? 1 : 0)), h);
    if (right - left > 20 && h > 12) labeled.push([i, left, right]);
  }
  context.fillStyle = css('--on-color');
  for (const [i, left, right] of labeled) {
    context.fillText(clipText(context, nameOfItem(row.item[i]), right - left - 10), left + 5, y + h / 2 + .5);
  }
  return last - first;
}
// Options: top, pitch and gap in pixels; counter, the data attribute for the number of events drawn; name(item) and
// pairs(item), what a tooltip shows; label(item), the text on a bar, in place of the name.
function makeGantt(canvas, rows, options) {
  timeView.canvas = timeView.canvas || canvas;
  let hovered = null;
  const yOf = n => options.top + n * options.pitch, tall = options.pitch - options.gap;
  const chart = {...timeMoves,
    height: () => options.top + Math.max(1, rows.length) * options.pitch,
    draw(context, w, h, top, bottom) {
      drawGrid(context, h, options.top > 0);
      let drawn = 0;
      rows.forEach((row, n) => {
        if (yOf(n) > bottom || yOf(n + 1) < top) return;
        context.font = font(11);
        context.textBaseline = 'middle';
        drawn += drawRow(context, row, yOf(n), tall, options.label || options.name);
        context.fillStyle = css('--text');
        context.fillText(row.label, 8, yOf(n) + tall / 2 + .5);
      });
      document.body.dataset[options.counter] = drawn;
    },
    hover(event, px, py) {
      hovered = null;
      const n = Math.floor((py - options.top) / options.pitch);
      if (!event || n < 0 || n >= rows.length || px < kGutter) { hideTip(); return; }
      const row = rows[n], t = timeView.lo + (px - kGutter) / timePixels() * (timeView.hi - timeView.lo);
      const near = 3 / timePixels() * (timeView.hi - timeView.lo), after = firstAfter(row, t);
      const distance = i => i < 0 || i >= row.begin.length ? Infinity : Math.max(row.begin[i] - t, t - row.end[i], 0);
      const best = distance(after) <= distance(after - 1) ? after : after - 1;
      if (distance(best) > near) { hideTip(); return; }
      hovered = [row, best, n];
      showTip(event, options.name(row.item[best]), options.pairs(row.item[best]));
    },
    over(context) {
      if (!hovered) return;
      const [row, i, n] = hovered, left = Math.max(kGutter, pixelOf(row.begin[i])), right = Math.min(kGutter + timePixels(), pixelOf(row.end[i]));
      context.strokeStyle = css('--text');
      context.lineWidth = 1.5;
      context.strokeRect(left - 1, yOf(n) - 1, Math.max(1, right - left) + 1, tall + 2);
    }};
  const part = makeChart(canvas, chart);
  timeView.charts.push(part);
  return part;
}
