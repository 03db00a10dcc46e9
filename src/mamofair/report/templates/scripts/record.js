// The decision record

function record() {
  const id = state.selected;
  const { settings } = summary;
  const shown = summary.parts[summary.rows];
  const now = new Date();
  const date = [now.getFullYear(), now.getMonth() + 1, now.getDate()]
    .map((part) => String(part).padStart(2, "0"))
    .join("-");
  const bounded = (j) => (state.limits[j] === null ? "no limit" : `limit ${number(state.limits[j])}`);
  const measured = (which, j) => `${interval(shown[which][j])} on ${summary.rows} rows`;
  return [
    "DECISION RECORD",
    `Date: ${date}`,
    `Decided by: ${find("name").value || "–"}`,
    `Data: ${(settings.data || {}).name || "–"} (checksum ${(settings.data || {}).checksum || "–"})`,
    `Run: ${summary.checksum}`,
    "",
    `Chosen point: ${id} of ${points.length}${inside(id) ? "" : " (OUTSIDE the limits)"}`,
    ...objectives.flatMap((_, j) => [
      `  ${measure(j)}: ${measured(id, j)}`,
      `    ${bounded(j)}, ${number(valid[id][j][0])} on validation rows; unconstrained: ${measured(baseline, j)}`,
    ]),
    "",
    ...points[id].told,
    ...(points[id].told.length ? [""] : []),
    "Reasons:",
    find("reasons").value || "–",
    "",
    "Equal rates on a data set are not justice. Intervals at a point chosen among many are optimistic.",
  ].join("\n");
}

const writeRecord = () => {
  find("record").textContent = record();
};

async function copy() {
  try {
    await navigator.clipboard.writeText(record());
    find("copied").textContent = "Copied.";
  } catch {
    getSelection().selectAllChildren(find("record"));
    find("copied").textContent = "Press Ctrl+C to copy.";
  }
}

function save() {
  const link = element("a", [], {
    href: URL.createObjectURL(new Blob([record()], { type: "text/plain" })),
    download: `decision-point-${state.selected}.txt`,
  });
  link.click();
  URL.revokeObjectURL(link.href);
}
