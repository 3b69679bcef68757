// The live page of a lobby. Frames come as server-sent events, see frame.go; uPlot draws the charts, Plot says how they look.
"use strict";
(() => {
  const { color, whole, number, axis, markers, limit, put } = Plot;
  const $ = (id) => document.getElementById(id);
  const keep = 480, minute = 60; // frames of the charts, two minutes of them; seconds of the histogram
  let about, frame, ground, period = 16.7;

  const set = (node, words) => { if (node.textContent !== words) node.textContent = words; };
  const make = (tag, cls, words) => {
    const node = document.createElement(tag);
    if (cls) node.className = cls;
    if (words !== undefined) node.textContent = words;
    return node;
  };
  const nameOf = (p) => p.name || `player ${p.slot}`;
  const quantile = (sorted, q) => (sorted.length ? sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)] : NaN);

  // What the charts remember.
  const past = []; // {at, stages by group in ms, worst, parts in Mbit/s, up}
  const ticks = []; // {at, cpu, wall, took (the longer of both), late} in ms
  let groups = [];

  const remember = (f) => {
    const stages = groups.map(() => 0);
    about.stages.forEach((s, i) => { stages[groups.indexOf(s.group)] += (f.stages[i] ?? 0) / 1000; });
    let worst = 0;
    for (const t of f.ticks) {
      const took = Math.max(t.cpu, t.wall) / 1000; // as service levels judge
      worst = Math.max(worst, took);
      ticks.push({ at: f.seconds, cpu: t.cpu / 1000, wall: t.wall / 1000, took, late: t.late / 1000 });
    }
    past.push({ at: f.seconds, stages, worst, parts: f.parts.map((b) => (b * 8) / 1e6), up: (f.up * 8) / 1e6 });
    if (past.length > keep) past.splice(0, past.length - keep);
    const gone = ticks.findIndex((t) => t.at > f.seconds - minute);
    if (gone > 0) ticks.splice(0, gone);
  };

  // Layers, the tallest first, as each lower one is painted over it; and lines upon them.
  const layered = (names, rows) => {
    const sums = past.map(() => 0);
    return names.map((label, i) => {
      const raw = past.map((p) => rows(p)[i]);
      raw.forEach((v, j) => { sums[j] += v; });
      return { label, data: [...sums], raw, fill: color("s" + (i % 12)), stroke: color("paper"), width: 1 };
    }).reverse();
  };
  const line = (label, data, tint, dash) => ({ label, data, raw: data, stroke: color(tint), width: 2, dash });

  // Bins of the histogram: four an octave, from 1/64 ms to 128 ms. x is the number of the bin.
  const bins = 52, edge = (i) => 2 ** (i / 4 - 6), binOf = (ms) => Math.min(bins - 1, Math.max(0, Math.floor(4 * (Math.log2(ms || 1e-9) + 6))));
  const tally = (what) => {
    const n = Array(bins).fill(0);
    for (const t of ticks) n[binOf(t[what])]++;
    return n.map((c) => (ticks.length ? (100 * c) / ticks.length : 0));
  };

  const seconds = { name: "at", x: () => past.map((p) => p.at - (past.at(-1)?.at ?? 0)), words: (v) => (v ? whole(-v) : "now"), at: (v) => (v ? `${number(-v)} s ago` : "now") };
  const charts = {
    stages: { ...seconds, label: "ms a tick", unit: "ms", limit: () => period, limitName: "period", series: () => [...layered(groups, (p) => p.stages), line("longest", past.map((p) => p.worst), "three")] },
    bytes: { ...seconds, label: "Mbit/s", unit: "Mbit/s", series: () => [...layered(about?.parts ?? [], (p) => p.parts), line("up", past.map((p) => p.up), "three", [5, 4])] },
    ticks: {
      name: "took", label: "% of ticks", unit: "%", mark: () => 4 * (Math.log2(period) + 6),
      x: () => Array.from({ length: bins }, (_, i) => i), words: (v) => (v % 8 ? "" : String(+edge(v).toPrecision(2))), at: (v) => `${number(edge(v))} to ${number(edge(v + 1))} ms`,
      series: () => {
        const cpu = tally("cpu"), wall = tally("wall");
        return [{ label: "CPU", data: cpu, raw: cpu, fill: color("s0"), stroke: color("one"), width: 1, bars: true }, { ...line("elapsed", wall, "two") }];
      },
    },
  };

  const rest = (u) => (u.data[0].length === bins ? binOf(quantile(ticks.map((t) => t.cpu).sort((a, b) => a - b), 0.5)) : u.data[0].length - 1);
  const draw = (place) => {
    const chart = charts[place.dataset.chart];
    let series = chart.series();
    const shape = series.length, histogram = chart === charts.ticks;
    const options = {
      width: place.clientWidth, height: 230,
      scales: {
        x: { time: false, range: histogram ? () => [0, bins] : () => [Math.min(-10, past.length ? past[0].at - past.at(-1).at : 0), 0] },
        y: { range: (u, min, max) => [0, Math.max((max ?? 0) * 1.15, chart.limit && max > period / 2 ? period * 1.15 : 0) || 1] },
      },
      axes: [
        axis({ label: histogram ? "ms" : "seconds ago", size: 30, space: 50, values: (u, at) => at.map(chart.words), ...(histogram ? { splits: () => [0, 8, 16, 24, 32, 40, 48] } : {}) }),
        axis({ label: chart.label, size: 50, values: (u, at) => at.map((v) => v.toLocaleString("en-US")) }),
      ],
      legend: { live: true, markers: markers(series) },
      cursor: { drag: { x: false, y: false }, y: false, points: { size: 7 } },
      series: [
        { label: chart.name, value: (u, v) => (v == null ? "–" : chart.at(v)) },
        ...series.map((s, i) => ({
          label: s.label, stroke: s.stroke, width: s.width, fill: s.fill, dash: s.dash, points: { show: false },
          ...(s.bars ? { paths: uPlot.paths.bars({ size: [0.9], align: 1 }) } : {}),
          value: (u, v, n, index) => (index == null || series[i].raw[index] == null ? "–" : `${number(series[i].raw[index])} ${chart.unit}`),
        })),
      ],
      hooks: {
        setCursor: [(u) => { if (!(u.cursor.left >= 0)) u.setLegend({ idx: rest(u) }, false); }],
        draw: [(u) => {
          u.ctx.save();
          if (chart.limit) limit(u, chart.limit(), `${chart.limitName}: ${number(chart.limit())} ms`);
          if (chart.mark) {
            const { ctx, bbox: box } = u, x = u.valToPos(chart.mark(), "x", true);
            ctx.strokeStyle = ctx.fillStyle = color("limit");
            ctx.lineWidth = devicePixelRatio;
            ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
            Plot.stroke(ctx, x, box.top, x, box.top + box.height);
            Plot.text(ctx, "period", x + 4 * devicePixelRatio, box.top + 12 * devicePixelRatio, "left");
          }
          u.ctx.restore();
        }],
      },
    };
    const u = new uPlot(options, [chart.x(), ...series.map((s) => s.data)], place);
    u.refresh = () => {
      const next = chart.series();
      if (next.length !== shape) return false;
      series = next;
      u.setData([chart.x(), ...series.map((s) => s.data)]);
      if (!(u.cursor.left >= 0)) u.setLegend({ idx: rest(u) }, false);
      return true;
    };
    return u;
  };
  const plots = [];
  const startCharts = () => {
    for (const place of document.querySelectorAll(".chart")) plots.push(put(place, draw, rest));
    document.documentElement.dataset.drawn = String(document.querySelectorAll(".chart canvas").length);
  };

  // A canvas in CSS pixels, as sharp as the screen.
  const open = (canvas) => {
    const w = canvas.clientWidth, h = canvas.clientHeight, px = devicePixelRatio;
    if (canvas.width !== Math.round(w * px) || canvas.height !== Math.round(h * px)) {
      canvas.width = Math.round(w * px);
      canvas.height = Math.round(h * px);
    }
    const ctx = canvas.getContext("2d");
    ctx.setTransform(px, 0, 0, px, 0, 0);
    ctx.clearRect(0, 0, w, h);
    return { ctx, w, h };
  };
  const mix = (from, to, t) => {
    const part = (c, i) => parseInt(c.slice(1 + 2 * i, 3 + 2 * i), 16);
    return `rgb(${[0, 1, 2].map((i) => Math.round(part(from, i) * (1 - t) + part(to, i) * t)).join(",")})`;
  };

  // The map is painted once for each size and scheme; what moves is painted over it.
  let painted = { key: "" };
  const paint = (w, h) => {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches, px = devicePixelRatio, key = [ground.arena, w, h, px, dark].join();
    if (painted.key === key) return painted;
    const canvas = document.createElement("canvas");
    canvas.width = w * px;
    canvas.height = h * px;
    const ctx = canvas.getContext("2d");
    ctx.scale(px, px);
    const [x0, , z0] = ground.min, [x1, , z1] = ground.max, pad = 8;
    const scale = Math.min((w - 2 * pad) / (x1 - x0), (h - 2 * pad) / (z1 - z0)) || 1;
    const at = (x, z) => [w / 2 + (x - (x0 + x1) / 2) * scale, h / 2 - (z - (z0 + z1) / 2) * scale];
    const solids = [...ground.solids].sort((a, b) => a.max[1] - b.max[1]);
    const roof = Math.max(1, ...solids.filter((s) => !s.team).map((s) => s.max[1])), low = color("low"), high = color("high");
    for (const s of solids) {
      const [left, top] = at(s.min[0], s.max[2]), [right, bottom] = at(s.max[0], s.min[2]);
      if (s.team) {
        ctx.strokeStyle = color(s.team === 1 ? "one" : "two");
        ctx.setLineDash([4, 3]);
        ctx.strokeRect(left, top, right - left, bottom - top);
        ctx.setLineDash([]);
        continue;
      }
      const tall = Math.max(0, s.max[1]), t = Math.min(1, tall / roof);
      if (tall <= 0.01) {
        ctx.fillStyle = color("ground");
      } else if (s.shape === "box") {
        ctx.fillStyle = mix(low, high, t);
      } else {
        const along = s.shape[1] === "x", up = s.shape[0] === "+";
        const g = along ? ctx.createLinearGradient(left, 0, right, 0) : ctx.createLinearGradient(0, bottom, 0, top);
        g.addColorStop(up ? 0 : 1, mix(low, high, Math.max(0, s.min[1]) / roof));
        g.addColorStop(up ? 1 : 0, mix(low, high, t));
        ctx.fillStyle = g;
      }
      ctx.fillRect(left, top, right - left, bottom - top);
      if (tall > 0.01) {
        ctx.strokeStyle = color("edge");
        ctx.lineWidth = 0.5;
        ctx.strokeRect(left, top, right - left, bottom - top);
      }
    }
    return (painted = { key, canvas, at, scale, shade: (y) => mix(low, high, Math.min(1, Math.max(0, y) / roof)) });
  };

  // Impacts, explosions, damage and deaths of the last moments: a dot with the normal of what was struck, a ring, an arrow that ends at
  // the player and points where the damage pushed, a cross.
  const effects = []; // {effect, until}
  const counted = [], seen = new Set(); // the newest frames, for steady rates; the kinds that have been
  const effectSeconds = { impact: 1.5, explosion: 0.75, damage: 1, death: 2 };
  const takeEffects = (f) => {
    for (const e of f.effects) effects.push({ effect: e, until: f.seconds + effectSeconds[e.kind] });
    effects.sort((a, b) => a.until - b.until);
    counted.push({ span: f.span, effect_counts: f.effect_counts });
    while (counted.length > 8) counted.shift();
    const span = Math.max(1e-3, counted.reduce((sum, c) => sum + c.span, 0));
    const rates = about.effects.map((name, i) => [name, counted.reduce((sum, c) => sum + (c.effect_counts[i] || 0), 0) / span]);
    for (const [name, rate] of rates) if (rate) seen.add(name);
    set($("effects-note"), seen.size ? "a second: " + rates.filter(([name]) => seen.has(name)).map(([name, rate]) => `${name} ${number(rate)}`).join(" · ") : "");
  };
  const drawEffects = (ctx, at, scale) => {
    while (effects.length && effects[0].until < frame.seconds) effects.shift();
    for (const { effect: e, until } of effects) {
      const [x, y] = at(e.at[0], e.at[2]), left = (until - frame.seconds) / effectSeconds[e.kind];
      ctx.globalAlpha = Math.max(0.15, Math.min(1, left));
      ctx.strokeStyle = ctx.fillStyle = color({ impact: "ink", explosion: "blast" }[e.kind] || "limit");
      ctx.lineWidth = 1.5;
      ctx.beginPath();
      if (e.kind === "impact") {
        ctx.arc(x, y, 1.5 + Math.min(e.count, 4) / 4, 0, 7);
        ctx.fill();
        Plot.stroke(ctx, x, y, x + 5 * e.dir[0], y - 5 * e.dir[2]);
      } else if (e.kind === "explosion") {
        ctx.arc(x, y, Math.max(2, e.strength * scale * (1.25 - left)), 0, 7);
        ctx.stroke();
        ctx.globalAlpha *= 0.2;
        ctx.fill();
      } else if (e.kind === "death") {
        Plot.stroke(ctx, x - 4, y - 4, x + 4, y + 4);
        Plot.stroke(ctx, x - 4, y + 4, x + 4, y - 4);
      } else if (e.dir[0] || e.dir[2]) {
        const n = Math.hypot(e.dir[0], e.dir[2]), dx = e.dir[0] / n, dy = -e.dir[2] / n, long = 14 + Math.min(e.strength, 20);
        Plot.stroke(ctx, x - dx * long, y - dy * long, x - dx * 8, y - dy * 8);
        Plot.stroke(ctx, x - dx * 12 - dy * 3, y - dy * 12 + dx * 3, x - dx * 8, y - dy * 8);
        Plot.stroke(ctx, x - dx * 12 + dy * 3, y - dy * 12 - dx * 3, x - dx * 8, y - dy * 8);
      }
    }
    ctx.globalAlpha = 1;
  };

  const rays = []; // {ray, until}
  const drawMap = () => {
    const { ctx, w, h } = open($("map"));
    if (!ground || !frame || !w) return;
    const { canvas, at, scale, shade } = paint(w, h);
    ctx.drawImage(canvas, 0, 0, w, h);
    for (const m of frame.movers) {
      const [left, top] = at(m.min[0], m.max[2]), [right, bottom] = at(m.max[0], m.min[2]);
      ctx.fillStyle = shade(m.max[1]);
      ctx.strokeStyle = color("accent");
      ctx.lineWidth = 1.5;
      ctx.fillRect(left, top, right - left, bottom - top);
      ctx.strokeRect(left, top, right - left, bottom - top);
    }
    $("key-movers").hidden = !frame.movers.length;
    ctx.strokeStyle = color("limit");
    while (rays.length && rays[0].until < frame.seconds) rays.shift();
    for (const { ray, until, hit } of rays) {
      ctx.globalAlpha = Math.min(1, 0.25 + (until - frame.seconds));
      ctx.lineWidth = hit ? 1.5 : 0.75;
      Plot.stroke(ctx, ...at(ray.from[0], ray.from[2]), ...at(ray.to[0], ray.to[2]));
    }
    drawEffects(ctx, at, scale);
    const size = frame.players.length > 200 ? 4 : 6;
    World.draw(ctx, at);
    for (const p of frame.players) {
      if (!p.body) continue;
      const [x, y] = at(p.x, p.z);
      ctx.globalAlpha = 1;
      ctx.save();
      ctx.translate(x, y);
      ctx.rotate((p.yaw * Math.PI) / 180); // clockwise from +z, which is up here
      ctx.beginPath();
      ctx.moveTo(0, -1.5 * size);
      ctx.lineTo(size, size);
      ctx.lineTo(0, 0.45 * size);
      ctx.lineTo(-size, size);
      ctx.closePath();
      ctx.lineWidth = 1.5;
      if (p.alive) {
        ctx.fillStyle = color(p.team ? "two" : "one");
        ctx.strokeStyle = color("paper");
        ctx.stroke();
        ctx.fill();
      } else {
        ctx.strokeStyle = color("soft");
        ctx.stroke();
      }
      if (p.slot === chosen || World.isPicked(p.slot)) {
        ctx.beginPath();
        ctx.arc(0, 0, 2.4 * size, 0, 7);
        ctx.strokeStyle = color("ink");
        ctx.lineWidth = 2;
        ctx.stroke();
      }
      ctx.restore();
    }
    ctx.globalAlpha = 1;
    const living = [0, 1].map((t) => frame.players.filter((p) => p.body && p.alive && p.team === t).length);
    set($("map-note"), `${frame.arena}; alive: ${living[0]} of team 1, ${living[1]} of team 2`);
  };

  // Every entity of the match, and one that is picked. Both are asked for once a second, and only while the list is open.
  const World = (() => {
    let all = [], shown = [], picked = "", detail = null, asking = 0;
    const open = () => $("entities-open").open, listed = 500;
    const here = () => location.search.replace(/^\?/, "&");
    const slotOf = (e) => (e?.kind === "player" ? Number(e.id.split(".")[0]) : -1);
    const label = (e) => [e.kind, e.name || e.id];
    const get = async (path) => {
      const answer = await fetch(path);
      if (!answer.ok) throw new Error(await answer.text());
      return answer.json();
    };
    const list = () => {
      const wanted = $("find-entity").value.trim().toLowerCase();
      shown = all.filter((e) => !wanted || e.id === wanted || e.kind.includes(wanted) || (e.name ?? "").toLowerCase().includes(wanted));
      set($("entities-shown"), `${whole(Math.min(shown.length, listed))} of ${whole(all.length)}`);
      const box = $("entities");
      shown.slice(0, listed).forEach((e, i) => {
        let row = box.children[i];
        if (!row) {
          row = box.appendChild(make("div"));
          row.setAttribute("role", "option");
          row.append(make("span"), make("span"));
        }
        row.id = "entity-" + e.id.replace(".", "-");
        row.dataset.id = e.id;
        row.setAttribute("aria-selected", String(e.id === detail?.id));
        set(row.children[0], label(e).join(" "));
        set(row.children[1], e.pos_m ? e.pos_m.map((v) => v.toFixed(1)).join("  ") : "");
      });
      while (box.children.length > Math.min(shown.length, listed)) box.lastChild.remove();
      box.setAttribute("aria-activedescendant", detail ? "entity-" + detail.id.replace(".", "-") : "");
    };
    const cells = (row, words, heads) => {
      while (row.cells.length < words.length) row.append(make(heads.includes(row.cells.length) ? "th" : "td"));
      words.forEach((w, i) => { row.cells[i].className = heads.includes(i) || typeof w === "string" ? "text" : ""; set(row.cells[i], typeof w === "string" ? w : w === null ? "–" : whole(w)); });
    };
    const fill = (id, rows, heads) => {
      const body = $(id).tBodies[0];
      rows.forEach((words, i) => cells(body.rows[i] ?? body.appendChild(make("tr")), words, heads));
      while (body.rows.length > rows.length) body.deleteRow(-1);
    };
    const show = () => {
      $("sent").hidden = !detail?.replicated || !detail.sent.length;
      if (!detail) {
        set($("entity-title"), "No entity is picked");
        set($("entity-note"), "");
        fill("table-components", [], [0]);
        return;
      }
      set($("entity-title"), label(detail).join(" "));
      set($("entity-note"), `net id ${detail.id}, tick ${whole(detail.tick)}${detail.replicated ? "" : "; not sent: clients have it from the map"}`);
      const rows = [];
      for (const c of detail.components) c.fields.forEach(([name, value], i) => rows.push([i ? "" : c.type + (c.sparse ? ", comes and goes" : ""), name || "–", value]));
      fill("table-components", rows, [0]);
      const ago = (t) => (t ? Math.max(0, detail.tick - t) : null);
      const sent = detail.sent.filter((x) => x.reason === "sent").length;
      set($("sent-note"), `${whole(sent)} of ${whole(detail.sent.length)} were sent it${detail.clients > detail.sent.length ? `; ${whole(detail.clients)} clients in all, the first are shown` : ""}`);
      fill("table-sent", detail.sent.map((x) => [x.client_slot, x.client_name, x.reason === "sent" ? "yes" : "no", x.text + (x.waited ? `; waits ${x.waited} of at most ${x.max_wait} intervals` : ""), x.metres < 0 ? null : (x.metres ?? 0), x.tick ? x.age_ticks : null, ago(x.acked)]), [1]);
    };
    const ask = async () => {
      const turn = ++asking;
      try {
        const entities = await get("/dash/entities?" + here());
        let next = null;
        if (picked) next = await get(`/dash/entity?id=${encodeURIComponent(picked)}${here()}`).catch(() => null);
        if (turn !== asking) return;
        all = entities.entities;
        detail = next;
        set($("entities-note"), `tick ${whole(entities.tick)}${entities.total > all.length ? `, the first ${whole(all.length)} of ${whole(entities.total)}` : ""}`);
        if (picked && !next) set($("entities-note"), `${picked} is gone`);
        list();
        show();
        drawMap();
      } catch { /* asked again */ }
    };
    const choose = (id) => {
      picked = id;
      $("entities-open").open = true;
      $("key-things").hidden = false;
      ask();
    };
    setInterval(() => { if (open() && !document.hidden && source) ask(); }, 1000);
    $("entities-open").addEventListener("toggle", () => {
      $("key-things").hidden = !open();
      if (open()) ask();
      else { all = []; asking++; drawMap(); }
    });
    $("find-entity").addEventListener("input", list);
    $("entities").addEventListener("click", (e) => {
      const row = e.target.closest("[role=option]");
      if (row) choose(row.dataset.id);
    });
    $("entities").addEventListener("keydown", (e) => {
      const now = shown.findIndex((x) => x.id === detail?.id), last = Math.min(shown.length, listed) - 1;
      const to = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: last }[e.key];
      if (to === undefined || last < 0) return;
      e.preventDefault();
      const next = shown[Math.min(Math.max(to, 0), last)];
      choose(next.id);
      $("entity-" + next.id.replace(".", "-"))?.scrollIntoView({ block: "nearest" });
    });
    // A click on the map picks what is nearest, within a finger's width.
    $("map").addEventListener("click", (e) => {
      if (!ground || !frame) return;
      const { at } = paint($("map").clientWidth, $("map").clientHeight);
      let best = 16, id = "";
      const near = (x, z, what) => {
        const [px, py] = at(x, z), d = Math.hypot(px - e.offsetX, py - e.offsetY);
        if (d < best) { best = d; id = what; }
      };
      for (const p of frame.players) if (p.body) near(p.x, p.z, `slot:${p.slot}`);
      for (const o of all) if (o.pos_m && o.kind !== "player") near(o.pos_m[0], o.pos_m[2], o.id);
      if (id) choose(id);
    });
    return {
      isPicked: (slot) => open() && slotOf(detail) === slot,
      draw: (ctx, at) => {
        if (!open()) return;
        for (const o of all) {
          if (!o.pos_m || o.kind === "player") continue;
          const [x, y] = at(o.pos_m[0], o.pos_m[2]), half = o.id === detail?.id ? 5 : 3;
          ctx.lineWidth = o.id === detail?.id ? 2 : 1;
          ctx.strokeStyle = color(o.id === detail?.id ? "ink" : "soft");
          ctx.strokeRect(x - half, y - half, 2 * half, 2 * half);
        }
      },
    };
  })();

  // The last shots, newest first. Arrow keys choose one; the newest stays chosen until then.
  const shots = [];
  let picked = null, serial = 0;
  const gap = (s) => {
    const a = s.then[0], b = s.now[0]; // the pelvis
    return a && b ? Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) : 0;
  };
  const called = (slot) => { const p = frame.players.find((q) => q.slot === slot); return p ? nameOf(p) : `player ${slot}`; };
  const takeShots = (f) => {
    for (const r of f.rays) rays.push({ ray: r, until: f.seconds + 1 });
    for (const s of f.shots) {
      rays.push({ ray: s, until: f.seconds + 1, hit: true });
      shots.unshift({ ...s, id: "shot-" + ++serial, words: [`${called(s.shooter)} → ${called(s.victim)}, ${s.bone}`, `${number(s.back)} ms back, moved ${number(gap(s))} m`] });
    }
    if (!f.shots.length) return;
    shots.length = Math.min(shots.length, 12);
    if (picked && !shots.some((s) => s.id === picked)) picked = null;
    listShots();
  };
  const current = () => shots.find((s) => s.id === picked) ?? shots[0];
  const listShots = () => {
    const list = $("shots");
    list.replaceChildren(...shots.map((s) => {
      const row = make("div");
      row.id = s.id;
      row.setAttribute("role", "option");
      row.setAttribute("aria-selected", String(s === current()));
      row.append(make("span", "", s.words[0]), make("span", "", s.words[1]));
      return row;
    }));
    list.setAttribute("aria-activedescendant", current()?.id ?? "");
    drawShot();
  };
  const pick = (index) => {
    picked = shots[Math.min(Math.max(index, 0), shots.length - 1)]?.id ?? null;
    listShots();
    if (picked) $(picked).scrollIntoView({ block: "nearest" });
  };
  $("shots").addEventListener("keydown", (e) => {
    const now = shots.indexOf(current());
    const to = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: shots.length - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    pick(to);
  });
  $("shots").addEventListener("click", (e) => {
    const row = e.target.closest("[role=option]");
    if (row) pick(shots.findIndex((s) => s.id === row.id));
  });

  // Both bodies, seen across the line of the shot and from above. The shot comes from the left.
  const drawShot = () => {
    const { ctx, w, h } = open($("shot")), s = current();
    if (!s || !w) return;
    const dx = s.to[0] - s.from[0], dz = s.to[2] - s.from[2], far = Math.hypot(dx, dz) || 1, ux = dx / far, uz = dz / far;
    const views = [{ words: "from the side", across: (x, y, z) => y, up: true }, { words: "from above", across: (x, y, z) => ux * (z - s.to[2]) - uz * (x - s.to[0]) }];
    views.forEach((view, i) => {
      const left = (i * w) / 2, mid = left + w / 4;
      const along = (x, z) => ux * (x - s.to[0]) + uz * (z - s.to[2]);
      let lo = [Infinity, Infinity], hi = [-Infinity, -Infinity];
      const see = (x, y, z, r) => {
        const p = [along(x, z), view.across(x, y, z)];
        lo = lo.map((v, k) => Math.min(v, p[k] - r));
        hi = hi.map((v, k) => Math.max(v, p[k] + r));
      };
      for (const c of [...s.then, ...s.now]) { see(c[0], c[1], c[2], c[6]); see(c[3], c[4], c[5], c[6]); }
      see(...s.to, s.radius);
      const scale = Math.min((w / 2 - 24) / (hi[0] - lo[0]), (h - 48) / (hi[1] - lo[1]), 160);
      const at = (x, y, z) => [mid + (along(x, z) - (lo[0] + hi[0]) / 2) * scale, h / 2 + 8 - (view.up ? 1 : -1) * (view.across(x, y, z) - (lo[1] + hi[1]) / 2) * scale];
      ctx.save();
      ctx.beginPath();
      ctx.rect(left, 0, w / 2, h);
      ctx.clip();
      ctx.lineCap = "round";
      const stick = (c, wide) => {
        ctx.lineWidth = Math.max(1, wide);
        const [x0, y0] = at(c[0], c[1], c[2]), [x1, y1] = at(c[3], c[4], c[5]);
        Plot.stroke(ctx, x0, y0, x1 + 0.01, y1);
      };
      ctx.strokeStyle = color("then");
      for (const c of s.then) stick(c, 2 * c[6] * scale);
      ctx.strokeStyle = color("ground"); // the inside of the outlines below, thinner than the body so that its edge stays
      const outline = (tint) => {
        const layer = document.createElement("canvas"), px = devicePixelRatio;
        layer.width = ctx.canvas.width;
        layer.height = ctx.canvas.height;
        const pen = layer.getContext("2d");
        pen.scale(px, px);
        pen.lineCap = "round";
        for (const [grow, mode] of [[0, "source-over"], [-3, "destination-out"]]) {
          pen.globalCompositeOperation = mode;
          pen.strokeStyle = tint;
          for (const c of s.now) {
            pen.lineWidth = Math.max(0.5, 2 * c[6] * scale + grow);
            Plot.stroke(pen, ...at(c[0], c[1], c[2]), at(c[3], c[4], c[5])[0] + 0.01, at(c[3], c[4], c[5])[1]);
          }
        }
        ctx.drawImage(layer, 0, 0, layer.width / px, layer.height / px);
      };
      outline(color("now"));
      ctx.strokeStyle = ctx.fillStyle = color("limit");
      ctx.lineWidth = 1.5;
      const back = Math.min(1, 6 / far);
      const start = s.from.map((v, k) => s.to[k] + (v - s.to[k]) * back);
      const ball = s.radius * scale;
      if (ball > 2) { // the ball that flies, and its path
        ctx.globalAlpha = 0.15;
        ctx.lineWidth = 2 * ball;
        ctx.lineCap = "butt";
        Plot.stroke(ctx, ...at(...start), ...at(...s.to));
        ctx.globalAlpha = 1;
        ctx.lineWidth = 1.5;
        ctx.beginPath();
        ctx.arc(...at(...s.to), ball, 0, 7);
        ctx.stroke();
      }
      Plot.stroke(ctx, ...at(...start), ...at(...s.to));
      ctx.beginPath();
      ctx.arc(...at(...s.to), 3, 0, 7);
      ctx.fill();
      ctx.restore();
      ctx.fillStyle = color("soft");
      ctx.font = Plot.font;
      ctx.textAlign = "left";
      ctx.fillText(view.words, left + 10, 18);
    });
    ctx.strokeStyle = color("line");
    ctx.lineWidth = 1;
    Plot.stroke(ctx, w / 2, 0, w / 2, h);
  };

  // The table of clients. Columns: what a row has, how it reads, from where on it is conspicuous.
  const columns = [
    { key: "slot", title: "Slot", of: (p) => p.slot, show: (v) => String(v) },
    { key: "name", title: "Name", text: true, of: nameOf, show: (v) => v },
    { key: "team", title: "Team", of: (p) => (p.spectator ? 0 : 1 + p.team), show: (v) => (v ? String(v) : "spectator") },
    { key: "kills", title: "Kills", of: (p) => p.kills, show: whole },
    { key: "deaths", title: "Deaths", of: (p) => p.deaths, show: whole },
    { key: "rtt", title: "RTT", unit: "ms", of: (p) => p.rtt, hot: 150 },
    { key: "jitter", title: "Jitter", unit: "ms", of: (p) => p.jitter, hot: 30 },
    { key: "loss_down", title: "Lost down", unit: "%", of: (p) => p.loss_down, hot: 5 },
    { key: "loss_up", title: "Lost up", unit: "%", of: (p) => p.loss_up, hot: 5 },
    { key: "down", title: "Down", unit: "kbit/s", of: (p) => p.down },
    { key: "up", title: "Up", unit: "kbit/s", of: (p) => p.up },
    { key: "buffer", title: "Buffer", unit: "ticks", of: (p) => p.buffer, show: (v) => String(v).replace("-", "−"), hot: 12 },
    { key: "inputs_missing", title: "No input", unit: "%", of: (p) => p.inputs_missing, hot: 5 },
    { key: "mispredictions", title: "Mispredicted", of: (p) => p.mispredictions, show: whole },
    { key: "inputs_rejected", title: "Rejected", of: (p) => p.inputs_rejected, show: whole },
    { key: "resyncs", title: "Resyncs", of: (p) => p.resyncs, show: whole },
  ];
  const most = 200; // rows that are shown
  let sort = columns[0], rising = true, chosen = -1;
  const rowsBySlot = new Map();

  const head = $("table-clients").tHead.rows[0];
  for (const c of columns) {
    const th = make("th", c.text ? "text stick" : ""), button = make("button", "", c.title + (c.unit ? ", " + c.unit : ""));
    th.scope = "col";
    button.type = "button";
    button.addEventListener("click", () => {
      rising = sort === c ? !rising : c.key === "slot" || c.key === "name";
      sort = c;
      mark();
      table();
    });
    th.append(button);
    head.append(th);
  }
  const mark = () => columns.forEach((c, i) => {
    if (c === sort) head.cells[i].setAttribute("aria-sort", rising ? "ascending" : "descending");
    else head.cells[i].removeAttribute("aria-sort");
  });
  mark();
  $("find").addEventListener("input", () => table());

  const newRow = (slot) => {
    const row = make("tr");
    row.dataset.slot = slot;
    for (const c of columns) row.append(make(c.text ? "th" : "td", c.text ? "text stick" : ""));
    row.cells[1].scope = "row";
    row.addEventListener("mouseenter", () => { chosen = slot; drawMap(); });
    row.addEventListener("mouseleave", () => { chosen = -1; drawMap(); });
    return row;
  };
  const table = () => {
    if (!frame) return;
    const wanted = $("find").value.trim().toLowerCase();
    const all = frame.players.filter((p) => !wanted || String(p.slot) === wanted || nameOf(p).toLowerCase().includes(wanted));
    const sign = rising ? 1 : -1;
    all.sort((a, b) => {
      const x = sort.of(a), y = sort.of(b);
      return sign * (typeof x === "string" ? x.localeCompare(y) : x - y) || a.slot - b.slot;
    });
    const body = $("table-clients").tBodies[0];
    all.slice(0, most).forEach((p, i) => {
      let row = rowsBySlot.get(p.slot);
      if (!row) rowsBySlot.set(p.slot, (row = newRow(p.slot)));
      row.classList.toggle("gone", !p.connected);
      columns.forEach((c, k) => {
        const v = c.of(p), cell = row.cells[k];
        set(cell, p.connected || k < 5 ? (c.show ?? number)(v) : k === 5 ? "away" : "–");
        cell.classList.toggle("hot", p.connected && c.hot !== undefined && v >= c.hot);
      });
      if (body.rows[i] !== row) body.insertBefore(row, body.rows[i] ?? null);
    });
    while (body.rows.length > Math.min(all.length, most)) body.rows[body.rows.length - 1].remove();
    if (rowsBySlot.size > 2 * most) for (const [slot, row] of rowsBySlot) if (!row.isConnected) rowsBySlot.delete(slot);
    if (wanted) chosen = all.length === 1 ? all[0].slot : -1;
    const few = all.length > most ? `${most} of ${whole(all.length)} shown` : `${whole(all.length)} of ${whole(frame.players.length)}`;
    set($("shown"), few);
  };

  // Small tables of a name, a number and its share.
  const shares = (id, rows) => {
    const body = $(id).tBodies[0], sum = rows.reduce((n, r) => n + r[1], 0);
    rows.forEach(([name, value], i) => {
      const row = body.rows[i] ?? body.appendChild(make("tr"));
      if (!row.cells.length) { row.append(make("th", "text"), make("td"), make("td")); row.cells[0].scope = "row"; }
      set(row.cells[0], name);
      set(row.cells[1], number(value));
      set(row.cells[2], sum ? ((100 * value) / sum).toFixed(1) : "–");
    });
  };

  const facts = () => {
    const here = frame.players.filter((p) => p.connected), sorted = (what) => ticks.map((t) => t[what]).sort((a, b) => a - b);
    set($("f-players"), whole(here.length));
    set($("f-most"), `of ${whole(about.max_players)}`);
    set($("f-tick"), number(quantile(sorted("took"), 0.99)));
    set($("f-period"), `of ${number(period)} ms; CPU ${number(quantile(sorted("cpu"), 0.99))}`);
    set($("f-wall"), number(quantile(sorted("wall"), 1)));
    set($("f-late"), number(quantile(sorted("late"), 0.99)));
    set($("f-down"), number((frame.down * 8) / 1e6));
    set($("f-up"), number((frame.up * 8) / 1e6));
    set($("f-rtt"), here.length ? number(Math.max(...here.map((p) => p.rtt))) : "–");
    set($("f-inputs-missing"), here.length ? number(here.reduce((n, p) => n + p.inputs_missing, 0) / here.length) : "–");
    const banner = $("load-level"), overloaded = frame.load_level && frame.load_level !== "normal";
    banner.hidden = !overloaded;
    if (overloaded) set(banner, `Overloaded: load level ${frame.load_level}.`);
    shares("table-stages", about.stages.map((s, i) => [s.name, frame.stages[i] ?? 0]));
    shares("table-parts", about.parts.map((name, i) => [name, ((frame.parts[i] ?? 0) * 8) / 1000 / Math.max(1, here.length)]));
  };

  // A lobby of several has its number in the title: they often share a name.
  const title = () => {
    const number = new URLSearchParams(location.search).get("lobby"), name = about.name || (frame ? `Lobby on ${frame.arena}` : "Lobby");
    return number === null ? name : `${name} · lobby ${number}`;
  };
  let frames = 0, missed = 0, fetching = "";
  const fetchMap = async (name) => {
    if (fetching === name || ground?.arena === name) return;
    fetching = name;
    try {
      const answer = await fetch("/dash/map.json" + location.search);
      if (answer.ok) ground = await answer.json();
    } catch { /* the next frame asks again */ }
    fetching = "";
    drawMap();
  };

  // What the sampled datagrams were for, field by field, scaled so that each section is what was really sent of it. Asked for every few
  // seconds: the answer is ready on the server, and a tick has no part in it.
  const fieldsEvery = 5, mostFields = 60;
  let fieldsAt = -Infinity;
  const fetchFields = async (seconds) => {
    if (seconds >= fieldsAt && seconds < fieldsAt + fieldsEvery) return;
    fieldsAt = seconds;
    try {
      const answer = await fetch("/v1/bandwidth" + location.search);
      if (!answer.ok) return;
      const { every, sampled_datagrams: sampled, sections, cells } = await answer.json();
      if (!cells?.length) return;
      const scale = new Map(sections.map((s) => [s.section, s.sampled_bytes ? s.bytes / s.sampled_bytes : 0])), sums = new Map();
      for (const c of cells) {
        const name = c.field ? `${c.component} ${c.field}` : `${c.component}, no field`;
        sums.set(name, (sums.get(name) ?? 0) + (c.bits / 8e3) * (scale.get(c.component) ?? 0));
      }
      const rows = [...sums].sort((a, b) => b[1] - a[1]), rest = rows.splice(mostFields).reduce((n, r) => n + r[1], 0);
      shares("table-fields", rest ? [...rows, ["all others", rest]] : rows);
      set($("fields-note"), `What was sent since the start, by component and field, as ${whole(sampled)} datagrams have it, one in ${whole(every)}. Rare fields show late.`);
      $("fields").hidden = false;
    } catch { /* asked again */ }
  };
  const take = (f) => {
    frame = f;
    frames++;
    remember(f);
    takeShots(f);
    takeEffects(f);
    fetchMap(f.arena);
    set($("title"), title());
    fetchFields(f.seconds);
    facts();
    table();
    drawMap();
    for (const plot of plots) plot().refresh();
    set($("frames"), whole(frames));
    set($("missed"), whole(missed + f.dropped));
    document.documentElement.dataset.frames = String(frames);
  };

  // The stream. It is closed while the page is paused or out of sight, and then costs the server nothing.
  let source, paused = false, told = "", framed = 0;
  const state = (name, words) => { $("state").dataset.state = name; set($("state"), words); };
  const stop = () => { source?.close(); source = undefined; };
  const start = () => {
    stop();
    state("wait", "connecting");
    source = new EventSource("/dash/events" + location.search);
    source.addEventListener("about", (e) => {
      if (told && told !== e.data) return location.reload(); // another server, with other stages perhaps
      told = e.data;
      framed = performance.now();
      state("off", "connected: no tick yet");
      setTimeout(() => fetchLobbies().catch(() => {}), silent / 2 + 100);
      about = JSON.parse(e.data);
      groups = [...new Set(about.stages.map((s) => s.group))];
      period = 1000 / about.rate_hz;
      past.length = ticks.length = 0;
      set($("title"), title());
      const snapshots = (about.rate_hz / about.interval_ticks).toLocaleString("en-US", { maximumFractionDigits: 1 });
      set($("where"), ["tickrate", about.mode, `${about.rate_hz} ticks and ${snapshots} snapshots a second`].filter(Boolean).join(" · "));
      document.title = `${title()} · tickrate`;
      if (!plots.length) startCharts();
    });
    source.addEventListener("frame", (e) => {
      const f = JSON.parse(e.data);
      if (!f || !about) return;
      state("live", "live");
      framed = performance.now();
      take(f);
    });
    source.addEventListener("missed", (e) => { missed = Number(e.data); });
    source.onerror = () => {
      if (source?.readyState !== EventSource.CLOSED) return state("wait", "the server does not answer; trying again");
      state("wait", "refused: too many watch, or the server asks for a password; trying again");
      stop();
      setTimeout(follow, 5000);
      fetchLobbies().then((plays) => { if (!plays) state("off", "this lobby has ended"); }, () => {});
    };
  };
  // The other lobbies of the host, if it has several.
  const mine = new URLSearchParams(location.search).get("lobby") ?? "0", chooser = $("lobby");
  for (const link of document.querySelectorAll("a[data-lobby]")) {
    link.search = location.search;
    set(link, link.getAttribute("href"));
  }
  const watch = (lobby) => { location.search = `?lobby=${encodeURIComponent(lobby)}`; };
  const step = (by) => chooser.options.length && watch(chooser.options[(chooser.selectedIndex + by + chooser.options.length) % chooser.options.length].value);
  chooser.addEventListener("change", () => watch(chooser.value));
  $("previous").addEventListener("click", () => step(-1));
  $("next").addEventListener("click", () => step(1));
  const silent = 3000; // ms without a frame, which an empty lobby does not make
  const fetchLobbies = async () => {
    const answer = await fetch("/v1/lobbies");
    if (!answer.ok) return true;
    const { most, lobbies } = await answer.json();
    $("lobbies").hidden = most < 2;
    if (document.activeElement !== chooser) {
      const option = (l) => {
        const node = make("option", "", `${l.lobby} · ${l.map} · ${l.players} of ${l.player_slots}`);
        node.value = l.lobby;
        node.selected = l.lobby === mine;
        return node;
      };
      chooser.replaceChildren(...lobbies.map(option));
    }
    const now = lobbies.find((l) => l.lobby === mine);
    if (now && told && source?.readyState === EventSource.OPEN && performance.now() - framed > silent / 2) {
      if (now.state === "stuck") state("wait", "stuck: no tick is played");
      else state("off", now.players ? "no figures yet" : "asleep: nobody plays");
    }
    return now !== undefined;
  };
  const refreshLobbies = async () => {
    if (!document.hidden) {
      try {
        await fetchLobbies();
      } catch { /* asked again */ }
    }
    setTimeout(refreshLobbies, silent);
  };
  refreshLobbies();
  const follow = () => {
    if (!paused && !document.hidden) return source ?? start();
    stop();
    state("off", paused ? "paused" : "out of sight");
  };
  $("pause").addEventListener("click", () => {
    paused = !paused;
    $("pause").setAttribute("aria-pressed", String(paused));
    set($("pause"), paused ? "Go on" : "Pause");
    follow();
  });
  document.addEventListener("visibilitychange", follow);
  const again = () => { drawMap(); drawShot(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  new ResizeObserver(again).observe($("map"));
  follow();
})();
