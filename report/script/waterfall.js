// Single rows: the stored ones by a list or by their number, drawn as the server draws the first.

const drawnParts = 12; // terms of a row; smaller ones are one line

function makeRows(data) {
  const rows = data.rows, by = function (id) { return document.getElementById(id); };
  if (!rows || !by("rows")) return;
  const list = by("row-list"), number = by("row-number"), predictor = by("row-predictor"), message = by("row-message");
  const group = function (label, from, to) {
    const out = element("optgroup", { label: label });
    for (const row of rows.rows.slice(from, to)) out.append(element("option", { value: row.row }, rowName(data, row)));
    return out;
  };
  list.append(element("option", { value: "" }, "choose"), group("largest remainder", 0, rows.largest), group("sample", rows.largest));
  data.predictors.forEach(function (p, k) { predictor.append(element("option", { value: k + 1 }, p.name)); });
  by("row-predictor-label").hidden = data.predictors.length < 2;
  const show = function (wanted, listed) {
    const row = rowCalled(rows, wanted, listed);
    message.textContent = row ? "" : unknownRow(rows, wanted);
    list.value = row ? String(row.row) : "";
    if (row) number.value = row.id || row.row;
    by("row-chosen").replaceChildren(...(row ? [waterfall(data, row, predictor.value - 1)] : []));
  };
  const typed = function () { show(number.value.trim()); };
  list.addEventListener("change", function () { if (list.value) show(list.value, true); });
  predictor.addEventListener("change", function () { if (list.value) show(list.value, true); });
  by("row-go").addEventListener("click", typed);
  number.addEventListener("keydown", function (event) { if (event.key === "Enter") typed(); });
  by("row-controls").hidden = false;
}

// rowCalled is the row of a name or, if none has that name, of a number; listed: the number alone.
function rowCalled(rows, wanted, listed) {
  const named = listed ? undefined : rows.rows.find(function (r) { return r.id === wanted; });
  return named || rows.rows.find(function (r) { return r.row === Number(wanted); });
}

// rowTitle is a row's name and number, or its number.
function rowTitle(row) { return row.id ? row.id + " (data row " + row.row + ")" : "Data row " + row.row; }

function responseText(data, row) { return short(row.y) + (data.rows.unit ? " " + data.rows.unit : ""); }

function rowName(data, row) {
  const parts = row.parts[0];
  return (row.id ? row.id + " (row " + row.row + ")" : "row " + row.row) + (row.y === undefined ? "" : ": " + data.rows.response + " " + responseText(data, row)) +
    (data.predictors.length > 1 ? "" : ", " + data.predictors[0].name + " " + text(parts[parts.length - 1]) + ", remainder " + text(parts[parts.length - 2]));
}

// unknownRow says what there is instead of a row that is not stored.
function unknownRow(rows, wanted) {
  if (rows.rows.some(function (r) { return r.id; }) && !/^[0-9]+$/.test(wanted)) return "No stored row is called " + wanted + ". The file of contributions has all rows.";
  if (!(wanted >= 1) || wanted % 1) return "Rows are counted 1, 2, 3 …";
  const near = rows.rows.map(function (r) { return r.row; }).sort(function (a, b) { return Math.abs(a - wanted) - Math.abs(b - wanted); });
  return "Row " + wanted + " is not among the stored rows; the nearest is " + near[0] + ". The file of contributions has all rows.";
}

// waterfall is the table of a row's parts for predictor k, the largest first.
function waterfall(data, row, k) {
  const p = data.predictors[k], parts = row.parts[k], n = p.terms.length;
  const order = p.terms.map(function (_, j) { return j; }).sort(function (i, j) { return Math.abs(parts[j]) - Math.abs(parts[i]) || i - j; });
  const drawn = order.length === drawnParts + 1 ? order.length : Math.min(order.length, drawnParts);
  const steps = order.slice(0, drawn).map(function (j) {
    return { part: p.terms[j], name: p.terms[j], values: rowValues(data, row, k, j), value: parts[j], kind: "structured" };
  });
  const rest = order.slice(drawn);
  if (rest.length) {
    const sum = rest.reduce(function (s, j) { return s + parts[j]; }, 0);
    steps.push({ part: "others", name: rest.length + " other terms", values: "", value: sum, kind: "structured" });
  }
  steps.push({ part: "unstructured", name: p.remainder[0], values: p.remainder[1], value: parts[n], kind: "unstructured" });
  let sum = p.intercept;
  for (const s of steps) { s.from = sum; sum = s.to = sum + s.value; }
  const range = rangeOf([[p.intercept], steps.map(function (s) { return s.to; })], 0), x = axisOf(range[0], range[1], 0, 1000);
  const body = element("tbody", {}, part("intercept", "intercept", "where all terms are at their mean", null, p.intercept, text(p.intercept), text(p.intercept)));
  for (const s of steps) body.append(part(s.part, s.name, s.values, stepBar(s, x), s.value, signed(s.value), text(s.to)));
  body.append(part("eta", p.name, "the model's output for this row", null, parts[n + 1], text(parts[n + 1]), text(parts[n + 1])));
  const response = responseOfRow(data, row, k);
  if (response !== null) body.append(part("response", p.response.name, p.response.function + " of it", null, response, text(response), ""));
  const head = element("tr", {});
  [["part", ""], ["values", ""], ["from sum to sum", "bar"], ["contribution", "n"], ["sum", "n"]].forEach(function (h) { head.append(element("th", { scope: "col", class: h[1] }, h[0])); });
  const caption = rowTitle(row) + (row.y === undefined ? "" : ", " + data.rows.response + " is " + responseText(data, row)) + ": how its parts add up to " + p.name;
  return element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    element("table", { class: "waterfall", "data-row": row.row, "data-predictor": k + 1 }, element("caption", {}, caption), element("thead", {}, head), body));
}

function part(id, name, values, bar, value, shown, sum) {
  return element("tr", { "data-part": id, "data-value": value }, element("th", { scope: "row" }, name), element("td", {}, values),
    element("td", { class: "bar" }, ...(bar ? [bar] : [])), element("td", { class: "n" }, shown), element("td", { class: "n" }, sum));
}

function stepBar(s, x) {
  const from = x.at(Math.min(s.from, s.to)), to = x.at(Math.max(s.from, s.to));
  return shape("svg", { "aria-hidden": "true", viewBox: "0 0 1000 12", preserveAspectRatio: "none" },
    shape("rect", { class: s.kind, x: from, y: 0, width: Math.max(to - from, 1), height: 12 }));
}

// rowValues are the values of a term's columns in a row.
function rowValues(data, row, k, j) {
  return data.rows.features[k][j].slice(0, 4).map(function (at) {
    const v = row.values[at];
    return data.rows.columns[at] + " = " + (v === null ? "missing" : typeof v === "number" ? short(v, 5) : v);
  }).join(", ");
}
