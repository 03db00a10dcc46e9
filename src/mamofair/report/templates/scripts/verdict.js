// The verdict on the selected point: that of the run as long as nothing was moved, else by the same rules and in the
// same words as `Verdict` in metrics/_verdict.py. Tests compare the two at every point.

const asked = summary.verdict.asked;
const measured = summary.verdict.measured_on;

function judged({ limit, gap, low, high }) {
  if (limit === null) return null;
  if (gap !== null && high <= limit) return "kept";
  return gap !== null && low > limit ? "not kept" : "cannot be told";
}

const isRuns = () =>
  state.selected === summary.selected && summary.within.every((limit, j) => limit === state.limits[j]);

function verdict() {
  if (isRuns()) return summary.verdict;
  const gaps = summary.verdict.gaps.map((one, g) => {
    const [gap, low, high] = shown[state.selected][g + 1];
    const undefinedGap = points[state.selected].undefined[g];
    const now = { ...one, limit: state.limits[g + 1], high };
    Object.assign(now, undefinedGap ? { gap: null, low: 0 } : { gap, low });
    return { ...now, answer: judged(now) };
  });
  const answers = gaps.map((one) => one.answer);
  const answer = ["not kept", "cannot be told", "kept"].find((one) => answers.includes(one)) ?? null;
  const uncertified = "It was chosen by hand, and no certificate covers it.";
  const stand_in = asked.confidence === null ? null : uncertified;
  const chosen = { point: state.selected, why: "It was chosen by hand." };
  const { near_constant, selected, same: is_constant } = points[state.selected];
  const found = { gaps, answer, chosen, stand_in, near_constant, is_constant, selected, by_hand: true };
  return { ...summary.verdict, ...found, ...tell(gaps, answer, stand_in) };
}

function tell(gaps, answer, stand_in) {
  const limits = gaps.filter((one) => one.limit !== null);
  return {
    headline: [headline(limits, answer, stand_in), ...missed()].join("; "),
    sentences: [
      ...(limits.length ? [askedFor(limits, gaps)] : []),
      ...summary.verdict.caveats,
      ...limits.map(tellGap),
      ...movedFrom(),
      ...(state.limits[0] === null ? [] : [tellPerformance()]),
      ...asksShare() ? [points[state.selected].selected.sentence] : [],
      ...customLimits().map(tellCustom),
      ...(stand_in === null ? [] : [`The chosen model is not what was asked for. ${stand_in}`]),
      ...[points[state.selected].near_constant].filter(Boolean),
      ...summary.verdict.sentences.filter((line) => line.startsWith("Too few rows to judge")),
    ],
  };
}

function headline(limits, answer, stand_in) {
  const other = asksShare() || state.limits[0] !== null || customLimits().length;
  if (answer === null) return `No limit ${other ? "on gaps " : ""}was asked for`;
  const worst = limits.filter((one) => one.answer === answer).length;
  const which = limits.length === 1 ? "the limit" : `${worst} of ${limits.length} limits`;
  if (answer === "not kept") return `Not kept: ${measured.rows} rows exceed ${which}`;
  if (stand_in !== null) return "Not what was asked for: the nearest was chosen";
  if (answer === "kept" && points[state.selected].same) return "Kept only because everyone gets the same decision";
  if (answer === "kept") return limits.length === 1 ? "Kept" : `Kept: all ${limits.length} limits`;
  return limits.length === 1 ? "Cannot be told whether the limit is kept" : `Cannot be told for ${which}`;
}

const asksShare = () => points[state.selected].selected.asked !== null;
const missesShare = () => points[state.selected].selected.answer === "not kept";
const missed = () => [
  ...(missesShare() ? ["the share selected is not kept"] : []),
  ...(judgedPerformance().answer === "not kept" ? [`the ${objectives[0].name} is above its limit`] : []),
  ...exceeded().map((j) => `${objectives[j].name} is above its limit`),
];
const exceeded = () => customLimits().filter((j) => shown[state.selected][j][0] > state.limits[j]);
const customLimits = () => [...objectives.keys()].filter((j) => isCustom(j) && state.limits[j] !== null);

function judgedPerformance() {
  const [gap, low, high] = shown[state.selected][0];
  return { low, high, answer: judged({ limit: state.limits[0], gap, low, high }) };
}

function tellPerformance() {
  const found = judgedPerformance();
  const value = `${number(shown[state.selected][0][0])} on ${people(measured.count)} ${measured.rows} rows`;
  return `${objectives[0].name}: ${found.answer}. It is ${value} (${within(found)}), the limit ${short(state.limits[0])}.`;
}

function tellCustom(j) {
  const { name, rows } = objectives[j];
  const [value] = shown[state.selected][j];
  const where = value <= state.limits[j] ? "within" : "above";
  return `${name} is ${number(value)} on ${rows} rows, ${where} its limit ${short(state.limits[j])}; a measure of your own has no interval.`;
}

function askedFor(limits, gaps) {
  const same = limits.length === gaps.length && new Set(limits.map((one) => one.limit)).size === 1;
  const listed = limits.map((one) => `${one.name} ≤ ${short(one.limit)}`).join(", ");
  const what = same ? `gaps of at most ${short(limits[0].limit)}` : listed;
  const sure = asked.confidence === null ? "" : `, with ${short(100 * asked.confidence)}% confidence`;
  const role = measured.rows === "test" ? "which may have influenced the choice" : "which were also used to choose the model";
  const rows = `${people(measured.count)} ${measured.rows} rows`;
  return `You asked for ${what}${sure}. The answers below come from ${rows}, ${role}.`;
}

// What training was asked for, if the limits were moved since.
function movedFrom() {
  if (summary.within.every((limit, j) => limit === state.limits[j])) return [];
  const before = objectives.flatMap(({ name }, j) => (summary.within[j] === null ? [] : [`${name} ≤ ${short(summary.within[j])}`]));
  return [`These limits were set by hand; training was asked for ${before.join(", ") || "none"}.`];
}

const within = (one) => `${number(one.low)}–${number(one.high)} with ${short(100 * measured.confidence)}% confidence`;

function tellGap(one) {
  if (one.gap === null) return `${one.name}: cannot be told, since fewer than two groups have rows to compare.`;
  return `${one.name}: ${one.answer}. The gap is ${number(one.gap)} (${within(one)}), the limit ${short(one.limit)}.`;
}
