// ---- Header and tables ----
function fillHeader() {
  document.title = summary.name + ' on ' + summary.cluster + ' · Hone';
  $('name').textContent = summary.name;
  $('about').textContent = [summary.task + ' of ' + summary.subject, 'cluster ' + summary.cluster, count(nodeCount, 'node'),
    count(nodes.sources.length, 'edge'), count(kernels.root.length, 'kernel'), count(transfers.kernel.length, 'transfer')].join(' · ');
  const stepTime = element('b', {id: 'step-time'}, time(step, 6));
  stepTime.dataset.seconds = step;
  const change = summary.default_seconds > 0 ? 1 - step / summary.default_seconds : 0;
  const used = nodesOn.filter(n => n > 0).length;
  const busy = deviceRows.reduce((sum, row) => sum + busyOf(row), 0);
  for (const [value, label] of [
    [stepTime, 'step time'],
    [element('b', {id: 'default-time'}, time(summary.default_seconds, 6)), 'default step time'],
    [element('b', {className: change > 0 ? 'good' : ''}, percent(Math.abs(change))), change < 0 ? 'more time than the default' : 'less time than the default'],
    [element('b', {}, used + ' of ' + deviceCount), 'devices used'],
    [element('b', {}, percent(step > 0 ? busy / step / deviceCount : 0)), 'mean utilization'],
    [element('b', {}, bytes(transfers.bytes.reduce((a, b) => a + b, 0))), 'sent between devices'],
  ]) $('tiles').append(element('div', {className: 'tile'}, value, element('span', {}, label)));
}
const labelOf = d => element('span', {}, swatch(d), 'device ' + d);
function fillTables() {
  fillTable($('devices'), ['Device', '#Host', '#Peak speed', '#Memory bandwidth', '#Nodes', '#Kernels', '#Busy', 'Utilization', 'Peak memory'],
    summary.devices.map((device, d) => {
      const busy = busyOf(deviceRows[d]), share = step > 0 ? busy / step : 0, limit = device.capacity_bytes;
      const over = limit !== null && device.peak_bytes > limit;
      const held = element('span', {className: over ? 'bad' : ''}, bytes(device.peak_bytes) +
        (limit === null ? ', no limit' : ' of ' + bytes(limit) + (over ? ', too much' : '')));
      return [labelOf(d), String(device.host), rate(device.flops_per_second, 'FLOP/s'), rate(device.bytes_per_second, 'B/s'),
        whole(nodesOn[d]), whole(kernelsOn[d]), time(busy), element('span', {}, meter(share, d), percent(share)),
        element('span', {}, limit === null ? null : meter(device.peak_bytes / limit, d), held)];
    }));
  const longest = (list, size) => Array.from({length: size}, (_, i) => i).filter(i => list.end[i] > list.begin[i])
    .sort((a, b) => (list.end[b] - list.begin[b]) - (list.end[a] - list.begin[a]) || a - b).slice(0, 20);
  fillTable($('long-kernels'), ['Kernel', 'Opcode', 'Scope', 'Device', '#Nodes', '#FLOP', '#Bytes', '#Start', '#Time', '#Of the step'],
    longest(kernels, kernels.root.length).map(k => {
      const root = kernels.root[k], lasts = kernels.end[k] - kernels.begin[k];
      return [nameOf(root), opcodeOf(root), scopeOf(root), labelOf(nodes.device[root]), whole(membersOf[k]), rate(kernels.flops[k], 'FLOP'),
        bytes(kernels.bytes[k]), time(kernels.begin[k]), time(lasts), percent(lasts / step)];
    }));
  const sent = longest(transfers, transfers.kernel.length);
  if (sent.length === 0) $('long-transfers').append(element('tbody', {}, element('tr', {}, element('td', {className: 'muted'}, 'No transfers.'))));
  else fillTable($('long-transfers'), ['Result of', 'From', 'To', '#Bytes', '#Start', '#Time', '#Of the step'], sent.map(i => {
    const lasts = transfers.end[i] - transfers.begin[i];
    return [nameOf(kernels.root[transfers.kernel[i]]), labelOf(transfers.from[i]), labelOf(transfers.to[i]), bytes(transfers.bytes[i]),
      time(transfers.begin[i]), time(lasts), percent(lasts / step)];
  }));
}

