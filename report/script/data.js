// The page's data (#pho-data, written by report/island.go) and how numbers are written.

// readData completes the data: effects know their axes and predictor, "before" is there.
function readData() {
  const data = JSON.parse(document.getElementById("pho-data").textContent);
  data.predictors.forEach(function (p, k) {
    p.effects = p.effects.filter(function (e) { return e.after; });
    p.effects.forEach(function (e) {
      for (const layer of ["after", "before", "half", "sim", "members"]) if (e[layer]) e[layer] = valuesOf(e[layer]);
      e.predictor = k;
      e.axis = data.axes[e.x];
      e.axis2 = e.x2 === undefined ? null : data.axes[e.x2];
      if (e.same) e.before = e.after;
      e.black = !e.before; // it is 0, or the page has no room for it
      if (e.black) e.before = e.after.map(function (v) { return v === null || !e.zero ? null : 0; });
    });
  });
  return data;
}

// valuesOf are the numbers that report/series.go wrote.
function valuesOf(coded) {
  const unit = Math.pow(10, Math.abs(coded.places));
  let last = 0, step = 0;
  return coded.steps.map(function (more) {
    if (more === null) return null;
    step += more;
    last += step;
    return coded.places < 0 ? last * unit : last / unit;
  });
}

// effectOf is the effect that a figure shows; undefined where the page holds no numbers of it.
function effectOf(data, figure) {
  const p = data.predictors[figure.dataset.predictor - 1];
  return p && p.effects.find(function (e) { return e.term === figure.dataset.term; });
}

// rowsNear are the rows about point i of an axis: those of its level, or of its bin of the
// histogram. null: not known.
function rowsNear(data, axis, i) {
  const f = data.features.find(function (f) { return f.name === axis.feature; });
  if (!f || !f.counts) return null;
  if (f.levels) {
    const at = axis.levels ? f.levels.indexOf(axis.levels[i]) : -1;
    return at < 0 ? null : f.counts[at];
  }
  if (!(f.max > f.min)) return null;
  const bin = function (v) { return Math.max(0, Math.min(Math.floor((v - f.min) / (f.max - f.min) * f.counts.length), f.counts.length - 1)); };
  if (!axis.levels) return f.counts[bin(axis.values[i])];
  // Levels that are numbers: known where a bin holds no other one.
  const bins = (axis.places || axis.levels.map(Number)).map(bin);
  return bins.filter(function (b) { return b === bins[i]; }).length === 1 ? f.counts[bins[i]] : null;
}

// titleOf is what stands beside an axis: the feature, with the unit of its numbers.
function titleOf(axis) { return axis.unit ? axis.feature + " (" + axis.unit + ")" : axis.feature; }

// placeOf is point i of an axis in words.
function placeOf(axis, i) {
  if (axis.levels) return axis.levels[i];
  return short(axis.values[i], 5) + (axis.unit ? " " + axis.unit : "");
}

// short is text without zeros at the end: a value of a column.
function short(v, n) {
  const s = text(v, n);
  return s.includes("e") || !s.includes(".") ? s : s.replace(/\.?0+$/, "");
}

// text is v with n significant digits (3 without n), as the rest of the page has it.
function text(v, n) {
  if (v === null || v === undefined || !isFinite(v)) return "–";
  if (v === 0) return "0";
  n = n || 3;
  const exponent = Number(v.toExponential(n - 1).split("e")[1]);
  let s = exponent >= -3 && exponent < 6
    ? v.toFixed(Math.max(n - 1 - exponent, 0))
    : v.toExponential(n - 1).replace(/\.?0*e/, "e").replace("e+", "e");
  return s.replace(/-/g, "−");
}

// signed is text with a plus.
function signed(v) { return (v > 0 ? "+" : "") + text(v); }

// element makes an element of HTML with attributes and children; texts stay texts.
function element(name, attributes, ...children) {
  return filled(document.createElement(name), attributes, children);
}

// shape is an element of SVG.
function shape(name, attributes, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function filled(node, attributes, children) {
  for (const key in attributes) {
    if (attributes[key] !== undefined && attributes[key] !== null) node.setAttribute(key, attributes[key]);
  }
  node.append(...children);
  return node;
}
