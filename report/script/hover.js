// Values under the pointer, or at the point that the arrow keys chose. They are those of the
// grid's nearest point, so that they are the numbers of effects.csv.

// readable lets svg, the picture of an effect, be read; out is where the values stand. scale()
// is the chosen scale.
function readable(data, svg, effect, out, scale) {
  let chosen = null;
  const choose = function (point) {
    chosen = point;
    showPoint(data, svg, effect, out, scale(), point);
  };
  const follow = function (event) {
    const point = pointAt(svg, effect, event);
    if (point) choose(point);
  };
  svg.addEventListener("pointermove", follow);
  svg.addEventListener("pointerdown", follow);
  svg.addEventListener("pointerleave", function (event) {
    if (event.pointerType === "mouse" && document.activeElement !== svg) choose(null);
  });
  svg.addEventListener("blur", function () { choose(null); });
  svg.setAttribute("tabindex", "0");
  svg.addEventListener("keydown", function (event) {
    const next = stepped(svg, effect, chosen, event.key);
    if (next === undefined) return;
    event.preventDefault();
    choose(next);
  });
}

// pointAt is the point of the grid nearest to the pointer, {i, j}; null outside the plot.
function pointAt(svg, effect, event) {
  const p = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  if (effect.axis2) {
    const panel = [...svg.querySelectorAll("image")].find(function (image) {
      const b = image.getBBox();
      return p.x >= b.x && p.x <= b.x + b.width && p.y >= b.y && p.y <= b.y + b.height;
    });
    if (!panel) return null;
    const [x, y] = sidesOf(svg, effect, panel);
    return { i: x.locate(p.x), j: y.locate(p.y) };
  }
  if (effect.axis.levels) {
    const groups = [...svg.querySelectorAll("g[data-level]")];
    let best = null, distance = 12;
    for (const g of groups) {
      const d = Math.abs(Number(g.querySelector("circle").getAttribute("cy")) - p.y);
      if (d < distance) { best = g; distance = d; }
    }
    const i = best ? effect.axis.levels.indexOf(best.dataset.level) : -1;
    return i < 0 ? null : { i: i };
  }
  const [left, , right] = svg.dataset.box.split(",").map(Number);
  if (p.x < left - 4 || p.x > right + 4) return null;
  return { i: nearest(effect.axis.values, axisOfPlot(svg).back(p.x)) };
}

// sidesOf are the sides of a map: at(i) is the place of a point of the grid, locate(p) the point
// nearest to a place. Levels have equal shares, and so have numbers where the map says nothing.
function sidesOf(svg, effect, image) {
  const b = image.getBBox(), d = image.dataset;
  const side = function (axis, lo, hi, scale, from, to) {
    const n = sizeOf(axis);
    if (axis.levels || lo === undefined) {
      return {
        at: function (i) { return from + (i + 0.5) / n * (to - from); },
        locate: function (p) { return Math.max(0, Math.min(n - 1, Math.floor((p - from) / (to - from) * n))); },
      };
    }
    const along = axisOf(Number(lo), Number(hi), from, to, warpOf(scale));
    return {
      at: function (i) { return along.at(axis.values[i]); },
      locate: function (p) { return nearest(axis.values, along.back(p)); },
    };
  };
  return [side(effect.axis, d.x0, d.x1, svg.dataset.xScale, b.x, b.x + b.width), side(effect.axis2, d.y0, d.y1, svg.dataset.yScale, b.y + b.height, b.y)];
}

// axisOfPlot is the horizontal axis of a curve, the vertical one with its name.
function axisOfPlot(svg, vertical) {
  const [left, top, right, bottom] = svg.dataset.box.split(",").map(Number), d = svg.dataset;
  return vertical ? axisOf(Number(d.y0), Number(d.y1), bottom, top) : axisOf(Number(d.x0), Number(d.x1), left, right, warpOf(d.xScale));
}

function sizeOf(axis) { return (axis.levels || axis.values).length; }

function nearest(values, v) {
  let best = 0;
  values.forEach(function (at, i) { if (Math.abs(at - v) < Math.abs(values[best] - v)) best = i; });
  return best;
}

// stepped is the point that a key leads to; undefined: the key means nothing here.
function stepped(svg, effect, from, key) {
  if (key === "Escape") return null;
  const along = { ArrowRight: 1, ArrowLeft: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity };
  const inside = function (v, n) { return Math.max(0, Math.min(n - 1, v)); };
  if (effect.axis2) {
    const at = from || { i: 0, j: 0 }, up = { ArrowUp: 1, ArrowDown: -1 };
    if (key in up) return { i: at.i, j: inside(at.j + up[key], sizeOf(effect.axis2)) };
    return key in along ? { i: inside(at.i + along[key], sizeOf(effect.axis)), j: at.j } : undefined;
  }
  if (effect.axis.levels) { // in the order in which they are drawn
    const drawn = [...svg.querySelectorAll("g[data-level]")].map(function (g) { return effect.axis.levels.indexOf(g.dataset.level); });
    const down = { ArrowDown: 1, ArrowUp: -1, ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };
    if (!(key in down)) return undefined;
    const at = from ? drawn.indexOf(from.i) + down[key] : 0;
    return { i: drawn[inside(at, drawn.length)] };
  }
  if (!(key in along)) return undefined;
  const values = effect.axis.values, x = axisOfPlot(svg);
  const first = nearest(values, x.lo), last = nearest(values, x.hi);
  const at = from ? from.i + along[key] : key === "End" ? last : first;
  return { i: Math.max(first, Math.min(last, at)) };
}

// showPoint writes the values at a point (null: none) and marks it in the picture.
function showPoint(data, svg, effect, out, scale, point) {
  for (const old of svg.querySelectorAll(".readout")) old.remove();
  for (const key of Object.keys(out.dataset)) delete out.dataset[key];
  out.textContent = "";
  if (!point) return;
  const numbers = numbersOf(data, effect, effect.axis2 ? "link" : scale) || numbersOf(data, effect, "link");
  const at = effect.axis2 ? point.i * sizeOf(effect.axis2) + point.j : point.i;
  const said = [effect.axis.feature + " = " + placeOf(effect.axis, point.i)];
  const exact = function (name, v) {
    if (v !== null && v !== undefined) out.dataset[name] = typeof v === "number" ? Number(v.toPrecision(6)) : v;
  };
  exact("x", (effect.axis.levels || effect.axis.values)[point.i]);
  if (effect.axis2) {
    said.push(effect.axis2.feature + " = " + placeOf(effect.axis2, point.j));
    exact("x2", (effect.axis2.levels || effect.axis2.values)[point.j]);
  }
  said.push((effect.black ? "" : "after ") + text(numbers.after[at], 4));
  exact("after", numbers.after[at]);
  if (numbers.after[at] === null) said[said.length - 1] = effect.axis.levels ? "did not occur" : "no row is near";
  if (numbers.low && numbers.low[at] !== null) {
    if (numbers.high[at] > numbers.low[at]) said[said.length - 1] += " (" + text(numbers.low[at]) + " to " + text(numbers.high[at]) + ")";
    exact("lower", numbers.low[at]);
    exact("upper", numbers.high[at]);
  }
  if (!effect.black && numbers.before[at] !== null) said.push("before " + text(numbers.before[at], 4));
  exact("before", numbers.before[at]);
  if (numbers.networks.length) {
    const [lo, hi] = rangeOf(numbers.networks.map(function (v) { return [v[at]]; }), 0);
    said.push("networks " + text(lo) + " to " + text(hi));
  }
  const rows = effect.axis2 ? null : rowsNear(data, effect.axis, point.i);
  if (rows !== null) {
    said.push(rows.toLocaleString("en").replace(/,/g, "\u202f") + (effect.axis.levels ? " rows" : " rows near"));
    exact("rows", rows);
  }
  out.textContent = said.join(" · ");
  mark(svg, effect, numbers, point);
}

// mark draws where the point is.
function mark(svg, effect, numbers, point) {
  const g = shape("g", { class: "readout", "aria-hidden": "true" });
  if (effect.axis2) {
    for (const image of svg.querySelectorAll("image")) {
      const b = image.getBBox(), [x, y] = sidesOf(svg, effect, image);
      const px = x.at(point.i), py = y.at(point.j);
      if (px >= b.x && px <= b.x + b.width) g.append(shape("path", { class: "cross", d: "M" + px + " " + b.y + "v" + b.height }));
      if (py >= b.y && py <= b.y + b.height) g.append(shape("path", { class: "cross", d: "M" + b.x + " " + py + "h" + b.width }));
    }
  } else if (effect.axis.levels) {
    const dot = [...svg.querySelectorAll("g[data-level]")].find(function (g) { return g.dataset.level === effect.axis.levels[point.i]; });
    if (!dot) return;
    const c = dot.querySelector(".dot-after"), view = svg.viewBox.baseVal;
    g.append(shape("rect", { class: "row", x: 0, y: c.getAttribute("cy") - 8.5, width: view.width, height: 17 }));
  } else {
    const [, top, , bottom] = svg.dataset.box.split(",").map(Number);
    const x = axisOfPlot(svg).at(effect.axis.values[point.i]), y = axisOfPlot(svg, true);
    g.append(shape("path", { class: "cross", d: "M" + x + " " + top + "V" + bottom }));
    const dot = function (name, v) { if (v !== null && v >= y.lo && v <= y.hi) g.append(shape("circle", { class: name, cx: x, cy: y.at(v), r: 3.5 })); };
    if (!effect.black) dot("dot-before", numbers.before[point.i]);
    dot("dot-after", numbers.after[point.i]);
  }
  svg.append(g);
}
