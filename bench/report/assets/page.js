// Draws the charts of a capacity report from the plan that stands in the page. uPlot draws; this file only says what.
"use strict";
(() => {
  const plan = JSON.parse(document.getElementById("plan").textContent);
  const limits = { tick: plan.slo.tick_limit_ms, age: plan.slo.age_limit_ms };

  // One point a size: of a size measured twice the later verdict counts, as it did in the search. Void steps are left out.
  const bySize = new Map();
  for (const step of plan.steps) if (!step.void) bySize.set(step.players, step);
  const steps = [...bySize.values()].sort((a, b) => a.players - b.players);
  // Where lobbies grow, the axis counts them.
  const each = plan.lobby_players || 1;
  const sizes = steps.map((s) => s.players / each), knee = plan.knee.players / each, beyond = plan.knee.high / each;
  const growing = plan.lobby_players ? "lobbies" : "players";
  const several = steps.some((s) => (s.lobbies ?? 1) > 1);
  const axisName = plan.lobby_players ? `lobbies of ${each}` : several ? "players in all lobbies" : "players in the lobby";

  // What legends show while nobody points: the size nearest to the knee at which a step held.
  const far = (i) => (steps[i].pass ? Math.abs(Math.log(sizes[i] / knee)) : Infinity);
  const restIndex = knee > 0 ? sizes.reduce((best, _, i) => (far(i) < far(best) ? i : best), 0) : 0;
  // What a step missed, as functions of figures: p99(tick), lost(input).
  const missed = (s) => (s.pass ? [] : s.failed.flatMap((line) => line.match(/\w+\(\w+\)/g) ?? [line]));
  const tick = (s, q) => Math.max(s.tick_cpu_ms[q], s.tick_wall_ms[q]); // what is judged


  const { color, whole, number, axis, markers, stroke, text, limit, put } = Plot;

  const kneeName = (plan.knee.bound === "measured" ? "knee " : "at least ") + whole(knee);

  // Values of one series, with how it is drawn. `raw` is what the legend says where `data` is a stacked sum.
  const line = (label, data, tint, dash) => ({ label, data, raw: data, stroke: color(tint), width: 2, dash, points: tint });
  const colors = 12; // s0 to s11 of page.css
  // The stages in the order of the tick, the cheapest of more than `colors` as one: "rest".
  const stageCosts = () => {
    const all = plan.fit.stages.map((stage) => {
      const raw = steps.map((s) => s.stage_cpu_ms.find((t) => t.name === stage.name)?.mean ?? 0);
      return { label: stage.name, raw, sum: raw.reduce((n, v) => n + v, 0) };
    });
    if (all.length <= colors) return all;
    const dear = new Set([...all].sort((a, b) => b.sum - a.sum).slice(0, colors - 1));
    const kept = all.filter((s) => dear.has(s)), rest = all.filter((s) => !dear.has(s));
    return [...kept, { label: `rest (${rest.length} stages)`, raw: steps.map((_, j) => rest.reduce((n, s) => n + s.raw[j], 0)) }];
  };
  const stageLayers = () => {
    const sums = steps.map(() => 0);
    const layers = stageCosts().map(({ label, raw }, i) => {
      raw.forEach((v, j) => { sums[j] += v; });
      return { label, data: [...sums], raw, fill: color("s" + (i % colors)), stroke: color("paper"), width: 1 };
    });
    return layers.reverse(); // the tallest first: each lower layer is painted over it
  };

  const charts = {
    stages: () => ({
      unit: "ms", label: "ms a tick", limit: limits.tick, limitName: "limit for p99",
      series: [
        ...stageLayers(),
        line("p50", steps.map((s) => tick(s, "p50")), "three", [5, 4]),
        line("p99 of CPU", steps.map((s) => s.tick_cpu_ms.p99), "one", [2, 3]),
        line("p99", steps.map((s) => tick(s, "p99")), "three"),
      ],
      judged: [/\((tick|elapsed)\)/, (s) => tick(s, "p99")],
    }),
    bytes: () => ({
      unit: "kbit/s", label: "kbit/s",
      series: [line("down", steps.map((s) => s.kbps_down_per_client), "one"), line("up", steps.map((s) => s.kbps_up_per_client), "two")],
    }),
    age: () => ({
      unit: "ms", label: "ms", limit: limits.age, limitName: "limit for p99",
      series: [line("p50", steps.map((s) => s.snapshot_age_ms.p50), "two"), line("p99", steps.map((s) => s.snapshot_age_ms.p99), "one")],
      judged: [/\(age\)/, (s) => s.snapshot_age_ms.p99],
    }),
    cores: () => ({ unit: "cores", label: "cores", series: [line("server", steps.map((s) => s.server_cores), "one")] }),
  };

  // Rings the figures of a chart that missed the service level. One above the chart has its ring at the edge.
  const rings = (u, chart) => {
    const { ctx, bbox: box } = u, px = devicePixelRatio, [term, figure] = chart.judged ?? [];
    ctx.strokeStyle = color("limit");
    ctx.lineWidth = 2 * px;
    for (const s of steps) {
      if (!term || !missed(s).some((m) => term.test(m))) continue;
      ctx.beginPath();
      ctx.arc(u.valToPos(s.players / each, "x", true), Math.max(u.valToPos(figure(s), "y", true), box.top + 7 * px), 6 * px, 0, 2 * Math.PI);
      ctx.stroke();
    }
  };

  // Shades the sizes beyond the interval of the knee, and marks the limit of the service level and the knee.
  const marks = (chart) => ({
    hooks: {
      drawAxes: (u) => {
        const { ctx, bbox: box } = u;
        ctx.save();
        ctx.beginPath();
        ctx.rect(box.left, box.top, box.width, box.height);
        ctx.clip();
        if (plan.knee.high > 0) {
          const x = u.valToPos(beyond, "x", true);
          ctx.fillStyle = color("beyond");
          ctx.fillRect(x, box.top, box.left + box.width - x, box.height);
        }
        ctx.restore();
      },
      draw: (u) => {
        const { ctx, bbox: box } = u, px = devicePixelRatio;
        ctx.save();
        rings(u, chart);
        ctx.font = `${12 * px}px system-ui, sans-serif`;
        ctx.lineWidth = px;
        if (chart.limit) limit(u, chart.limit, `${chart.limitName}: ${number(chart.limit)} ${chart.unit}`);
        if (plan.knee.players > 0) {
          const x = u.valToPos(knee, "x", true), right = x > box.left + box.width * 0.75;
          ctx.strokeStyle = ctx.fillStyle = color("soft");
          ctx.setLineDash([2 * px, 3 * px]);
          stroke(ctx, x, box.top, x, box.top + box.height);
          text(ctx, kneeName, x + (right ? -5 : 5) * px, box.top + 12 * px, right ? "right" : "left");
        }
        const first = steps.find((s) => !s.pass && s.players === plan.knee.failed_at);
        if (first) {
          const x = u.valToPos(plan.knee.failed_at / each, "x", true), right = x > box.left + box.width * 0.6;
          ctx.fillStyle = color("limit");
          text(ctx, `failed: ${missed(first).join(", ")}`, x + (right ? -5 : 5) * px, box.top + 28 * px, right ? "right" : "left");
        }
        ctx.restore();
      },
    },
  });
  const draw = (place) => {
    const chart = charts[place.dataset.chart]();
    const options = {
      width: place.clientWidth, height: 300,
      scales: {
        x: { time: false, range: (u, min, max) => {
          const margin = 0.06 * (max - min || max); // sizes near one another fill the chart
          return [min > max / 2 ? min - margin : 0, max + margin];
        } },
        // A figure far above the limit must not flatten all else.
        y: { range: (u, min, max) => [0, Math.max(Math.min(max * 1.08, (chart.limit || Infinity) * 3), (chart.limit ?? 0) * 1.2) || 1] },
      },
      axes: [
        axis({ label: axisName, size: 30, space: 60, values: (u, ticks) => ticks.map(whole) }),
        axis({ label: chart.label, size: 48, values: (u, ticks) => ticks.map((t) => t.toLocaleString("en-US")) }),
      ],
      legend: { live: true, markers: markers(chart.series) },
      cursor: { drag: { x: false, y: false }, y: false, points: { size: 7 } },
      plugins: [marks(chart)],
      series: [
        { label: growing, value: (u, v, series, index) => (v == null ? "–" : [whole(v), ...(index == null || !missed(steps[index]).length ? [] : [`failed: ${missed(steps[index]).join(", ")}`])].join(", ")) },
        ...chart.series.map((s) => ({
          label: s.label, stroke: s.stroke, width: s.width, fill: s.fill, dash: s.dash,
          points: { show: !s.fill, size: 6, stroke: s.stroke, fill: s.stroke },
          value: (u, v, series, index) => (index == null ? "–" : `${number(s.raw[index])} ${chart.unit}`),
        })),
      ],
    };
    options.hooks = { setCursor: [(u) => { if (!(u.cursor.left >= 0)) u.setLegend({ idx: restIndex }, false); }] };
    return new uPlot(options, [sizes, ...chart.series.map((s) => s.data)], place);
  };

  if (sizes.length === 0) {
    for (const place of document.querySelectorAll(".chart")) {
      place.style.minHeight = "0";
      place.textContent = "No step that is not void.";
    }
    return;
  }
  for (const place of document.querySelectorAll(".chart")) put(place, draw, () => restIndex);
  document.documentElement.dataset.drawn = String(document.querySelectorAll(".chart canvas").length);
})();
