// Draws the charts of a capacity report from the plan that stands in the page. uPlot draws; this file only says what.
"use strict";
(() => {
  const plan = JSON.parse(document.getElementById("plan").textContent);
  const level = plan.level, period = 1000 / level.tick_hz;
  const limits = { tick: period * level.tick_share, age: period * level.send_every_ticks * level.age_intervals };

  // One point a size: of a size measured twice the later verdict counts, as it did in the search. Void steps are left out.
  const bySize = new Map();
  for (const step of plan.steps) if (!step.void) bySize.set(step.players, step);
  const steps = [...bySize.values()].sort((a, b) => a.players - b.players);
  const players = steps.map((s) => s.players);

  const restIndex = Math.max(players.indexOf(plan.knee.players), 0); // what legends show while nobody points

  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const number = (x) => {
    if (x == null || Number.isNaN(x)) return "–";
    const size = Math.abs(x), digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
    return x.toLocaleString("en-US", { minimumFractionDigits: x === 0 ? 0 : digits, maximumFractionDigits: digits });
  };
  const whole = (x) => x.toLocaleString("en-US");

  const kneeName = (plan.knee.bound === "measured" ? "knee " : "at least ") + whole(plan.knee.players);

  // Values of one series, with how it is drawn. `raw` is what the legend says where `data` is a stacked sum.
  const line = (label, data, tint, dash) => ({ label, data, raw: data, stroke: color(tint), width: 2, dash, points: tint });
  const stageLayers = () => {
    const sums = steps.map(() => 0);
    const layers = plan.fit.stages.map((stage, i) => {
      const raw = steps.map((s) => (s.stage_cpu_us.find((t) => t.name === stage.name)?.mean ?? 0) / 1000);
      raw.forEach((v, j) => { sums[j] += v; });
      return { label: stage.name, data: [...sums], raw, fill: color("s" + (i % 12)), stroke: color("paper"), width: 1 };
    });
    return layers.reverse(); // the tallest first: each lower layer is painted over it
  };

  const charts = {
    stages: () => ({
      unit: "ms", label: "ms a tick", limit: limits.tick, limitName: "limit for p99",
      series: [
        ...stageLayers(),
        line("p50", steps.map((s) => s.tick_cpu_ms.p50), "three", [5, 4]),
        line("p99", steps.map((s) => s.tick_cpu_ms.p99), "three"),
      ],
    }),
    bytes: () => ({
      unit: "kbit/s", label: "kbit/s",
      series: [line("down", steps.map((s) => s.kbps_down_per_client), "one"), line("up", steps.map((s) => s.kbps_up_per_client), "two")],
    }),
    age: () => ({
      unit: "ms", label: "ms", limit: limits.age, limitName: "limit for p99",
      series: [line("p50", steps.map((s) => s.snapshot_age_ms.p50), "two"), line("p99", steps.map((s) => s.snapshot_age_ms.p99), "one")],
    }),
    cores: () => ({ unit: "cores", label: "cores", series: [line("server", steps.map((s) => s.server_cores), "one")] }),
  };

  // Shades the sizes that failed, and marks the limit of the service level and the knee.
  const marks = (chart) => ({
    hooks: {
      drawAxes: (u) => {
        const { ctx, bbox: box } = u;
        ctx.save();
        ctx.beginPath();
        ctx.rect(box.left, box.top, box.width, box.height);
        ctx.clip();
        if (plan.knee.first_fail > 0) {
          const x = u.valToPos(plan.knee.first_fail, "x", true);
          ctx.fillStyle = color("beyond");
          ctx.fillRect(x, box.top, box.left + box.width - x, box.height);
        }
        ctx.restore();
      },
      draw: (u) => {
        const { ctx, bbox: box } = u, px = devicePixelRatio;
        ctx.save();
        ctx.font = `${12 * px}px system-ui, sans-serif`;
        ctx.lineWidth = px;
        if (chart.limit) {
          const y = u.valToPos(chart.limit, "y", true);
          ctx.strokeStyle = ctx.fillStyle = color("limit");
          ctx.setLineDash([]);
          stroke(ctx, box.left, y, box.left + box.width, y);
          text(ctx, `${chart.limitName}: ${number(chart.limit)} ${chart.unit}`, box.left + 6 * px, y - 5 * px, "left");
        }
        if (plan.knee.players > 0) {
          const x = u.valToPos(plan.knee.players, "x", true), right = x > box.left + box.width * 0.75;
          ctx.strokeStyle = ctx.fillStyle = color("soft");
          ctx.setLineDash([2 * px, 3 * px]);
          stroke(ctx, x, box.top, x, box.top + box.height);
          text(ctx, kneeName, x + (right ? -5 : 5) * px, box.top + 12 * px, right ? "right" : "left");
        }
        ctx.restore();
      },
    },
  });
  const stroke = (ctx, x0, y0, x1, y1) => { ctx.beginPath(); ctx.moveTo(x0, y0); ctx.lineTo(x1, y1); ctx.stroke(); };
  const text = (ctx, words, x, y, align) => {
    ctx.textAlign = align;
    ctx.textBaseline = "alphabetic";
    ctx.lineJoin = "round";
    const ink = ctx.fillStyle, halo = ctx.strokeStyle, width = ctx.lineWidth;
    ctx.setLineDash([]);
    ctx.strokeStyle = color("paper");
    ctx.lineWidth = 4 * devicePixelRatio;
    ctx.strokeText(words, x, y);
    ctx.strokeStyle = halo;
    ctx.lineWidth = width;
    ctx.fillStyle = ink;
    ctx.fillText(words, x, y);
  };

  const draw = (place) => {
    const chart = charts[place.dataset.chart]();
    const axis = (extra) => ({
      stroke: color("soft"), font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif",
      grid: { stroke: color("grid"), width: 1 }, ticks: { stroke: color("line"), width: 1, size: 5 }, ...extra,
    });
    const options = {
      width: place.clientWidth, height: 300,
      scales: {
        x: { time: false, range: (u, min, max) => [0, max * 1.04] },
        y: { range: (u, min, max) => [0, Math.max(max * 1.08, (chart.limit ?? 0) * 1.2) || 1] },
      },
      axes: [
        axis({ label: "players in the lobby", labelSize: 18, size: 30, space: 60, values: (u, ticks) => ticks.map(whole) }),
        axis({ label: chart.label, labelSize: 18, size: 48, values: (u, ticks) => ticks.map((t) => t.toLocaleString("en-US")) }),
      ],
      legend: { live: true },
      cursor: { drag: { x: false, y: false }, y: false, points: { size: 7 } },
      plugins: [marks(chart)],
      series: [
        { label: "players", value: (u, v) => (v == null ? "–" : whole(v)) },
        ...chart.series.map((s) => ({
          label: s.label, stroke: s.stroke, width: s.width, fill: s.fill, dash: s.dash,
          points: { show: !s.fill, size: 6, stroke: s.stroke, fill: s.stroke },
          value: (u, v, series, index) => (index == null ? "–" : `${number(s.raw[index])} ${chart.unit}`),
        })),
      ],
    };
    // The marker of a layer shows its fill, that of a line its stroke, that of a dashed line a dashed frame.
    const drawn = (i) => chart.series[i - 1] ?? {};
    options.legend.markers = {
      width: (u, i) => (drawn(i).dash ? 2 : 0), stroke: (u, i) => drawn(i).stroke, dash: "dashed",
      fill: (u, i) => (drawn(i).dash ? "transparent" : drawn(i).fill ?? drawn(i).stroke),
    };
    options.hooks = { setCursor: [(u) => { if (!(u.cursor.left >= 0)) u.setLegend({ idx: restIndex }, false); }] };
    return new uPlot(options, [players, ...chart.series.map((s) => s.data)], place);
  };

  const leave = (u) => u.setCursor({ left: -10, top: -10 });

  // Arrow keys walk the steps; what the legend shows is also said aloud.
  const keys = (place, plot) => (event) => {
    const u = plot();
    const last = players.length - 1, now = u.cursor.left >= 0 ? u.cursor.idx : restIndex;
    const to = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last }[event.key];
    if (event.key === "Escape") leave(u);
    if (to === undefined) return;
    event.preventDefault();
    const index = Math.min(Math.max(to, 0), last);
    u.setCursor({ left: u.valToPos(players[index], "x"), top: 0 });
    const words = [...place.querySelectorAll(".u-series")]
      .map((row) => [...row.children].map((cell) => cell.textContent.trim()).join(" "));
    place.parentElement.querySelector("output").textContent = words.join(", ");
  };

  if (players.length === 0) {
    for (const place of document.querySelectorAll(".chart")) {
      place.style.minHeight = "0";
      place.textContent = "No step that is not void.";
    }
    return;
  }
  for (const place of document.querySelectorAll(".chart")) {
    let plot = draw(place);
    place.addEventListener("keydown", keys(place, () => plot));
    place.addEventListener("blur", () => leave(plot));
    new ResizeObserver(() => {
      if (place.clientWidth !== plot.width) plot.setSize({ width: place.clientWidth, height: 300 });
    }).observe(place);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      plot.destroy();
      plot = draw(place);
    });
  }
  document.documentElement.dataset.drawn = String(document.querySelectorAll(".chart canvas").length);
})();
