// Requests to the server. A refusal is an answer; only a failed connection throws.
const csrf = document.querySelector('meta[name="csrf"]')?.content ?? "";

export async function call(path, body) {
  const options = { credentials: "same-origin", cache: "no-store", headers: { Accept: "application/json", "X-CSRF-Token": csrf } };
  if (body) {
    Object.assign(options, { method: "POST", body: JSON.stringify(body), keepalive: true });
    options.headers["Content-Type"] = "application/json";
  }
  const answer = await fetch(path, options);
  const content = await answer.json().catch(() => null);
  if (answer.ok && content === null) throw new TypeError("incomplete answer");
  return { status: answer.status, content, after: Number(answer.headers.get("Retry-After") ?? 0) };
}

export function midnight() {
  return new Date().setHours(0, 0, 0, 0);
}
