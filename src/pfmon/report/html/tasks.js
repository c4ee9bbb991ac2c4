"use strict";
// The tasks of a run that was followed: a table that chooses whose page is drawn.

function tasksTable() {
  const rows = file.rows.map(([name, command, ending, cycles, instructions, place, counts]) => ({
    name,
    command,
    ending,
    cycles,
    instructions,
    place,
    counts,
  }));
  const whole = sum(rows.map((row) => row.cycles));
  const link = (row) =>
    row.place === null || row.place === shownTask
      ? row.name
      : el("a", {href: "?task=" + row.place, "data-task": row.name}, row.name);
  const shown = rows.filter((row) => row.place !== null).sort((one, other) => other.cycles - one.cycles);
  const title = (row) => `${row.name} ${row.command}`;
  section(
    "tasks",
    "Tasks",
    el(
      "p",
      {class: "soft"},
      `All ${number(rows.length)} tasks: ${number(whole)} cycles, ${number(sum(rows.map((row) => row.instructions)))} instructions${file.events.map((event, place) => `, ${number(file.totals[place])} ${event}`).join("")}. What follows is of task ${rows.find((row) => row.place === shownTask)?.name ?? "–"}; another one is a click away.`,
    ),
    table(
      [
        {name: "task", text: true, get: (row) => row.name, show: link},
        {name: "command", text: true, get: (row) => row.command},
        {name: "exit status", text: true, get: (row) => row.ending},
        {name: "cycles", get: (row) => row.cycles},
        {name: "share", get: (row) => row.cycles, show: (row) => percent(row.cycles, whole)},
        {name: "instructions", get: (row) => row.instructions},
        ...file.events.map((event, place) => ({name: event, get: (row) => row.counts[place]})),
      ],
      rows,
      {sort: -1, label: "tasks"},
    ),
    legend(parts),
    stackedBars(
      "Tasks, by cause",
      shown.flatMap((row) =>
        file.tasks[row.place].cpi.parts.map((part) => ({
          name: title(row),
          part: part.name,
          value: sum(part.of.map(([, cycles]) => cycles)),
        })),
      ),
      parts,
    ),
    folded("Functions side by side", () => functionsOfTasks(shown)),
  );
}

// Cycles of functions in several tasks, those with most cycles in all together first.
const MOST_FUNCTIONS = 400;
function functionsOfTasks(shown) {
  const found = new Map(); // name -> cycles by task
  shown.forEach((row, place) => {
    for (const one of file.tasks[row.place].functions.rows) {
      if (!found.has(one[0])) found.set(one[0], Array(shown.length).fill(0));
      found.get(one[0])[place] += cyclesOf(one.slice(3));
    }
  });
  const largest = [...found].sort((one, other) => sum(other[1]) - sum(one[1])).slice(0, MOST_FUNCTIONS);
  return sideBySide(
    shown.map((row) => row.name),
    largest,
    "functions of tasks side by side",
  );
}
