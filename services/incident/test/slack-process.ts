/**
 * A process of its own that makes a few calls of Slack one after the other, and then has nothing more to do: prints
 * what came of them, and what of them is still open. Arguments: the API's address, the token, names of calls.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { slackChat } from '../src/clients/slack.ts';
import { CALLS, failureOf } from './slack-calls.ts';

const [apiUrl, token = '', ...names] = process.argv.slice(2);
const chat = slackChat({ token, apiUrl, timeout: 1_000 });
const faults = [];
for (const wanted of names) {
  const call = CALLS.find(([name]) => name === wanted)?.[1];
  if (call === undefined) throw new Error(`there is no call ${wanted}`);
  faults.push((await failureOf(call(chat))).fault);
}
// Closing takes a turn of the loop.
await nextTurn();
await nextTurn();
const open = process.getActiveResourcesInfo().filter((kind) => /^TCP|Timeout|AddrInfo|TLS/.test(kind));
process.stdout.write(JSON.stringify({ faults, open }));
