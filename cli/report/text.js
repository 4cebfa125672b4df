'use strict';
// Scripts of every report come first. A page declares, in data.js: hueCount, the number of its colors, and timeSpan, the
// end of its time axis in seconds.
const $ = id => document.getElementById(id);

// ---- Text ----
function element(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children.filter(child => child !== null));
  return made;
}
const digits = (value, count) => String(Number(value.toPrecision(count)));
function scaled(value, units, base, count) {
  let i = 0;
  while (i + 1 < units.length && Math.abs(value) >= base * (1 - 1e-6)) { value /= base; ++i; }
  return digits(value, count) + ' ' + units[i];
}
function time(seconds, count = 4) {
  if (seconds === 0) return '0';
  const [factor, unit] = seconds >= 1 ? [1, 's'] : seconds >= 1e-3 ? [1e3, 'ms'] : seconds >= 1e-6 ? [1e6, 'µs'] : [1e9, 'ns'];
  return digits(seconds * factor, count) + ' ' + unit;
}
const bytes = value => scaled(value, ['B', 'kB', 'MB', 'GB', 'TB', 'PB'], 1000, 4);
const rate = (value, unit) => scaled(value, ['', 'k', 'M', 'G', 'T', 'P'].map(prefix => prefix + unit), 1000, 4);
const percent = share => (100 * share).toFixed(1) + ' %';
const whole = value => value.toLocaleString('en-US');
const count = (value, noun) => whole(value) + ' ' + noun + (value === 1 ? '' : 's');

