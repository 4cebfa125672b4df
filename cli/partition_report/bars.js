
// ---- Bars ----
// Values at which an axis up to `most` has a line.
function barTicks(most) {
  const rough = most / 4, power = 10 ** Math.floor(Math.log10(rough));
  const each = [1, 2, 2.5, 5, 10].map(n => n * power).find(n => n >= rough);
  return Array.from({length: Math.floor(most / each * (1 + 1e-9)) + 1}, (_, n) => n * each);
}
// Fills a box with stacked bars, each {label, parts: [[color, value]], title, pairs} with what its tooltip shows; `limit`,
// if above 0, is a line across.
function fillBars(box, bars, most, format, limit = 0) {
  const share = value => 100 * value / (most || 1) + '%';
  for (const value of most > 0 ? barTicks(most) : []) {
    const tick = element('div', {className: 'tick'}, element('span', {}, format(value)));
    tick.style.bottom = share(value);
    box.append(tick);
  }
  // As many labels as there is room for.
  const each = Math.ceil(bars.length / 40), stacks = element('div', {className: 'stacks'});
  bars.forEach((bar, n) => {
    const stack = element('div', {className: 'stack'});
    let below = 0;
    for (const [hue, value] of bar.parts) {
      if (value === 0) continue;
      const part = document.createElement('div');
      part.style.bottom = share(below);
      part.style.height = share(value);
      swatches.push([part, hue]);
      stack.append(part);
      below += value;
    }
    if (n % each === 0) stack.append(element('span', {}, bar.label));
    stack.addEventListener('pointermove', event => showTip(event, bar.title, bar.pairs));
    stack.addEventListener('pointerleave', hideTip);
    stacks.append(stack);
  });
  box.append(stacks);
  if (limit > 0) {
    const line = element('div', {className: 'limit'});
    line.style.bottom = share(limit);
    box.append(line);
  }
}
function fillKey(box, hues) {
  for (const hue of hues) box.append(element('span', {}, swatch(hue), kindNames[hue]));
}
