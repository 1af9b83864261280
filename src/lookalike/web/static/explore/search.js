// The search page: photos that are dropped, pasted or chosen are sent at once; a box is drawn on the query.
const drop = document.getElementById("drop"), choosers = [...drop.querySelectorAll("input[type=file]")], [chooser] = choosers;

function send(files) {
  const photo = [...files].find((file) => file.type.startsWith("image/")) ?? files[0];
  if (!photo) return;
  const held = new DataTransfer();
  held.items.add(photo);
  chooser.files = held.files;
  drop.requestSubmit();
}

drop.querySelectorAll("button[type=button]").forEach((button, n) => button.addEventListener("click", () => choosers[n].click()));
for (const input of choosers) input.addEventListener("change", () => { send(input.files); });
document.addEventListener("paste", (event) => { if (event.clipboardData.files.length) send(event.clipboardData.files); });
document.addEventListener("dragover", (event) => {
  if (!event.dataTransfer.types.includes("Files")) return;
  event.preventDefault();
  drop.classList.add("over");
});
document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) drop.classList.remove("over"); });
document.addEventListener("drop", (event) => {
  if (!event.dataTransfer.files.length) return;
  event.preventDefault();
  send(event.dataTransfer.files);
});
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll(".menu-chip[open]")) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && document.querySelector(".menu-chip[open]");
  if (menu) { menu.open = false; menu.querySelector("summary").focus(); }
});

const NEAR = 22, LEAST = 8; // pixels of the screen around a corner; pixels of the photo on a side
const mark = document.getElementById("mark");
if (mark) {
  const inputs = [...document.querySelectorAll("#region input[type=number]")], { width, height } = mark.viewBox.baseVal;
  const figure = mark.closest("figure"), button = document.getElementById("draw");
  const [shade, frame] = [mark.querySelector("path"), mark.querySelector("rect")], corners = [...mark.querySelectorAll("circle")];
  const values = () => inputs.map((input) => Number(input.value));
  let fixed = null, before = null;

  const at = (event) => {
    const { left, top, width: w, height: h } = mark.getBoundingClientRect();
    const inside = (value, most) => Math.round(Math.min(Math.max(value, 0), most));
    return [inside((event.clientX - left) / w * width, width), inside((event.clientY - top) / h * height, height)];
  };
  const draw = () => {
    const [x0, y0, x1, y1] = values();
    for (const [name, value] of Object.entries({ x: x0, y: y0, width: Math.max(x1 - x0, 0), height: Math.max(y1 - y0, 0) })) frame.setAttribute(name, value);
    shade.setAttribute("d", `M0 0H${width}V${height}H0ZM${x0} ${y0}H${x1}V${y1}H${x0}Z`);
    [[x0, y0], [x1, y0], [x0, y1], [x1, y1]].forEach(([x, y], n) => { corners[n].setAttribute("cx", x); corners[n].setAttribute("cy", y); });
    mark.classList.remove("empty");
  };
  const set = (box) => inputs.forEach((input, n) => { input.value = box[n]; });
  const may = (event) => event.isPrimary && event.button === 0 && (event.pointerType !== "touch" || figure.classList.contains("drawing"));

  mark.addEventListener("pointerdown", (event) => {
    if (!may(event)) return;
    const [x, y] = at(event), [x0, y0, x1, y1] = before = values(), pixel = width / mark.clientWidth;
    const near = mark.classList.contains("empty") ? undefined : [[x0, y0, x1, y1], [x1, y0, x0, y1], [x0, y1, x1, y0], [x1, y1, x0, y0]].find(([a, b]) => Math.hypot(a - x, b - y) < NEAR * pixel);
    fixed = near ? near.slice(2) : [x, y];
    mark.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  mark.addEventListener("pointermove", (event) => {
    if (!fixed) return;
    const [x, y] = at(event), [a, b] = fixed;
    set([Math.min(x, a), Math.min(y, b), Math.max(x, a), Math.max(y, b)]);
    draw();
  });
  for (const name of ["pointerup", "pointercancel"]) mark.addEventListener(name, () => {
    if (!fixed) return;
    const [x0, y0, x1, y1] = values();
    fixed = null;
    if (name === "pointerup" && Math.min(x1 - x0, y1 - y0) >= LEAST) inputs[0].form.submit();
    else { const whole = before[0] === 0 && before[1] === 0 && before[2] === width && before[3] === height; set(before); draw(); mark.classList.toggle("empty", whole); }
  });
  for (const input of inputs) input.addEventListener("input", draw);
  button.addEventListener("click", () => { button.ariaPressed = String(figure.classList.toggle("drawing")); });
}
