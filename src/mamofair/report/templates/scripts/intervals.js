// Values with intervals, drawn as SVG: places are percentages, so that a drawing is as wide as there is room

function svg(tag, attributes, content = []) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...[content].flat());
  return made;
}

// An axis from 0 to `end` has a margin on both sides, for marks at its ends.
const percent = (value, end) => `${2 + 96 * Math.max(0, Math.min(1, value / end))}%`;

const bar = (low, high, end, y, name) =>
  svg("line", { x1: percent(low, end), x2: percent(high, end), y1: y, y2: y, class: name });

// The end of an axis: a round number that all values fit below.
function axisEnd(largest) {
  const step = 10 ** Math.floor(Math.log10(Math.max(largest, 0.001)));
  return Math.min(1, [1, 2, 2.5, 5, 10].map((times) => times * step).find((end) => end >= largest - 1e-9));
}

// A limit beyond the axis has no line, but an arrow to where it would be.
function limitMark(limit, end) {
  if (limit === null) return [];
  const text = (place, anchor, words) => svg("text", { x: place, y: 41, "text-anchor": anchor }, words);
  if (limit > end) return [text("98%", "end", `limit ${short(limit)} →`)];
  const x = percent(limit, end);
  const anchor = limit < 0.15 * end ? "start" : limit > 0.85 * end ? "end" : "middle";
  return [svg("line", { x1: x, x2: x, y1: 3, y2: 28, class: "rule" }), text(x, anchor, `limit ${short(limit)}`)];
}

function drawGap(one, before, end) {
  const ends = [
    ...(one.limit !== null && one.limit < 0.3 * end ? [] : [svg("text", { x: "2%", y: 41 }, "0")]),
    ...(one.limit !== null && one.limit > 0.7 * end ? [] : [svg("text", { x: "98%", y: 41, "text-anchor": "end" }, short(end))]),
  ];
  const values = [bar(one.low, one.high, end, 16, "range")];
  if (one.gap !== null) values.push(svg("circle", { cx: percent(one.gap, end), cy: 16, r: 6 }));
  const diamond = before === null ? [] : [svg("text", { x: percent(before, end), y: 21, class: "before" }, "◆")];
  const words = one.gap === null ? "undefined" : `${number(one.gap)}, ${within(one)}`;
  const limit = one.limit === null ? "no limit" : `limit ${short(one.limit)}`;
  return svg("svg", { height: 46, class: "interval", role: "img", "aria-label": `Gap ${words}; ${limit}` }, [
    bar(0, end, end, 16, "track"),
    ...diamond,
    ...values,
    ...limitMark(one.limit, end),
    ...ends,
  ]);
}

// A rate on an axis from 0 to `end`; the table beside it has the same numbers.
function drawRate([rate, low, high], before, end) {
  const marks = [bar(0, end, end, 9, "track"), ...(low === null ? [] : [bar(low, high, end, 9, "range")])];
  if (before !== null) marks.push(svg("text", { x: percent(before, end), y: 13, class: "before" }, "◆"));
  if (rate !== null) marks.push(svg("circle", { cx: percent(rate, end), cy: 9, r: 4 }));
  return svg("svg", { height: 18, class: "interval", "aria-hidden": "true" }, marks);
}
