// Figures as files, and tables for the clipboard.

// styles are what a drawing needs of the page's style sheet to look the same elsewhere.
const styles = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "stroke-linecap", "opacity", "font", "text-anchor", "paint-order", "image-rendering", "display"];

// drawingOf is a picture as SVG that needs no page: styles are in it, and its background.
function drawingOf(svg) {
  const copy = svg.cloneNode(true), from = [svg, ...svg.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach(function (node, i) {
    const look = getComputedStyle(node);
    for (const name of styles) to[i].style.setProperty(name, look.getPropertyValue(name));
  });
  for (const mark of copy.querySelectorAll(".readout, .range")) mark.remove();
  const view = svg.viewBox.baseVal;
  copy.prepend(shape("rect", { x: view.x, y: view.y, width: view.width, height: view.height, fill: getComputedStyle(svg.closest("figure")).backgroundColor }));
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", view.width);
  copy.setAttribute("height", view.height);
  return new XMLSerializer().serializeToString(copy);
}

// fileName is what a figure's file is called.
function fileName(effect, end) { return (effect.term.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "figure") + end; }

function saveSVG(svg, effect) { save(new Blob([drawingOf(svg)], { type: "image/svg+xml" }), fileName(effect, ".svg")); }

// savePNG paints the picture three times as large as its units.
function savePNG(svg, effect) {
  const image = new Image(), view = svg.viewBox.baseVal;
  image.addEventListener("load", function () {
    const canvas = element("canvas", { width: 3 * view.width, height: 3 * view.height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob(function (blob) { save(blob, fileName(effect, ".png")); }, "image/png");
  });
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(drawingOf(svg));
}

function save(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(function () { URL.revokeObjectURL(link.href); }, 1000);
}

// copyButton is a button that copies what text() gives.
function copyButton(label, text) {
  const button = element("button", { class: "copy", type: "button" }, label);
  button.addEventListener("click", function () {
    const field = element("textarea", { class: "away" }, text());
    button.after(field);
    field.select();
    const done = document.execCommand("copy"); // a file that was opened has no other way in every browser
    field.remove();
    button.textContent = done ? "copied" : "not copied";
    setTimeout(function () { button.textContent = label; }, 1500);
  });
  return button;
}

// valuesText are the values of an effect as a table with tabs, with six digits.
function valuesText(data, view, effect) {
  const scale = effect.axis2 || !numbersOf(data, effect, view.scale) ? "link" : view.scale, numbers = numbersOf(data, effect, scale);
  const of = function (v) { return v === null || v === undefined ? "" : typeof v === "number" ? String(Number(v.toPrecision(6))) : v; };
  const head = [titleOf(effect.axis)].concat(effect.axis2 ? [titleOf(effect.axis2)] : [], [data.predictors[effect.predictor].titles[scale]], effect.black ? [] : ["before"], ["lower", "upper"]);
  const rows = numbers.after.map(function (v, at) {
    const n = effect.axis2 ? sizeOf(effect.axis2) : 1, i = Math.floor(at / n);
    const place = [(effect.axis.levels || effect.axis.values)[i]].concat(effect.axis2 ? [(effect.axis2.levels || effect.axis2.values)[at % n]] : []);
    return place.concat([v], effect.black ? [] : [numbers.before[at]], [numbers.low && numbers.low[at], numbers.high && numbers.high[at]]).map(of);
  });
  return [head, ...rows].map(function (row) { return row.join("\t"); }).join("\n");
}

// tableText is a table of the page with tabs, as it is shown.
function tableText(table) {
  return [...table.rows].filter(function (row) { return !row.hidden; }).map(function (row) {
    return [...row.cells].map(function (cell) { return cell.textContent.trim().replace(/\s+/g, " ").replace(/−/g, "-").replace(/(\d)\u202f(?=\d)/g, "$1"); }).join("\t");
  }).join("\n");
}
