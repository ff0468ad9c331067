import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { findContext } from '../contexts.ts';
import { UsageError } from '../operation-parameters.ts';
import { readInput } from '../read-input.ts';
import type { Call, Session } from '../session.ts';
import { openCursor, untilEndedOrExpired } from '../stored-cursor.ts';
import { type FollowFlags, followOptions } from '../tail.ts';
import { batchesOf } from './batches.ts';
import { CHATS, type Receiver } from './chats.ts';
import { eventDescriber } from './describe-event.ts';
import { findFilters } from './filters.ts';
import { post } from './post.ts';
import { DEFAULT_TEMPLATE, parseTemplate } from './template.ts';

export interface NotifyFlags extends FollowFlags {
  to: Receiver;
  urlFile: string;
  severity?: string;
  team?: string;
  includeRestricted?: boolean;
  template?: string;
  consoleUrl?: string;
  reset?: boolean;
  allowHttp?: boolean;
}

/** An event on its way, with the cursor behind it. */
interface Item {
  id: string;
  type: string;
  text: string;
  cursor: string;
}

/** Milliseconds between two messages. */
const PACE = 1_000;
/** Events in a message. */
const MOST_JOINED = 20;
/** Messages that a receiver refuses in a row: then the fault is not in the messages. */
const MOST_REFUSED = 5;

/**
 * Posts the events of the feed to a chat, and stores the cursor behind those that it has accepted. So a restart loses
 * nothing, and repeats at most the message that was under way.
 */
export async function notify(call: Call, flags: NotifyFlags): Promise<void> {
  const { output, session, options } = call;
  const { signal } = session;
  const { to, types, urlFile } = flags;
  const chat = to === 'json' ? undefined : CHATS[to];
  const url = await readUrl(session, flags);
  // Without it, Discord responds before it has stored the message.
  if (to === 'discord') url.searchParams.set('wait', 'true');
  if (chat === undefined && flags.template !== undefined) throw new UsageError('--template: json is the event itself');
  const given = flags.template === undefined ? DEFAULT_TEMPLATE : await readInput(session, flags.template);
  const render = chat && parseTemplate(given, flags.template ?? 'template', chat);
  const { url: workspaceUrl } = findContext(session.env, options.context);
  const { consoleUrl = workspaceUrl } = flags;
  if (!URL.canParse(consoleUrl)) throw new UsageError(`--console-url: ${consoleUrl} is not an address`);
  const tocsin = await call.connect();
  const filters = await findFilters(tocsin, flags, signal);
  const sets = [types?.split(','), filters.severities, filters.teams].map((set) => [...(set ?? [])].sort());
  const stored = { command: 'notify', place: [to, path.resolve(urlFile), ...sets], flags, keep: () => ({}) };
  const { cursor: after, store } = await openCursor(tocsin, call, stored);
  output.note(`posting the events of ${workspaceUrl} to ${to}`);

  /** Events that are read and neither accepted nor left out; the cursor stays before them. */
  let waiting = 0;
  let refused = 0;
  // An error ends the reading, too, which would keep the process.
  const failed = new AbortController();
  const reading = AbortSignal.any([signal, failed.signal]);
  const describe = eventDescriber(tocsin, filters, consoleUrl, reading);
  const pass = (cursor: string) => {
    if (waiting + refused === 0) store(cursor);
  };
  async function* items(): AsyncGenerator<Item, void, undefined> {
    const follow = followOptions({ ...flags, ...(after !== undefined && { after }) }, call);
    for await (const { event, cursor } of tocsin.events.follow({ ...follow, signal: reading, onCursor: pass })) {
      const values = await describe(event);
      if (values === undefined) pass(cursor);
      else {
        waiting += 1;
        yield { id: event.id, type: event.type, text: render?.(values) ?? JSON.stringify(event), cursor };
      }
    }
  }
  const fits = (batch: readonly Item[]) =>
    batch.length <= MOST_JOINED && batch.reduce((sum, { text }) => sum + text.length + 1, 0) <= (chat?.limit ?? 0);

  /** Events that are refused together are sent one by one, and those that are refused alone are left out. */
  async function say(batch: readonly Item[]): Promise<void> {
    const texts = batch.map(({ text }) => text);
    const body = chat === undefined ? texts.join('') : JSON.stringify(chat.body(texts));
    const reason = await post(url, body, { signal, note: output.note });
    if (reason !== undefined && batch.length > 1) {
      for (const item of batch) {
        await delay(PACE, undefined, { signal });
        await say([item]);
      }
      return;
    }
    waiting -= batch.length;
    refused = reason === undefined ? 0 : refused + 1;
    if (reason === undefined) store(batch.at(-1)?.cursor);
    for (const { id, type } of batch)
      output.line(output.isTable ? `${type} ${id} → ${reason ?? to}` : JSON.stringify({ id, type, refused: reason }));
    if (reason !== undefined) output.note(`${batch[0]?.type} ${batch[0]?.id} is left out: ${reason}`);
    if (refused === MOST_REFUSED)
      throw new Error(`${to} refused ${MOST_REFUSED} messages in a row, which the next start sends again`);
  }

  const batches = batchesOf(items(), { fits, pace: chat === undefined ? 0 : PACE, signal });
  await untilEndedOrExpired(call, async () => {
    for await (const batch of batches) await say(batch);
  }).finally(() => failed.abort());
}

/** The address is a secret: no message has it. */
async function readUrl(session: Session, { urlFile, allowHttp = false }: NotifyFlags): Promise<URL> {
  const text = (await readInput(session, urlFile)).trim();
  const wrong = (what: string) => new UsageError(`--url-file: ${urlFile} has ${what}`);
  if (!/^\S{1,2048}$/.test(text) || !URL.canParse(text)) throw wrong('no address, or more than one');
  const url = new URL(text);
  if (!(allowHttp ? ['https:', 'http:'] : ['https:']).includes(url.protocol)) throw wrong('no address with https');
  if (url.username + url.password !== '') throw wrong('an address with a user or a password');
  return url;
}
