// ---- The page ----
fillHeader();
fillTables();
const graphPart = makeChart($('graph'), graphChart);
makeGantt($('kernels'), deviceRows, {top: 20, pitch: deviceCount > 16 ? 18 : 26, gap: 4, counter: 'kernels',
  name: k => nameOf(kernels.root[k]), pairs: kernelPairs});
if (linkRows.length === 0) $('links-part').hidden = true;
else makeGantt($('links'), linkRows, {top: 0, pitch: 18, gap: 4, counter: 'transfers', name: i => nameOf(kernels.root[transfers.kernel[i]]),
  pairs: i => [['from', 'device ' + transfers.from[i]], ['to', 'device ' + transfers.to[i]], ['bytes', bytes(transfers.bytes[i])],
    ['time', time(transfers.end[i] - transfers.begin[i]) + ', from ' + time(transfers.begin[i], 6)]]});
if (allLinks > linkRows.length) $('links-part').firstElementChild.textContent += `: the ${linkRows.length} busiest of ${allLinks}`;
timeView.charts.push(makeChart($('memory'), memoryChart));
const relayout = () => { makeLayout(); fitGraph(); graphPart.request(); };
addChoice($('x-mode'), [['depth', 'Depth'], ['time', 'Start time']], graphView.xMode, value => { graphView.xMode = value; relayout(); });
addChoice($('y-mode'), [['scope', 'Scope', nodes.scope_texts.length > 1], ['device', 'Device']], graphView.yMode,
  value => { graphView.yMode = value; relayout(); });
addChoice($('memory-scale'), [['capacity', 'Capacity'], ['peak', 'Peak']], memoryScale, value => { memoryScale = value; setTime(timeView.lo, timeView.hi); });
addZoomButtons($('graph-zoom'), graphChart, $('graph'));
addZoomButtons($('time-zoom'), timeMoves, $('kernels'));
summary.devices.forEach((_, d) => {
  const button = element('button', {type: 'button'}, swatch(d), deviceCount > 16 ? String(d) : `device ${d} (${count(nodesOn[d], 'node')})`);
  button.setAttribute('aria-pressed', 'false');
  button.onclick = () => {
    graphView.solo = graphView.solo === d ? -1 : d;
    [...$('legend').children].forEach((other, n) => other.setAttribute('aria-pressed', n === graphView.solo));
    graphPart.request();
  };
  $('legend').append(button);
});
paintSwatches();
dark.addEventListener('change', () => { readColors(); paintSwatches(); graphPart.request(); setTime(timeView.lo, timeView.hi); });
makeLayout();
fitGraph();
document.body.dataset.devices = deviceCount;
for (const part of [graphPart, ...timeView.charts]) part.draw();
document.body.dataset.state = 'ready';
