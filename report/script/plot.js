// Pictures drawn here: zoomed, on the response's scale, enlarged. Classes are the server's, so
// they look the same. What the server drew comes back when nothing is left to change.

const small = { width: 360, left: 46, right: 350, top: 22, bottom: 186, strip: 22, foot: 60 };
const large = { width: 960, left: 70, right: 945, top: 30, bottom: 440, strip: 34, foot: 76 };

// redraw draws an effect into svg. view: scale, and window, the range of x (null: all);
// levels, those of a factor to draw (null: all); frame, the data-*
// of the picture that the server drew.
function redraw(data, svg, effect, view, size) {
  const numbers = numbersOf(data, effect, view.scale);
  keep(svg);
  svg.replaceChildren();
  if (effect.axis.levels) drawDots(data, svg, effect, numbers, view, size);
  else drawCurve(data, svg, effect, numbers, view, size);
}

// kept is what the server drew, by picture.
const kept = new Map();

function keep(svg) {
  if (kept.has(svg)) return;
  const attributes = {};
  for (const a of svg.attributes) attributes[a.name] = a.value;
  kept.set(svg, { nodes: [...svg.childNodes], attributes: attributes });
}

// restore puts back what the server drew.
function restore(svg) {
  const old = kept.get(svg);
  if (!old) return;
  svg.replaceChildren(...old.nodes);
  for (const key of ["viewBox", "data-x-scale", "data-x0", "data-x1", "data-y0", "data-y1", "data-box"]) {
    if (old.attributes[key] !== undefined) svg.setAttribute(key, old.attributes[key]);
    else svg.removeAttribute(key);
  }
}

function drawCurve(data, svg, effect, numbers, view, size) {
  const whole = effect.axis.whole, twice = function (list) { return whole && list ? list.flatMap(function (v) { return [v, v]; }) : list; };
  const values = whole ? effect.axis.values.flatMap(function (v) { return [v - 0.5, v + 0.5]; }) : effect.axis.values; // the ends of steps
  numbers = Object.assign({}, numbers, { networks: numbers.networks.map(twice) });
  for (const key of ["after", "before", "low", "high", "simLow", "simHigh"]) numbers[key] = twice(numbers[key]);
  const old = view.frame || {}, range = view.window || [Number(old.x0 || values[0]), Number(old.x1 || values[values.length - 1])];
  const inside = function (list) { return list && list.filter(function (v, i) { return values[i] >= range[0] && values[i] <= range[1]; }); };
  const x = axisOf(range[0], range[1], size.left, size.right, warpOf(old.xScale));
  const [lo, hi] = view.range || rangeOf([numbers.after, effect.black ? null : numbers.before, core(numbers.low, numbers), core(numbers.high, numbers)].map(inside), 0.06);
  const y = axisOf(lo, hi, size.bottom, size.top);
  const height = size.bottom + size.foot;
  svg.setAttribute("viewBox", "0 0 " + size.width + " " + height);
  const set = { "data-x0": x.lo, "data-x1": x.hi, "data-y0": y.lo, "data-y1": y.hi, "data-box": [size.left, size.top, size.right, size.bottom].join(","), "data-x-scale": old.xScale };
  for (const key in set) if (set[key] !== undefined) svg.setAttribute(key, set[key]);
  const ys = ticksOf(y, 7), xs = ticksOf(x, 6), foot = size.bottom + size.strip + 4;
  svg.append(shape("path", { class: "grid", d: ys.map(function (t) { return "M" + size.left + " " + t.at + "H" + size.right; }).join("") }));
  const base = baseOf(data, effect, view.scale);
  if (y.lo < base && y.hi > base) svg.append(shape("path", { class: "zero", d: "M" + size.left + " " + y.at(base) + "H" + size.right }));
  svg.append(shape("path", { class: "data", d: bars(data, effect.axis, x, size) }));
  const plot = clipped(svg, size);
  plot.append(
    shape("path", { class: "sim", d: area(values, numbers.simLow, numbers.simHigh, x, y) }),
    shape("path", { class: "band", d: area(values, numbers.low, numbers.high, x, y) }),
    shape("path", { class: "network", d: numbers.networks.map(function (v) { return line(values, v, x, y); }).join("") }),
    shape("path", { class: "before", d: effect.black ? "" : line(values, numbers.before, x, y) }),
    shape("path", { class: "after", d: line(values, numbers.after, x, y) }));
  svg.append(shape("path", { class: "axis", d: "M" + size.left + " " + foot + "H" + size.right + xs.map(function (t) { return "M" + t.at + " " + foot + "v4"; }).join("") }));
  for (const t of ys) svg.append(shape("text", { class: "y", x: size.left - 4, y: t.at, dy: 4 }, t.label));
  for (const t of xs) svg.append(shape("text", { class: "x", x: t.at, y: foot + 15 }, t.label));
  svg.append(shape("text", { class: "x name", x: (size.left + size.right) / 2, y: foot + 30 }, titleOf(effect.axis)), outcomeTitle(data, effect, view.scale));
}

// outcomeTitle is what stands above the axis of values.
function outcomeTitle(data, effect, scale) {
  return shape("text", { class: "name", x: 4, y: 11 }, data.predictors[effect.predictor].titles[scale] || "");
}

// core leaves out the ends of a band that are much wider than the curve, where there are hardly
// any rows: they would flatten the picture.
function core(limit, numbers) {
  if (!limit) return null;
  const [lo, hi] = rangeOf([numbers.after], 0), reach = (hi - lo) / 2;
  return limit.map(function (v) { return v === null || v < lo - reach || v > hi + reach ? null : v; });
}

// clipped is a group that shows nothing outside the plot's area.
function clipped(svg, size) {
  const id = "clip-" + (clipped.count = (clipped.count || 0) + 1);
  svg.append(shape("clipPath", { id: id }, shape("rect", { x: size.left, y: size.top, width: size.right - size.left, height: size.bottom - size.top })));
  const group = shape("g", { "clip-path": "url(#" + id + ")" });
  svg.append(group);
  return group;
}

function line(values, numbers, x, y) {
  let d = "", pen = "M";
  values.forEach(function (v, i) {
    if (numbers[i] === null) { pen = "M"; return; }
    d += pen + x.at(v).toFixed(1) + " " + y.at(numbers[i]).toFixed(1);
    pen = "L";
  });
  return d;
}

// area is between two curves: a piece for each run of points that have both.
function area(values, low, high, x, y) {
  if (!low) return "";
  let d = "";
  for (let i = 0; i < values.length; i++) {
    const first = i;
    while (i < values.length && low[i] !== null && high[i] !== null) i++;
    if (i === first) continue;
    const run = function (list, from, to) { return line(values.slice(from, to), list.slice(from, to), x, y); };
    d += run(high, first, i);
    for (let j = i - 1; j >= first; j--) d += "L" + x.at(values[j]).toFixed(1) + " " + y.at(low[j]).toFixed(1);
    d += "z";
  }
  return d;
}

// bars are the histogram of a feature, cut to the axis.
function bars(data, axis, x, size) {
  const f = data.features.find(function (f) { return f.name === axis.feature; });
  if (!f || f.levels || !f.counts) return "";
  const most = Math.max(...f.counts), width = (f.max - f.min) / f.counts.length, floor = size.bottom + size.strip + 4;
  let d = "";
  f.counts.forEach(function (n, i) {
    const from = Math.max(f.min + i * width, x.lo), to = Math.min(f.min + (i + 1) * width, x.hi);
    if (!n || !(to > from)) return;
    const h = Math.max(size.strip * n / most, 0.6);
    d += "M" + x.at(from).toFixed(1) + " " + floor + "V" + (floor - h).toFixed(1) + "H" + (x.at(to) - 0.4).toFixed(1) + "V" + floor + "z";
  });
  return d;
}

// drawDots draws levels, those of view.levels or all, the largest effect first if there are many.
function drawDots(data, svg, effect, numbers, view, size) {
  const levels = effect.axis.levels, row = 17;
  let shown = view.levels || levels.map(function (_, i) { return i; });
  if (levels.length > manyLevels) shown = shown.slice().sort(function (a, b) { return numbers.after[b] - numbers.after[a] || a - b; });
  const pick = function (list) { return list && shown.map(function (i) { return list[i]; }); };
  const letters = size === large ? 40 : Math.min(mostLetters, Math.max(4, ...shown.map(function (i) { return [...levels[i]].length; })));
  const left = size === large ? 240 : Math.round(letters * 6.2) + 12, right = size.width - 52;
  const [lo, hi] = view.range || rangeOf([pick(numbers.after), pick(numbers.before), pick(core(numbers.low, numbers)), pick(core(numbers.high, numbers))], 0.05);
  const x = axisOf(lo, hi, left, right), end = size.top + row * shown.length + 4;
  svg.setAttribute("viewBox", "0 0 " + size.width + " " + (end + 20));
  const ticks = ticksOf(x, size === large ? 8 : 4);
  svg.append(shape("path", { class: "grid", d: ticks.map(function (t) { return "M" + t.at + " " + size.top + "V" + end; }).join("") }));
  const base = baseOf(data, effect, view.scale);
  if (x.lo < base && x.hi > base) svg.append(shape("path", { class: "zero", d: "M" + x.at(base) + " " + size.top + "V" + end }));
  svg.append(outcomeTitle(data, effect, view.scale));
  const cut = function (v) { return x.at(Math.min(Math.max(v, x.lo), x.hi)); };
  shown.forEach(function (i, at) {
    const y = size.top + row * at + row / 2, g = shape("g", { "data-level": levels[i] });
    const name = [...levels[i]].length > letters ? [...levels[i]].slice(0, letters - 1).join("") + "…" : levels[i];
    g.append(shape("text", { class: "y", x: left - 6, y: y + 4 }, name));
    if (numbers.low && numbers.low[i] !== null) g.append(shape("path", { class: "whisker", d: "M" + cut(numbers.low[i]) + " " + y + "H" + cut(numbers.high[i]) }));
    if (!effect.black && numbers.before[i] !== null) g.append(shape("circle", { class: "dot-before", cx: cut(numbers.before[i]), cy: y, r: 3.5 }));
    g.append(shape("circle", { class: "dot-after", cx: cut(numbers.after[i]), cy: y, r: 3.5 }));
    const rows = rowsNear(data, effect.axis, i);
    if (rows !== null) g.append(shape("text", { class: "rows", x: size.width - 4, y: y + 4 }, rows.toLocaleString("en").replace(/,/g, "\u202f")));
    svg.append(g);
  });
  svg.append(shape("path", { class: "axis", d: "M" + left + " " + end + "H" + right + ticks.map(function (t) { return "M" + t.at + " " + end + "v4"; }).join("") }));
  for (const t of ticks) svg.append(shape("text", { class: "x", x: t.at, y: end + 14 }, t.label));
}

// manyLevels: from more levels on they are searched and stand in order of their effect.
const manyLevels = 12, mostLetters = 29;
