// ---- Canvases: sizes, dragging, wheel and keys, drawn once a frame ----
function makeChart(canvas, chart) {
  const base = document.createElement('canvas'), scroller = canvas.closest('.scroll');
  let stale = true, pending = false, drag = null;
  function draw() {
    pending = false;
    const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = chart.height();
    canvas.style.height = height + 'px';
    const w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
    if (canvas.width !== w || canvas.height !== h) {
      canvas.width = base.width = w;
      canvas.height = base.height = h;
      stale = true;
    }
    if (stale) {
      const context = base.getContext('2d');
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      const top = scroller ? scroller.scrollTop : 0, bottom = scroller ? top + scroller.clientHeight : height;
      chart.draw(context, width, height, top, bottom);
      stale = false;
    }
    const context = canvas.getContext('2d');
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, w, h);
    context.drawImage(base, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (chart.over) chart.over(context, width, height);
  }
  function request(all = true) {
    stale = stale || all;
    if (!pending) { pending = true; requestAnimationFrame(draw); }
  }
  const place = event => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener('pointerdown', event => {
    drag = place(event);
    canvas.setPointerCapture(event.pointerId);
    canvas.style.cursor = 'grabbing';
    hideTip();
  });
  canvas.addEventListener('pointermove', event => {
    const [x, y] = place(event);
    if (drag) {
      chart.pan(drag[0] - x, drag[1] - y);
      drag = [x, y];
    } else {
      chart.hover(event, x, y);
      request(false);
    }
  });
  const release = () => { drag = null; canvas.style.cursor = ''; };
  canvas.addEventListener('pointerup', release);
  canvas.addEventListener('pointercancel', release);
  canvas.addEventListener('pointerleave', event => { chart.hover(null, -1, -1); hideTip(); request(false); });
  canvas.addEventListener('wheel', event => {
    const [x, y] = place(event);
    const zooms = event.ctrlKey || event.metaKey || (chart.wheels && document.activeElement === canvas);
    if (zooms) chart.zoom(Math.exp(-event.deltaY * (event.deltaMode ? .05 : .0022)), x, y);
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) chart.pan(event.deltaX, 0);
    else return;
    event.preventDefault();
  }, {passive: false});
  canvas.addEventListener('keydown', event => {
    const x = canvas.clientWidth / 2, y = canvas.clientHeight / 2, far = 80;
    const action = {'+': () => chart.zoom(1.4, x, y), '=': () => chart.zoom(1.4, x, y), '-': () => chart.zoom(1 / 1.4, x, y),
      '0': () => chart.fit(), ArrowLeft: () => chart.pan(-far, 0), ArrowRight: () => chart.pan(far, 0),
      ArrowUp: () => chart.pan(0, -far), ArrowDown: () => chart.pan(0, far)}[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.startsWith('Arrow') && !chart.wheels && /Up|Down/.test(event.key)) return;
    action();
    hideTip();
    event.preventDefault();
  });
  if (scroller) scroller.addEventListener('scroll', () => request());
  new ResizeObserver(() => request()).observe(canvas);
  return {draw, request};
}
function addZoomButtons(group, chart, canvas) {
  for (const [text, label, action] of [
    ['−', 'Zoom out', () => chart.zoom(1 / 1.4, canvas.clientWidth / 2, canvas.clientHeight / 2)],
    ['+', 'Zoom in', () => chart.zoom(1.4, canvas.clientWidth / 2, canvas.clientHeight / 2)],
    ['Fit', 'Fit', () => chart.fit()]]) {
    group.append(element('button', {type: 'button', title: label, ariaLabel: label, onclick: action}, text));
  }
}
function addChoice(group, choices, chosen, choose) {
  const buttons = choices.map(([value, text, enabled]) => element('button', {type: 'button', disabled: enabled === false, onclick: () => select(value)}, text));
  function select(value) {
    buttons.forEach((button, i) => button.setAttribute('aria-pressed', choices[i][0] === value));
    choose(value);
  }
  buttons.forEach((button, i) => button.setAttribute('aria-pressed', choices[i][0] === chosen));
  group.append(...buttons);
}
function clipText(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let low = 0, high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(text.slice(0, middle) + '…').width <= width) low = middle;
    else high = middle - 1;
  }
  return low === 0 ? '' : text.slice(0, low) + '…';
}

