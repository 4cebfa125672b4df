// ---- Graph ----
const depth = new Int32Array(nodeCount), firstUse = new Int32Array(nodeCount).fill(-1), hasInput = new Uint8Array(nodeCount);
const edgeSource = nodes.sources, outBegin = new Uint32Array(nodeCount + 1);
for (const source of edgeSource) ++outBegin[source + 1];
for (let i = 0; i < nodeCount; ++i) outBegin[i + 1] += outBegin[i];  // edges are in the order of their sources
for (const node of nodes.order) {
  for (let e = outBegin[node]; e < outBegin[node + 1]; ++e) {
    const target = nodes.targets[e];
    hasInput[target] = 1;
    depth[target] = Math.max(depth[target], depth[node] + 1);
  }
}
// What nothing precedes stands right before its first use.
for (let i = 0; i < nodeCount; ++i) {
  if (hasInput[i] || outBegin[i] === outBegin[i + 1]) continue;
  let first = Infinity;
  for (let e = outBegin[i]; e < outBegin[i + 1]; ++e) first = Math.min(first, depth[nodes.targets[e]]);
  depth[i] = first - 1;
}
// Scopes by as many components as give at most 32 parts.
function bandsOfScopes() {
  const parts = nodes.scope_texts.map(text => text.split('/'));
  const prefix = (k, size) => parts[k].slice(0, size).join('/');
  let size = Math.max(1, ...parts.map(list => list.length));
  while (size > 1 && new Set(parts.map((_, k) => prefix(k, size))).size > 32) --size;
  const ids = new Map(), band = parts.map((_, k) => {
    const text = prefix(k, size) || 'no scope';
    if (!ids.has(text)) ids.set(text, ids.size);
    return ids.get(text);
  });
  return {labels: [...ids.keys()], of: i => band[nodes.scope[i]]};
}
const graphView = {xMode: 'depth', yMode: nodes.scope_texts.length > 1 ? 'scope' : 'device', solo: -1, hovered: -1, layout: null,
                   x: 0, y: 0, kx: 1, ky: 1, fitX: 1, fitY: 1};
function makeLayout() {
  const byTime = graphView.xMode === 'time';
  const bands = graphView.yMode === 'scope' ? bandsOfScopes() : {labels: summary.devices.map((_, d) => 'device ' + d), of: i => nodes.device[i]};
  const x0 = new Float32Array(nodeCount), x1 = new Float32Array(nodeCount), y0 = new Float32Array(nodeCount), y1 = new Float32Array(nodeCount);
  const position = new Uint32Array(nodeCount);  // the node that is drawn for each
  const firsts = new Array(bands.labels.length).fill(Infinity);
  for (let i = 0; i < nodeCount; ++i) {
    position[i] = byTime ? kernels.root[nodes.kernel[i]] : i;
    if (hasInput[i] || outBegin[i] === outBegin[i + 1]) firsts[bands.of(i)] = Math.min(firsts[bands.of(i)], depth[i]);
  }
  const rank = bands.labels.map((_, b) => b);
  if (graphView.yMode === 'scope') {
    rank.sort((a, b) => firsts[a] - firsts[b] || bands.labels[a].localeCompare(bands.labels[b], 'en', {numeric: true}));
  }
  const shown = [];
  for (let i = 0; i < nodeCount; ++i) if (position[i] === i) shown.push(i);
  const slot = new Float32Array(nodeCount), share = new Float32Array(nodeCount).fill(1), lanes = new Array(bands.labels.length).fill(1);
  let width = 1;
  if (byTime) {
    width = 1000;
    const scale = step > 0 ? width / step : 0, free = bands.labels.map(() => []);
    shown.sort((a, b) => kernels.begin[nodes.kernel[a]] - kernels.begin[nodes.kernel[b]]);
    for (const i of shown) {
      const k = nodes.kernel[i], band = bands.of(i), ends = free[band];
      x0[i] = kernels.begin[k] * scale;
      x1[i] = kernels.end[k] * scale;
      // A device runs one kernel at a time, but for those that take no time.
      let lane = graphView.yMode === 'device' ? 0 : ends.findIndex(end => end <= kernels.begin[k] + step * 1e-9);
      if (lane < 0) lane = ends.length;
      ends[lane] = kernels.end[k];
      slot[i] = lane;
      lanes[band] = Math.max(lanes[band], ends.length);
    }
  } else {
    // The nodes of one band and depth are a column, in the order of where their inputs are.
    const columns = new Map(), sum = new Float32Array(nodeCount), inputs = new Uint32Array(nodeCount);
    let last = 0;
    for (let i = 0; i < nodeCount; ++i) {
      const key = depth[i] * bands.labels.length + bands.of(i);
      if (!columns.has(key)) columns.set(key, []);
      columns.get(key).push(i);
      last = Math.max(last, depth[i]);
    }
    width = last + 1;
    const sizes = bands.labels.map(() => []);
    for (const [key, list] of columns) sizes[key % bands.labels.length].push(list.length);
    sizes.forEach((list, b) => {
      const mean = list.reduce((total, length) => total + length, 0) / list.length || 1;
      lanes[b] = Math.min(Math.max(1, ...list), Math.max(4, Math.ceil(2 * mean)));  // longer columns are squeezed
    });
    for (const key of [...columns.keys()].sort((a, b) => a - b)) {
      const list = columns.get(key), cap = lanes[key % bands.labels.length], each = Math.min(1, cap / list.length);
      const want = i => inputs[i] ? sum[i] / inputs[i] : Infinity;
      list.sort((a, b) => want(a) === want(b) ? a - b : want(a) - want(b));
      list.forEach((i, n) => {
        slot[i] = (cap - list.length * each) / 2 + n * each;
        share[i] = each;
        x0[i] = depth[i] + .12;
        x1[i] = depth[i] + .88;
        for (let e = outBegin[i]; e < outBegin[i + 1]; ++e) { sum[nodes.targets[e]] += slot[i]; ++inputs[nodes.targets[e]]; }
      });
    }
  }
  const top = [], drawn = [];
  let height = 0;
  for (const b of rank) {
    if (firsts[b] === Infinity && !shown.some(i => bands.of(i) === b)) continue;
    top[b] = height + .35;
    height += lanes[b] + .7;
    drawn.push({label: bands.labels[b], y0: top[b] - .35, y1: height});
  }
  for (const i of shown) {
    y0[i] = top[bands.of(i)] + slot[i] + .1 * share[i];
    y1[i] = y0[i] + .8 * share[i];
  }
  const context = $('graph').getContext('2d');
  context.font = font(11);
  graphGutter = Math.min(200, 30 + Math.max(30, ...drawn.map(band => context.measureText(band.label).width)));
  graphView.layout = {x0, x1, y0, y1, shown: Uint32Array.from(shown), position, bands: drawn, width, height};
  $('graph-note').textContent = byTime ? count(shown.length, 'kernel') + ' by start time' : count(shown.length, 'node') + ' by depth';
}
const kEdges = 5000;
let graphGutter = kGutter;  // as wide as the names of bands
function fitGraph() {
  const {width, height} = graphView.layout, w = $('graph').clientWidth - graphGutter - 12, h = 480 - 16;
  const byTime = graphView.xMode === 'time';
  graphView.kx = graphView.fitX = Math.min(w / width, byTime ? Infinity : 150);
  graphView.ky = graphView.fitY = Math.min(h / height, 40);
  graphView.x = -(graphGutter + (w - width * graphView.kx) / 2) / graphView.kx;
  graphView.y = -(8 + (h - height * graphView.ky) / 2) / graphView.ky;
}
function drawEdges(context, edges, curved) {
  const {x0, x1, y0, y1, position} = graphView.layout, {x, y, kx, ky} = graphView;
  const arrows = curved && edges.length < 400 && kx > 24;
  context.beginPath();
  for (const e of edges) {
    const a = position[edgeSource[e]], b = position[nodes.targets[e]];
    const ax = (x1[a] - x) * kx, ay = ((y0[a] + y1[a]) / 2 - y) * ky, bx = (x0[b] - x) * kx, by = ((y0[b] + y1[b]) / 2 - y) * ky;
    context.moveTo(ax, ay);
    if (curved) {
      const bend = Math.max(8, Math.abs(bx - ax) / 2);
      context.bezierCurveTo(ax + bend, ay, bx - bend, by, bx, by);
    } else {
      context.lineTo(bx, by);
    }
    if (arrows) {
      context.moveTo(bx - 5, by - 3.5);
      context.lineTo(bx, by);
      context.lineTo(bx - 5, by + 3.5);
    }
  }
  context.stroke();
}
const graphChart = {
  wheels: true,
  height: () => 480,
  fit() { fitGraph(); graphPart.request(); },
  pan(dx, dy) {
    graphView.x += dx / graphView.kx;
    graphView.y += dy / graphView.ky;
    graphPart.request();
  },
  // Each axis within limits of its own, so that nodes become wide enough to read.
  zoom(factor, px, py) {
    const scale = (from, fit, most) => Math.min(Math.max(from * factor, fit / 2), Math.max(most, fit));
    const kx = scale(graphView.kx, graphView.fitX, graphView.xMode === 'time' ? 1e6 : 260), ky = scale(graphView.ky, graphView.fitY, 64);
    graphView.x += px / graphView.kx - px / kx;
    graphView.y += py / graphView.ky - py / ky;
    graphView.kx = kx;
    graphView.ky = ky;
    graphPart.request();
  },
  draw(context, w, h) {
    const {x0, x1, y0, y1, shown, position, bands} = graphView.layout, {x, y, kx, ky, solo} = graphView;
    bands.forEach((band, n) => {
      if (n % 2) return;
      context.fillStyle = css('--track');
      context.globalAlpha = .55;
      context.fillRect(0, (band.y0 - y) * ky, w, (band.y1 - band.y0) * ky);
    });
    // Edges in view; as many as can be told apart, those between devices first.
    const near = [], far = summary.devices.map(() => []), long = summary.devices.map(() => []);
    let inView = 0, crossing = 0;
    const xl = x, xr = x + w / kx, yt = y, yb = y + h / ky;
    for (let e = 0; e < edgeSource.length; ++e) {
      const a = position[edgeSource[e]], b = position[nodes.targets[e]];
      if (a === b || Math.max(x1[a], x1[b]) < xl || Math.min(x0[a], x0[b]) > xr || Math.max(y1[a], y1[b]) < yt || Math.min(y0[a], y0[b]) > yb) continue;
      const from = nodes.device[edgeSource[e]];
      if (solo >= 0 && from !== solo && nodes.device[nodes.targets[e]] !== solo) continue;
      if (from === nodes.device[nodes.targets[e]]) { near.push(e); ++inView; continue; }
      (Math.abs(x0[b] - x1[a]) * kx > .3 * w ? long : far)[from].push(e);
      ++crossing;
    }
    const thin = (list, total) => { const stride = Math.ceil(total / kEdges); return stride > 1 ? list.filter((_, i) => i % stride === 0) : list; };
    const curved = inView + crossing < 1500;
    context.lineWidth = 1;
    context.strokeStyle = css('--edge');
    context.globalAlpha = inView > 2000 ? .22 : .75;
    drawEdges(context, thin(near, inView), curved);
    context.lineWidth = crossing > 800 ? 1 : 1.8;
    const alpha = crossing > 2000 ? .3 : crossing > 300 ? .5 : .9;
    for (const [lists, share] of [[long, crossing > 300 ? .3 : 1], [far, 1]]) {
      context.globalAlpha = alpha * share;
      lists.forEach((list, d) => {
        context.strokeStyle = colorOf(d);
        drawEdges(context, thin(list, crossing), curved);
      });
    }
    // Nodes; of those smaller than a pixel one each.
    const taken = new Uint8Array(Math.ceil(w + 1) * Math.ceil(h + 1)), stride = Math.ceil(w + 1);
    const labeled = [];
    context.globalAlpha = 1;
    for (const i of shown) {
      const left = (x0[i] - x) * kx, right = (x1[i] - x) * kx, up = (y0[i] - y) * ky, down = (y1[i] - y) * ky;
      if (right < 0 || left > w || down < 0 || up > h) continue;
      const nw = Math.max(1, right - left), nh = Math.max(1, down - up);
      if (nw < 1.5 && nh < 1.5 && left >= 0 && up >= 0) {
        const pixel = Math.floor(up) * stride + Math.floor(left);
        if (taken[pixel]) continue;
        taken[pixel] = 1;
      }
      const d = nodes.device[i];
      context.globalAlpha = solo < 0 || solo === d ? 1 : .12;
      context.fillStyle = colorOf(d);
      if (nw > 8 && nh > 8) {
        context.beginPath();
        context.roundRect(left, up, nw, nh, 4);
        context.fill();
        if (nw > 40 && nh > 12) labeled.push(i);
      } else {
        context.fillRect(left, up, nw, nh);
      }
    }
    if (labeled.length < 3000) {
      context.fillStyle = css('--on-color');
      context.textBaseline = 'middle';
      for (const i of labeled) {
        const left = Math.max(graphGutter, (x0[i] - x) * kx), room = Math.min(w, (x1[i] - x) * kx) - left - 10;
        const middle = ((y0[i] + y1[i]) / 2 - y) * ky, two = (y1[i] - y0[i]) * ky > 27;
        context.globalAlpha = solo < 0 || solo === nodes.device[i] ? 1 : .3;
        context.font = font(11);
        context.fillText(clipText(context, nameOf(i), room), left + 5, middle - (two ? 6 : 0));
        if (!two) continue;
        context.font = font(10);
        context.globalAlpha *= .85;
        context.fillText(clipText(context, opcodeOf(i), room), left + 5, middle + 7);
      }
    }
    // Names of bands, where there is room.
    context.globalAlpha = .88;
    context.fillStyle = css('--card');
    context.fillRect(0, 0, graphGutter - 8, h);
    context.globalAlpha = 1;
    context.fillStyle = css('--muted');
    context.font = font(11);
    context.textBaseline = 'middle';
    let below = -Infinity;
    for (const band of bands) {
      const up = Math.max(0, (band.y0 - y) * ky), down = Math.min(h, (band.y1 - y) * ky);
      if (down <= 0 || up >= h || (up + down) / 2 < below + 12) continue;
      below = (up + down) / 2;
      context.fillText(clipText(context, band.label, graphGutter - 22), 8, below);
    }
    document.body.dataset.nodes = shown.length;
  },
  hover(event, px, py) {
    graphView.hovered = -1;
    if (!event) return;
    const {x0, x1, y0, y1, shown} = graphView.layout, {x, y, kx, ky} = graphView;
    let best = 6;
    for (const i of shown) {
      const dx = Math.max((x0[i] - x) * kx - px, px - (x1[i] - x) * kx, 0), dy = Math.max((y0[i] - y) * ky - py, py - (y1[i] - y) * ky, 0);
      const distance = Math.max(dx, dy);
      if (distance < best) { best = distance; graphView.hovered = i; }
    }
    const i = graphView.hovered;
    if (px < graphGutter - 8) {
      graphView.hovered = -1;
      const band = graphView.layout.bands.find(one => (one.y0 - y) * ky <= py && py < (one.y1 - y) * ky);
      if (band) showTip(event, band.label, []); else hideTip();
      return;
    }
    if (i < 0) { hideTip(); return; }
    const k = nodes.kernel[i], fused = kernels.root[k] !== i;
    const pairs = kernelPairs(k);
    pairs[0][1] = opcodeOf(i);
    pairs[1][1] = scopeOf(i);
    pairs[2][1] = String(nodes.device[i]);
    if (fused) pairs.push(['fused into', nameOf(kernels.root[k])]);
    showTip(event, nameOf(i), pairs);
  },
  over(context, w, h) {
    const i = graphView.hovered;
    if (i < 0) return;
    const {x0, x1, y0, y1, position} = graphView.layout, {x, y, kx, ky} = graphView, edges = [];
    for (let e = 0; e < edgeSource.length; ++e) {
      const a = position[edgeSource[e]], b = position[nodes.targets[e]];
      if (a !== b && (a === i || b === i)) edges.push(e);
    }
    context.strokeStyle = css('--text');
    context.lineWidth = 1.5;
    drawEdges(context, edges, true);
    context.lineWidth = 2;
    context.strokeRect((x0[i] - x) * kx - 2, (y0[i] - y) * ky - 2, Math.max(1, (x1[i] - x0[i]) * kx) + 4, (y1[i] - y0[i]) * ky + 4);
  },
};

