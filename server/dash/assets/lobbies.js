// The lobbies of a host, each with a link to its live page. The list is asked for every second; no tick has a part in it.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const set = (node, words) => { if (node.textContent !== words) node.textContent = words; };
  const whole = (n) => n.toLocaleString("en-US");
  const words = (name) => name.replaceAll("_", " ");
  const columns = [
    ["Lobby", (l) => l.lobby], ["Name", (l) => l.name, "text"], ["State", (l) => l.state, "text"],
    ["Players", (l) => `${l.players} of ${l.player_slots}`], ["Spectators", (l) => String(l.spectators)],
    ["Map", (l) => l.map, "text"], ["Mode", (l) => l.mode, "text"], ["Match", (l) => l.phase, "text"], ["Hz", (l) => String(l.rate_hz)],
    ["Load level", (l) => words(l.load_level), "text"], ["Worker", (l) => String(l.worker ?? 0)],
  ];
  let list;

  const cell = (tag, cls) => {
    const node = document.createElement(tag);
    if (cls) node.className = cls;
    return node;
  };
  for (const [title, , cls] of columns) {
    const head = cell("th", cls);
    head.scope = "col";
    set(head, title);
    $("table-lobbies").tHead.rows[0].append(head);
  }
  const newRow = () => {
    const row = cell("tr"), first = cell("th");
    first.scope = "row";
    first.append(cell("a"));
    row.append(first, ...columns.slice(1).map(([, , cls]) => cell("td", cls)));
    return row;
  };
  const show = () => {
    const all = list.lobbies, sum = (of) => all.reduce((n, l) => n + of(l), 0), find = $("find").value.trim().toLowerCase();
    set($("f-lobbies"), whole(all.length));
    set($("f-most"), `of at most ${whole(list.most)}`);
    set($("f-players"), whole(sum((l) => l.players)));
    set($("f-slots"), `of ${whole(sum((l) => l.player_slots))}`);
    set($("f-overloaded"), whole(sum((l) => (l.load_level === "normal" ? 0 : 1))));
    set($("f-faults"), whole(list.faults));
    const found = all.filter((l) => !find || `${l.lobby} ${l.name} ${l.map} ${l.mode} ${l.state}`.toLowerCase().includes(find));
    const body = $("table-lobbies").tBodies[0];
    while (body.rows.length > found.length) body.deleteRow(-1);
    while (body.rows.length < found.length) body.append(newRow());
    found.forEach((l, i) => {
      const row = body.rows[i];
      columns.forEach(([, of], c) => set(c ? row.cells[c] : row.cells[0].firstChild, of(l)));
      const to = `/?lobby=${encodeURIComponent(l.lobby)}`;
      if (row.cells[0].firstChild.getAttribute("href") !== to) row.cells[0].firstChild.href = to;
      row.cells[9].classList.toggle("hot", l.load_level !== "normal");
    });
    set($("shown"), find ? `${whole(found.length)} of ${whole(all.length)}` : "");
    $("none").hidden = all.length > 0;
    document.documentElement.dataset.lobbies = String(all.length);
  };
  const state = (name, text) => { $("state").dataset.state = name; set($("state"), text); };
  const ask = async () => {
    if (!document.hidden) {
      try {
        const answer = await fetch("/v1/lobbies");
        if (!answer.ok) throw new Error(answer.status);
        list = await answer.json();
        state("live", "live");
        show();
      } catch { state("wait", "the server does not answer; trying again"); }
    }
    setTimeout(ask, 1000);
  };
  $("find").addEventListener("input", () => { if (list) show(); });
  ask();
})();
