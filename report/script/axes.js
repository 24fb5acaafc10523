// Axes and ticks, as the server makes them.

// axisOf maps values from lo..hi to positions from..to.
function axisOf(lo, hi, from, to) {
  if (!(hi > lo)) { lo -= 1; hi += 1; }
  return {
    lo: lo, hi: hi, from: from, to: to,
    at: function (v) { return from + (v - lo) / (hi - lo) * (to - from); },
    back: function (p) { return lo + (p - from) / (to - from) * (hi - lo); },
  };
}

// ticksOf are round values, n or down to half as many.
function ticksOf(axis, n) {
  const raw = (axis.hi - axis.lo) / n, power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = power * ([1, 2, 5].find(function (m) { return m * power >= raw * (1 - 1e-9); }) || 10);
  const places = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  const out = [];
  for (let i = Math.ceil(axis.lo / step - 1e-9); i * step <= axis.hi + 1e-9 * step; i++) {
    const v = i * step, big = Math.abs(v) >= 1e6 || step < 1e-6;
    out.push({ value: v, at: axis.at(v), label: i === 0 ? "0" : big ? text(v, 3) : v.toFixed(places).replace("-", "−") });
  }
  return out;
}

// rangeOf is the range of lists of numbers; margin: what is left free at both ends, as a share.
function rangeOf(lists, margin) {
  let lo = Infinity, hi = -Infinity;
  for (const list of lists) {
    for (const v of list || []) {
      if (v !== null && isFinite(v)) { lo = Math.min(lo, v); hi = Math.max(hi, v); }
    }
  }
  if (!(lo <= hi)) return [-1, 1];
  if (hi - lo < 1e-9 * Math.max(Math.abs(lo), Math.abs(hi))) { lo -= Math.abs(lo) / 10 || 1; hi += Math.abs(hi) / 10 || 1; }
  const air = margin * (hi - lo);
  return [lo - air, hi + air];
}
