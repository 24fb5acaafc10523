// The scale of the response. An effect is shown there as the response of a row all of whose
// other parts are at their mean: g(intercept + effect), or as its ratio to that of a row of mean parts
// alone: g(effect). That is no mean of responses.

// inverses are the inverse functions of links, as family.Link names them.
const inverses = {
  exp: Math.exp,
  sigmoid: function (eta) { return 1 / (1 + Math.exp(-eta)); },
  softplus: function (eta) { return Math.max(eta, 0) + Math.log1p(Math.exp(-Math.abs(eta))); },
  inv_cloglog: function (eta) { return -Math.expm1(-Math.exp(eta)); },
};

// inverse is the function g of a predictor, of one number; null of softmax.
function inverse(r) {
  const h = inverses[r.function], scale = r.scale || 1, beta = r.beta || 1, plus = r.plus || 0;
  return h ? function (eta) { return scale * h(beta * eta) / beta + plus; } : null;
}

// softmax is the share of the predictor at position "of" among etas; the reference class has 0.
function softmax(etas, of, reference) {
  const top = Math.max(...etas, reference ? 0 : -Infinity);
  let sum = reference ? Math.exp(-top) : 0;
  etas.forEach(function (eta) { sum += Math.exp(eta - top); });
  return Math.exp(etas[of] - top) / sum;
}

// numbersOf are the numbers of an effect on a scale: after, before, lower and upper limit of the
// band at a point (low, high) and of the whole curve (simLow, simHigh), and the networks' curves.
// null: the effect cannot be shown on that scale.
function numbersOf(data, effect, scale) {
  const n = effect.after.length;
  const off = function (halves, sign) {
    return halves && effect.after.map(function (v, i) { return v === null || halves[i] === null ? null : v + sign * halves[i]; });
  };
  const out = {
    after: effect.after, before: effect.before, low: off(effect.half, -1), high: off(effect.half, 1),
    simLow: off(effect.sim, -1), simHigh: off(effect.sim, 1), networks: [],
  };
  for (let i = 0; effect.members && i < effect.members.length; i += n) out.networks.push(effect.members.slice(i, i + n));
  if (scale === "link") return out;
  const p = data.predictors[effect.predictor];
  if (!p.response) return null;
  if (p.response.function === "softmax") return probabilities(data, effect, out);
  const g = inverse(p.response);
  const map = function (v) { return v && v.map(function (v) { return v === null ? null : g((p.response.relative ? 0 : p.intercept) + v); }); };
  for (const key of ["after", "before", "low", "high", "simLow", "simHigh"]) out[key] = map(out[key]);
  out.networks = out.networks.map(map);
  return out;
}

// probabilities are those of a class along an effect: all classes move with the feature, each
// by its own effect. There is no band, which would need to know how classes' errors hang
// together. null: the page does not hold another class's effect.
function probabilities(data, effect, link) {
  const r = data.predictors[effect.predictor].response;
  const others = r.with.map(function (k) {
    const p = data.predictors[k];
    const found = p.effects.find(function (e) { return e.term === effect.term && e.x === effect.x && e.x2 === effect.x2; });
    if (found) return found;
    const has = effect.term.split(" + ").some(function (term) { return p.terms.includes(term); });
    return has ? null : { none: true };
  });
  if (others.includes(null)) return null;
  const at = function (stage, i) {
    return softmax(r.with.map(function (k, l) {
      return data.predictors[k].intercept + (others[l].none ? 0 : others[l][stage][i]);
    }), r.with.indexOf(effect.predictor), r.reference);
  };
  return {
    after: link.after.map(function (v, i) { return v === null ? null : at("after", i); }),
    before: link.before.map(function (v, i) { return v === null ? null : at("before", i); }),
    networks: [],
  };
}

// responseOfRow is the response in a stored row; null: not known.
function responseOfRow(data, row, k) {
  const r = data.predictors[k].response;
  if (!r || r.effects_only) return null;
  const eta = function (l) { return row.parts[l][row.parts[l].length - 1]; };
  if (r.function === "softmax") return softmax(r.with.map(eta), r.with.indexOf(k), r.reference);
  return inverse(r)(eta(k) + (k === 0 ? row.offset || 0 : 0));
}

// baseOf is where an effect of 0 is on a scale.
function baseOf(data, effect, scale) {
  const p = data.predictors[effect.predictor], r = p.response;
  if (scale === "link") return 0;
  if (r.function === "softmax") return softmax(r.with.map(function (k) { return data.predictors[k].intercept; }), r.with.indexOf(effect.predictor), r.reference);
  return inverse(r)(r.relative ? 0 : p.intercept);
}

// scaleWords say what the chosen scale is.
function scaleWords(data, scale) {
  if (scale === "link") {
    return "On this scale the parts of a row, its effects and the intercept, add up." + (document.querySelector("section.classes") ? " Pictures of all classes together stay probabilities." : "");
  }
  const all = data.predictors.filter(function (p) { return p.response; }), r = all[0].response;
  const same = all.every(function (p) { return p.response.function === "softmax"; });
  const formulas = same ? "the softmax of intercepts plus effects" : all.map(function (p) {
    return (all.length > 1 ? p.name + ": " : "") + p.response.function + (p.response.relative ? "(effect)" : "(intercept + effect)") + (p.response.plus ? " + " + text(p.response.plus) : "");
  }).join("; ");
  let s = "Shown is " + formulas + ", " + (same ? "the probability of each class" : all.length > 1 ? "what the model puts out" : "the " + r.name) +
    " in a row whose other parts are all at their mean. It is no average over the rows.";
  s += same ? " All classes move with the feature. There are no bands on this scale." : " Bands are those of the effect, carried over.";
  if (r.offset) s += " The offset is left out.";
  return s + " Surfaces stay on the link scale.";
}
