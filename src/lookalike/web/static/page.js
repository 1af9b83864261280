// Every page: times in the reader's time zone, buttons that copy a link, and on phones the place in the navigation.
import { localTimes } from "./times.js";

localTimes(document);

const here = document.querySelector(".places [aria-current]"), places = here?.closest(".places");
if (here) places.scrollLeft = here.offsetLeft - (places.clientWidth - here.offsetWidth) / 2;

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
