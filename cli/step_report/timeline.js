// ---- Timeline ----
const timeView = {lo: 0, hi: step || 1, scale: 'capacity', charts: []};
const timePixels = () => $('kernels').clientWidth - kGutter - 4;
function setTime(lo, hi) {
  const span = Math.min(step || 1, Math.max(hi - lo, (step || 1) * 1e-6));
  timeView.lo = Math.max(0, Math.min(lo, (step || 1) - span));
  timeView.hi = timeView.lo + span;
  $('time-note').textContent = timeView.hi - timeView.lo < step ? time(timeView.lo) + ' – ' + time(timeView.hi) : '';
  for (const chart of timeView.charts) chart.request();
}
const timeMoves = {
  fit() { setTime(0, step); },
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
function busyUntil(row, t) {
  const i = firstAfter(row, t);
  return row.busy[i] + (i < row.end.length ? Math.max(0, t - row.begin[i]) : 0);
}
// Returns how many events it has drawn.
function drawRow(context, row, y, h, nameOfItem) {
  const wide = timePixels(), span = timeView.hi - timeView.lo;
  context.globalAlpha = .6;
  context.fillStyle = css('--track');
  context.fillRect(kGutter, y, wide, h);
  context.globalAlpha = 1;
  context.fillStyle = colorOf(row.device);
  const first = firstAfter(row, timeView.lo);
  let last = first;
  while (last < row.begin.length && row.begin[last] < timeView.hi) ++last;
  if (first === last) return 0;
  const from = Math.max(0, Math.floor(pixelOf(row.begin[first]) - kGutter)), to = Math.min(wide, pixelOf(row.end[last - 1]) - kGutter);
  if (last - first > to - from) {
    let before = busyUntil(row, timeView.lo + from / wide * span);
    for (let px = from; px < to; ++px) {
      const now = busyUntil(row, timeView.lo + (px + 1) / wide * span), share = Math.min(1, (now - before) * wide / span);
      before = now;
      context.fillRect(kGutter + px, y + h * (1 - share), 1, h * share);
    }
    return last - first;
  }
  const labeled = [];
  for (let i = first; i < last; ++i) {
    const left = Math.max(kGutter, pixelOf(row.begin[i])), right = Math.min(kGutter + wide, pixelOf(row.end[i]));
    context.fillRect(left, y, Math.max(.6, right - left - (right - left > 3 ? 1 : 0)), h);
    if (right - left > 36 && h > 12) labeled.push([i, left, right]);
  }
  context.fillStyle = css('--on-color');
  for (const [i, left, right] of labeled) {
    context.fillText(clipText(context, nameOfItem(row.item[i]), right - left - 10), left + 5, y + h / 2 + .5);
  }
  return last - first;
}
function makeGantt(canvas, rows, options) {
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
        drawn += drawRow(context, row, yOf(n), tall, options.name);
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
const memoryChart = {...timeMoves,
  pitch: 54, tall: 44,
  height: () => deviceCount * memoryChart.pitch,
  draw(context, w, h, top, bottom) {
    drawGrid(context, h, false);
    const wide = timePixels();
    summary.devices.forEach((device, d) => {
      if (d * this.pitch > bottom || (d + 1) * this.pitch < top) return;
      const up = d * this.pitch + 4, limit = device.capacity_bytes, {seconds, bytes: held} = samplesOf[d];
      const most = (timeView.scale === 'capacity' && limit !== null ? Math.max(limit, device.peak_bytes) : device.peak_bytes) * 1.06 || 1;
      const yOf = value => up + this.tall * (1 - value / most);
      context.globalAlpha = .6;
      context.fillStyle = css('--track');
      context.fillRect(kGutter, up, wide, this.tall);
      context.globalAlpha = 1;
      // The most in each pixel.
      const columns = new Float64Array(Math.max(1, Math.ceil(wide)));
      for (let i = 0; i < seconds.length; ++i) {
        const from = Math.max(0, Math.floor(pixelOf(seconds[i]) - kGutter));
        const to = Math.min(columns.length - 1, Math.floor(pixelOf(i + 1 < seconds.length ? seconds[i + 1] : step) - kGutter));
        for (let px = from; px <= to; ++px) columns[px] = Math.max(columns[px], held[i]);
      }
      context.beginPath();
      columns.forEach((value, px) => {
        if (px === 0) context.moveTo(kGutter, yOf(value));
        else context.lineTo(kGutter + px, yOf(columns[px - 1]));
        context.lineTo(kGutter + px, yOf(value));
      });
      context.lineTo(kGutter + wide, yOf(columns[columns.length - 1]));
      context.strokeStyle = context.fillStyle = colorOf(d);
      context.lineWidth = 1.5;
      context.stroke();
      context.lineTo(kGutter + wide, up + this.tall);
      context.lineTo(kGutter, up + this.tall);
      context.globalAlpha = .35;
      context.fill();
      context.globalAlpha = 1;
      if (limit !== null && limit <= most) {
        context.strokeStyle = css('--bad');
        context.lineWidth = 1;
        context.setLineDash([5, 4]);
        context.beginPath();
        context.moveTo(kGutter, Math.round(yOf(limit)) + .5);
        context.lineTo(kGutter + wide, Math.round(yOf(limit)) + .5);
        context.stroke();
        context.setLineDash([]);
      }
      context.textBaseline = 'middle';
      context.font = font(11);
      context.fillStyle = css('--text');
      context.fillText('device ' + d, 8, up + 12);
      context.fillStyle = limit !== null && device.peak_bytes > limit ? css('--bad') : css('--muted');
      context.font = font(10);
      context.fillText('peak ' + bytes(device.peak_bytes), 8, up + 26);
      context.fillStyle = css('--muted');
      context.fillText(limit === null ? 'no limit' : 'of ' + bytes(limit), 8, up + 39);
    });
  },
  hover(event, px, py) {
    const d = Math.floor(py / this.pitch);
    if (!event || d < 0 || d >= deviceCount || px < kGutter) { hideTip(); return; }
    const t = timeView.lo + (px - kGutter) / timePixels() * (timeView.hi - timeView.lo), {seconds, bytes: held} = samplesOf[d];
    let low = 0, high = seconds.length;
    while (low < high) { const middle = (low + high) >> 1; if (seconds[middle] > t) high = middle; else low = middle + 1; }
    if (low === 0) { hideTip(); return; }
    const limit = summary.devices[d].capacity_bytes;
    showTip(event, 'device ' + d, [['at', time(t, 6)], ['in use', bytes(held[low - 1]) + (limit === null ? '' : ', ' + percent(held[low - 1] / limit) + ' of ' + bytes(limit))],
      ['peak', bytes(summary.devices[d].peak_bytes)]]);
  },
};

