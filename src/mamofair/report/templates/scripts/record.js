// The decision record

function record() {
  const id = state.selected;
  const { settings } = summary;
  const shown = summary.parts[summary.rows];
  const now = new Date();
  const date = [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
  const bounded = (j) => (state.limits[j] === null ? "no limit" : `limit ${number(state.limits[j])}`);
  return [
    "DECISION RECORD", `Date: ${date}`, `Decided by: ${find("name").value || "–"}`,
    `Data: ${(settings.data || {}).name || "–"} (checksum ${(settings.data || {}).checksum || "–"})`, `Run: ${summary.checksum}`, "",
    `Chosen point: ${id} of ${points.length}${inside(id) ? "" : " (OUTSIDE the limits)"}`,
    ...objectives.map((_, j) => `  ${measure(j)}: ${interval(shown[id][j])} on ${summary.rows} rows; unconstrained ${interval(shown[baseline][j])}; ${bounded(j)}`),
    "", ...points[id].told, ...(points[id].told.length ? [""] : []), "Reasons:", find("reasons").value || "–", "",
    "Equal rates on a data set are not justice. Intervals at a point chosen among many are optimistic.",
  ].join("\n");
}

const writeRecord = () => { find("record").textContent = record(); };

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
  const link = element("a", [], { href: URL.createObjectURL(new Blob([record()], { type: "text/plain" })), download: `decision-point-${state.selected}.txt` });
  link.click();
  URL.revokeObjectURL(link.href);
}
