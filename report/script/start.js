// What runs when the page is read: the controls, and all that follows them.

function start() {
  const data = readData(), view = { scale: document.getElementById("scale") ? document.getElementById("scale").value : "link" };
  const by = function (id) { return document.getElementById(id); };
  const clear = keepClear(by("controls")), redrawAll = makeFigures(data, view);
  for (const table of document.querySelectorAll("table.sortable")) {
    sortable(table);
    table.closest(".scroll").after(element("div", { class: "tools" }, copyButton("copy table", function () { return tableText(table); })));
  }
  makeRows(data);

  by("find").addEventListener("input", function () {
    const n = search(data, by("find").value);
    by("find-count").textContent = by("find").value.trim() ? n + (n === 1 ? " term" : " terms") : "";
  });
  if (by("scale")) {
    by("scale").addEventListener("change", function () {
      view.scale = by("scale").value;
      by("scale-words").textContent = scaleWords(data, view.scale);
      clear();
      redrawAll();
    });
  }
  if (data.predictors.length > 1) choosePredictor(data, by("predictor"), by("predictor-label"));
  for (const what of ["before", "after", "band", "members"]) {
    const box = by("show-" + what);
    if (box) box.addEventListener("change", function () { document.body.classList.toggle("hide-" + what, !box.checked); });
  }
  for (const section of document.querySelectorAll("section.classes")) makeClasses(data, section);
  by("controls").hidden = false;
  openTarget();
  addEventListener("hashchange", openTarget);
}

// keepClear lets headings that are jumped to stop below the bar, however many lines it has; what it
// returns looks at the bar again.
function keepClear(bar) {
  const look = function () {
    document.documentElement.style.scrollPaddingTop = getComputedStyle(bar).position === "sticky" ? bar.offsetHeight + "px" : "0";
  };
  new ResizeObserver(look).observe(bar);
  return look;
}

// openTarget opens what is folded round the place that the address names.
function openTarget() {
  const at = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!at) return;
  let opened = false;
  for (let d = at.closest("details"); d; d = d.parentElement.closest("details")) {
    opened = opened || !d.open;
    d.open = true;
  }
  if (opened) at.scrollIntoView();
}

// choosePredictor shows the sections of one predictor, or of all.
function choosePredictor(data, select, label) {
  select.append(element("option", { value: "" }, "all"));
  data.predictors.forEach(function (p, k) { select.append(element("option", { value: k + 1 }, p.name)); });
  select.addEventListener("change", function () {
    for (const article of document.querySelectorAll("article[data-predictor]")) {
      article.hidden = select.value !== "" && article.dataset.predictor !== select.value;
      const fold = article.querySelector(":scope > details.fold");
      if (fold && article.dataset.predictor === select.value) fold.open = true;
    }
  });
  label.hidden = false;
}
