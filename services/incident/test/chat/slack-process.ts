/**
 * A child process that makes some calls to Slack in sequence and ends. It prints the reasons of their failures and the
 * resources that are still open. Arguments: the API's URL, the token, names of calls.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { slackChat } from '../../src/chat/clients/slack.ts';
import { CALLS, failureOf } from './slack-calls.ts';

const [apiUrl, token = '', ...names] = process.argv.slice(2);
const chat = slackChat({ token, apiUrl, timeout: 1_000 });
const reasons = [];
for (const requested of names) {
  const call = CALLS.find(([name]) => name === requested)?.[1];
  if (call === undefined) throw new Error(`there is no call ${requested}`);
  reasons.push((await failureOf(call(chat))).reason);
}
// Sockets close in the next turns of the event loop.
await nextTurn();
await nextTurn();
const open = process.getActiveResourcesInfo().filter((kind) => /^TCP|Timeout|AddrInfo|TLS/.test(kind));
process.stdout.write(JSON.stringify({ reasons, open }));
