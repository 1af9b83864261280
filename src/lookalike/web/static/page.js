// Every page: times in the reader's time zone, and buttons that copy a link.
import { localTimes } from "./times.js";

localTimes(document);

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
