// A drag over a curve with a mouse shows that range of x alone, + and - do it by keys; a double
// click, 0 or the button shows all of it again.

// zoomable lets a curve be zoomed; change(window) is called with the range, null for all of it.
function zoomable(svg, effect, change) {
  if (effect.axis2 || effect.axis.levels) return;
  let from = null, box = null;
  const position = function (event) {
    const p = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const [left, , right] = svg.dataset.box.split(",").map(Number);
    return Math.max(left, Math.min(right, p.x));
  };
  const leave = function () {
    if (box) box.remove();
    from = box = null;
  };
  svg.addEventListener("pointerdown", function (event) {
    if (event.pointerType === "touch" || event.button !== 0) return; // a finger reads, and scrolls
    from = position(event);
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", function (event) {
    if (from === null) return;
    const to = position(event), [, top, , bottom] = svg.dataset.box.split(",").map(Number);
    if (!box) svg.append(box = shape("rect", { class: "range", y: top, height: bottom - top }));
    box.setAttribute("x", Math.min(from, to));
    box.setAttribute("width", Math.abs(to - from));
  });
  svg.addEventListener("pointerup", function (event) {
    if (from === null) return;
    const x = axisOfPlot(svg), ends = [x.back(from), x.back(position(event))].sort(function (a, b) { return a - b; });
    const far = Math.abs(position(event) - from) > 6;
    leave();
    if (far) change(held(effect, ends));
  });
  svg.addEventListener("pointercancel", leave);
  svg.addEventListener("dblclick", function () { change(null); });
  svg.addEventListener("keydown", function (event) {
    const x = axisOfPlot(svg), middle = (x.from + x.to) / 2, half = (x.to - x.from) / 2;
    const factor = { "+": 0.5, "=": 0.5, "-": 2 }[event.key];
    if (event.key === "0") change(null);
    else if (factor) change(held(effect, [x.back(middle - factor * half), x.back(middle + factor * half)]));
  });
}

// held is a range inside the grid, of three points of it at least.
function held(effect, ends) {
  const v = effect.axis.values, last = v.length - 1;
  const lo = Math.max(ends[0], v[0]), hi = Math.min(ends[1], v[last]);
  if (v.filter(function (x) { return x >= lo && x <= hi; }).length >= 3) return [lo, hi];
  const at = Math.max(1, Math.min(last - 1, nearest(v, (lo + hi) / 2)));
  return [v[at - 1], v[at + 1]];
}
