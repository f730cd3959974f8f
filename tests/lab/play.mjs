// Plays the actions of a lab, one a line on stdin, and answers each with what there is then. The folder of the scripts is the argument.
import {createInterface} from "node:readline";

const from = name => import(`${process.argv[2]}/${name}.js`);
const {place} = await from("layout"), {judge} = await from("puzzle"), {rowsOf} = await from("rows"), {Session} = await from("session");
const {graphText} = await from("text");

/** @type {any} */
let session;
for await (const line of createInterface({input: process.stdin})) {
  const {data, action} = JSON.parse(line);
  /** @type {any} */
  const answer = {};
  try {
    if (data) session = new Session(data);
    else {
      const {head, line: python, error, outside, result} = session.do(action);
      Object.assign(answer, {python: {head, line: python}, error: error && [error.kind, error.message], outside, ...["run", "dead code"].includes(action.do) ? {result} : {}});
    }
    const {module} = session, {graph} = module;
    Object.assign(answer, {
      text: graphText(graph), code: module.code, stale: module.stale, layout: place(rowsOf(graph)), script: session.script,
      users: graph.nodes.map(node => [node.name, [...node.users].map(user => user.name), [...node.inputs].map(input => input.name)]),
      fault: session.data.puzzle && judge(session.data.puzzle, module, session.history),
    });
  } catch (error) {
    answer.crash = error.stack;
  }
  console.log(JSON.stringify(answer));
}
