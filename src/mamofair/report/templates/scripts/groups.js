// Groups: one table of rates, and folded away the scores, the reasons of gaps, and all decisions

// Each rate once for each attribute, though several notions may ask for it.
const asSeen = summary.rates.flatMap((rate, r) => {
  const same = ({ attribute, meaning }) => attribute === rate.attribute && meaning === rate.meaning;
  const isFirst = summary.rates.findIndex(({ attribute }) => attribute === rate.attribute) === r;
  return summary.rates.findIndex(same) === r ? [{ ...rate, r, isFirst }] : [];
});

function writeGroups() {
  const head = ["group", summary.counted, "rate", "", "ratio to highest", "without limits", "change per 1,000"];
  const titles = head.map((cell) => element("th", cell, { scope: "col" }));
  const parts = asSeen.map((rate) => element("tbody", rateRows(rate, head.length)));
  find("rates").replaceChildren(element("thead", element("tr", titles)), ...parts);
  writeCauses(points[state.selected]);
  if (summary.scores.length) writeScores(state.selected);
  find("people").replaceChildren(...peopleTables(state.selected));
}

function rateRows({ attribute, meaning, r, isFirst }, columns) {
  const groups = summary.groups[attribute];
  const [now, before] = [points[state.selected].rates[r], points[baseline].rates[r]];
  const isCompared = (count) => count === null || count >= 30;
  const highest = Math.max(0, ...now.map(([rate, , , count]) => (isCompared(count) ? (rate ?? 0) : 0)));
  const end = axisEnd(Math.max(0.001, ...[...now, ...before].map(([, , high]) => high)));
  const rows = groups.map((group, g) => {
    const [[rate, low, high, count], [was]] = [now[g], before[g]];
    const more = rate === null || was === null ? "–" : signed(Math.round(1000 * (rate - was)));
    const ratio = rate === null || !highest || !isCompared(count) ? "–" : (rate / highest).toFixed(2);
    return [group, count === null ? "–" : people(count), ranged([rate, low, high]), drawRate([rate, low, high], was, end), ratio, number(was), more];
  });
  const cross = isCrossed(attribute) ? "Intersections of " : "";
  const title = `${cross}${cross ? attribute.replaceAll("*", " and ") : capital(attribute)}: the share ${meaning}`;
  return [
    element("tr", element("th", title, { scope: "rowgroup", colspan: columns }), { class: "part" }),
    ...rows.map((row) => element("tr", row.map((cell, i) => element(i ? "td" : "th", cell, i ? {} : { scope: "row" })))),
    ...leftOut(attribute, meaning, columns, isFirst),
  ];
}

// The people whom no gap counts: the groups too small to judge, and everyone whose group is unknown.
function leftOut(attribute, meaning, columns, isFirst) {
  const small = summary.small_groups.filter((one) => one.attribute === attribute);
  const rows = small.map((one) => {
    const rate = one.rates.find((own) => own.meaning === meaning);
    const words = rate ? `${interval([rate.rate, rate.low, rate.high])} for the point chosen in training; ` : "";
    return [`${one.group} (too small)`, people(one.test_rows ?? one.rows), `${words}left out of the gaps`];
  });
  const isCounted = small.every((one) => Number.isFinite(one.test_rows));
  const listed = isCounted ? total(small.map((one) => one.test_rows)) : 0;
  const missing = unknown(Object.keys(summary.groups).indexOf(attribute) + 1) - listed;
  const which = summary.suppressed ? "unknown or not shown" : isCounted ? "unknown" : "unknown or too small";
  const last = [which, people(Math.max(0, missing)), missing > 0.5 ? "left out of the gaps" : ""];
  return [...rows, ...(isFirst ? [last] : [])].map(([name, count, words]) => {
    const rest = element("td", words, { colspan: columns - 2, class: "words" });
    return element("tr", [element("th", name, { scope: "row" }), element("td", count), rest], { class: "quiet" });
  });
}

function writeScores(id) {
  const { place, attribute, groups } = scored();
  const { counts, auc, difference } = summary.scores[id];
  const everyone = place ? [["everyone", 0, 0]] : [];
  const rows = [...everyone, ...groups.map((group, g) => [group, place, g])].map(([group, a, g]) => {
    const bins = counts[a][g];
    const [all, above] = [bins, bins.slice(bins.length / 2)].map(total);
    return [group, bins.includes(null) ? "–" : people(all), ranged(auc[a][g]), ranged(difference[a][g]), number(all ? above / all : null)];
  });
  find("scores-title").textContent = attribute;
  table(find("scores-table"), ["", "people", "AUC", "score − rate", "above ½"], rows);
}

function writeCauses(point) {
  const rows = summary.rates.map((rate, r) => {
    const [before, after, gains, losses, down] = point.gaps[r];
    const name = `${capital(objectives[rate.objective].title)}: ${rate.meaning}`;
    return [name, ...[before, after, gains, losses].map(number), down === null ? "–" : down ? "yes" : "no"];
  });
  table(find("causes"), ["gap in", "before", "after", "closed by gains", "closed by losses", levelling], rows);
  find("who-pays").replaceChildren(...point.told.map((line) => element("p", line)));
}

function peopleTables(id) {
  const names = [["everyone", ["everyone"]], ...Object.entries(summary.groups)];
  return names.map(([attribute, groups], a) => {
    const rows = groups.map((group, g) => {
      const [now, before] = [points[id].confusion[a][g], points[baseline].confusion[a][g]];
      if (now.includes(null)) return [group, "–", people(before[0] + before[1]), "–", ...before.map((count) => ["– ", element("small", `(${people(count)})`)])];
      const [gets, got] = [now[0] + now[1], before[0] + before[1]];
      const cells = now.map((count, c) => [people(count), element("small", ` (${people(before[c])})`)]);
      return [group, people(gets), people(got), signed(gets - got), ...cells];
    });
    const head = [attribute, "favorable", "without limits", "change", "TP", "FP", "FN", "TN"];
    return table(element("table"), head, rows);
  });
}
