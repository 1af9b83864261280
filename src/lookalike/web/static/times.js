// Times in the reader's time zone. Without this script, times are in UTC.
const two = (number) => String(number).padStart(2, "0");

export function localTimes(part) {
  for (const time of part.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    time.title = time.textContent;
    const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join("-");
    time.textContent = `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
  }
}
