// How our charts look, and how they are read by keyboard: what the pages share. uPlot draws.
"use strict";
const Plot = (() => {
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const whole = (x) => x.toLocaleString("en-US");
  const number = (x) => {
    if (x == null || Number.isNaN(x)) return "–";
    const size = Math.abs(x), digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
    return x.toLocaleString("en-US", { minimumFractionDigits: x === 0 ? 0 : digits, maximumFractionDigits: digits });
  };

  const font = "12px system-ui, sans-serif";
  const axis = (extra) => ({
    stroke: color("soft"), font, labelFont: font, labelSize: 18,
    grid: { stroke: color("grid"), width: 1 }, ticks: { stroke: color("line"), width: 1, size: 5 }, ...extra,
  });

  // The marker of a layer shows its fill, that of a line its stroke, that of a dashed line a dashed frame.
  const markers = (series) => {
    const drawn = (i) => series[i - 1] ?? {};
    return {
      width: (u, i) => (drawn(i).dash ? 2 : 0), stroke: (u, i) => drawn(i).stroke, dash: "dashed",
      fill: (u, i) => (drawn(i).dash ? "transparent" : drawn(i).fill ?? drawn(i).stroke),
    };
  };

  const stroke = (ctx, x0, y0, x1, y1) => { ctx.beginPath(); ctx.moveTo(x0, y0); ctx.lineTo(x1, y1); ctx.stroke(); };
  const text = (ctx, words, x, y, align) => {
    ctx.textAlign = align;
    ctx.textBaseline = "alphabetic";
    ctx.lineJoin = "round";
    const ink = ctx.fillStyle, line = ctx.strokeStyle, width = ctx.lineWidth;
    ctx.setLineDash([]);
    ctx.strokeStyle = color("paper");
    ctx.lineWidth = 4 * devicePixelRatio;
    ctx.strokeText(words, x, y);
    ctx.strokeStyle = line;
    ctx.lineWidth = width;
    ctx.fillStyle = ink;
    ctx.fillText(words, x, y);
  };

  // A level line across the chart with its name.
  const limit = (u, at, words) => {
    const { ctx, bbox: box } = u, px = devicePixelRatio, y = u.valToPos(at, "y", true);
    if (!(y >= box.top)) return;
    ctx.strokeStyle = ctx.fillStyle = color("limit");
    ctx.lineWidth = px;
    ctx.font = `${12 * px}px system-ui, sans-serif`;
    ctx.setLineDash([]);
    stroke(ctx, box.left, y, box.left + box.width, y);
    text(ctx, words, box.left + 6 * px, y - 5 * px, "left");
  };

  const leave = (u) => u.setCursor({ left: -10, top: -10 });

  // Arrow keys walk the points; what the legend shows is also said aloud, in the output beside the chart. rest is the point
  // that the legend shows while nobody points.
  const keys = (place, plot, rest) => (event) => {
    const u = plot(), xs = u.data[0], last = xs.length - 1;
    const now = u.cursor.left >= 0 ? u.cursor.idx : rest(u);
    const to = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last }[event.key];
    if (event.key === "Escape") leave(u);
    if (to === undefined || last < 0) return;
    event.preventDefault();
    const index = Math.min(Math.max(to, 0), last);
    u.setCursor({ left: u.valToPos(xs[index], "x"), top: 0 });
    const words = [...place.querySelectorAll(".u-series")]
      .map((row) => [...row.children].map((cell) => cell.textContent.trim()).join(" "));
    place.parentElement.querySelector("output").textContent = words.join(", ");
  };

  // Draws a chart into its place, and again when the colours change; follows its width; listens to its keys.
  const put = (place, draw, rest) => {
    let plot = draw(place);
    place.addEventListener("keydown", keys(place, () => plot, rest));
    place.addEventListener("blur", () => leave(plot));
    new ResizeObserver(() => {
      if (place.clientWidth !== plot.width) plot.setSize({ width: place.clientWidth, height: plot.height });
    }).observe(place);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      plot.destroy();
      plot = draw(place);
    });
    return () => plot;
  };

  return { color, whole, number, font, axis, markers, stroke, text, limit, leave, put };
})();
