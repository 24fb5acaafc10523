// The figures: each remembers its own zoom and search, and follows the controls of the page.

// makeFigures makes the page's figures readable and returns a function that draws them again
// after the scale was changed.
function makeFigures(data, view) {
  const redraws = [];
  for (const figure of document.querySelectorAll("figure[data-term]")) {
    const effect = effectOf(data, figure), svg = figure.querySelector("svg.plot");
    if (effect && svg) redraws.push(makeFigure(data, view, figure, svg, effect, small, Object.assign({}, svg.dataset)));
  }
  return function () { for (const redraw of redraws) redraw(); };
}

// makeFigure returns a function that draws the figure as its settings are.
// frame: see redraw.
function makeFigure(data, view, figure, svg, effect, size, frame) {
  const own = { window: null, levels: null };
  const drawn = levelsDrawn(svg, effect); // by the server
  const out = element("output", { class: "values", "aria-live": "polite" });
  const whole = element("button", { class: "whole", type: "button", hidden: "" }, "whole range");
  const enlarge = element("button", { class: "enlarge", type: "button", "aria-label": "Enlarge " + effect.term }, "enlarge");
  const draw = function () {
    const scale = effect.axis2 || !numbersOf(data, effect, view.scale) ? "link" : view.scale;
    whole.hidden = !own.window;
    searchedLevels(figure, effect, own.levels);
    if (size === small && (effect.axis2 || scale === frame.scale && !own.window && !own.levels)) {
      ownScale(figure, false);
      return restore(svg);
    }
    const range = own.window || own.levels || size === large ? null : common(data, view, effect, scale);
    redraw(data, svg, effect, { scale: scale, window: own.window, levels: own.levels || (size === small ? drawn : null), range: range, frame: frame }, size);
    ownScale(figure, true);
  };
  const change = function (window) { own.window = window; draw(); };
  whole.addEventListener("click", function () { change(null); });
  enlarge.addEventListener("click", function () { openLarge(data, view, effect, svg, frame); });
  svg.after(out);
  const files = [["SVG", saveSVG], ["PNG", savePNG]].map(function (kind) {
    const button = element("button", { class: "save", type: "button", "aria-label": "Save " + effect.term + " as " + kind[0] }, kind[0]);
    button.addEventListener("click", function () { kind[1](svg, effect); });
    return button;
  });
  const tools = element("div", { class: "tools" }, whole, copyButton("copy values", function () { return valuesText(data, view, effect); }), ...files);
  if (size === small) tools.append(enlarge);
  figure.append(tools);
  if (effect.axis.levels && !effect.axis2 && effect.axis.levels.length > manyLevels) {
    svg.before(levelSearch(effect, function (levels) { own.levels = levels; draw(); }));
  }
  readable(data, svg, effect, out, function () { return view.scale; });
  zoomable(svg, effect, change);
  return draw;
}

// levelsDrawn are the levels that the server drew of a factor of many; null: all.
function levelsDrawn(svg, effect) {
  const groups = svg.querySelectorAll("g[data-level]");
  if (!groups.length) return null;
  return [...groups].map(function (g) { return effect.axis.levels.indexOf(g.dataset.level); }).filter(function (i) { return i >= 0; });
}

// ownScale hides what the caption says of the server's scale while another one is drawn.
function ownScale(figure, changed) {
  for (const sentence of figure.querySelectorAll("figcaption span")) {
    if (/^The (vertical|horizontal) scale/.test(sentence.textContent)) sentence.hidden = changed;
  }
}

// searchedLevels says how many levels are drawn while some are searched for, instead of what the
// caption says.
function searchedLevels(figure, effect, levels) {
  let said = figure.querySelector(".found-levels");
  if (levels && !said) figure.querySelector("svg.plot").before(said = element("output", { class: "found-levels" }));
  if (said) said.textContent = levels ? levels.length + " of " + effect.axis.levels.length + " levels are drawn, those that match." : "";
  for (const sentence of figure.querySelectorAll("figcaption span")) {
    if (/levels are drawn/.test(sentence.textContent)) sentence.hidden = !!levels;
  }
}

// common is the range of values that the figures of a predictor share on a scale, so that they
// compare by eye; null where an effect would be nearly flat on it.
function common(data, view, effect, scale) {
  const lists = [];
  for (const e of data.predictors[effect.predictor].effects) {
    const numbers = e.axis2 ? null : numbersOf(data, e, scale);
    if (numbers) lists.push(numbers.after, e.black ? null : numbers.before, core(numbers.low, numbers), core(numbers.high, numbers));
  }
  const all = rangeOf(lists, 0.05), numbers = numbersOf(data, effect, scale);
  const own = rangeOf([numbers.after, numbers.before], 0.05);
  return own[1] - own[0] < 0.25 * (all[1] - all[0]) ? null : all;
}

// levelSearch finds levels of a long factor by their names; at most 60 are drawn.
function levelSearch(effect, change) {
  const input = element("input", { type: "search", class: "find-level", placeholder: "find among " + effect.axis.levels.length + " levels", "aria-label": "Find levels of " + effect.term });
  input.addEventListener("input", function () {
    const query = input.value.trim().toLowerCase();
    if (!query) return change(null);
    const found = [];
    effect.axis.levels.forEach(function (level, i) { if (level.toLowerCase().includes(query)) found.push(i); });
    change(found.slice(0, 60));
  });
  return input;
}

// openLarge shows one figure alone, with a table of its values.
function openLarge(data, view, effect, drawn, frame) {
  const svg = effect.axis2 ? drawn.cloneNode(true) : shape("svg", { class: "plot", role: "img", "aria-label": drawn.getAttribute("aria-label") });
  const figure = element("figure", {}, svg), close = element("button", { type: "button" }, "close");
  const dialog = element("dialog", { id: "large", "aria-label": effect.term }, element("h3", {}, effect.term), close, figure);
  close.addEventListener("click", function () { dialog.close(); });
  dialog.addEventListener("close", function () { dialog.remove(); });
  document.body.append(dialog);
  makeFigure(data, view, figure, svg, effect, large, frame)();
  if (!effect.axis2) dialog.append(valuesTable(data, view, effect));
  dialog.showModal();
}

function valuesTable(data, view, effect) {
  const numbers = numbersOf(data, effect, view.scale) || numbersOf(data, effect, "link");
  const head = [titleOf(effect.axis), "after", "before", "lower", "upper", "rows"];
  const body = element("tbody", {});
  (effect.axis.levels || effect.axis.values).forEach(function (x, i) {
    const cells = [numbers.after[i], numbers.before[i], numbers.low && numbers.low[i], numbers.high && numbers.high[i]];
    const rows = rowsNear(data, effect.axis, i);
    body.append(element("tr", {}, element("th", { scope: "row" }, effect.axis.levels ? x : short(x, 5)),
      ...cells.map(function (v) { return element("td", { class: "n" }, text(v, 4)); }), element("td", { class: "n" }, rows === null ? "–" : String(rows))));
  });
  const table = element("table", { class: "sortable" },
    element("thead", {}, element("tr", {}, ...head.map(function (h, i) { return element("th", { scope: "col", class: i ? "n" : "" }, h); }))), body);
  sortable(table);
  return element("details", {}, element("summary", {}, "values"), table);
}
