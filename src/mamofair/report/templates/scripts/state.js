// The state of the page: the selected point, the limits, the gap in view and the rows of the chart. Every change goes
// through `select`, `limit` or `look`, which update all views. Text is only ever set as textContent.
// These files become one module, in the order that `_render.py` lists.

const read = (id) => JSON.parse(document.getElementById(id).textContent);
const find = (id) => document.getElementById(id);
const summary = read("summary");
const charts = read("charts");
const { objectives, points, baseline } = summary;
const valid = summary.parts.validation;
const shown = summary.parts[summary.rows];
const ceilings = objectives.map((_, j) => Math.ceil(1000 * Math.max(...valid.map((point) => point[j][0]))) / 1000);
const many = points.length > 60; // too many points to draw all intervals
const state = {
  selected: summary.selected,
  limits: [...summary.within],
  gap: Math.min(1, objectives.length - 1),
  rows: summary.rows,
};
const views = {};

// Words and elements

const number = (value) => (value === null ? "–" : value.toFixed(3));
const short = (value) => String(Number(value.toPrecision(6))); // as Python's :g
const people = (value) => value === null ? "few" : value.toLocaleString("en", { maximumFractionDigits: 1 });
// A measure of the user's own has a value and no interval.
const ends = ([value, low, high]) => (value !== null && low === null ? "" : `[${number(low)}, ${number(high)}]`);
const interval = (range) => `${number(range[0])} ${ends(range)}`.trim();
const ranged = (range) => [`${number(range[0])} `, element("small", ends(range))];
const capital = (text) => text[0].toUpperCase() + text.slice(1);
const isCustom = (j) => objectives[j].kind === "custom";
const measure = (j) => (j === 0 || isCustom(j) ? objectives[j].title : `gap in ${objectives[j].title}`);
const total = (counts) => counts.reduce((sum, count) => sum + count, 0);

function element(tag, content = [], attributes = {}) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...[content].flat());
  return made;
}

const list = (target, lines) => target.replaceChildren(...lines.map((line) => element("li", line)));

function table(target, head, rows, caption) {
  const cells = (row) => row.map((cell, i) => (i ? element("td", cell) : element("th", cell, { scope: "row" })));
  const titles = head.map((cell) => element("th", cell, { scope: "col" }));
  const lines = rows.map((row) => element("tr", cells(row)));
  target.replaceChildren(
    ...(caption ? [element("caption", caption)] : []),
    element("thead", element("tr", titles)),
    element("tbody", lines),
  );
  return target;
}

// Limits. Points are chosen on validation rows; colors and greyed rows follow the rows in view.

const bounds = () => state.limits.map((limit) => (limit === null ? Infinity : limit));
const inside = (id, part = valid) => bounds().every((bound, j) => part[id][j][0] <= bound);

// As `MostAccurateWithin` chooses: the most accurate of the useful points that are within the limits by a margin; those
// that harm a group too small for its limit come last. If there is none, the one that misses the limits least.
const level = (j) => summary.levels[j - 1]?.findLast((one) => one.from <= (state.limits[j] ?? Infinity));
const reaches = (id, part) => bounds().map((bound, j) => (level(j)?.[part][id] ?? valid[id][j][0]) - bound);
const meets = (id) => Math.max(...reaches(id, "padded")) <= 0;
const harms = (id) =>
  objectives.some((_, j) => {
    const one = state.limits[j] === null ? undefined : level(j);
    return one && (one.moves[id] || one.of_all[id] > state.limits[j]);
  });
const best = () => {
  const within = summary.useful.filter(meets); // sorted by error
  if (within.length) return within.find((id) => !harms(id)) ?? within[0];
  const miss = (id) => Math.max(0, ...reaches(id, "measured"));
  return summary.useful.reduce((a, b) => (miss(a) <= miss(b) ? a : b));
};

// Changes

function select(id) {
  state.selected = id;
  markChosen();
  writeAnswer();
  writeStatus();
  writeGroups();
  writeRecord();
  const training = ["objectives", "weights", "hypervolume"].map((name) => signal(name, moment()));
  settle([...["front", "parallel"].map((name) => signal(name, { selected: id })), draw("scores"), ...training]);
}

function limit(j, value) {
  state.limits[j] = value;
  limited();
}

function limited() {
  writeSliders();
  writeGap();
  markInside();
  draw("front");
  draw("parallel");
  select(best());
}

function look(gap, rows) {
  Object.assign(state, { gap, rows });
  writeGap();
  writePoints();
  draw("front");
  draw("parallel");
  select(state.selected);
}

// Once all charts show the selected point, mark the page, for tests that wait for it.
let round = 0;
async function settle(pictures) {
  const mine = ++round;
  await Promise.all(pictures);
  if (mine === round) document.body.dataset.shown = `${state.selected}/${mine}`;
}
