// Charts: each gets its tables and parameters when it is made and whenever they change

const pictures = {
  front,
  parallel,
  scores: scoreLines,
  objectives: () => overTime(summary.training.objectives),
  weights: () => overTime(summary.training.weights),
  hypervolume,
};

async function embed(name) {
  const { tables, parameters, height = charts[name].height } = pictures[name]();
  const spec = {
    ...charts[name],
    height,
    datasets: tables,
    params: charts[name].params.map((one) => ({ ...one, value: parameters[one.name] })),
  };
  views[name] = (
    await vegaEmbed(find(name), spec, { mode: "vega-lite", renderer: "svg", actions: false, ast: true })
  ).view;
}

function draw(name) {
  if (!views[name]) return undefined;
  const { tables, parameters, height } = pictures[name]();
  if (height) views[name].height(height);
  for (const [key, rows] of Object.entries(tables)) views[name].data(key, rows);
  return signal(name, parameters);
}

function signal(name, parameters) {
  if (!views[name]) return undefined;
  for (const [key, value] of Object.entries(parameters)) views[name].signal(key, value);
  return views[name].runAsync();
}

function front() {
  const j = state.gap;
  const part = summary.parts[state.rows];
  const line = summary.limit[objectives[j].name] || [];
  const marked = many ? [state.selected, baseline] : [...part.keys()]; // the axes must show their intervals
  const within = (i, k) => [...marked.map((id) => part[id][i][k] ?? 0), ...part.map((point) => point[i][0])];
  return {
    tables: {
      points: part.map((point, id) => ({
        id,
        x: point[j][0],
        xlow: point[j][1] ?? point[j][0],
        xhigh: point[j][2] ?? point[j][0],
        y: point[0][0],
        ylow: point[0][1],
        yhigh: point[0][2],
        inside: inside(id, part),
        quiet: many,
        tooltip: `Point ${id}: ${point.map((value, i) => `${measure(i)} ${number(value[0])}`).join(", ")}`,
      })),
      limit: line.map(([x, y, low, high]) => ({ x, y, low, high })),
      bound: state.limits[j] === null ? [] : [{ x: state.limits[j] }],
    },
    parameters: {
      selected: state.selected,
      widest: Math.max(...within(j, 2)) || 1,
      lowest: Math.min(...within(0, 1), ...line.map((row) => row[2])),
      highest: Math.max(...within(0, 2)),
    },
  };
}

const scales = () =>
  objectives.map((_, j) => {
    const values = summary.parts[state.rows].map((point) => point[j][0]);
    const low = Math.min(...values);
    return [low, Math.max(...values) - low || 1];
  });
const axis = (j) => objectives[j].title.replace(" by ", " ").replaceAll(" ", "\n");

function parallel() {
  const spans = scales();
  const place = (j, value) => (value - spans[j][0]) / spans[j][1];
  const part = summary.parts[state.rows];
  const lines = part.flatMap((point, id) => {
    const isInside = inside(id, part);
    return point.map(([value], j) => ({ id, objective: axis(j), place: place(j, value), inside: isInside }));
  });
  const ends = spans.flatMap(([low, span], j) =>
    [0, 1].map((end) => ({ objective: axis(j), place: end, text: number(low + end * span) })),
  );
  const bounds = state.limits.flatMap((bound, j) =>
    bound === null ? [] : [{ objective: axis(j), place: Math.max(0, Math.min(1, place(j, bound))) }],
  );
  return { tables: { lines, ends, bounds }, parameters: { selected: state.selected } };
}

// The attribute of the gap in view: its place after everyone, and its groups; everyone, if there is no gap.
const scored = () => {
  const { attribute } = objectives[state.gap];
  const names = Object.keys(summary.groups);
  return attribute === undefined
    ? { place: 0, attribute: "everyone", groups: ["everyone"] }
    : { place: names.indexOf(attribute) + 1, attribute, groups: summary.groups[attribute] };
};

function scoreLines() {
  const { place, groups } = scored();
  const all = summary.scores[state.selected].counts[place];
  const known = [...all.keys()].filter((g) => !all[g].includes(null));
  const largest = known.sort((a, b) => total(all[b]) - total(all[a])).slice(0, 7); // as many as there are colors
  const drawn = [...all.keys()].filter((g) => largest.includes(g));
  const lines = drawn.flatMap((g) => {
    const size = total(all[g]) || 1;
    const shares = [...all[g], all[g].at(-1)]; // the last step ends at 1
    return shares.map((count, bin) => ({ group: groups[g], score: bin / all[g].length, share: count / size }));
  });
  return {
    tables: { lines, threshold: [{ score: 0.5 }] },
    parameters: { highest: Math.max(0, ...lines.map((row) => row.share)) },
  };
}

const moment = () => {
  const { model, step } = points[state.selected];
  return { step: model === summary.training.model ? step : null }; // training is shown for one model only
};

function overTime(rows) {
  const lines = rows.map(([step, name, low, middle, high]) => ({ step, name, low, middle, high }));
  return {
    tables: { lines },
    parameters: {
      ...moment(),
      last: Math.max(...lines.map((row) => row.step)),
      highest: Math.max(...lines.map((row) => row.high)),
    },
  };
}

function hypervolume() {
  const lines = summary.training.hypervolume.map(([step, volume]) => ({ step, volume }));
  const volumes = lines.map((row) => row.volume);
  return {
    tables: { lines },
    parameters: {
      ...moment(),
      last: Math.max(...lines.map((row) => row.step)),
      lowest: Math.min(...volumes),
      highest: Math.max(...volumes),
    },
  };
}
