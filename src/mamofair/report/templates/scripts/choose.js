// Choosing another point: the sliders, the table of points, and what the chart shows

// These words may be hyphenated in the headers of narrow columns.
const [validation, levelling] = ["vali\u00addation", "level\u00adling down"];

function writeGap() {
  const { meaning } = objectives[state.gap];
  const zero = isCustom(state.gap) ? "" : "it is zero if ";
  const across = state.gap ? `${measure(state.gap)}; ${zero}${meaning}` : meaning;
  const whose = many ? " of the two marked points" : "";
  const bound = state.limits[state.gap];
  const beyond = bound !== null && bound > front().parameters.widest ? ` The limit ${short(bound)} is beyond the axis.` : "";
  find("gap-meaning").textContent =
    `Horizontal axis: ${across}. Values, colors and the table of points are of ${state.rows} rows. ` +
    `Bars are confidence intervals${whose}.${beyond}`;
}

function writeSliders() {
  objectives.forEach((_, j) => {
    const bound = state.limits[j];
    const slider = find(`limit-${j}`);
    slider.value = bound === null ? ceilings[j] : bound;
    const text = bound === null ? "no limit" : `≤ ${number(bound)}`;
    slider.setAttribute("aria-valuetext", text);
    slider.parentElement.querySelector("output").textContent = text;
  });
}

function writePoints() {
  const part = summary.parts[state.rows];
  const head = ["Point", ...objectives.map((objective) => objective.title)];
  const titles = head.map((cell) => element("th", cell, { scope: "col" }));
  find("points").tHead.replaceChildren(element("tr", titles));
  find("points").tBodies[0].replaceChildren(
    ...part.map((point, id) => {
      const radio = element("input", [], { type: "radio", name: "point", value: id, id: `point-${id}` });
      const name = `${id}${id === baseline ? "\u00a0◆" : ""}${points[id].constant ? " (constant)" : ""}`;
      return element("tr", [
        element("th", element("label", [radio, name]), { scope: "row" }),
        ...point.map(([value]) => element("td", number(value))),
      ]);
    }),
  );
  markInside();
}

function markInside() {
  const part = summary.parts[state.rows];
  [...find("points").tBodies[0].rows].forEach((row, id) => row.classList.toggle("outside", !inside(id, part)));
}

function markChosen() {
  const rows = find("points").tBodies[0].rows;
  for (const row of find("points").querySelectorAll(".chosen")) row.classList.remove("chosen");
  const row = rows[state.selected];
  row.classList.add("chosen");
  find(`point-${state.selected}`).checked = true;
  const frame = find("points").parentElement; // scrolled by hand: scrollIntoView would move the page as well
  const head = find("points").tHead.offsetHeight;
  if (row.offsetTop - head < frame.scrollTop) frame.scrollTop = row.offsetTop - head;
  if (row.offsetTop + row.offsetHeight > frame.scrollTop + frame.clientHeight)
    frame.scrollTop = row.offsetTop + row.offsetHeight - frame.clientHeight;
}

function writeStatus() {
  const id = state.selected;
  const limited = state.limits.some((bound) => bound !== null);
  const where = !limited ? "" : inside(id) ? ", within the limits on validation rows" : ", outside the limits on validation rows";
  const none = meets(best()) ? "" : "No useful point is within these limits by the margin: this one misses them least. ";
  const { answer, headline } = verdict();
  const told = answer === null ? "" : ` On ${summary.rows} rows: ${headline[0].toLowerCase()}${headline.slice(1)}.`;
  const by = isRuns() ? "as training chose it" : "chosen by hand";
  find("status").textContent = `${none}Point ${id} of ${points.length}, ${by}${where}.${told}`;
}
