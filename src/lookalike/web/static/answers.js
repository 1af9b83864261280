// The page of the own answers: the day begins at midnight where the reader is, which only the browser knows.
import { call, midnight } from "./label/call.js";
import { goal } from "./goal.js";

const { status, content } = await call(`/api/answers?midnight=${midnight()}`);
if (status === 200) goal(content.progress);
