// Points of the map on a canvas, drawn with WebGL 2: all of them, then those that are selected.
const VERTEX = `#version 300 es
in vec2 place; in uint group;
uniform vec2 centre, scale; uniform float size, alpha; uniform vec3 tones[12];
out vec4 tone;
void main() {
  gl_Position = vec4((place - centre) * scale, 0.0, 1.0);
  gl_PointSize = size;
  tone = vec4(tones[group], alpha);
}`;
const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 tone; out vec4 shown;
void main() {
  float cover = 1.0 - smoothstep(0.36, 0.5, length(gl_PointCoord - 0.5));
  shown = vec4(tone.rgb, 1.0) * tone.a * cover;
}`;

// null where the browser has no WebGL 2
export function planeOf(canvas, places) {
  const gl = canvas.getContext("webgl2", { alpha: true, antialias: false });
  const program = gl && linked(gl);
  if (!program) return null;
  const count = places.length / 2;
  gl.useProgram(program);
  const at = (name) => gl.getUniformLocation(program, name);
  const uniforms = Object.fromEntries(["centre", "scale", "size", "alpha", "tones"].map((name) => [name, at(name)]));
  attribute(gl, program, "place", places, () => [2, gl.UNSIGNED_SHORT, true]);
  const chosen = gl.createBuffer(), every = gl.createBuffer();
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  const groups = gl.createBuffer();
  let selected = 0;
  return {
    // Points are drawn in a mixed order, so that no group hides another; those of the marked group come last.
    colour(codes, tones, marked) {
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, every);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, mixed(codes, marked), gl.STATIC_DRAW);
      gl.bindBuffer(gl.ARRAY_BUFFER, groups);
      gl.bufferData(gl.ARRAY_BUFFER, codes, gl.STATIC_DRAW);
      const where = gl.getAttribLocation(program, "group");
      gl.enableVertexAttribArray(where);
      gl.vertexAttribIPointer(where, 1, gl.UNSIGNED_BYTE, 0, 0);
      gl.uniform3fv(uniforms.tones, tones);
    },
    select(rows) {
      selected = rows.length;
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, chosen);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, rows, gl.DYNAMIC_DRAW);
    },
    draw(view) {
      const dense = Math.sqrt((view.wide * view.high) / count);
      const size = Math.min(11, Math.max(2.2, 0.42 * dense) * view.zoom ** 0.4) * view.ratio;
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.uniform2f(uniforms.centre, view.x, view.y);
      gl.uniform2f(uniforms.scale, (2 * view.side) / view.wide, (2 * view.side) / view.high);
      const draw = (rows, number, alpha, larger) => {
        gl.uniform1f(uniforms.alpha, alpha);
        gl.uniform1f(uniforms.size, size * larger);
        gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, rows);
        gl.drawElements(gl.POINTS, number, gl.UNSIGNED_INT, 0);
      };
      draw(every, count, selected ? 0.16 : 0.8, 1);
      if (selected) draw(chosen, selected, 0.95, 1.2);
    },
  };
}

function mixed(codes, marked) {
  const order = Uint32Array.from(codes, (_, row) => row);
  for (let last = order.length - 1, seed = 1; last > 0; last--) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    const other = seed % (last + 1);
    [order[last], order[other]] = [order[other], order[last]];
  }
  return marked < 0 ? order : Uint32Array.from([...order.filter((row) => codes[row] !== marked), ...order.filter((row) => codes[row] === marked)]);
}

function linked(gl) {
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  return gl.getProgramParameter(program, gl.LINK_STATUS) ? program : null;
}

function attribute(gl, program, name, values, kind) {
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
  const where = gl.getAttribLocation(program, name);
  gl.enableVertexAttribArray(where);
  gl.vertexAttribPointer(where, ...kind(), 0, 0);
}

// Rows of the points within an outline, given like the points as [x, y, x, y, ...].
export function within(places, outline) {
  const xs = outline.filter((_, at) => at % 2 === 0), ys = outline.filter((_, at) => at % 2);
  const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const rows = [];
  for (let row = 0; row < places.length / 2; row++) {
    const x = places[2 * row], y = places[2 * row + 1];
    if (x < left || x > right || y < low || y > high) continue;
    let inside = false;
    for (let i = 0, j = xs.length - 1; i < xs.length; j = i++) {
      if (ys[i] > y !== ys[j] > y && x < ((xs[j] - xs[i]) * (y - ys[i])) / (ys[j] - ys[i]) + xs[i]) inside = !inside;
    }
    if (inside) rows.push(row);
  }
  return Uint32Array.from(rows);
}

// The row of the nearest point within a distance; -1 for none.
export function nearest(places, x, y, most) {
  let found = -1, best = most * most;
  for (let row = 0; row < places.length / 2; row++) {
    const dx = places[2 * row] - x, dy = places[2 * row + 1] - y;
    if (dx * dx + dy * dy < best) [found, best] = [row, dx * dx + dy * dy];
  }
  return found;
}
