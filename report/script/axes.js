// Axes and ticks, as the server makes them.

// warpOf is a scale by its name in data-x-scale: "linear", "log", or "asinh U", which is linear
// below U and a logarithm far beyond.
function warpOf(name) {
  const [kind, unit] = (name || "linear").split(" ");
  if (kind === "log") return { linear: false, of: Math.log, back: Math.exp };
  if (kind === "asinh") {
    return { linear: false, of: function (v) { return Math.asinh(v / unit); }, back: function (w) { return unit * Math.sinh(w); } };
  }
  const same = function (v) { return v; };
  return { linear: true, of: same, back: same };
}

// axisOf maps values from lo..hi to positions from..to; warp: on which scale, linear without it.
function axisOf(lo, hi, from, to, warp) {
  warp = warp || warpOf();
  if (!(hi > lo)) { lo -= 1; hi += 1; }
  const a = warp.of(lo), b = warp.of(hi);
  return {
    lo: lo, hi: hi, from: from, to: to, warp: warp,
    at: function (v) { return from + (warp.of(v) - a) / (b - a) * (to - from); },
    back: function (p) { return warp.back(a + (p - from) / (to - from) * (b - a)); },
  };
}

// ticksOf are round values, n or down to half as many.
function ticksOf(axis, n) {
  if (!axis.warp.linear && axis.hi - axis.lo > 3 * Math.max(Math.min(Math.abs(axis.lo), Math.abs(axis.hi)), 1e-300)) return warpedTicks(axis, n);
  const raw = (axis.hi - axis.lo) / n, power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = power * ([1, 2, 5].find(function (m) { return m * power >= raw * (1 - 1e-9); }) || 10);
  const places = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  const out = [];
  for (let i = Math.ceil(axis.lo / step - 1e-9); i * step <= axis.hi + 1e-9 * step; i++) {
    const v = i * step, big = Math.abs(v) >= 1e6 || step < 1e-6;
    out.push({ at: axis.at(v), label: i === 0 ? "0" : big ? text(v, 3) : v.toFixed(places).replace("-", "−") });
  }
  return out;
}

// warpedTicks are 0 and 1, 2 and 5 times powers of ten, as many as have room.
function warpedTicks(axis, n) {
  const most = Math.max(Math.abs(axis.lo), Math.abs(axis.hi)), values = [0], out = [];
  for (let power = Math.pow(10, Math.floor(Math.log10(most))), i = 0; i < 8; i++, power /= 10) {
    for (const m of [1, 5, 2]) values.push(m * power, -m * power);
  }
  const room = Math.abs(axis.to - axis.from) / n * 0.8;
  for (const v of values) {
    if (v < axis.lo || v > axis.hi) continue;
    const at = axis.at(v);
    if (out.every(function (t) { return Math.abs(t.at - at) >= room; })) out.push({ at: at, label: short(v, 3) });
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
