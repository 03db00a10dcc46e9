// Tables and texts

// These words may be hyphenated in the headers of narrow columns.
const [unconstrained, validation, levelling] = ["uncon\u00adstrained", "vali\u00addation", "level\u00adling down"];

function writeGap() {
  const { title, meaning } = objectives[state.gap];
  const across = state.gap ? `${measure(state.gap)}; it is zero if ${meaning}` : meaning;
  const whose = many ? " of the two marked points" : "";
  find("gap-meaning").textContent =
    `Horizontal axis: ${across}. Measured on ${state.rows} rows. Bars are confidence intervals${whose}.`;
  find("rates-title").textContent = title;
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
  find("points").tHead.replaceChildren(
    element(
      "tr",
      head.map((cell) => element("th", cell, { scope: "col" })),
    ),
  );
  find("points").tBodies[0].replaceChildren(
    ...part.map((point, id) => {
      const radio = element("input", [], { type: "radio", name: "point", value: id, id: `point-${id}` });
      const name = `${id}${id === baseline ? " ◆" : ""}${points[id].constant ? " (constant)" : ""}`;
      return element("tr", [
        element("th", element("label", [radio, name]), { scope: "row" }),
        ...point.map(([value]) => element("td", number(value))),
      ]);
    }),
  );
  markInside();
}

function markInside() {
  [...find("points").tBodies[0].rows].forEach((row, id) => row.classList.toggle("outside", !inside(id)));
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
  const where = !limited ? "" : inside(id) ? ", within the limits" : ", outside the limits";
  const constant = useful && points.some((_, i) => inside(i));
  const none =
    best() >= 0 ? "" : `${constant ? "Only a constant classifier meets" : "No point meets"} these limits. `;
  const above = objectives.map((_, j) => j).filter((j) => inside(id) && exceeded(id, j));
  const which =
    above.length > 1 ? `${above.length} limits are exceeded` : above.map((j) => `the ${measure(j)} exceeds its limit`);
  const but = above.length ? ` But on ${summary.rows} rows, ${which}.` : "";
  find("status").textContent = `${none}Point ${id} is selected${where}.${but}`;
}

function writePoint() {
  const id = state.selected;
  const point = points[id];
  const origin = `${point.model ? `${point.model}, ` : ""}member ${point.member}, step ${people(point.step)}`;
  find("selected-title").textContent = `Point ${id}${id === baseline ? ", the unconstrained model" : ""} (${origin})`;
  writeValues(id);
  find("rates").replaceChildren(...summary.rates.map((rate, r) => rateTable(rate, r, id)));
  const sentences =
    id === baseline
      ? ["This is the unconstrained model, with which all others are compared."]
      : ["Compared with the unconstrained model:", ...point.told];
  find("who-pays").replaceChildren(...sentences.map((line) => element("p", line)));
  find("flips").replaceChildren(...(summary.flips[id] ? [element("p", summary.flips[id])] : []));
  writeCauses(point);
  if (summary.scores.length) writeScores(id);
  find("people").replaceChildren(...peopleTables(id));
}

function writeValues(id) {
  const shown = summary.parts[summary.rows];
  const twice = summary.rows !== "validation";
  const head = ["", "limit", ...(twice ? [validation] : []), summary.rows, unconstrained];
  table(
    find("values"),
    head,
    objectives.map((objective, j) => [
      capital(objective.title),
      state.limits[j] === null ? "–" : [number(state.limits[j]), element("small", exceeded(id, j) ? " exceeded" : "")],
      ...(twice ? [number(valid[id][j][0])] : []),
      ranged(shown[id][j]),
      ranged(shown[baseline][j]),
    ]),
  );
}

function rateTable(rate, r, id) {
  const rows = summary.groups[rate.attribute].map((group, g) => {
    const [now, before] = [points[id].rates[r][g], points[baseline].rates[r][g]];
    return [group, people(now[3]), ranged(now), ranged(before)];
  });
  return table(
    element("table"),
    [rate.attribute, "people", "selected", unconstrained],
    rows,
    `${capital(objectives[rate.objective].title)}: ${rate.meaning}`,
  );
}

function writeScores(id) {
  const { place, attribute, groups } = scored();
  const { counts, auc, difference } = summary.scores[id];
  const everyone = place ? [["everyone", 0, 0]] : [];
  const rows = [...everyone, ...groups.map((group, g) => [group, place, g])].map(([group, a, g]) => {
    const bins = counts[a][g];
    const [total, above] = [bins, bins.slice(bins.length / 2)].map((part) => part.reduce((sum, n) => sum + n, 0));
    return [group, people(total), ranged(auc[a][g]), ranged(difference[a][g]), number(total ? above / total : null)];
  });
  find("scores-title").textContent = attribute;
  table(find("scores-table"), ["", "people", "AUC", "score − rate", "above ½"], rows);
}

function writeCauses(point) {
  const rows = summary.rates.map((rate, r) => {
    const [before, after, gains, losses, down] = point.gaps[r];
    return [
      `${capital(objectives[rate.objective].title)}: ${rate.meaning}`,
      number(before),
      number(after),
      number(gains),
      number(losses),
      down === null ? "–" : down ? "yes" : "no",
    ];
  });
  table(find("causes"), ["gap in", "before", "after", "closed by gains", "closed by losses", levelling], rows);
}

function peopleTables(id) {
  const names = [["everyone", ["everyone"]], ...Object.entries(summary.groups)];
  return names.map(([attribute, groups], a) => {
    const rows = groups.map((group, g) => {
      const [now, before] = [points[id].confusion[a][g], points[baseline].confusion[a][g]];
      const [gets, got] = [now[0] + now[1], before[0] + before[1]];
      const change = gets - got;
      return [
        group,
        people(gets),
        people(got),
        `${change > 0 ? "+" : change < 0 ? "−" : ""}${people(Math.abs(change))}`,
        ...now.map((count, c) => [people(count), element("small", ` (${people(before[c])})`)]),
      ];
    });
    const head = [attribute, "favorable", unconstrained, "change", "TP", "FP", "FN", "TN"];
    return table(element("table"), head, rows);
  });
}
