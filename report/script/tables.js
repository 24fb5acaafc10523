// Tables: sorting by a column, and the search over terms.

// sortable makes buttons of a table's headings: largest first, smallest first, as it was.
function sortable(table) {
  for (const body of table.tBodies) [...body.rows].forEach(function (row, i) { row.dataset.order = i; });
  [...table.tHead.rows[0].cells].forEach(function (th, column) {
    if (!th.textContent.trim() || th.querySelector("a")) return; // a link stays one
    const button = element("button", { type: "button", class: "sort" }, ...th.childNodes);
    th.replaceChildren(button);
    button.addEventListener("click", function () {
      const next = { none: "descending", descending: "ascending", ascending: "none" }[th.getAttribute("aria-sort") || "none"];
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      if (next !== "none") th.setAttribute("aria-sort", next);
      for (const body of table.tBodies) if (!body.classList.contains("rest")) sortRows(body, column, next);
    });
  });
}

// sortRows sorts rows; those of a sum (class member) stay below it, headings where they are.
function sortRows(body, column, direction) {
  const blocks = [], heads = [];
  for (const row of [...body.rows].sort(function (a, b) { return a.dataset.order - b.dataset.order; })) {
    if (row.querySelector("[scope=rowgroup]")) heads.push(row);
    else if (row.classList.contains("member") && blocks.length) blocks[blocks.length - 1].push(row);
    else blocks.push([row]);
  }
  if (direction !== "none") {
    const sign = direction === "descending" ? -1 : 1;
    const key = function (block) { return cellKey(block[0].cells[column]); };
    blocks.sort(function (a, b) { return compareKeys(key(a), key(b), sign) || a[0].dataset.order - b[0].dataset.order; });
  }
  body.append(...heads, ...blocks.flat());
}

// cellKey is a cell's number, else its text; null: nothing is there.
function cellKey(cell) {
  if (!cell) return null;
  const bar = cell.querySelector("rect");
  if (bar && !cell.textContent.trim()) return Number(bar.getAttribute("width"));
  const s = cell.textContent.replace(/[\u202f\u00a0\s]/g, "").replace(/−/g, "-").replace(/^[<>≈(+]+/, "");
  if (s === "" || s === "–") return null;
  const number = parseFloat(s);
  return isNaN(number) || !/^[-+.\d]/.test(s) ? cell.textContent.trim().toLowerCase() : number;
}

// compareKeys puts cells without a value last, numbers before texts.
function compareKeys(a, b, sign) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  if (typeof a === "number") return sign * (a - b);
  return sign * (a < b ? 1 : a > b ? -1 : 0); // texts: the first of the alphabet first
}

// search shows figures and rows of which the term, or a column, holds all words of the query,
// and tells how many terms that are.
function search(data, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const columns = new Map(); // of terms
  for (const p of data.predictors) for (const e of p.effects) columns.set(e.term, [e.axis.feature, e.axis2 ? e.axis2.feature : ""].join(" "));
  const found = new Set();
  const matches = function (name) {
    const all = (name + " " + (columns.get(name) || "")).toLowerCase();
    return words.every(function (w) { return all.includes(w); });
  };
  for (const node of document.querySelectorAll("figure[data-term], tr[data-term]")) {
    const hit = matches(node.dataset.term);
    node.hidden = !hit;
    if (hit) found.add(node.dataset.term);
  }
  for (const row of document.querySelectorAll("tr[data-columns]")) row.hidden = !matches(row.dataset.columns.replace(/\n/g, " "));
  if (words.length) {
    for (const details of document.querySelectorAll("article details")) {
      if (details.querySelector("tr[data-columns]:not([hidden]), figure[data-term]:not([hidden])")) details.open = true;
    }
  }
  return found.size;
}
