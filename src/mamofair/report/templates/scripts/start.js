// User input

function build() {
  objectives.forEach(({ title }, j) => {
    if (j || objectives.length === 1) find("gap").append(element("option", title, { value: j }));
    const slider = element("input", [], { type: "range", id: `limit-${j}`, min: 0, max: ceilings[j], step: 0.001 });
    slider.addEventListener("input", () => limit(j, Number(slider.value) >= ceilings[j] ? null : Number(slider.value)));
    find("sliders").append(
      element(
        "div",
        [
          element("label", `${capital(measure(j))}, at most`, { for: slider.id }),
          slider,
          element("output", [], { for: slider.id }),
        ],
        { class: "slider" },
      ),
    );
  });
  find("gap").addEventListener("change", (event) => look(Number(event.target.value), state.rows));
  find("rows")?.addEventListener("change", (event) => look(state.gap, event.target.value));
  find("no-limits").addEventListener("click", () => {
    state.limits.fill(null);
    limited();
  });
  find("points").addEventListener("change", (event) => select(Number(event.target.value)));
  find("date").value = today();
  for (const id of ["name", "date", "reasons"]) find(id).addEventListener("input", writeRecord);
  find("copy").addEventListener("click", copy);
  find("save").addEventListener("click", save);
  find("print").addEventListener("click", () => window.print());
}

function dragAxes(view) {
  const place = find("parallel");
  const move = (event) => {
    const box = place.querySelector("svg").getBoundingClientRect();
    const [left, top] = view.origin();
    const x = event.clientX - box.left - left - view.padding().left;
    const y = event.clientY - box.top - top - view.padding().top;
    const across = objectives.map((_, j) => Math.abs(view.scale("x")(axis(j)) - x));
    const j = across.indexOf(Math.min(...across));
    const [low, span] = scales()[j];
    const value = Math.max(0, low + span * view.scale("y").invert(y));
    limit(j, value >= low + span ? null : Math.round(1000 * value) / 1000);
  };
  place.addEventListener("pointerdown", (event) => {
    place.setPointerCapture(event.pointerId);
    move(event);
  });
  place.addEventListener("pointermove", (event) => {
    if (event.buttons) move(event);
  });
}

// A chart that is folded away has no width to fill: it is drawn when it is unfolded.
function drawUnfolded() {
  for (const folded of document.querySelectorAll("details")) {
    const names = Object.keys(charts).filter((name) => folded.contains(find(name)));
    folded.addEventListener("toggle", async () => {
      if (!folded.open) return;
      await Promise.all(names.filter((name) => !views[name]).map(embed));
      select(state.selected);
    });
  }
}

async function start() {
  build();
  drawUnfolded();
  writeGap();
  writeSliders();
  writePoints();
  const isOpen = (name) => find(name) && !find(name).closest("details:not([open])");
  await Promise.all(Object.keys(charts).filter(isOpen).map(embed));
  views.front.addEventListener("click", (_, item) => {
    if (item?.datum?.id !== undefined) select(item.datum.id);
  });
  if (views.parallel) dragAxes(views.parallel);
  select(state.selected);
}

start();
