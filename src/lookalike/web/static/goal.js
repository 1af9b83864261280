// How much of the goal of the day is done, what is left, and how long that takes at the own pace.
const by = (id) => document.getElementById(id);
const number = (value) => value.toLocaleString("en");

export function goal({ today, goal, per_hour }) {
  const left = Math.max(goal - today, 0);
  by("goal").textContent = `${number(today)}${goal ? ` of ${number(goal)}` : ""} today`;
  by("goal-left").textContent = !goal ? "" : left ? `, ${number(left)} left${per_hour ? ` (about ${time(left / per_hour)})` : ""}` : ", goal reached";
  by("goal-bar").hidden = !goal;
  Object.assign(by("goal-bar"), { max: goal || 1, value: today });
}

function time(hours) {
  if (hours < 1) return `${Math.round(60 * hours)} min`;
  return hours < 100 ? `${hours.toFixed(1)} h` : `${number(Math.round(hours))} h`;
}
