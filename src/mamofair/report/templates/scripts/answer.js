// The answer: what was asked, what the rows say of each gap, who gains and loses, and what cannot be told

const tones = { kept: "kept", "cannot be told": "open", "not kept": "missed" };
const signs = { kept: "✓", "cannot be told": "?", "not kept": "✗" };

function writeAnswer() {
  const found = verdict();
  const useless = found.answer === "kept" && found.is_constant;
  const standIn = found.stand_in !== null || useless;
  const tone = found.answer === "not kept" || missesShare() ? "missed" : standIn ? "stand-in" : (tones[found.answer] ?? "none");
  const shade = tone === "kept" && missed().length ? "open" : tone;
  find("verdict").className = `verdict ${shade}`;
  const sign = missesShare() ? signs["not kept"] : shade === "open" ? signs["cannot be told"] : (signs[found.answer] ?? "–");
  find("headline").textContent = `${standIn && tone !== "missed" ? "!" : sign} ${found.headline}`;
  find("stand-in").hidden = found.stand_in === null;
  const gapLines = found.gaps.filter((one) => one.limit !== null).length; // the cards say these
  const [first, ...rest] = found.sentences;
  const before = summary.verdict.caveats.length;
  const sentences = gapLines
    ? [first, ...rest.slice(0, before), ...rest.slice(before + gapLines)]
    : found.sentences;
  find("sentences").replaceChildren(...[...sentences, found.chosen.why].map((line) => element("p", marked(line))));
  writeCards(found.gaps);
  writeValues();
  writeChanges();
  list(find("untold"), untold(found));
}

function writeCards(gaps) {
  const largest = Math.max(0.001, ...gaps.map((one) => one.high));
  const near = gaps.map((one) => one.limit ?? 0).filter((limit) => limit <= 3 * largest);
  const end = axisEnd(Math.max(largest, ...near.map((limit) => 1.1 * limit)));
  const cards = gaps.map((one, g) => {
    const tone = tones[one.answer] ?? "none";
    const tag = one.answer === null ? "no limit" : `${signs[one.answer]} ${one.answer}`;
    const title = [element("span", tag, { class: `tag ${tone}` }), " ", element("b", objectives[g + 1].title)];
    const words = one.gap === null ? "Fewer than two groups have rows to compare." : `${number(one.gap)} apart; ${within(one)}`;
    const before = shown[baseline][g + 1][0];
    const isSeen = !points[baseline].undefined[g] && before <= end && state.selected !== baseline;
    const drawing = drawGap(one, isSeen ? before : null, end);
    return element("div", [element("p", title), element("p", words), drawing], { class: `card ${tone}` });
  });
  const columns = cards.length < 4 ? cards.length : [3, 2, 4].find((n) => cards.length % n !== 1) ?? 3; // no card alone
  find("cards").style.setProperty("--columns", Math.max(1, columns));
  find("cards").replaceChildren(...cards);
}

function writeValues() {
  const id = state.selected;
  const [twice, alone] = [summary.rows !== "validation", id === baseline];
  const head = ["", "this model", ...(alone ? [] : ["without limits"]), "limit", ...(twice ? [validation] : [])];
  const rows = objectives.map((objective, j) => [
    capital(objective.title),
    ranged(shown[id][j]),
    ...(alone ? [] : [ranged(shown[baseline][j])]),
    state.limits[j] === null ? "–" : short(state.limits[j]),
    ...(twice ? [number(valid[id][j][0])] : []),
  ]);
  if (asksShare()) rows.push(shareRow(id, alone, twice));
  table(find("values"), head, rows);
}

function shareRow(id, alone, twice) {
  const cell = ({ selected: { value, low, high } }) => ranged([value, low, high]);
  const limit = [points[id].selected.asked].flat().map(short).join("–");
  return ["Share selected", cell(points[id]), ...(alone ? [] : [cell(points[baseline])]), limit, ...(twice ? ["–"] : [])];
}

// A sentence whose `names` stand out.
const marked = (line) => line.split("`").map((part, i) => (i % 2 ? element("code", part) : part));

// Who gains and who loses, against the model without limits: of 1,000 people of each group, and in numbers

const counted = summary.counted === "rows" ? "rows" : "people"; // of which one person may have several
const hidesGroups = (id) => points[id].hides_groups === true; // with `--suppress`, of most points
const isCrossed = (name) => name.includes("*") && name.split("*").every((part) => part in summary.groups);
const favorably = (id, a, g) => points[id].confusion[a][g][0] + points[id].confusion[a][g][1];

function change(a, g) {
  const size = total(points[baseline].confusion[a][g]);
  const net = favorably(state.selected, a, g) - favorably(baseline, a, g);
  return { size, net, share: size ? Math.round((1000 * net) / size) : 0 };
}

function changeWords({ share, net }) {
  if (!share) return `${net ? "about " : ""}as many are`;
  return `${people(Math.abs(share))} ${share > 0 ? "more" : "fewer"} ${Math.abs(share) === 1 ? "is" : "are"}`;
}

// The sentences on gaps; the others are about the rates of groups, which stand beside them as numbers.
const whyGapsChanged = (id) => points[id].told.filter((line) => line.startsWith("The gap"));
const signed = (value) => `${value > 0 ? "+" : value < 0 ? "−" : "±"}${people(Math.abs(value))}`;

function writeChanges() {
  const most = 8;
  const changes = Object.entries(summary.groups).flatMap(([attribute, groups], a) =>
    isCrossed(attribute) ? [] : groups.map((group, g) => ({ attribute, group, ...change(a + 1, g) })),
  );
  const everyone = change(0, 0);
  const largest = changes.length > most ? [...changes].sort((a, b) => Math.abs(b.net) - Math.abs(a.net)).slice(0, most) : changes;
  const lines = largest.map((one) => [
    `Among 1,000 ${counted} whose ${one.attribute} is ${one.group}, ${changeWords(one)} predicted ${summary.outcome} `,
    element("small", `(${signed(one.net)} of ${people(one.size)})`),
  ]);
  if (changes.length > most) lines.push(`${changes.length - most} other groups change less; they are in the table of groups.`);
  const hidden = ["How each group fares is not shown for this model: others get to see this page."];
  const all = [shares(everyone.size), element("small", `(${signed(everyone.net)} of ${people(everyone.size)})`)];
  const same = ["This is the model without limits, with which all others are compared.", shares(everyone.size)];
  list(find("changes"), state.selected === baseline ? same : [...(hidesGroups(state.selected) ? hidden : lines), all, ...whyGapsChanged(state.selected)]);
}

// How many of everyone are decided favorably, beside how many have the favorable label.
function shares(size) {
  const percent = (count) => `${((100 * count) / size).toFixed(1)}%`;
  const [right, , missed] = points[state.selected].confusion[0][0];
  const before = state.selected === baseline ? "" : `${percent(favorably(baseline, 0, 0))} without limits; `;
  return `Of everyone, ${percent(favorably(state.selected, 0, 0))} are predicted ${summary.outcome} (${before}${percent(right + missed)} have this label) `;
}

// What cannot be told, and why

function untold(found) {
  const open = found.gaps.filter((one) => one.answer === "cannot be told");
  const attributes = Object.keys(summary.groups);
  const words = (gaps) => {
    const titles = gaps.map((one) => objectives[1 + found.gaps.indexOf(one)].title);
    return titles.length > 1 ? `${titles.slice(0, -1).join(", ")} and ${titles.at(-1)}` : titles.join();
  };
  const [known, undefinedGaps] = [open.filter((one) => one.gap !== null), found.gaps.filter((one) => one.gap === null)];
  const advice = summary.counted === "people" ? "; “mamofair plan” says how many a certificate needs" : "";
  const keep = known.length > 1 ? "keep their limits" : "keeps its limit";
  const why = `the limit lies within the interval${known.length > 1 ? " of each" : ""}. More ${measured.rows} rows would narrow it${advice}.`;
  const { confidence } = asked;
  const promise = confidence === null || found.stand_in === null ? [] : [`${short(100 * confidence)}% confidence`];
  return [
    ...promise.map((sure) => `Whether the limits hold for new people with ${sure}: no certificate covers this model.`),
    ...(known.length ? [`Whether ${words(known)} ${keep}: ${why}`] : []),
    ...(undefinedGaps.length ? [`What ${words(undefinedGaps)} would be: fewer than two groups have rows to compare.`] : []),
    ...attributes.flatMap((attribute, a) => {
      const missing = unknown(a + 1);
      const who = `${people(missing)} ${missing === 1 ? { people: "person", rows: "row" }[counted] : counted}`;
      return missing > 0.5 ? [`How ${who} ${missing === 1 ? "fares" : "fare"} whose ${attribute} is unknown or too rare: no gap counts them.`] : [];
    }),
    ...(measured.rows === "test" ? [] : ["How the model does on rows that it was not chosen by: there are no test rows."]),
    ...(isRuns() ? [] : ["Whether these intervals hold for a model picked for how it looks here: they are optimistic then."]),
    ...(summary.flips[state.selected] ? [summary.flips[state.selected]] : []),
    "Whether equal rates are just, and whether these rows are like those to come.",
  ];
}

const unknown = (a) => total(points[baseline].confusion[0][0]) - total(points[baseline].confusion[a].map(total));
