// The decision record: what was asked, answered and chosen, in words that can be checked later. Its last line is the
// hash of all lines above it, as `head -n -1 FILE | sha256sum` prints it.

const blank = "____________________";

function record() {
  const id = state.selected;
  const { settings } = summary;
  const { data = {} } = settings;
  const { headline, sentences, chosen } = verdict();
  const text = [
    "DECISION RECORD",
    `Date: ${find("date").value || blank}`,
    `Decided by: ${find("name").value || blank}`,
    "",
    summary.question,
    `Data: ${data.name || "–"} (checksum ${data.checksum || "–"})`,
    `Run: checksum ${settings.checksum || summary.checksum}`,
    `Chosen: point ${id} of ${points.length}`,
    `Predict with it: ${summary.command} ${id}`,
    "",
    `${headline}.`,
    ...sentences,
    chosen.why,
    ...(inside(id) ? [] : ["It exceeds a limit on validation rows."]),
    "",
    `On ${summary.rows} rows, with ${short(100 * summary.confidence)}% confidence intervals:`,
    ...objectives.map((_, j) => {
      const limit = state.limits[j] === null ? "no limit" : `limit ${number(state.limits[j])}`;
      return `  ${measure(j)}: ${interval(shown[id][j])}, ${limit}; without limits: ${interval(shown[baseline][j])}`;
    }),
    ...whyGapsChanged(id).map((line) => `  ${line}`),
    ...summary.alternatives,
    ...summary.asked,
    "",
    "Reasons:",
    find("reasons").value || blank,
    "",
    "Equal rates on a data set are not justice. Intervals at a point chosen among many are optimistic.",
    "",
  ].join("\n");
  return `${text}SHA-256 of all lines above: ${sha256(text)}`;
}

const writeRecord = () => {
  find("record-text").textContent = record();
  for (const part of ["name", "date"]) find(`signed-${part}`).textContent = find(part).value; // signed by hand above the third line
  find("record").classList.toggle("signed", find("reasons").value !== ""); // on paper there are lines for reasons, else
};

const today = () => {
  const now = new Date();
  const parts = [now.getFullYear(), now.getMonth() + 1, now.getDate()];
  return parts.map((part) => String(part).padStart(2, "0")).join("-");
};

async function copy() {
  try {
    await navigator.clipboard.writeText(record());
    find("copied").textContent = "Copied.";
  } catch {
    getSelection().selectAllChildren(find("record-text"));
    find("copied").textContent = "Press Ctrl+C to copy.";
  }
}

function save() {
  const link = element("a", [], {
    href: URL.createObjectURL(new Blob([`${record()}\n`], { type: "text/plain" })),
    download: `decision-point-${state.selected}.txt`,
  });
  link.click();
  URL.revokeObjectURL(link.href);
}
