
// ---- Traffic on the ring ----
function fillTraffic() {
  const crossing = links.outputs.reduce((a, b) => a + b, 0);
  if (crossing === 0) {
    $('traffic-part').hidden = true;
    $('traffic-note').textContent = 'No output is read on another chip.';
    return;
  }
  const total = carried(links.milliseconds.reduce((a, b) => a + b, 0));
  $('traffic-note').textContent = total === '' ? '' : total + ' per sample, over all links';
  $('traffic-hint').textContent = (fits ? 'Share of the interval that each link is busy. ' : 'Time per sample that each link is busy. ')
    + 'Link c leads from chip c to chip c + 1; an output crosses each link on its way once.';
  // What is drawn: shares, or, without an interval, times.
  const shown = link => fits ? busyShare(links.busy[link]) : links.milliseconds[link];
  const most = usedLinks.reduce((most, link) => Math.max(most, shown(link)), 0) * 1.05;
  const sent = link => [['outputs', whole(links.outputs[link])], ['bytes per sample', carried(links.milliseconds[link])],
    ['busy per sample', milliseconds(links.milliseconds[link], 6)], ['of the interval', fits ? percent(busyShare(links.busy[link])) : '']];
  fillBars($('traffic'), usedLinks.map(link => ({label: usedLinks.length > 12 ? String(link) : linkName(link), title: 'link ' + linkName(link),
    parts: [[kLink, shown(link)]], pairs: sent(link)})), most, fits ? value => digits(100 * value, 3) + ' %' : milliseconds);
  fillTable($('link-table'), ['Link', '#Outputs', '#Bytes per sample', '#Busy per sample', '#Of the interval'],
    usedLinks.map(link => [linkName(link), ...sent(link).map(([, value]) => value || '–')]));
  const onLinks = output => outputs.milliseconds[output] * (outputs.last[output] - outputs.from[output]);
  const longest = outputs.from.map((_, output) => output).sort((a, b) => onLinks(b) - onLinks(a) || a - b).slice(0, 20);
  fillTable($('output-table'), ['Output of', '#From chip', '#To chip', '#Reading chips', '#Links', '#Bytes', '#On each link'],
    longest.map(output => [outputName(output), String(outputs.from[output]), String(outputs.last[output]), whole(outputs.readers[output]),
      whole(outputs.last[output] - outputs.from[output]), carried(outputs.milliseconds[output]) || '–', milliseconds(outputs.milliseconds[output])]));
}
