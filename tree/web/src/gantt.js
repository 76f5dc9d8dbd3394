a.map((x) => x); // Gantt
if (x === 'schedule') {}
const makespanOf = `map`;
