"use strict";
(() => {
  const svg = document.querySelector("svg.assembly");
  const view = document.querySelector(".view");
  const search = document.getElementById("search");
  const rows = [...document.querySelectorAll("tbody tr")];
  const nodes = new Map([...svg.querySelectorAll(".node")].map((node) => [node.id, node]));
  const near = new Map([...nodes].map(([name, node]) => [name, new Set([node])]));
  const edges = [...svg.querySelectorAll(".edge")];
  for (const edge of edges) {
    const { from, to } = edge.dataset;
    near.get(from).add(edge).add(nodes.get(to));
    near.get(to).add(edge).add(nodes.get(from));
  }

  // What is in focus: the node under the pointer, else the chosen one, else what the filter found.
  let chosen = null;
  let found = null;
  let lit = [];
  const light = (elements) => {
    lit.forEach((element) => element.classList.remove("near"));
    lit = [...(elements ?? [])];
    lit.forEach((element) => element.classList.add("near"));
    svg.classList.toggle("focused", elements != null);
  };
  const rest = () => light(chosen ? near.get(chosen) : found);

  const choose = (name, scroll) => {
    for (const element of [...nodes.values(), ...rows]) {
      const own = element.id || element.dataset.node;
      element.classList.toggle("chosen", name != null && own === name);
    }
    chosen = name;
    rest();
    if (name && scroll) {
      view.scrollIntoView({ block: "nearest" });
      const box = nodes.get(name).getBoundingClientRect();
      const frame = view.getBoundingClientRect();
      view.scrollBy({
        left: box.x + box.width / 2 - frame.x - frame.width / 2,
        top: box.y + box.height / 2 - frame.y - frame.height / 2,
        behavior: "smooth",
      });
    }
  };

  for (const [name, node] of nodes) {
    node.addEventListener("pointerenter", () => light(near.get(name)));
    node.addEventListener("pointerleave", rest);
    node.addEventListener("focus", () => light(near.get(name)));
    node.addEventListener("blur", rest);
    node.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        choose(chosen === name ? null : name, false);
      }
    });
  }
  for (const row of rows.filter((row) => row.dataset.node)) {
    row.addEventListener("pointerenter", () => light(near.get(row.dataset.node)));
    row.addEventListener("pointerleave", rest);
  }
  document.querySelector("main").addEventListener("click", (event) => {
    const link = event.target.closest("a");
    const name = link ? link.hash.slice(1) : event.target.closest("tr")?.dataset.node;
    if (link) event.preventDefault();
    if (name && (link || !getSelection().toString())) choose(name, true);
  });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") choose(null, false);
  });

  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = new Set();
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      if (!row.hidden && row.dataset.node) matches.add(nodes.get(row.dataset.node));
    }
    for (const section of document.querySelectorAll("main section")) {
      section.hidden = !section.querySelector("tbody tr:not([hidden])");
    }
    document.querySelector(".nothing").hidden = rows.length === 0 || rows.some((row) => !row.hidden);
    const between = edges.filter(
      ({ dataset }) => matches.has(nodes.get(dataset.from)) && matches.has(nodes.get(dataset.to)),
    );
    found = words.length ? [...matches, ...between] : null;
    chosen = null;
    rest();
  });

  // Zoom keeps the drawing's own units; the view scrolls.
  const { width, height } = svg.viewBox.baseVal;
  const output = document.querySelector(".zoom output");
  let scale = 1;
  const zoom = (wanted) => {
    const centre = [
      (view.scrollLeft + view.clientWidth / 2) / scale,
      (view.scrollTop + view.clientHeight / 2) / scale,
    ];
    scale = Math.min(2.5, Math.max(0.05, wanted));
    svg.style.width = `${width * scale}px`;
    svg.style.height = `${height * scale}px`;
    output.textContent = `${Math.round(scale * 100)}%`;
    view.scrollLeft = centre[0] * scale - view.clientWidth / 2;
    view.scrollTop = centre[1] * scale - view.clientHeight / 2;
  };
  const fit = () => Math.min(view.clientWidth / width, (innerHeight * 0.78) / height);
  document.querySelector(".zoom").hidden = false;
  document.querySelector(".zoom").addEventListener("click", (event) => {
    const action = event.target.dataset.zoom;
    if (action) zoom({ fit: Math.min(1, fit()), in: scale * 1.25, out: scale / 1.25 }[action]);
  });
  zoom(Math.min(1, Math.max(0.85, fit())));
  view.scrollTo(0, 0);

  // Drag the paper to move it; a press that did not move is a click.
  let start = null;
  view.addEventListener("pointerdown", (event) => {
    if (event.button === 0 && event.pointerType === "mouse") {
      start = { x: event.clientX, y: event.clientY, left: view.scrollLeft, top: view.scrollTop };
    }
  });
  addEventListener("pointermove", (event) => {
    if (!start) return;
    const [x, y] = [event.clientX - start.x, event.clientY - start.y];
    if (Math.hypot(x, y) > 4) view.classList.add("dragging");
    if (view.classList.contains("dragging")) view.scrollTo(start.left - x, start.top - y);
  });
  addEventListener("pointerup", () => {
    start = null;
  });
  view.addEventListener("click", (event) => {
    if (view.classList.contains("dragging")) {
      view.classList.remove("dragging");
      return;
    }
    const name = event.target.closest(".node")?.id ?? null;
    choose(chosen === name ? null : name, false);
  });

  if (nodes.has(location.hash.slice(1))) choose(location.hash.slice(1), true);
})();
