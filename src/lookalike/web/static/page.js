// Every page: times in the reader's time zone, and buttons that copy a link. Without this script, times are in UTC.

const two = (number) => String(number).padStart(2, "0");

for (const time of document.querySelectorAll("time[datetime]")) {
  const at = new Date(time.dateTime);
  if (Number.isNaN(at.getTime())) continue;
  time.title = time.textContent;
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join("-");
  time.textContent = `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

for (const button of document.querySelectorAll("button[data-copies]")) {
  const field = document.getElementById(button.dataset.copies);
  button.hidden = false;
  button.addEventListener("click", async () => {
    button.textContent = (await copied(field)) ? "Copied" : "Press Ctrl+C to copy";
  });
}

// Browsers allow the clipboard on https and on this machine only; elsewhere the old command may work.
async function copied(field) {
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    return document.execCommand("copy");
  }
}
