"use strict";
// The tasks of a run that was followed: a table that chooses whose page is drawn.

function tasksTable() {
  const rows = file.rows.map(([name, command, ending, cycles, instructions, place, counts]) => ({
    name, command, ending, cycles, instructions, place, counts,
  }));
  const whole = sum(rows.map((row) => row.cycles));
  const link = (row) =>
    row.place === null || row.place === shownTask
      ? row.name
      : el("a", {href: "?task=" + row.place, "data-task": row.name}, row.name);
  section(
    "tasks",
    "Tasks",
    el("p", {class: "soft"}, `All ${number(rows.length)} tasks: ${number(whole)} cycles, ${number(sum(rows.map((row) => row.instructions)))} instructions${file.events.map((event, place) => `, ${number(file.totals[place])} ${event}`).join("")}. What follows is of task ${rows.find((row) => row.place === shownTask)?.name ?? "–"}; another one is a click away.`),
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
  );
}
