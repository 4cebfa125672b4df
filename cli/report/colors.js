// ---- Colors ----
const dark = matchMedia('(prefers-color-scheme: dark)');
const palettes = {
  light: ['#2f6fb3', '#c7580c', '#1f8a4c', '#8450b8', '#c43a4b', '#13828c', '#8a6a08', '#b83d8b'],
  dark: ['#6aa7e8', '#f0924a', '#58c184', '#b58be6', '#f07b86', '#4cc3cc', '#d3b04a', '#ec86bf']};
let colors = [], named = new Map();
function readColors() {
  const palette = dark.matches ? palettes.dark : palettes.light, lightness = dark.matches ? [.72, .62, .82] : [.55, .45, .63];
  colors = Array.from({length: hueCount}, (_, hue) => hueCount <= palette.length ? palette[hue]
    : `oklch(${lightness[hue % 3]} .13 ${Math.round(360 * hue / hueCount)})`);
  named = new Map();
}
readColors();
const colorOf = hue => colors[hue];
function css(name) {
  if (!named.has(name)) named.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return named.get(name);
}
const font = size => size + 'px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
const swatches = [];  // [element, hue]
function swatch(hue) {
  const made = element('i', {className: 'swatch'});
  swatches.push([made, hue]);
  return made;
}
function paintSwatches() {
  for (const [made, hue] of swatches) made.style.background = colorOf(hue);
}

