// Pictures of all classes together: a class is picked, pictures are saved and copied.

function makeClasses(data, section) {
  const select = section.querySelector("select.pick");
  if (select) {
    select.addEventListener("change", function () { pickClass(section, select.value); });
    select.closest("[hidden]").hidden = false;
  }
  for (const figure of section.querySelectorAll("figure")) {
    const svg = figure.querySelector("svg.plot"), named = { term: figure.dataset.term + " of all classes" };
    const files = [["SVG", saveSVG], ["PNG", savePNG]].map(function (kind) {
      const button = element("button", { class: "save", type: "button", "aria-label": "Save " + named.term + " as " + kind[0] }, kind[0]);
      button.addEventListener("click", function () { kind[1](svg, named); });
      return button;
    });
    const table = classesTable(data, section, figure.dataset.term);
    figure.append(element("div", { class: "tools" }, ...(table ? [copyButton("copy values", function () { return table; })] : []), ...files));
  }
}

// pickClass brings a class to the front, and its name; "": those that the server coloured.
function pickClass(section, position) {
  section.classList.toggle("one", position !== "");
  for (const mark of section.querySelectorAll("[data-class]")) {
    const picked = mark.dataset.class === position;
    mark.classList.toggle("picked", picked);
    if (picked && mark.matches("path")) mark.parentElement.append(mark);
  }
}

// classesTable are the probabilities of all classes along a term, with tabs; null: the page does not hold the numbers.
function classesTable(data, section, term) {
  const first = data.predictors.find(function (p) { return p.response && p.response.function === "softmax" && p.effects.some(function (e) { return e.term === term; }); });
  if (!first) return null;
  const effects = first.response.with.map(function (k) { return data.predictors[k].effects.find(function (e) { return e.term === term; }); });
  const of = effects.map(function (e) { return e && numbersOf(data, e, "response"); });
  if (of.includes(null) || of.includes(undefined)) return null;
  const axis = effects[0].axis, digits = function (v) { return v === null ? "" : String(Number(v.toPrecision(6))); };
  const head = [titleOf(axis)].concat(first.response.with.map(function (k) { return data.predictors[k].name; }));
  const rows = (axis.levels || axis.values).map(function (x, i) { return [x].concat(of.map(function (n) { return digits(n.after[i]); })); });
  return [head, ...rows].map(function (row) { return row.join("\t"); }).join("\n");
}
