
// ---- Memory over time ----
// The scale is up to the capacity or up to the peak.
let memoryScale = 'capacity';
const memoryChart = {...timeMoves,
  pitch: 54, tall: 44,
  height: () => deviceCount * memoryChart.pitch,
  draw(context, w, h, top, bottom) {
    drawGrid(context, h, false);
    const wide = timePixels();
    summary.devices.forEach((device, d) => {
      if (d * this.pitch > bottom || (d + 1) * this.pitch < top) return;
      const up = d * this.pitch + 4, limit = device.capacity_bytes, {seconds, bytes: held} = samplesOf[d];
      const most = (memoryScale === 'capacity' && limit !== null ? Math.max(limit, device.peak_bytes) : device.peak_bytes) * 1.06 || 1;
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

